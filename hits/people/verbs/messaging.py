"""Messages to workers: each is written down, may be edited before, and is sent once at most.

NotifyWorkers takes no token, so a message whose outcome is unknown is not sent again by itself: the log says that it
may have arrived. Before the first one the marketplace is asked something that changes nothing, so that one that is away
leaves all of them waiting.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from hits.answers.rules.answer_words import Words
from hits.core.action_log import record
from hits.core.jobs.leases import Held, lease
from hits.items.rules.item_texts import ItemTexts, shortened
from hits.judging.rules.crowd_answers import Comparison
from hits.models import InboxEntry, Item, Label, Project, Stage, Worker, WorkerMessage
from hits.mturk.errors import CredentialsError, RefusedError, ThrottledError, UnreachableError
from hits.mturk.gateway import Gateway
from hits.people.models import LONGEST_SUBJECT, LONGEST_WRITTEN, OF_BLOCKS, OF_TESTS
from hits.people.rules import inbox
from hits.people.rules import recipients as ways
from hits.people.rules.inbox import with_link
from hits.people.rules.message_templates import filled, unknown_fault, values
from hits.protocols.base import COUNTED
from hits.publishing.rules.marketplace_account import gateway, sentence
from hits.refusals import Refused
from hits.stats.majority import majority_of

State = WorkerMessage.State
LEASE_SECONDS = 60
MOST_AT_ONCE = 20
# Of one text to many.
MOST_OF_STAGE = 2000
# Of a worker's own mistakes in a message, and of the latest answers among which they are looked for.
SHOWN, LOOKED_AT = 5, 100
LONGEST_EXCERPT = 120
NO_MISTAKES = "(Write here what you want the worker to do otherwise.)"


# What a message begins with


def draft(stage: Stage, worker: Worker) -> tuple[str, str]:
    """Subject and text, with the worker's latest mistakes: answers that are known to be wrong, else those that most
    others gave otherwise.
    """
    lines = _known_mistakes(stage, worker) or _others_otherwise(stage, worker) or [NO_MISTAKES]
    text = "\n".join(
        [
            f"Thank you for your answers to “{stage.hit_title}”. Please keep this in mind for the next ones:",
            "",
            *(f"- {line}" for line in lines),
            "",
            "This message changes nothing about what you have submitted. Please read the instructions once more before "
            f"you go on. If you think that we are wrong, write to {stage.project.contact_email}.",
        ]
    )
    return f"About your answers to “{stage.hit_title}”"[:LONGEST_SUBJECT], text[:LONGEST_WRITTEN]


def _own(stage: Stage, worker: Worker) -> QuerySet[Label]:
    """The worker's labels that are evidence, latest first."""
    labels = Label.objects.evidence().filter(stage=stage, worker=worker)
    return labels.select_related("item__document").order_by("-assignment__submitted_at", "-pk")


def _known_mistakes(stage: Stage, worker: Worker) -> list[str]:
    words, texts = Words.of(stage), ItemTexts.of(stage)
    return [
        f"{_excerpt(texts, label.item)} You answered “{_said(words, label)}”, which is not right."
        for label in _own(stage, worker).filter(correct=False)[:SHOWN]
    ]


def _others_otherwise(stage: Stage, worker: Worker) -> list[str]:
    comparison, words, texts = Comparison.of(stage), Words.of(stage), ItemTexts.of(stage)
    latest = [label for label in _own(stage, worker)[:LOOKED_AT] if _is_compared(comparison, label)]
    given: dict[tuple[int, str], Counter[str]] = defaultdict(Counter)
    others = Label.objects.counting().filter(item__in={label.item_id for label in latest}).exclude(worker=worker)
    for label in others.select_related("item__document"):
        if _is_compared(comparison, label):
            given[label.item_id, label.unit][_said(words, label)] += 1
    found = []
    for label in latest:
        votes = given[label.item_id, label.unit]
        usual, own = majority_of(votes), _said(words, label)
        if usual is not None and usual != own and votes[usual] > 1:
            found.append(f"{_excerpt(texts, label.item)} You answered “{own}”; most others answered “{usual}”.")
    return found[:SHOWN]


def _is_compared(comparison: Comparison, label: Label) -> bool:
    """Whether others can have said the same, in words that a sentence can quote."""
    said = comparison.value(label.unit, label.value)
    return isinstance(said, int | float) or (isinstance(said, str) and 0 < len(said) <= COUNTED)


def _said(words: Words, label: Label) -> str:
    return words.line(label.item, label.unit, label.value).said[:COUNTED]


def _excerpt(texts: ItemTexts, item: Item) -> str:
    """The beginning of the text and what was asked about it, by which the worker knows the item again.

    A sentence with a blank tells its item apart by itself.
    """
    asked = shortened(texts.asked(item), LONGEST_EXCERPT)
    if item.data.get("query"):
        return f"“{asked}”:"
    text = f"“{texts.text(item, LONGEST_EXCERPT)}”:"
    return f"{text} “{asked}”" if asked else text


# Write down


def write(
    stage: Stage,
    subject: str,
    texts: Mapping[str, str],
    confirmation: str,
    user: User | None,
    *,
    answers: InboxEntry | None = None,
) -> int:
    """Write down a message to each of these workers of the stage; `send` passes them on. Returns how many are new.

    `texts` are by worker id; `confirmation` belongs to what one opened page says: confirming that twice sends it once.
    A message that `answers` what its worker wrote marks that as answered. Raises Refused (message_refused) with
    every fault, and Refused (confirmation_used).
    """
    subject = " ".join(subject.split())
    # Workers of a file of results are at no marketplace that could pass anything on.
    here = stage.worker_stats.filter(worker__imported_into=None)
    stats = here.filter(worker__worker_id__in=list(texts)).select_related("worker")
    workers = {stat.worker.worker_id: stat.worker for stat in stats}
    if faults := [*_faults(subject, texts, workers), *_reserved(confirmation)]:
        raise Refused("message_refused", " ".join([*faults, "Nothing was sent."]), status=400, faults=faults)
    said = [(workers[worker_id], subject, text) for worker_id, text in texts.items()]
    with transaction.atomic():
        rows = _write_down(stage, said, confirmation, user, subject)
        if answers and rows:
            inbox.mark_answered(answers, user, rows[0])
    return len(rows)


def write_to(stage: Stage, recipients: str, subject: str, text: str, confirmation: str, user: User | None) -> int:
    """Write down one text to many workers, placeholders filled for each; otherwise as `write`.

    `recipients` is a way of `hits.people.rules.recipients.WAYS`. Raises Refused (unknown_recipients) too.
    """
    subject, text = " ".join(subject.split()), text.strip()
    workers = list(ways.found(stage, recipients)[: MOST_OF_STAGE + 1])
    faults = _reserved(confirmation)
    if not 1 <= len(workers) <= MOST_OF_STAGE:
        faults.append(f"There must be 1 to {MOST_OF_STAGE:,} workers to write to.")
    if not subject or not text:
        faults.append("Write a subject and a text.")
    if fault := unknown_fault(subject, text):
        faults.append(fault)
    said = [(one, filled(subject, found), filled(text, found)) for one in workers for found in [values(stage, one)]]
    if any(len(about) > LONGEST_SUBJECT for _, about, _ in said):
        faults.append(f"Write a subject of at most {LONGEST_SUBJECT:,} characters.")
    if any(len(words) > LONGEST_WRITTEN for _, _, words in said):
        faults.append(f"Write a text of at most {LONGEST_WRITTEN:,} characters.")
    if faults:
        raise Refused("message_refused", " ".join([*faults, "Nothing was sent."]), status=400, faults=faults)
    with transaction.atomic():
        return len(_write_down(stage, said, confirmation, user, subject))


def _write_down(
    stage: Stage, said: Sequence[tuple[Worker, str, str]], confirmation: str, user: User | None, subject: str
) -> list[WorkerMessage]:
    """The new ones of (worker, subject, text); `subject` is what the log says of them. Raises Refused."""
    # Under the stage's lock: of two clicks the second finds what the first one wrote.
    Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
    earlier = {row.worker_id: row for row in WorkerMessage.objects.filter(confirmation=confirmation)}
    _refuse_others(stage, said, earlier)
    rows = [
        WorkerMessage(
            project=stage.project,
            stage=stage,
            worker=worker,
            subject=about,
            text=text.strip(),
            confirmation=confirmation,
            created_by=user,
        )
        for worker, about, text in said
        if worker.pk not in earlier
    ]
    WorkerMessage.objects.bulk_create(rows, batch_size=500)
    if rows:
        record(stage.project, user, "wrote to workers", [stage], {"workers": len(rows), "subject": subject})
    return rows


def _faults(subject: str, texts: Mapping[str, str], workers: Mapping[str, Worker]) -> list[str]:
    faults = []
    if not 1 <= len(subject) <= LONGEST_SUBJECT:
        faults.append(f"Write a subject of at most {LONGEST_SUBJECT:,} characters.")
    if not 1 <= len(texts) <= MOST_AT_ONCE:
        faults.append(f"Choose 1 to {MOST_AT_ONCE} workers.")
    if unknown := sorted(set(texts) - set(workers)):
        faults.append(f"Nobody of this stage: {', '.join(unknown[:SHOWN])}.")
    if wrong := sorted(name for name, text in texts.items() if not 1 <= len(text.strip()) <= LONGEST_WRITTEN):
        faults.append(f"Write a text of at most {LONGEST_WRITTEN:,} characters to {', '.join(wrong[:SHOWN])}.")
    if any(NO_MISTAKES in text for text in texts.values()):
        faults.append("Replace the words in brackets by what you want to say.")
    return faults


def _reserved(confirmation: str) -> list[str]:
    if confirmation.startswith(OF_TESTS):
        return [f"Confirmations that begin with {OF_TESTS} belong to results of tests: choose another."]
    if confirmation.startswith(OF_BLOCKS):
        return [f"Confirmations that begin with {OF_BLOCKS} belong to blocks: choose another."]
    return []


def _refuse_others(stage: Stage, said: Sequence[tuple[Worker, str, str]], earlier: Mapping[int, WorkerMessage]) -> None:
    """Raises Refused (confirmation_used) where the messages of this confirmation are not these.

    Programs choose confirmations of their own: one that is used again must not let messages pass for sent that were
    never written. One text to many may reach workers who were not there before, so those alone say nothing.
    """
    again = [(earlier[worker.pk], about, text.strip()) for worker, about, text in said if worker.pk in earlier]
    others = any((row.stage_id, row.subject, row.text) != (stage.pk, about, text) for row, about, text in again)
    if others or (earlier and not again):
        fault = "Other messages have this confirmation: choose a fresh one."
        raise Refused("confirmation_used", f"{fault} Nothing was sent.", faults=[fault])


# Send


def send(project: Project) -> int:
    """Pass on what is written down; returns how many messages were sent.

    Raises UnreachableError when the marketplace does not answer: what was not begun waits. Another process at it makes
    it return 0.
    """
    with lease(f"messages:{project.pk}", seconds=LEASE_SECONDS) as held:
        if held is None:
            return 0
        waiting = WorkerMessage.objects.filter(project=project, state=State.PLANNED)
        # Begun by a process that is gone.
        waiting.exclude(attempted_at=None).update(
            state=State.UNKNOWN, error="It may have been sent when the program ended. It is not sent again by itself."
        )
        return _send_all(waiting, gateway(), held) if waiting.exists() else 0


def _send_all(waiting: QuerySet[WorkerMessage], market: Gateway, held: Held) -> int:
    market.balance()
    sent = 0
    while row := waiting.select_related("worker", "stage").order_by("pk").first():
        held.renew()
        # Committed before the call.
        WorkerMessage.objects.filter(pk=row.pk).update(attempted_at=timezone.now())
        sent += _send(row, market)
    return sent


def _send(row: WorkerMessage, market: Gateway) -> int:
    """Raises UnreachableError, after the row says what is known."""
    rows = WorkerMessage.objects.filter(pk=row.pk)
    try:
        why_not = market.notify(row.worker.worker_id, row.subject, with_link(row))
    except (ThrottledError, CredentialsError):
        # Nothing was done.
        rows.update(attempted_at=None)
        raise
    except UnreachableError as error:
        rows.update(
            state=State.UNKNOWN, error=f"{sentence(error)} It may have been sent; it is not sent again by itself."
        )
        raise
    except RefusedError as error:
        why_not = sentence(error)
    if why_not:
        rows.update(state=State.REFUSED, error=why_not)
        return 0
    return rows.update(state=State.SENT, sent_at=timezone.now(), error="")


def unfinished() -> list[int]:
    """Projects with messages that a crash or an absent marketplace left."""
    waiting = WorkerMessage.objects.filter(state=State.PLANNED)
    return sorted(set(waiting.order_by().values_list("project", flat=True)))


# Templates
