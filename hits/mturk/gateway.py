"""One method per call that the product makes. Raises only the errors of `hits.mturk.errors`.

Every call waits for the account's turn, is repeated where that is harmless (`hits/mturk/repeats.py`), and ends by its
deadline; botocore itself repeats nothing, so that each attempt on the wire is limited and counted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, TypeVar

from boto3.session import Session
from botocore.config import Config
from botocore.exceptions import BotoCoreError

from common import request_id
from hits.mturk import pool_links
from hits.mturk.caller import Caller
from hits.mturk.calls import Calls, Figures, Report, Window
from hits.mturk.concurrency import Concurrency, Run
from hits.mturk.errors import (
    KEY_PAIR,
    CredentialsError,
    MarketplaceError,
    NotYetError,
    RefusedError,
    UnreachableError,
    from_boto,
)
from hits.mturk.limiter import Limiter, Pace
from hits.mturk.question import read_answers
from hits.mturk.shared import Shared

T = TypeVar("T")
R = TypeVar("R")

PAGE_SIZE = 100
QUICK_TIMEOUT_SECONDS, QUICK_DEADLINE_SECONDS = 4, 8
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
    # What stands behind the first word of the annotation.
    further: str = ""
    hit_type_id: str = ""
    reward: Decimal = Decimal(0)
    assignment_seconds: int = 0
    question: str = ""
    requirements: tuple[dict[str, Any], ...] = ()

    @property
    def whole_annotation(self) -> str:
        return f"{self.annotation} {self.further}".strip()

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
class RemoteQualification:
    worker_id: str
    value: int
    granted_at: datetime


@dataclass(frozen=True)
class GradedTest:
    """A test that the marketplace grades: its XML documents (`hits/mturk/qualification_test.py`) and its times.

    `retry_seconds` None lets each worker try once.
    """

    questions: str
    answer_key: str
    seconds: int
    retry_seconds: int | None

    @property
    def arguments(self) -> dict[str, Any]:
        found = {"Test": self.questions, "AnswerKey": self.answer_key, "TestDurationInSeconds": self.seconds}
        return found if self.retry_seconds is None else {**found, "RetryDelayInSeconds": self.retry_seconds}


@dataclass(frozen=True)
class Balance:
    available: Decimal
    on_hold: Decimal | None


@dataclass(frozen=True)
class Limits:
    """`calls_a_second` to begin with and `most_calls_a_second` ever, of the whole account; the rest of one process.

    A call ends within `deadline_seconds`, its wait for a turn and all its attempts included.
    """

    connections: int
    timeout_seconds: float
    deadline_seconds: float
    calls_a_second: float
    most_calls_a_second: float


class Gateway:
    """All calls of one requester account. Safe to share between threads.

    The account is that of boto3's usual places: environment, profile, instance. `redis_url` is where its processes
    share their turns; without an answer from there, each process goes on by itself.
    """

    def __init__(self, endpoint_url: str, *, region: str, redis_url: str, limits: Limits) -> None:
        # One session for key pair and clients: it holds the first key pair that it found.
        self._session = session = _session()
        self._endpoint_url, self._region = endpoint_url, region
        shared = Shared(redis_url, _account(session, endpoint_url))
        # Why no call is made at all; empty: calls are made.
        self.closed = ""
        self._limiter = Limiter(shared, start=limits.calls_a_second, ceiling=limits.most_calls_a_second)
        self._calls = Calls(shared)
        self._concurrency = Concurrency(limits.connections)
        self._caller = self._make_caller(session, endpoint_url, region, limits)
        quick = replace(
            limits,
            timeout_seconds=min(QUICK_TIMEOUT_SECONDS, limits.timeout_seconds),
            deadline_seconds=min(QUICK_DEADLINE_SECONDS, limits.deadline_seconds),
        )
        self._quick_caller = self._make_caller(session, endpoint_url, region, quick)

    def _make_caller(self, session: Session, endpoint_url: str, region: str, limits: Limits) -> Caller:
        return Caller(
            _client(session, endpoint_url, region, limits),
            self._limiter,
            self._calls,
            self._concurrency,
            timeout_seconds=limits.timeout_seconds,
            deadline_seconds=limits.deadline_seconds,
        )

    def run(
        self,
        work: Callable[[T], R],
        rows: Sequence[T],
        *,
        beat: Callable[[], object] | None = None,
        beat_seconds: float = 5,
    ) -> list[tuple[T, R | MarketplaceError]]:
        """Do `work` for each row at the same time; what it returned, or the MarketplaceError it raised, in order.

        As many rows are in work as helps, at most the account's connections. `work` calls methods of this gateway
        and touches no table. `beat` is called in the caller's own thread every `beat_seconds`, to renew a lease.
        When the marketplace is silent, rows that were not begun get an UnreachableError without a call.
        """
        outcomes = Run(self._concurrency, beat, beat_seconds).outcomes(work, rows)
        return list(zip(rows, outcomes, strict=True))

    def pace(self) -> Pace:
        """How fast the account may call now. Asks Redis, not the marketplace; never raises."""
        return self._limiter.pace()

    def calls(self, window: Window) -> Report:
        """What was called, how it ended and how long it took. Asks Redis, not the marketplace; never raises."""
        return self._calls.report(window)

    def calls_ever(self) -> list[Figures]:
        """The same by operation since they were first counted. Asks Redis, not the marketplace; never raises."""
        return self._calls.ever()

    def balance(self) -> Balance:
        """Asked while a person waits: given up after a few seconds."""
        self._refuse_closed()
        reply = self._quick_caller.call("get_account_balance", {})
        hold = reply.get("OnHoldBalance")
        return Balance(Decimal(reply["AvailableBalance"]), None if hold is None else Decimal(hold))

    def create_hit_type(self, spec: HitTypeSpec) -> str:
        reply = self._call(
            "create_hit_type",
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
        self,
        hit_type_id: str,
        *,
        question: str,
        max_assignments: int,
        lifetime_seconds: int,
        token: str,
        annotation: str = "",
    ) -> RemoteHit:
        """The annotation begins with the token, so that the HIT can be found when the token has died after 24 hours."""
        reply = self._call(
            "create_hit_with_hit_type",
            HITTypeId=hit_type_id,
            Question=question,
            MaxAssignments=max_assignments,
            LifetimeInSeconds=lifetime_seconds,
            RequesterAnnotation=annotation or token,
            UniqueRequestToken=token,
        )
        return _remote_hit(reply["HIT"])

    def hit(self, hit_id: str) -> RemoteHit:
        return _remote_hit(self._call("get_hit", HITId=hit_id)["HIT"])

    def all_hits(self) -> Iterator[RemoteHit]:
        """Every HIT of the account, disposed ones excepted. Slow: only for finding lost ones."""
        for reply in self._pages("list_hits"):
            yield from map(_remote_hit, reply["HITs"])

    def add_assignments(self, hit_id: str, number: int, token: str) -> None:
        self._call(
            "create_additional_assignments_for_hit",
            HITId=hit_id,
            NumberOfAdditionalAssignments=number,
            UniqueRequestToken=token,
        )

    def set_expiration(self, hit_id: str, moment: datetime) -> None:
        """A past moment expires the HIT now. Workers who accepted before may still submit."""
        self._call("update_expiration_for_hit", HITId=hit_id, ExpireAt=moment.astimezone(UTC))

    def reviewable_pages(self, hit_type_id: str) -> Iterator[list[RemoteHit]]:
        """The HITs that nobody works on any more, a page of at most 100 at a time."""
        for reply in self._pages("list_reviewable_hits", HITTypeId=hit_type_id, Status="Reviewable"):
            yield [_remote_hit(hit) for hit in reply["HITs"]]

    def delete_hit(self, hit_id: str) -> None:
        """Only a HIT that nobody works on, with nothing left to approve or reject."""
        self._call("delete_hit", HITId=hit_id)

    def assignments(self, hit_id: str) -> list[RemoteAssignment]:
        replies = self._pages("list_assignments_for_hit", HITId=hit_id)
        return [_remote_assignment(found) for reply in replies for found in reply["Assignments"]]

    def assignment(self, assignment_id: str) -> RemoteAssignment:
        return _remote_assignment(self._call("get_assignment", AssignmentId=assignment_id)["Assignment"])

    def approve(self, assignment_id: str, *, override: bool = False) -> None:
        """`override` approves what was rejected in the last 30 days."""
        self._call("approve_assignment", AssignmentId=assignment_id, OverrideRejection=override)

    def reject(self, assignment_id: str, feedback: str) -> None:
        self._call("reject_assignment", AssignmentId=assignment_id, RequesterFeedback=feedback)

    def send_bonus(self, worker_id: str, assignment_id: str, amount: Decimal, reason: str, token: str) -> None:
        self._call(
            "send_bonus",
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
        return [
            RemoteBonus(
                paid["WorkerId"], paid["AssignmentId"], Decimal(paid["BonusAmount"]), paid["Reason"], paid["GrantTime"]
            )
            for reply in replies
            for paid in reply["BonusPayments"]
        ]

    def set_events(self, hit_type_id: str, destination: str, transport: str, event_types: Sequence[str]) -> None:
        """Have the events of these HITs sent to a queue (SQS) or a topic (SNS); the last destination counts."""
        self._call(
            "update_notification_settings",
            HITTypeId=hit_type_id,
            Notification={
                "Destination": destination,
                "Transport": transport,
                "Version": "2014-08-15",
                "EventTypes": list(event_types),
            },
            Active=True,
        )

    def ensure_qualification_type(self, name: str, description: str, test: GradedTest | None = None) -> str:
        """The id of the account's qualification type of that name, made when it is missing.

        With a `test` workers find it among the qualifications on offer and earn it by themselves.
        Raises NotYetError when lists do not show yet the one that is there.
        """
        try:
            reply = self._call(
                "create_qualification_type",
                Name=name,
                Description=description,
                QualificationTypeStatus="Active",
                **(test.arguments if test else {}),
            )
            return str(reply["QualificationType"]["QualificationTypeId"])
        except RefusedError as error:
            if error.code != "QualificationTypeAlreadyExists":
                raise
        if found := self.find_qualification_type(name):
            return found
        raise NotYetError(f"The marketplace refused: The qualification “{name}” exists but is not listed yet.")

    def find_qualification_type(self, name: str) -> str:
        """The id of the account's qualification type of that name; empty where lists show none."""
        filters = {"Query": name, "MustBeRequestable": False, "MustBeOwnedByCaller": True}
        for reply in self._pages("list_qualification_types", **filters):
            for found in reply["QualificationTypes"]:
                if found["Name"] == name:
                    return str(found["QualificationTypeId"])
        return ""

    def offer_qualification(self, qualification_type_id: str, *, offered: bool) -> None:
        """Whether workers can ask for it and new HITs require it. Who holds it keeps it."""
        self._call(
            "update_qualification_type",
            QualificationTypeId=qualification_type_id,
            QualificationTypeStatus="Active" if offered else "Inactive",
        )

    def holder_pages(self, qualification_type_id: str) -> Iterator[list[RemoteQualification]]:
        """Who holds it now, a page of at most 100 at a time."""
        filters = {"QualificationTypeId": qualification_type_id, "Status": "Granted"}
        for reply in self._pages("list_workers_with_qualification_type", **filters):
            yield [
                RemoteQualification(found["WorkerId"], found["IntegerValue"], found["GrantTime"])
                for found in reply["Qualifications"]
            ]

    def lets_people_in(self) -> bool | None:
        """Whether this marketplace lets people join by addresses of `joining_address`; None: it has no page for them.

        Asked while a person waits. Raises UnreachableError.
        """
        self._refuse_closed()
        return pool_links.lets_people_in(self._endpoint_url)

    def joining_address(self, site: str, joining: pool_links.Joining) -> str:
        """The page of the worker site at which somebody joins, signed and good for an hour. Makes no call.

        Raises CredentialsError.
        """
        credentials = self._session.get_credentials()
        if credentials is None:
            raise CredentialsError(KEY_PAIR)
        return pool_links.signed_address(site, joining, credentials.get_frozen_credentials(), self._region)

    def grant(self, qualification_type_id: str, worker_id: str, value: int = 1, *, notify: bool = False) -> None:
        """Granting twice is granting once; another value takes the place of the one before."""
        self._call(
            "associate_qualification_with_worker",
            QualificationTypeId=qualification_type_id,
            WorkerId=worker_id,
            IntegerValue=value,
            SendNotification=notify,
        )

    def revoke(self, qualification_type_id: str, worker_id: str, reason: str) -> None:
        self._call(
            "disassociate_qualification_from_worker",
            QualificationTypeId=qualification_type_id,
            WorkerId=worker_id,
            Reason=reason,
        )

    def notify(self, worker_id: str, subject: str, text: str) -> str:
        """Write to a worker; returns why the marketplace did not pass it on, empty where it did."""
        reply = self._call("notify_workers", WorkerIds=[worker_id], Subject=subject, MessageText=text)
        failures = reply.get("NotifyWorkersFailureStatuses", [])
        return str(failures[0]["NotifyWorkersFailureMessage"]) if failures else ""

    def _refuse_closed(self) -> None:
        if self.closed:
            raise UnreachableError(self.closed)

    def _call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        self._refuse_closed()
        return self._caller.call(operation, arguments)

    def _pages(self, operation: str, **arguments: Any) -> Iterator[dict[str, Any]]:
        """Every page of a list call. A page that is not full is the last, though the marketplace gives a token."""
        token: dict[str, str] = {}
        while True:
            reply = self._call(operation, **arguments, **token, MaxResults=PAGE_SIZE)
            yield reply
            if not reply.get("NextToken") or reply.get("NumResults", 0) < PAGE_SIZE:
                return
            token = {"NextToken": reply["NextToken"]}


def _session() -> Session:
    try:
        return Session()
    except BotoCoreError as error:
        raise from_boto(error) from error


def _client(session: Session, endpoint_url: str, region: str, limits: Limits) -> Any:
    config = Config(
        max_pool_connections=limits.connections,
        connect_timeout=min(5, limits.timeout_seconds),
        read_timeout=limits.timeout_seconds,
        retries={"mode": "standard", "total_max_attempts": 1},
    )
    try:
        client = session.client("mturk", endpoint_url=endpoint_url, region_name=region, config=config)
        client.meta.events.register("before-send.mturk", _hand_on_the_id)
        return client
    except BotoCoreError as error:
        raise from_boto(error) from error


def _hand_on_the_id(request: Any, **more: Any) -> None:
    """After the call is signed: a proxy on the way may put another id in its place."""
    if known := request_id.current():
        request.headers[request_id.HEADER] = known


def _account(session: Session, endpoint_url: str) -> str:
    """A name for the account under which its processes meet; the key pair cannot be read from it."""
    try:
        credentials = session.get_credentials()
        key = credentials.access_key if credentials else ""
    except BotoCoreError:
        # The first call will say what is wrong with the key pair.
        key = ""
    return hashlib.sha256(f"{endpoint_url} {key}".encode()).hexdigest()[:16]


def _remote_hit(hit: dict[str, Any]) -> RemoteHit:
    annotation, _, further = hit.get("RequesterAnnotation", "").partition(" ")
    return RemoteHit(
        hit["HITId"],
        annotation,
        hit["HITStatus"],
        hit["Expiration"],
        hit["MaxAssignments"],
        hit["NumberOfAssignmentsPending"],
        hit["NumberOfAssignmentsAvailable"],
        hit["NumberOfAssignmentsCompleted"],
        further,
        hit.get("HITTypeId", ""),
        Decimal(hit.get("Reward", "0")),
        hit.get("AssignmentDurationInSeconds", 0),
        hit.get("Question", ""),
        tuple(hit.get("QualificationRequirements", ())),
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
