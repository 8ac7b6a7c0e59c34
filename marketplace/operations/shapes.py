"""Rows as the API's structures; the contract drops empty members and writes times and money."""

from datetime import datetime
from typing import Any

from marketplace.models import (
    Assignment,
    BonusPayment,
    Hit,
    Qualification,
    QualificationRequest,
    QualificationType,
    Requester,
    ReviewLine,
    WorkerBlock,
)


def hit(row: Hit, now: datetime) -> dict[str, Any]:
    kind = row.hit_type
    return {
        "HITId": row.hit_id,
        "HITTypeId": kind.hit_type_id,
        "HITGroupId": kind.hit_group_id,
        "HITLayoutId": row.hit_layout_id or None,
        "CreationTime": row.created_at,
        "Title": kind.title,
        "Description": kind.description,
        "Question": row.question,
        "Keywords": kind.keywords or None,
        "HITStatus": row.status(now),
        "MaxAssignments": row.max_assignments,
        "Reward": kind.reward,
        "AutoApprovalDelayInSeconds": kind.auto_approval_delay_seconds,
        "Expiration": row.expires_at,
        "AssignmentDurationInSeconds": kind.assignment_duration_seconds,
        "RequesterAnnotation": row.requester_annotation or None,
        "QualificationRequirements": kind.requirements,
        "HITReviewStatus": row.review_status,
        "NumberOfAssignmentsPending": row.pending,
        "NumberOfAssignmentsAvailable": row.available,
        "NumberOfAssignmentsCompleted": row.completed,
    }


def assignment(row: Assignment) -> dict[str, Any]:
    return {
        "AssignmentId": row.assignment_id,
        "WorkerId": row.worker.worker_id,
        "HITId": row.hit.hit_id,
        "AssignmentStatus": row.status,
        "AutoApprovalTime": row.auto_approval_at,
        "AcceptTime": row.accepted_at,
        "SubmitTime": row.submitted_at,
        "ApprovalTime": row.approved_at,
        "RejectionTime": row.rejected_at,
        "Deadline": row.deadline,
        "Answer": row.answer,
        "RequesterFeedback": row.requester_feedback or None,
    }


def qualification_type(row: QualificationType, caller: Requester) -> dict[str, Any]:
    """Reads the test. Its questions and their key are for the owner only."""
    test = row.test
    own = test if row.requester_id == caller.pk else None
    return {
        "QualificationTypeId": row.qualification_type_id,
        "CreationTime": row.created_at,
        "Name": row.name,
        "Description": row.description,
        "Keywords": row.keywords or None,
        "QualificationTypeStatus": row.status,
        "Test": own.questions if own else None,
        "TestDurationInSeconds": test.duration_seconds if test else None,
        "AnswerKey": (own.answer_key or None) if own else None,
        "RetryDelayInSeconds": row.retry_delay_seconds,
        "IsRequestable": row.is_requestable,
        "AutoGranted": row.auto_granted,
        "AutoGrantedValue": row.auto_granted_value,
    }


def qualification(row: Qualification) -> dict[str, Any]:
    return {
        "QualificationTypeId": row.type.qualification_type_id,
        "WorkerId": _worker_id(row),
        "GrantTime": row.granted_at,
        "IntegerValue": row.integer_value,
        "Status": row.status,
    }


def qualification_request(row: QualificationRequest) -> dict[str, Any]:
    return {
        "QualificationRequestId": row.request_id,
        "QualificationTypeId": row.type.qualification_type_id,
        "WorkerId": row.worker.worker_id,
        "Test": row.test.questions if row.test else None,
        "Answer": row.answer or None,
        "SubmitTime": row.submitted_at,
    }


def bonus_payment(row: BonusPayment) -> dict[str, Any]:
    return {
        "WorkerId": row.worker.worker_id,
        "BonusAmount": row.amount,
        "AssignmentId": row.assignment.assignment_id,
        "Reason": row.reason,
        "GrantTime": row.created_at,
    }


def worker_block(row: WorkerBlock) -> dict[str, Any]:
    return {"WorkerId": _worker_id(row), "Reason": row.reason}


def _worker_id(row: Qualification | WorkerBlock) -> str:
    return row.worker.worker_id if row.worker else row.unknown_id


def review_result(line: ReviewLine) -> dict[str, Any]:
    return {
        "ActionId": line.action_id,
        "SubjectId": line.subject_id,
        "SubjectType": line.subject_type,
        "QuestionId": line.question_id or None,
        "Key": line.name,
        "Value": line.value,
    }


def review_action(line: ReviewLine) -> dict[str, Any]:
    return {
        "ActionId": line.action_id,
        "ActionName": line.name,
        "TargetId": line.subject_id,
        "TargetType": line.subject_type,
        "Status": line.status,
        "CompleteTime": line.created_at,
        "Result": line.value,
        "ErrorCode": line.error_code or None,
    }
