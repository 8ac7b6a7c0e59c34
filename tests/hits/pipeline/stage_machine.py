"""Any order of what leads, workers and chance do to a project of three stages, and what holds after each step.

The second stage asks about what the answers of the first one made, the third about a sample of that. Steps leave things
half done: an answer is submitted and not fetched, fetched and not scored, decided and not sent; calls break in the
middle.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any, ClassVar

from django.db.models import F, Q
from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from hits.answers.rules.automatic_approval import PASSED
from hits.answers.verbs import harvesting, reviewing
from hits.items.rules.new_items import make_items
from hits.items.verbs import importing
from hits.judging.verbs import computing, deciding, scoring
from hits.models import (
    Account,
    Assignment,
    Batch,
    Block,
    Bonus,
    BudgetExceededError,
    Compensation,
    Extension,
    Hit,
    Item,
    Label,
    Stage,
    Worker,
)
from hits.mturk.errors import UnreachableError
from hits.mturk.fees import bonus_fee
from hits.payments.rules.ledger_checks import held_there
from hits.payments.verbs import bonuses, checking_ledger, compensating, ordering_bonuses
from hits.projects.verbs import projects
from hits.publishing.rules.marketplace_account import gateway
from hits.publishing.verbs import closing, publishing, sending, topping_up
from hits.recipes.source import NextItem
from hits.refusals import Refused
from hits.stats.blocking import Evidence
from hits.workers.verbs import blocking
from tests.hits import factories as make
from tests.hits.broken_calls import TROUBLES, BrokenCalls
from tests.hits.crashes import Killed
from tests.hits.doing import may_refuse
from tests.hits.judging.from_scratch import SURE, TWO_AGREE, TWO_OF_THREE, Tables
from tests.hits.market import STARTING_BALANCE, Accepted, VerbRefusedError
from tests.hits.record_project import example, fields_of, lines

State = Assignment.State
pick = st.integers(0, 100)
NAMES = ["Linden", "Linden", "Linden", "Tomas Reyes", ""]
INVALID = {"answer": "0-1", "text": "Re"}
# What the calls of a step meet with.
trouble = st.sampled_from(["", "", "", "", "", *TROUBLES])
KEYS = ["validate", "revalidate", "human"]
# What a sweep does, each part by itself.
PARTS = ["compute", "send", "review", "block", "pay", "harvest", "score", "decide", "close", "ask again", "go on"]
OF_THE_PROJECT = {"send", "block", "pay", "go on"}


def anybody(stage: Stage) -> list[Evidence]:
    """Every worker may be blocked: it matters what a block does, not whom it hits."""
    names = Worker.objects.values_list("worker_id", flat=True)
    standing = Block.objects.standing().filter(project=stage.project_id).values_list("worker__worker_id", flat=True)
    found = [Evidence(name, 40, 2, 0.05, 0.5, 1e-9, 0.2, 0.01, (0.01, 0.17)) for name in names]
    return [evidence for evidence in found if evidence.worker not in set(standing)]


_moves: list[st.SearchStrategy[tuple[str, dict[str, Any]]]] = []


def move(weight: int, **given: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A step of the machine, drawn so many times as often as one of weight 1; where there is nothing to do it does
    nothing. Rules of hypothesis are switched off half of the time each, which leaves few examples with answers."""

    def keep(function: Callable[..., None]) -> Callable[..., None]:
        _moves.extend(st.tuples(st.just(function.__name__), st.fixed_dictionaries(given)) for _ in range(weight))
        return function

    return keep


class StageMachine(RuleBasedStateMachine):
    """A stage of two answers an item that a lead reviews, one of three answers that are approved at once, and a sample.

    `payments` names what the marketplace has paid; `least_seconds` are asked of workers where it takes their word.
    """

    market: ClassVar[Any]
    calls: ClassVar[BrokenCalls]
    payments: ClassVar[Callable[[], list[str]]]
    workers: ClassVar[list[str]]
    least_seconds: ClassVar[int] = 0
    numbers: ClassVar = itertools.count(1)
    seen: ClassVar[Counter[str]] = Counter()

    @initialize(
        items=st.integers(3, 5),
        cents=st.integers(100, 500),
        in_a_hit=st.sampled_from([1, 2, 3]),
        enough=st.sampled_from(["", TWO_AGREE, SURE]),
    )
    def begin(self, items: int, cents: int, in_a_hit: int, enough: str) -> None:
        self.calls.trouble = ""
        self.budget = Decimal(cents).scaleb(-2)
        self.project = projects.create_project("River", "record", self.budget, "lab@example.org", make.user(), seed=3)
        projects.want_seconds(self.project, self.least_seconds)
        self.held: list[Accepted] = []
        written = {"name": "conditions", "version": 1, "params": {"answers": 3, "text": TWO_OF_THREE}}
        reviewed = {"approval": Stage.Approval.REVIEW, "auto_approval_seconds": 86_400, "quality": {"min_answers": 1}}
        self.project.stages.filter(key="revalidate").update(answers=3, rule=written)
        projects.want_answers(self.project.stages.get(key="validate"), 2, 2)
        self.project.stages.filter(key="validate").update(**reviewed, items_per_hit=in_a_hit)
        if enough:
            self._let_answers_grow(enough)
        self.publish(items, 0, "")

    @rule(one=st.deferred(lambda: st.one_of(_moves)))
    def step(self, one: tuple[str, dict[str, Any]]) -> None:
        name, given = one
        getattr(self, name)(**given)

    # What workers do

    @move(6, which=pick, by=pick, count=st.sampled_from([2, 1, 3, 4]), name=st.sampled_from(NAMES), hasty=st.booleans())
    def answer(self, which: int, by: int, count: int, name: str, hasty: bool) -> None:
        """Several workers, one after the other, each the next HIT or the same one."""
        for number in range(count):
            if held := self._accept(which + number // 2, by + number, hasty):
                self._submit(held, name)

    @move(2, which=pick, by=pick)
    def disagree(self, which: int, by: int) -> None:
        """Two workers say different things of an item, and that is looked at."""
        for hit in self._one(self._open_hits(), which):
            for number, name in enumerate(["Linden", "Tomas Reyes"]):
                if held := self._accepted(hit, by + number, hasty=False):
                    self._submit(held, name)
            self._sweep(["harvest", "score", "decide"])

    @move(1, which=pick, by=pick)
    def accept(self, which: int, by: int) -> None:
        if held := self._accept(which, by, hasty=False):
            self.held.append(held)

    @move(2, which=pick, name=st.sampled_from(NAMES), returned=st.booleans())
    def end_an_assignment(self, which: int, name: str, returned: bool) -> None:
        for held in self.held[which % len(self.held) :][:1] if self.held else ():
            self.held.remove(held)
            if returned:
                self.market.give_back(held)
            else:
                self._submit(held, name)
            self._saw("return" if returned else "submit late")

    # What a lead does

    @move(2, items=st.integers(0, 3), which=pick, trouble=trouble)
    def publish(self, items: int, which: int, trouble: str) -> None:
        self._bring(items)
        stage = self._stage(which)
        quote = publishing.quote(stage)
        with self._meeting(trouble, "publish"), self._within_budget(quote.total, "nothing_to_publish"):
            page = f"page-{next(self.numbers)}"
            sending.send(publishing.publish(stage, quote.items, quote.total, page, None).pk)

    @move(4, which=pick, rejected=st.booleans(), sent=st.booleans(), trouble=trouble)
    def review(self, which: int, rejected: bool, sent: bool, trouble: str) -> None:
        """Also an answer that is paid and does not count until a lead says so."""
        for row in self._one(self._to_review(), which):
            if rejected:
                reviewing.reject(row.stage, [row.pk], "Not a name.", None)
            else:
                reviewing.approve(row.stage, [row.pk], None)
            what = ("held " if row.state == State.APPROVED else "") + ("reject" if rejected else "approve")
            self._carry_out(what, partial(reviewing.finish, row.stage), sent, trouble)

    @move(3, which=pick, rejected=st.booleans(), late=st.booleans(), approved=st.booleans(), trouble=trouble)
    def decide_and_undo(self, which: int, rejected: bool, late: bool, approved: bool, trouble: str) -> None:
        """A decision that waits for its undo while the marketplace may approve and a worker of jobs goes on. `late`:
        its time is over before the undo comes.
        """
        for row in self._one(self._answers(state=State.SUBMITTED, decision=""), which):
            if rejected:
                reviewing.reject(row.stage, [row.pk], "Not a name.", None, undoable=True)
            else:
                reviewing.approve(row.stage, [row.pk], None, undoable=True)
            self.the_tables_agree()
            there = gateway().assignment(row.assignment_id).status
            if approved and there == State.SUBMITTED:
                gateway().approve(row.assignment_id)
                there = State.APPROVED
            if late:
                Assignment.objects.filter(pk=row.pk).update(not_before=timezone.now())
            with self._meeting(trouble, "decide and go on"):
                self._sweep(["review", "harvest", "score", "decide"])
            self._undo_decision(row, there)

    def _undo_decision(self, row: Assignment, there: str) -> None:
        """It is undone exactly where nothing of it can have been sent; of what was not sent nothing was done there."""
        waits = reviewing.can_be_undone(Assignment.objects.get(pk=row.pk))
        try:
            reviewing.undo(row.stage, [row.pk], None)
        except Refused as refusal:
            assert refusal.error_code == "undo_too_late" and not waits
            self._saw("undo too late")
        else:
            assert waits and gateway().assignment(row.assignment_id).status == there
            row.refresh_from_db()
            assert (row.state, row.decision, row.feedback, row.not_before, row.admitted) == (
                State.SUBMITTED, "", "", None, None,
            )  # fmt: skip
            self._saw("undo a decision")

    @move(2, which=pick, sent=st.booleans(), trouble=trouble)
    def take_a_rejection_back(self, which: int, sent: bool, trouble: str) -> None:
        for row in self._one(self._rejected(), which):
            with self._within_budget(row.hit.unit_cost):
                reviewing.take_back(row.stage, [row.pk], None)
            self._carry_out("take back", partial(reviewing.finish, row.stage), sent, trouble)

    @move(2, which=pick, trouble=trouble)
    def block(self, which: int, trouble: str) -> None:
        for row in self._one(self._not_blocked(), which):
            with self._meeting(trouble, "block"):
                blocking.block(row.stage, [row.worker.worker_id], None)

    @move(2, which=pick, trouble=trouble)
    def undo(self, which: int, trouble: str) -> None:
        for row in self._one(self._blocks(), which):
            with self._meeting(trouble, "undo"):
                blocking.undo(row, None)

    @move(2, which=pick, by=pick, name=st.sampled_from(NAMES))
    def block_replace_and_undo(self, which: int, by: int, name: str) -> None:
        """Answers are bought in the place of those that a block takes away, and these come back."""
        for row in self._one(self._not_blocked(), which):
            blocking.block(row.stage, [row.worker.worker_id], None)
            self._sweep()
            for number, hit in enumerate(self._open_hits().filter(item__labels__worker=row.worker).distinct()[:3]):
                if held := self._accepted(hit, by + number, hasty=False):
                    self._submit(held, name)
            self._sweep()
            self.the_tables_agree()
            blocking.undo(Block.objects.in_force().get(worker=row.worker, project=self.project), None)
            self._saw("replace")

    @move(2, which=pick, how=st.sampled_from(["expire", "extend", "pause", "resume", "delete"]), trouble=trouble)
    def steer(self, which: int, how: str, trouble: str) -> None:
        stage = self._stage(which)
        steps: dict[str, Callable[[], object]] = {
            "expire": lambda: sending.send(publishing.expire(stage, None).pk),
            "extend": lambda: sending.send(publishing.extend(stage, 86_400, None).pk),
            "pause": lambda: publishing.pause(stage),
            "resume": lambda: publishing.resume(stage),
            "delete": lambda: sending.send(publishing.delete_hits(stage, None).pk),
        }
        with self._meeting(trouble, how), may_refuse("nothing_to_delete", "no_effect"):
            steps[how]()

    @move(2, which=pick, cents=st.integers(1, 40), sent=st.booleans(), trouble=trouble)
    def pay_a_bonus(self, which: int, cents: int, sent: bool, trouble: str) -> None:
        amount = Decimal(cents).scaleb(-2)
        total = amount + bonus_fee(amount)
        for row in self._one(self._decided(), which):
            new = [ordering_bonuses.NewBonus(row, amount, f"Bonus {next(self.numbers)}")]
            with self._within_budget(total):
                ordering_bonuses.order(self.project, new, total, f"bonus-{next(self.numbers)}", None)
            self._carry_out("bonus", lambda: bonuses.send(self.project), sent, trouble)

    @move(1, which=pick, cents=st.integers(1, 30), sent=st.booleans(), trouble=trouble)
    def offer_a_compensation(self, which: int, cents: int, sent: bool, trouble: str) -> None:
        worker, amount = self.workers[which % len(self.workers)], Decimal(cents).scaleb(-2)
        total = amount + bonus_fee(amount)
        with self._within_budget(total, "already_offered"):
            page = f"compensation-{next(self.numbers)}"
            compensating.order(self.project, worker, amount, "The page broke.", total, page, None)
        self._carry_out("compensation", lambda: compensating.finish(self.project), sent, trouble)

    @move(3, which=pick, taken=st.booleans())
    def end_a_compensation(self, which: int, taken: bool) -> None:
        for row in self._one(self._offers(), which):
            with suppress(VerbRefusedError), may_refuse("not_withdrawable"):
                if taken:
                    self.market.answer(row.worker_id, row.hit_id, choice="yes")
                else:
                    compensating.withdraw(row, None)
                self._saw("take a compensation up" if taken else "withdraw")

    # What chance does

    @move(1, which=pick)
    def decide_a_dispute_there(self, which: int) -> None:
        """By another program: what was rejected, or waits, is approved at the marketplace."""
        rows = self._answers(state__in=[State.SUBMITTED, State.REJECTED], hit__deleted_at=None)
        for row in self._one(rows, which):
            status = gateway().assignment(row.assignment_id).status
            if status != State.APPROVED:
                gateway().approve(row.assignment_id, override=status == State.REJECTED)
                self._saw("dispute")

    @move(2, which=pick, of=pick)
    def read_late(self, which: int, of: int) -> None:
        """What is looked at shows how it was before."""
        self._make_due()
        with self.calls.late(of):
            harvesting.harvest(self._stage(which), sweep=False)
        self._saw("late read")

    @move(1)
    def let_a_day_pass(self) -> None:
        """The marketplace forgets its tokens, also of calls of which nobody knows what came of them."""
        self.market.forget_tokens()
        for model in (Hit, Extension, Bonus, Compensation):
            asked = model.objects.filter(attempted_at__isnull=False)
            asked.update(attempted_at=F("attempted_at") - timedelta(hours=25))
        self._saw("a day")

    # What goes on by itself

    @move(8, first=st.integers(0, len(PARTS) - 1), count=st.integers(1, len(PARTS)), trouble=trouble)
    def go_on(self, first: int, count: int, trouble: str) -> None:
        """A sweep, or a part of one."""
        with self._meeting(trouble, "sweep"):
            self._sweep(PARTS[first : first + count])

    def _sweep(self, parts: Sequence[str] = PARTS) -> None:
        for part in parts:
            for stage in self._stages()[: 1 if part in OF_THE_PROJECT else None]:
                self._do(part, stage)

    def _do(self, part: str, stage: Stage) -> None:
        parts: dict[str, Callable[[], object]] = {
            "send": self._send,
            "review": lambda: reviewing.finish(stage),
            "block": lambda: blocking.finish(stage),
            "pay": self._pay,
            "harvest": lambda: self._harvest(stage),
            "score": lambda: scoring.score(stage),
            "decide": lambda: deciding.decide(stage),
            "compute": lambda: self._compute(stage),
            "close": lambda: closing.close_unwanted(stage),
            "ask again": lambda: self._ask_again(stage),
            "go on": self._make_of_answers,
        }
        parts[part]()

    def _send(self) -> None:
        for pk in publishing.unfinished():
            sending.send(pk)

    def _pay(self) -> None:
        bonuses.send(self.project)
        Compensation.objects.filter(project=self.project).update(looked_at=None)
        compensating.finish(self.project)

    def _harvest(self, stage: Stage) -> None:
        self._make_due()
        harvesting.harvest(stage)

    def _compute(self, stage: Stage) -> None:
        """What items wait for; then they are decided."""
        for run in filter(None, [computing.start_when_due(stage)]):
            computing.run(run.pk)
            if waiting := stage.items.filter(waits_for_values=True).count():
                deciding.decide(stage)
                left = stage.items.filter(waits_for_values=True, stale=False).count()
                self._saw("computed values" if left < waiting else "computed nothing new")

    def _ask_again(self, stage: Stage) -> None:
        if batch := topping_up.top_up(stage):
            sending.send(batch.pk)

    def _make_of_answers(self) -> None:
        """As a stage does whose workers write what the next stage asks: one item of each answer that counts."""
        stages = {stage.key: stage for stage in self._stages()}
        rows = Label.objects.filter(stage=stages["validate"], void=False).select_related("item", "assignment")
        made = [
            (
                row.item,
                NextItem(
                    "revalidate",
                    f"of-{row.assignment.assignment_id}-{row.item.pk}",
                    row.item.data,
                    source=row.assignment.assignment_id,
                ),
            )
            for row in rows.order_by("pk")
        ]
        if make_items(stages["revalidate"], made):
            self._saw("make of answers")
        found = Item.objects.filter(stage=stages["revalidate"], stale=False).exclude(state=Item.State.WITHDRAWN)
        drawn = [(item, NextItem("human", f"drawn-{item.key}", item.data)) for item in found.order_by("pk")]
        make_items(stages["human"], drawn)

    # What always holds

    @invariant()
    def nothing_is_approved_unchecked(self) -> None:
        """In time: no decision by itself but about what passed, and none by the marketplace before its last resort."""
        if hasattr(self, "project"):
            asked = Assignment.objects.filter(
                state=State.SUBMITTED, decision=State.APPROVED, stage__approval=Stage.Approval.AUTOMATIC
            )
            by_itself = asked.exclude(actions__verb="approved").exclude(PASSED)
            # What a block has made void since was decided before it.
            assert (
                not by_itself.filter(approve_at__isnull=False).exists() and not by_itself.exclude(problem="").exists()
            )

    @invariant()
    def the_tables_agree(self) -> None:
        if hasattr(self, "project"):
            tables = Tables(self.project)
            self.money_is_what_the_rows_say(tables)
            self.nothing_is_paid_twice(tables)
            self.labels_count_as_the_rows_say(tables)
            self.verdicts_are_what_the_labels_say(tables)

    def money_is_what_the_rows_say(self, tables: Tables) -> None:
        account = Account.objects.get(project=self.project)
        assert (account.reserved, account.paid) == tables.entered() == tables.owed()
        assert account.reserved >= 0 and account.reserved + account.paid <= self.budget

    def nothing_is_paid_twice(self, tables: Tables) -> None:
        assert tables.paid_answers() == tables.approved_answers()
        assert [name for name, count in Counter(self.payments()).items() if count > 1] == []

    def labels_count_as_the_rows_say(self, tables: Tables) -> None:
        assert {pk: not row["void"] for pk, row in tables.labels.items()} == {
            pk: tables.counts(row) for pk, row in tables.labels.items()
        }
        # An answer is judged when it is scored, and so are those that depend on it.
        if all(answer["scored"] for answer in tables.answers.values()):
            assert {pk: row["held_for"].split() for pk, row in tables.answers.items()} == {
                pk: tables.causes(row) for pk, row in tables.answers.items()
            }

    def verdicts_are_what_the_labels_say(self, tables: Tables) -> None:
        for item in tables.judged():
            outcome, votes, standing = tables.outcome(item), tables.votes(item), tables.verdicts.get(item["id"])
            assert (standing["outcome"] if standing else "open") == outcome
            if standing:
                assert (standing["detail"]["right"], standing["detail"]["wrong"]) == (
                    votes.count(True),
                    votes.count(False),
                )
            if item["wanted"] is not None and not tables.withdrawn(item):
                assert item["wanted"] == tables.wanted(item)
                self._saw("want more" if item["wanted"] > tables.stages[item["stage_id"]]["answers"] else "want few")
            if item["waits_for_values"]:
                # Its answers are there, and none is bought for it.
                assert item["state"] == "open" and len(tables.votes(item)) == tables.wanted(item)
                self._saw("wait for values")
            assert not item["further"] or item["state"] in ("open", "again")
            state = "void" if tables.withdrawn(item) else outcome
            assert item["state"] == state or (state == "open" and item["state"] in ("new", "open", "again"))

    def teardown(self) -> None:
        """Everything that was begun comes to its end, and both sides agree to the cent."""
        if not hasattr(self, "project"):
            return
        self.calls.trouble = ""
        for stage in self._stages():
            publishing.resume(stage)
        for _ in range(3):
            self._answers().exclude(decision="").update(not_before=None)
            Bonus.objects.update(not_before=None)
            Compensation.objects.update(looked_at=None)
            self._sweep()
        self.the_tables_agree()
        self.both_sides_agree()
        assert not Item.objects.filter(stage__project=self.project, waits_for_values=True, stale=False).exists()

    def both_sides_agree(self) -> None:
        left = Batch.objects.exclude(state=Batch.State.PUBLISHED).filter(stage__project=self.project)
        assert [(batch.kind, batch.state, batch.message) for batch in left] == []
        assert not self._answers().exclude(decision="").exists()
        assert not Item.objects.filter(stage__project=self.project, stale=True).exists()
        check = checking_ledger.check(self.project, None, deep=True)
        assert (check.state, check.faults) == ("done", [])
        there = gateway().balance()
        # The marketplace knows one account for the projects of all examples.
        paid = sum(Account.objects.values_list("paid", flat=True), Decimal(0))
        assert Decimal(STARTING_BALANCE) - there.available - (there.on_hold or 0) == paid
        assert there.on_hold == held_there()

    # Parts

    def _let_answers_grow(self, enough: str) -> None:
        """Of both stages: items get further answers until two agree, or their value is sure enough."""
        for key, least, most in (("validate", 2, 4), ("revalidate", 1, 4)):
            stage = self.project.stages.get(key=key)
            stage.rule["params"]["answers"] = most
            stage.answers, stage.most_answers, stage.enough, stage.items_per_hit = least, most, enough, 1
            stage.save()

    def _bring(self, items: int) -> None:
        examples = [example(next(self.numbers)) for _ in range(items)]
        examples = [{**one, "qas": [{**qa, "id": f"{one['id']}-q"} for qa in one["qas"]]} for one in examples]
        if examples:
            upload = importing.create_upload(self.project, "more.jsonl", lines(examples), "public", None)
            assert importing.import_upload(upload.pk) == items

    @contextmanager
    def _meeting(self, trouble: str, what: str) -> Iterator[None]:
        self.calls.trouble = trouble
        try:
            yield
        except (Killed, UnreachableError):
            self._saw(f"{what}, {trouble}")
        else:
            self._saw(what)
        finally:
            self.calls.trouble = ""

    def _carry_out(self, what: str, work: Callable[[], object], now: bool, trouble: str) -> None:
        with self._meeting(trouble, what):
            if now:
                work()

    @contextmanager
    def _within_budget(self, cost: Decimal, *codes: str) -> Iterator[None]:
        """The budget refuses exactly what does not fit; what is refused with one of these codes is none of its."""
        left = Account.objects.get(project=self.project).left
        try:
            yield
        except BudgetExceededError:
            assert cost > left
        except Refused as refusal:
            assert refusal.error_code in codes
        else:
            assert cost <= left

    def _saw(self, what: str) -> None:
        self.seen[what] += 1

    def _accept(self, which: int, by: int, hasty: bool) -> Accepted | None:
        """None where the marketplace does not let the worker in."""
        return next((self._accepted(hit, by, hasty) for hit in self._one(self._open_hits(), which)), None)

    def _accepted(self, hit: Hit, by: int, hasty: bool) -> Accepted | None:
        took = {"seconds_ago": 0 if hasty else 4 * self.least_seconds} if self.least_seconds else {}
        with suppress(VerbRefusedError):
            found: Accepted = self.market.accept(self.workers[by % len(self.workers)], hit_id=hit.hit_id, **took)
            return found
        return None

    def _submit(self, held: Accepted, name: str) -> None:
        """Without a name, what is said about the last item is no answer."""
        hit = Hit.objects.select_related("item__document").get(hit_id=held.hit_id)
        items = [hit.item, *(row.item for row in hit.further.select_related("item__document").order_by("number"))]
        said = [fields_of(item, name or "Linden") for item in items]
        before = {
            f"item{number}:{field}": value for number, one in enumerate(said[:-1], 1) for field, value in one.items()
        }
        self.market.submit(held, **before, **(said[-1] if name else INVALID))
        self._saw("answer to several" if before else "answer")

    def _make_due(self) -> None:
        rows = Hit.objects.filter(stage__project=self.project, hit_id__isnull=False, deleted_at=None)
        rows.update(due_at=timezone.now())

    def _stages(self) -> list[Stage]:
        rows = Stage.objects.select_related("project__account", "summary").filter(project=self.project)
        return list(rows.filter(key__in=KEYS).order_by("position"))

    def _stage(self, which: int) -> Stage:
        return self._stages()[which % len(KEYS)]

    def _answers(self, **where: Any) -> Any:
        rows = Assignment.objects.filter(stage__project=self.project, **where)
        return rows.select_related("hit", "stage__project__account", "worker")

    def _to_review(self) -> Any:
        waiting = Q(state=State.SUBMITTED, decision="") | Q(state=State.APPROVED, admitted=None) & ~Q(held="")
        return self._answers().filter(waiting)

    def _rejected(self) -> Any:
        return self._answers(state=State.REJECTED, decision="", hit__deleted_at=None)

    def _decided(self) -> Any:
        return self._answers(state__in=[State.APPROVED, State.REJECTED])

    def _not_blocked(self) -> Any:
        standing = Block.objects.standing().filter(project=self.project).values("worker")
        return self._answers().exclude(worker__in=standing)

    def _blocks(self) -> Any:
        return Block.objects.in_force().filter(project=self.project)

    def _offers(self) -> Any:
        return Compensation.objects.filter(project=self.project, state=Compensation.State.OFFERED)

    def _open_hits(self) -> Any:
        live = Hit.objects.filter(stage__project=self.project, state=Hit.State.LIVE)
        return live.filter(expires_at__gt=timezone.now())

    @staticmethod
    def _one(rows: Any, which: int) -> list[Any]:
        """One row, or none where there is none."""
        found = list(rows.order_by("pk"))
        return [found[which % len(found)]] if found else []
