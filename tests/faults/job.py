"""The main job with a lead and a crowd, driven to its end whatever breaks meanwhile."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from ops.surroundings import StackError
from tests.faults.installation import WORKERS, Installation
from tests.faults.lead import Lead
from tests.faults.verdict import stuck

FIRST = "validate"
LATER = ("revalidate", "human")
LOOK_SECONDS = 0.5
SAY_SECONDS = 15.0
# The marketplace may be silent for a minute and a retry may wait as long; nothing waits for longer than this.
STUCK_SECONDS = 600
MOST_SECONDS = 4 * 3600
A_WEEK = 7 * 86_400


@dataclass
class Step:
    """Taken once, when its time has come; `take` says False when it could not be done yet."""

    name: str
    is_due: Callable[[], bool]
    take: Callable[[], bool | None]
    taken: bool = False


@dataclass
class Job:
    """`drive` returns when nothing is left to do.

    `parts` is in how many batches the items are published, the next one when the one before is nearly answered.
    With `review` the lead decides about every answer of the first stage; with `script` the lead does everything else
    that a lead may do.
    """

    it: Installation
    items: int
    answers: int = 1
    parts: int = 2
    review: bool = False
    workers: int = WORKERS
    script: bool = False
    verbose: bool = False
    lead: Lead = field(init=False)
    steps: list[Step] = field(default_factory=list)
    _published: int = 0
    _paid: int = 0
    _undone: int = 0

    def begin(self) -> None:
        self.it.begin(self.items, answers=self.answers, review=self.review)
        self.lead = Lead(self.it)
        self.steps = list(self._script()) if self.script else []
        self.it.start_crowd(workers=self.workers)

    def drive(self, meanwhile: Callable[[], bool] = lambda: True) -> None:
        """`meanwhile` is called again and again; the job is over when it says True too. Raises StackError.

        A busy machine is slow: the job is stuck only when nothing changes for `STUCK_SECONDS`.
        """
        self.drive_until(lambda: meanwhile() and self.is_over())

    def drive_until(self, reached: Callable[[], bool]) -> None:
        """As `drive`, to a point on the way."""
        began = said = changed = time.monotonic()
        state = self._state()
        while not reached():
            now = time.monotonic()
            if (latest := self._state()) != state:
                state, changed = latest, now
            if now - changed > STUCK_SECONDS or now - began > MOST_SECONDS:
                raise StackError(
                    f"Not through after {now - began:,.0f} seconds, and nothing has changed for the last "
                    f"{now - changed:,.0f}: {'; '.join(self.left())}."
                )
            if now - said > SAY_SECONDS:
                said = now
                self._say(now - began)
            self.it.check_crowd()
            self.step()
            time.sleep(LOOK_SECONDS)

    def wait(self, seconds: float) -> None:
        """A lead who looks at nothing for a while."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.it.check_crowd()
            time.sleep(LOOK_SECONDS)

    def provoke(self, seconds: float) -> None:
        """Ask for the calls whose cuts are still to be made: those that any lead can cause at any time."""
        end = time.monotonic() + seconds
        while self.it.proxy.plan.left and time.monotonic() < end:
            for stage in (FIRST, *LATER):
                self.lead.harvest(stage)
                self.lead.get(f"stages/{stage}/quote/")
            self.lead.turn_the_test()
            time.sleep(LOOK_SECONDS)
        self.drive()

    def _say(self, seconds: float) -> None:
        if self.verbose:
            cuts = ", ".join(f"{cut.operation} {cut.moment}" for cut in self.it.proxy.plan.left[:6])
            print(f"{seconds:5.0f} s: {'; '.join(self.left())}; cuts left: {cuts}", file=sys.stderr, flush=True)

    def left(self) -> list[str]:
        """What keeps the job from being over."""
        waiting = [f"step “{step.name}”" for step in self.steps if not step.taken]
        return [*stuck(self.it), *waiting]

    def _state(self) -> tuple[object, ...]:
        """What changes as long as the job goes on."""
        return self.answered(), self._published, len(self.it.proxy.plan.left), *self.left()

    def is_over(self) -> bool:
        # What is left is read table by table, and work may pass from one to another meanwhile: so it is read twice.
        return self._published == self.parts and not self.left() and not self.left()

    def step(self) -> None:
        """What a lead does all the time, and whatever of the script is due."""
        self._publish()
        if self.review:
            self.lead.review(FIRST)
        if self._count("hits_batch", "x.state = 'paused'"):
            # Closing early holds back what was not sent yet.
            self.lead.resume(FIRST)
        for step in self.steps:
            if not step.taken and step.is_due():
                step.taken = step.take() is not False

    def _publish(self) -> None:
        """The next part; after the last one, whatever waits because its HIT closed without an answer."""
        if self._published < self.parts:
            if self._count("hits_item", "x.state IN ('open', 'again')") * 5 <= self.items // self.parts:
                self._published += 1
                last = self._published == self.parts
                self.lead.publish(FIRST, None if last else self.items // self.parts)
            return
        for stage in (FIRST, *LATER):
            if self._count("hits_item", f"x.state = 'new' AND s.key = '{stage}'"):
                self.lead.publish(stage)

    def _script(self) -> Iterator[Step]:
        after, lead = self._after, self.lead
        yield Step("keep open longer", after(0.1), lambda: lead.extend(FIRST, A_WEEK))
        yield Step("pay a bonus", after(0.15), lambda: lead.pay_bonus(FIRST, 1))
        yield Step("compensate two workers", after(0.2), self._compensate)
        yield Step("one of them answers", after(0.2), self._take_up)
        yield Step("take rejections back", after(0.3), lambda: lead.take_back(FIRST, 4))
        yield Step("pay bonuses by a file", after(0.35), lambda: lead.pay_bonuses_by_file(FIRST, 12))
        yield Step("pay more bonuses", after(0.4), self._pay_on)
        yield Step("undo blocks", after(0.4), self._undo_on)
        yield Step("withdraw the other offer", after(0.5), self._withdraw)
        yield Step("close early", after(0.7), lambda: lead.expire(FIRST))
        yield Step("compare the books", self._is_done, lead.compare_the_books)
        for stage in (FIRST, *LATER):
            yield Step(f"delete {stage}", self._is_done, partial(lead.delete_hits, stage))

    def _undo_on(self) -> bool:
        """One block after the other, until every cut of that call is made or nobody is blocked; at least one."""
        if self._count_of_project("hits_block", "x.state = 'lifting'"):
            return False
        is_one = self.lead.undo_a_block()
        self._undone += is_one
        is_cut = all(cut.operation != "DisassociateQualificationFromWorker" for cut in self.it.proxy.plan.left)
        return self._undone > 0 and (is_cut or not is_one)

    def _pay_on(self) -> bool:
        """One bonus after the other, until every cut of that call is made; at least one."""
        if self._count_of_project("hits_bonus", "x.state IN ('planned', 'sent')"):
            return False
        self._paid += 1
        self.lead.pay_bonus(FIRST, 15 + self._paid)
        return not any(cut.operation == "SendBonus" for cut in self.it.proxy.plan.left)

    def _compensate(self) -> None:
        workers = self.it.rows("ours", "SELECT worker_id FROM hits_worker ORDER BY id LIMIT 2")
        for row, amount in zip(workers, ("1.10", "0.55"), strict=True):
            self.lead.compensate(row["worker_id"], amount)

    def _take_up(self) -> bool:
        """The worker who is offered more takes the private HIT and answers it."""
        offers = [offer for offer in self.lead.offers() if offer["amount"] == "1.10"]
        for offer in offers:
            self.it.answer(offer["worker_id"], offer["hit_id"], choice="yes")
        return bool(offers)

    def _withdraw(self) -> bool:
        offers = [offer for offer in self.lead.offers() if offer["amount"] == "0.55"]
        for offer in offers:
            self.lead.withdraw(offer["id"])
            # Nobody has it open, so the ten minutes that a worker would have need not be waited for.
            self.it.let_time_pass_for_offer(offer["id"])
        return bool(offers)

    def _is_done(self) -> bool:
        """Whether every answer is in and decided: what comes last may come."""
        return self._published == self.parts and not list(stuck(self.it))

    def _after(self, share: float) -> Callable[[], bool]:
        """When this share of the answers wanted is in."""
        return lambda: self.answered() >= share * self.items * self.answers

    def answered(self) -> int:
        """Answers that were fetched."""
        return self._count("hits_assignment", "TRUE")

    def _count_of_project(self, table: str, where: str) -> int:
        return int(self.it.rows("ours", f"SELECT COUNT(*) AS n FROM {table} x WHERE {where}")[0]["n"])

    def _count(self, table: str, where: str) -> int:
        sql = f"SELECT COUNT(*) AS n FROM {table} x JOIN hits_stage s ON s.id = x.stage_id WHERE {where}"
        return int(self.it.rows("ours", sql)[0]["n"])
