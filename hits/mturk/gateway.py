"""One method per call that the product makes. Raises only the errors of `hits.mturk.errors`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from hits.mturk.errors import GoneError, RefusedError, from_boto
from hits.mturk.question import read_answers

PAGE_SIZE = 100
SYSTEM_QUALIFICATIONS = {
    "percent_approved": "000000000000000000L0",
    "number_approved": "00000000000000000040",
    "locale": "00000000000000000071",
    "adult": "00000000000000000060",
}


@dataclass(frozen=True)
class HitTypeSpec:
    """What makes two HITs stand in one group. `requirements` are in the API's own form."""

    title: str
    description: str
    keywords: str
    reward: Decimal
    assignment_seconds: int
    auto_approval_seconds: int
    requirements: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class RemoteHit:
    hit_id: str
    annotation: str
    status: str
    expires_at: datetime
    max_assignments: int
    pending: int = 0
    available: int = 0
    completed: int = 0  # approved or rejected

    @property
    def submitted(self) -> int:
        """Answers that came, whatever was decided about them since."""
        return self.max_assignments - self.pending - self.available


@dataclass(frozen=True)
class RemoteAssignment:
    assignment_id: str
    worker_id: str
    hit_id: str
    status: str
    accepted_at: datetime
    submitted_at: datetime
    auto_approval_at: datetime | None
    answer: dict[str, str]


@dataclass(frozen=True)
class RemoteBonus:
    worker_id: str
    assignment_id: str
    amount: Decimal
    reason: str
    granted_at: datetime


@dataclass(frozen=True)
class Balance:
    available: Decimal
    on_hold: Decimal | None


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        raise from_boto(error) from error


class Gateway:
    """All calls of one requester account. Safe to share between threads."""

    def __init__(self, endpoint_url: str, *, region: str, connections: int, timeout_seconds: int) -> None:
        self._client = boto3.client(
            "mturk",
            endpoint_url=endpoint_url,
            region_name=region,
            config=Config(
                max_pool_connections=connections,
                connect_timeout=min(5, timeout_seconds),
                read_timeout=timeout_seconds,
                retries={"mode": "standard", "total_max_attempts": 4},
            ),
        )

    def balance(self) -> Balance:
        with _translated():
            reply = self._client.get_account_balance()
        hold = reply.get("OnHoldBalance")
        return Balance(Decimal(reply["AvailableBalance"]), None if hold is None else Decimal(hold))

    def create_hit_type(self, spec: HitTypeSpec) -> str:
        with _translated():
            reply = self._client.create_hit_type(
                Title=spec.title,
                Description=spec.description,
                Keywords=spec.keywords,
                Reward=f"{spec.reward:.2f}",
                AssignmentDurationInSeconds=spec.assignment_seconds,
                AutoApprovalDelayInSeconds=spec.auto_approval_seconds,
                QualificationRequirements=list(spec.requirements),
            )
        return str(reply["HITTypeId"])

    def create_hit(
        self, hit_type_id: str, *, question: str, max_assignments: int, lifetime_seconds: int, token: str
    ) -> RemoteHit:
        """The token is the annotation too, so that the HIT can be found when the token has died after 24 hours."""
        with _translated():
            reply = self._client.create_hit_with_hit_type(
                HITTypeId=hit_type_id,
                Question=question,
                MaxAssignments=max_assignments,
                LifetimeInSeconds=lifetime_seconds,
                RequesterAnnotation=token,
                UniqueRequestToken=token,
            )
        return _remote_hit(reply["HIT"])

    def hit(self, hit_id: str) -> RemoteHit:
        with _translated():
            return _remote_hit(self._client.get_hit(HITId=hit_id)["HIT"])

    def all_hits(self) -> Iterator[RemoteHit]:
        """Every HIT of the account, disposed ones excepted. Slow: only for finding lost ones."""
        for reply in self._pages("list_hits"):
            yield from map(_remote_hit, reply["HITs"])

    def add_assignments(self, hit_id: str, number: int, token: str) -> None:
        with _translated():
            self._client.create_additional_assignments_for_hit(
                HITId=hit_id, NumberOfAdditionalAssignments=number, UniqueRequestToken=token
            )

    def set_expiration(self, hit_id: str, moment: datetime) -> None:
        """A past moment expires the HIT now. Workers who accepted before may still submit."""
        with _translated():
            self._client.update_expiration_for_hit(HITId=hit_id, ExpireAt=moment.astimezone(UTC))

    def reviewable_pages(self, hit_type_id: str) -> Iterator[list[RemoteHit]]:
        """The HITs that nobody works on any more, a page of at most 100 at a time."""
        for reply in self._pages("list_reviewable_hits", HITTypeId=hit_type_id, Status="Reviewable"):
            yield [_remote_hit(hit) for hit in reply["HITs"]]

    def delete_hit(self, hit_id: str) -> None:
        """Only a HIT that nobody works on, with nothing left to approve or reject."""
        with _translated():
            self._client.delete_hit(HITId=hit_id)

    def assignments(self, hit_id: str) -> list[RemoteAssignment]:
        replies = self._pages("list_assignments_for_hit", HITId=hit_id)
        return [_remote_assignment(found) for reply in replies for found in reply["Assignments"]]

    def assignment(self, assignment_id: str) -> RemoteAssignment:
        with _translated():
            return _remote_assignment(self._client.get_assignment(AssignmentId=assignment_id)["Assignment"])

    def approve(self, assignment_id: str, *, override: bool = False) -> None:
        """`override` approves what was rejected in the last 30 days."""
        with _translated():
            self._client.approve_assignment(AssignmentId=assignment_id, OverrideRejection=override)

    def reject(self, assignment_id: str, feedback: str) -> None:
        with _translated():
            self._client.reject_assignment(AssignmentId=assignment_id, RequesterFeedback=feedback)

    def send_bonus(self, worker_id: str, assignment_id: str, amount: Decimal, reason: str, token: str) -> None:
        with _translated():
            self._client.send_bonus(
                WorkerId=worker_id,
                AssignmentId=assignment_id,
                BonusAmount=f"{amount:.2f}",
                Reason=reason,
                UniqueRequestToken=token,
            )

    def bonuses(self, *, hit_id: str = "", assignment_id: str = "") -> list[RemoteBonus]:
        """The bonuses paid for one HIT, or for one assignment."""
        of = {"HITId": hit_id} if hit_id else {"AssignmentId": assignment_id}
        replies = self._pages("list_bonus_payments", **of)
        return [_remote_bonus(found) for reply in replies for found in reply["BonusPayments"]]

    def set_events(self, hit_type_id: str, destination: str, transport: str, event_types: Sequence[str]) -> None:
        """Have the events of these HITs sent to a queue (SQS) or a topic (SNS); the last destination counts."""
        with _translated():
            self._client.update_notification_settings(
                HITTypeId=hit_type_id,
                Notification={
                    "Destination": destination,
                    "Transport": transport,
                    "Version": "2014-08-15",
                    "EventTypes": list(event_types),
                },
                Active=True,
            )

    def ensure_qualification_type(self, name: str, description: str) -> str:
        """The id of the account's qualification type of that name, made when it is missing."""
        try:
            with _translated():
                reply = self._client.create_qualification_type(
                    Name=name, Description=description, QualificationTypeStatus="Active"
                )
            return str(reply["QualificationType"]["QualificationTypeId"])
        except RefusedError as error:
            if error.code != "QualificationTypeAlreadyExists":
                raise
        return self._find_qualification_type(name)

    def _find_qualification_type(self, name: str) -> str:
        filters = {"Query": name, "MustBeRequestable": False, "MustBeOwnedByCaller": True}
        for reply in self._pages("list_qualification_types", **filters):
            for found in reply["QualificationTypes"]:
                if found["Name"] == name:
                    return str(found["QualificationTypeId"])
        raise GoneError("QualificationTypeDoesNotExist", f"The qualification “{name}” exists but is not listed yet.")

    def grant(self, qualification_type_id: str, worker_id: str, value: int = 1, *, notify: bool = False) -> None:
        """Granting twice is granting once; another value takes the place of the one before."""
        with _translated():
            self._client.associate_qualification_with_worker(
                QualificationTypeId=qualification_type_id,
                WorkerId=worker_id,
                IntegerValue=value,
                SendNotification=notify,
            )

    def revoke(self, qualification_type_id: str, worker_id: str, reason: str) -> None:
        with _translated():
            self._client.disassociate_qualification_from_worker(
                QualificationTypeId=qualification_type_id, WorkerId=worker_id, Reason=reason
            )

    def _pages(self, operation: str, **arguments: Any) -> Iterator[dict[str, Any]]:
        """Every page of a list call: the end is an empty page or one without a token."""
        token: dict[str, str] = {}
        while True:
            with _translated():
                reply = getattr(self._client, operation)(**arguments, **token, MaxResults=PAGE_SIZE)
            yield reply
            if not reply.get("NextToken") or not reply.get("NumResults"):
                return
            token = {"NextToken": reply["NextToken"]}


def _remote_hit(hit: dict[str, Any]) -> RemoteHit:
    return RemoteHit(
        hit["HITId"],
        hit.get("RequesterAnnotation", ""),
        hit["HITStatus"],
        hit["Expiration"],
        hit["MaxAssignments"],
        hit["NumberOfAssignmentsPending"],
        hit["NumberOfAssignmentsAvailable"],
        hit["NumberOfAssignmentsCompleted"],
    )


def _remote_bonus(paid: dict[str, Any]) -> RemoteBonus:
    return RemoteBonus(
        paid["WorkerId"], paid["AssignmentId"], Decimal(paid["BonusAmount"]), paid["Reason"], paid["GrantTime"]
    )


def _remote_assignment(found: dict[str, Any]) -> RemoteAssignment:
    return RemoteAssignment(
        found["AssignmentId"],
        found["WorkerId"],
        found["HITId"],
        found["AssignmentStatus"],
        found["AcceptTime"],
        found["SubmitTime"],
        found.get("AutoApprovalTime"),
        read_answers(found.get("Answer", "")),
    )
