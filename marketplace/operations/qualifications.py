from typing import Any

from django.db.models import Q

from marketplace.models import Qualification, QualificationType
from marketplace.operations import Call, operation, shapes
from marketplace.operations.paging import page
from marketplace.rules.errors import ParameterValidationError
from marketplace.verbs import qualifications

Parameters = dict[str, Any]


@operation("CreateQualificationType")
def create_qualification_type(call: Call, parameters: Parameters) -> Parameters:
    _refuse_tests(parameters)
    kind = qualifications.create_type(
        call.requester,
        name=parameters["Name"],
        description=parameters["Description"],
        status=parameters["QualificationTypeStatus"],
        keywords=parameters.get("Keywords", ""),
        auto_granted=parameters.get("AutoGranted", False),
        auto_granted_value=parameters.get("AutoGrantedValue"),
        retry_delay_seconds=parameters.get("RetryDelayInSeconds"),
        now=call.now,
    )
    return {"QualificationType": shapes.qualification_type(kind)}


def _refuse_tests(parameters: Parameters) -> None:
    if "Test" in parameters and "TestDurationInSeconds" not in parameters:
        raise ParameterValidationError("A Test needs TestDurationInSeconds.")
    if "Test" in parameters and parameters.get("AutoGranted"):
        raise ParameterValidationError("A QualificationType with a Test cannot be AutoGranted.")
    for name in ("Test", "AnswerKey", "TestDurationInSeconds"):
        if name in parameters:
            raise ParameterValidationError(
                f"{name}: qualification tests are not offered by this marketplace; "
                "ask in an ordinary HIT and grant with AssociateQualificationWithWorker."
            )


@operation("GetQualificationType")
def get_qualification_type(call: Call, parameters: Parameters) -> Parameters:
    kind = qualifications.find_type(parameters["QualificationTypeId"])
    return {"QualificationType": shapes.qualification_type(kind)}


@operation("ListQualificationTypes")
def list_qualification_types(call: Call, parameters: Parameters) -> Parameters:
    mine = Q(requester=call.requester)
    if parameters.get("MustBeOwnedByCaller", False):
        rows = QualificationType.objects.filter(mine)
    else:
        rows = QualificationType.objects.filter(mine | Q(status=QualificationType.Status.ACTIVE))
    if parameters["MustBeRequestable"]:
        rows = rows.filter(is_requestable=True)
    for word in parameters.get("Query", "").split():
        rows = rows.filter(Q(name__icontains=word) | Q(description__icontains=word) | Q(keywords__icontains=word))
    return page(call, parameters, rows, "QualificationTypes", shapes.qualification_type)


@operation("AssociateQualificationWithWorker")
def associate_qualification(call: Call, parameters: Parameters) -> Parameters:
    qualifications.grant(
        call.requester,
        parameters["QualificationTypeId"],
        parameters["WorkerId"],
        call.now,
        parameters.get("IntegerValue", 1),
    )
    return {}


@operation("DisassociateQualificationFromWorker")
def disassociate_qualification(call: Call, parameters: Parameters) -> Parameters:
    qualifications.revoke(
        call.requester, parameters["QualificationTypeId"], parameters["WorkerId"], parameters.get("Reason", "")
    )
    return {}


@operation("GetQualificationScore")
def get_qualification_score(call: Call, parameters: Parameters) -> Parameters:
    held = qualifications.score(call.requester, parameters["QualificationTypeId"], parameters["WorkerId"])
    return {"Qualification": shapes.qualification(held)}


@operation("ListWorkersWithQualificationType")
def list_workers_with_qualification_type(call: Call, parameters: Parameters) -> Parameters:
    kind = qualifications.owned_type(call.requester, parameters["QualificationTypeId"])
    rows = Qualification.objects.filter(type=kind).select_related("type", "worker")
    if "Status" in parameters:
        rows = rows.filter(status=parameters["Status"])
    return page(call, parameters, rows, "Qualifications", shapes.qualification)
