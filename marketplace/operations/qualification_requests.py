from typing import Any

from marketplace.models import QualificationRequest, QualificationType
from marketplace.operations import Call, operation, shapes
from marketplace.operations.paging import page
from marketplace.verbs import qualification_requests, qualifications

Parameters = dict[str, Any]


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
