"""Rows as the API's structures; the contract drops empty members and writes times and money."""

from datetime import datetime
from typing import Any

from marketplace.models import Assignment, Hit, Qualification, QualificationType


def hit(row: Hit, now: datetime) -> dict[str, Any]:
    kind = row.hit_type
    return {
        "HITId": row.hit_id,
        "HITTypeId": kind.hit_type_id,
        "HITGroupId": kind.hit_group_id,
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
        "HITReviewStatus": "NotReviewed",
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


def qualification_type(row: QualificationType) -> dict[str, Any]:
    return {
        "QualificationTypeId": row.qualification_type_id,
        "CreationTime": row.created_at,
        "Name": row.name,
        "Description": row.description,
        "Keywords": row.keywords or None,
        "QualificationTypeStatus": row.status,
        "RetryDelayInSeconds": row.retry_delay_seconds,
        "IsRequestable": row.is_requestable,
        "AutoGranted": row.auto_granted,
        "AutoGrantedValue": row.auto_granted_value,
    }


def qualification(row: Qualification) -> dict[str, Any]:
    return {
        "QualificationTypeId": row.type.qualification_type_id,
        "WorkerId": row.worker.worker_id,
        "GrantTime": row.granted_at,
        "IntegerValue": row.integer_value,
        "Status": row.status,
    }
