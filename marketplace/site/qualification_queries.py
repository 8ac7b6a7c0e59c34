"""What the pages about qualifications read. Nothing here writes; the number of queries is the same for many rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, Q, Subquery
from django.utils.translation import gettext as _

from marketplace.models import Hit, Qualification, QualificationRequest, QualificationType, Worker
from marketplace.rules import qualifications as rules
from marketplace.rules.answer_key import Percentage, parse_answer_key
from marketplace.rules.qualifications import Requirement
from marketplace.rules.sentences import both
from marketplace.site import words
from marketplace.site.saying import said
from marketplace.verbs import qualification_requests
from marketplace.verbs.qualification_requests import Outlook

_Status = QualificationRequest.Status
# The newest requests that a qualification's own page lists.
SHOWN_REQUESTS = 10
# Of so many HIT types a page reads what they ask for.
_READ_STANDARDS = 20


def held(worker: Worker) -> Any:
    granted = Qualification.objects.filter(worker=worker, status=Qualification.Status.GRANTED)
    return granted.select_related("type__requester").order_by("-granted_at", "-pk")


def offered(worker: Worker, search: str) -> Any:
    """Types that can be asked for, those that can be had without the requester first, then the newest.

    Each with the worker's `held_value` and the status of the worker's last request, `last_status`.
    """
    held = Qualification.objects.filter(type=OuterRef("pk"), worker=worker, status=Qualification.Status.GRANTED)
    asked = QualificationRequest.objects.filter(type=OuterRef("pk"), worker=worker).order_by("-pk")
    by_oneself = Q(auto_granted=True) | Q(test__isnull=False)
    return (
        QualificationType.objects.requestable()
        .matching(search)
        .select_related("requester", "test")
        .defer("test__questions", "test__answer_key")
        .annotate(
            held_value=Subquery(held.values("integer_value")[:1]),
            last_status=Subquery(asked.values("status")[:1]),
            by_oneself=by_oneself,
        )
        .order_by("-by_oneself", "-pk")
    )


def running(worker: Worker, now: datetime) -> list[QualificationRequest]:
    """Tests that the worker has begun and may still hand in, the most urgent first; the first few."""
    rows = QualificationRequest.objects.filter(worker=worker, status=_Status.STARTED, deadline__gte=now)
    return list(rows.select_related("type").order_by("deadline")[:5])


def asked(worker: Worker) -> Any:
    """All that the worker ever asked for, the newest first."""
    rows = QualificationRequest.objects.filter(worker=worker, type__deleted_at__isnull=True)
    return rows.select_related("type__requester").defer("answer").order_by("-pk")


def request_of(worker: Worker, request_id: str) -> QualificationRequest | None:
    """The worker's own request with its type and test."""
    rows = QualificationRequest.objects.filter(worker=worker, request_id=request_id, type__deleted_at__isnull=True)
    return rows.select_related("type__requester", "test").first()


@dataclass(frozen=True)
class Card:
    """A qualification type as one worker sees it. `requests` are the worker's, the newest first.

    `standards` holds what each HIT type asks of its value: those with open HITs, or all when none is open.
    """

    kind: QualificationType
    held: Qualification | None
    requests: list[QualificationRequest]
    needed_by_open_work: bool
    outlook: Outlook
    now: datetime
    standards: Sequence[Sequence[Requirement]]

    @property
    def last(self) -> QualificationRequest | None:
        return self.requests[0] if self.requests else None

    @property
    def active(self) -> bool:
        return self.kind.is_requestable and self.kind.status == QualificationType.Status.ACTIVE

    @property
    def begun(self) -> QualificationRequest | None:
        """The test that the worker is taking right now."""
        if self.last is None or self.last.status != _Status.STARTED:
            return None
        return self.last if self.last.deadline is not None and self.now <= self.last.deadline else None

    @property
    def waiting(self) -> QualificationRequest | None:
        return self.last if self.last is not None and self.last.status == _Status.SUBMITTED else None

    @property
    def may_ask(self) -> bool:
        if not self.active or self.begun or self.waiting or not self.outlook.may_ask:
            return False
        return not (self.kind.auto_granted and self.held)

    @property
    def again_at(self) -> datetime | None:
        """When the worker may ask again, if waiting helps."""
        return None if self.outlook.may_ask or self.begun or self.waiting else self.outlook.again_at

    @property
    def way(self) -> str:
        return way(self.kind)

    @property
    def last_result(self) -> str:
        """The value of the last request and what is needed, such as "50 %, 80 % needed"; empty without a value."""
        value = self.last.integer_value if self.last else None
        if value is None:
            return ""
        return ", ".join(filter(None, (f"{words.grouped(value)}{self._unit}", self.needed)))

    @property
    def needed(self) -> str:
        """What the least demanding work asks for, such as "80 % needed"; empty when no work asks for a value."""
        if not self.standards:
            return ""
        least = min(self.standards, key=lambda standard: [asked["IntegerValues"] for asked in standard])
        return _("%(amount)s needed") % {"amount": said(both([rules.amount(asked, self._unit) for asked in least]))}

    @property
    def last_enough(self) -> str:
        return self._enough(self.last.integer_value if self.last else None)

    @property
    def held_enough(self) -> str:
        return self._enough(self.held.integer_value if self.held else None)

    def _enough(self, value: int | None) -> str:
        """Whether the value is enough for the work that asks for one: all, some, none, or empty when unknown."""
        if value is None or not self.standards:
            return ""
        met = [all(rules.is_met(asked, value) for asked in standard) for standard in self.standards]
        return "all" if all(met) else "some" if any(met) else "none"

    @property
    def _unit(self) -> str:
        test = self.last.test if self.last and self.last.test else self.kind.test
        if test is None or not test.answer_key:
            return ""
        return " %" if isinstance(parse_answer_key(test.answer_key).mapping, Percentage) else ""

    @property
    def attempts(self) -> str:
        delay = self.kind.retry_delay_seconds
        if delay is None:
            return _("one only")
        return _("again after %(time)s") % {"time": words.span(delay)} if delay else _("as many as you like")


def way(kind: QualificationType) -> str:
    """How one gets a qualification, in a few words."""
    if kind.auto_granted:
        return _("given at once")
    if kind.test is not None:
        return _("test, %(time)s") % {"time": words.span(kind.test.duration_seconds)}
    return _("on request")


def card(worker: Worker, type_id: str, now: datetime) -> Card | None:
    """None for what the worker can neither ask for nor has: system types, deleted types, ids of nothing."""
    rows = QualificationType.objects.alive().filter(qualification_type_id=type_id, requester__isnull=False)
    needing = QualificationType.required_by.through.objects.filter(
        qualificationtype=OuterRef("pk"), hittype__hits__state="Assignable"
    )
    kind = rows.select_related("requester", "test").annotate(needed=Exists(needing)).first()
    if kind is None:
        return None
    held = Qualification.objects.filter(type=kind, worker=worker, status=Qualification.Status.GRANTED).first()
    requests = list(
        QualificationRequest.objects.filter(type=kind, worker=worker)
        .select_related("test")
        .defer("answer", "test__questions")
        .order_by("-pk")[:SHOWN_REQUESTS]
    )
    if not (kind.is_requestable or held or requests):
        return None
    outlook = qualification_requests.outlook(kind, requests[0] if requests else None, now)
    return Card(kind, held, requests, kind.needed, outlook, now, _standards(kind, open_only=kind.needed))


def _standards(kind: QualificationType, open_only: bool) -> list[list[Requirement]]:
    hit_types = kind.required_by.all()
    if open_only:
        hit_types = hit_types.filter(Exists(Hit.objects.filter(hit_type=OuterRef("pk"), state="Assignable")))
    rows = hit_types.order_by("-pk").values_list("requirements", flat=True)[:_READ_STANDARDS]
    standards = []
    for row in rows:
        asked = [one for one in row if one["QualificationTypeId"] == kind.qualification_type_id]
        if standard := [one for one in asked if "IntegerValues" in one]:
            standards.append(standard)
    return standards
