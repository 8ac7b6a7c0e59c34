from typing import Any

from marketplace.models import Assignment
from marketplace.operations import Call, operation, shapes
from marketplace.operations.paging import page
from marketplace.rules.errors import RequestError
from marketplace.verbs import assignments, hits

Parameters = dict[str, Any]


@operation("ListAssignmentsForHIT")
def list_assignments_for_hit(call: Call, parameters: Parameters) -> Parameters:
    assignments.sweep(call.now)
    hit = hits.find(call.requester, parameters["HITId"])
    statuses = parameters.get("AssignmentStatuses") or list(Assignment.VISIBLE)
    rows = Assignment.objects.filter(hit=hit, status__in=statuses).select_related("hit", "worker")
    return page(call, parameters, rows, "Assignments", shapes.assignment)


@operation("GetAssignment")
def get_assignment(call: Call, parameters: Parameters) -> Parameters:
    assignments.sweep(call.now)
    pk, _ = assignments.find(call.requester, parameters["AssignmentId"], allowed="Reviewable,Approved,Rejected")
    found = Assignment.objects.select_related("hit__hit_type", "worker").get(pk=pk)
    return {"Assignment": shapes.assignment(found), "HIT": shapes.hit(found.hit, call.now)}


@operation("ApproveAssignment")
def approve_assignment(call: Call, parameters: Parameters) -> Parameters:
    assignments.approve(
        call.requester,
        parameters["AssignmentId"],
        call.now,
        feedback=parameters.get("RequesterFeedback"),
        override=parameters.get("OverrideRejection", False),
    )
    return {}


@operation("RejectAssignment")
def reject_assignment(call: Call, parameters: Parameters) -> Parameters:
    assignments.reject(call.requester, parameters["AssignmentId"], call.now, parameters["RequesterFeedback"])
    return {}


@operation("GetFileUploadURL")
def get_file_upload_url(call: Call, parameters: Parameters) -> Parameters:
    """No question can ask for a file (FileUploadAnswer is refused at creation), so no answer has one."""
    assignments.sweep(call.now)
    assignments.find(call.requester, parameters["AssignmentId"], allowed="Reviewable,Approved,Rejected")
    raise RequestError(
        f"Assignment {parameters['AssignmentId']} has no uploaded file for the question "
        f"'{parameters['QuestionIdentifier']}': questions have not been able to ask for files since 2017-12-12."
    )
