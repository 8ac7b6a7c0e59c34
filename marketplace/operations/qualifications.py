from typing import Any

from django.db.models import Q

from marketplace.models import Hit, HitType, Qualification, QualificationRequest, QualificationType
from marketplace.operations import Call, operation, shapes
from marketplace.operations.paging import page
from marketplace.rules.errors import ParameterValidationError
from marketplace.verbs import assignments, qualification_requests, qualifications
from marketplace.verbs.qualifications import NewTest

Parameters = dict[str, Any]


def _test(parameters: Parameters) -> NewTest | None:
    """The test that the call gives; None when it gives none."""
    if "Test" not in parameters:
        return None
    if "TestDurationInSeconds" not in parameters:
        raise ParameterValidationError("A Test needs TestDurationInSeconds.")
    return NewTest(parameters["Test"], parameters["TestDurationInSeconds"], parameters.get("AnswerKey", ""))


def _shaped(call: Call, kind: QualificationType) -> Parameters:
    return {"QualificationType": shapes.qualification_type(kind, call.requester)}


def _check_without_test(parameters: Parameters) -> None:
    """A new type without a test may bring a duration: some programs always send one. It means nothing then."""
    if "Test" in parameters:
        return
    if "AnswerKey" in parameters:
        raise ParameterValidationError("AnswerKey needs the Test that it belongs to, in the same call.")
    if "TestDurationInSeconds" in parameters:
        qualifications.check_test_seconds(parameters["TestDurationInSeconds"])


@operation("CreateQualificationType")
def create_qualification_type(call: Call, parameters: Parameters) -> Parameters:
    _check_without_test(parameters)
    kind = qualifications.create_type(
        call.requester,
        name=parameters["Name"],
        description=parameters["Description"],
        status=parameters["QualificationTypeStatus"],
        keywords=parameters.get("Keywords", ""),
        auto_granted=parameters.get("AutoGranted", False),
        auto_granted_value=parameters.get("AutoGrantedValue"),
        retry_delay_seconds=parameters.get("RetryDelayInSeconds"),
        test=_test(parameters),
        now=call.now,
    )
    return _shaped(call, kind)


@operation("UpdateQualificationType")
def update_qualification_type(call: Call, parameters: Parameters) -> Parameters:
    kind = qualifications.update_type(
        call.requester,
        parameters["QualificationTypeId"],
        call.now,
        description=parameters.get("Description"),
        status=parameters.get("QualificationTypeStatus"),
        auto_granted=parameters.get("AutoGranted"),
        auto_granted_value=parameters.get("AutoGrantedValue"),
        retry_delay_seconds=parameters.get("RetryDelayInSeconds"),
        test=_test(parameters),
        test_seconds=parameters.get("TestDurationInSeconds"),
        answer_key=parameters.get("AnswerKey"),
    )
    return _shaped(call, kind)


@operation("GetQualificationType")
def get_qualification_type(call: Call, parameters: Parameters) -> Parameters:
    return _shaped(call, qualifications.find_type(parameters["QualificationTypeId"]))


@operation("DeleteQualificationType")
def delete_qualification_type(call: Call, parameters: Parameters) -> Parameters:
    qualifications.delete_type(call.requester, parameters["QualificationTypeId"], call.now)
    return {}


@operation("ListQualificationTypes")
def list_qualification_types(call: Call, parameters: Parameters) -> Parameters:
    types = QualificationType.objects
    rows = types.requestable() if parameters["MustBeRequestable"] else types.alive()
    mine = Q(requester=call.requester)
    if parameters.get("MustBeOwnedByCaller", False):
        rows = rows.filter(mine)
    else:
        rows = rows.filter(mine | Q(status=QualificationType.Status.ACTIVE))
    query = parameters.get("Query", "").strip()
    rows = rows.matching(query).select_related("test")
    return page(
        call,
        parameters,
        rows.placed(query) if query else rows,
        "QualificationTypes",
        lambda kind: shapes.qualification_type(kind, call.requester),
        key="place" if query else "pk",
    )


@operation("ListHITsForQualificationType")
def list_hits_for_qualification_type(call: Call, parameters: Parameters) -> Parameters:
    """The caller's own HITs, whoever made the type."""
    assignments.sweep(call.now)
    kind = qualifications.find_type(parameters["QualificationTypeId"])
    requiring = HitType.objects.filter(requester=call.requester, required_types=kind)
    rows = Hit.objects.filter(requester=call.requester, disposed_at__isnull=True, hit_type__in=requiring)
    rows = rows.select_related("hit_type")
    return page(call, parameters, rows, "HITs", lambda hit: shapes.hit(hit, call.now), newest_first=True)


@operation("AssociateQualificationWithWorker")
def associate_qualification(call: Call, parameters: Parameters) -> Parameters:
    qualifications.grant(
        call.requester,
        parameters["QualificationTypeId"],
        parameters["WorkerId"],
        call.now,
        parameters.get("IntegerValue", 1),
        notify=parameters.get("SendNotification", True),
    )
    return {}


@operation("DisassociateQualificationFromWorker")
def disassociate_qualification(call: Call, parameters: Parameters) -> Parameters:
    qualifications.revoke(
        call.requester,
        parameters["QualificationTypeId"],
        parameters["WorkerId"],
        call.now,
        parameters.get("Reason", ""),
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


@operation("ListQualificationRequests")
def list_qualification_requests(call: Call, parameters: Parameters) -> Parameters:
    """Requests that wait for the caller's decision."""
    types = QualificationType.objects.alive().filter(requester=call.requester)
    if "QualificationTypeId" in parameters:
        types = types.filter(pk=qualifications.owned_type(call.requester, parameters["QualificationTypeId"]).pk)
    rows = QualificationRequest.objects.filter(type__in=types, status=QualificationRequest.Status.SUBMITTED)
    rows = rows.select_related("type", "worker", "test")
    return page(call, parameters, rows, "QualificationRequests", shapes.qualification_request)


@operation("AcceptQualificationRequest")
def accept_qualification_request(call: Call, parameters: Parameters) -> Parameters:
    qualification_requests.accept(
        call.requester, parameters["QualificationRequestId"], call.now, parameters.get("IntegerValue", 1)
    )
    return {}


@operation("RejectQualificationRequest")
def reject_qualification_request(call: Call, parameters: Parameters) -> Parameters:
    qualification_requests.reject(
        call.requester, parameters["QualificationRequestId"], call.now, parameters.get("Reason", "")
    )
    return {}
