"""A stage: price, publishing, waiting for its answers, results, agreement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, cast

from annotate_client.api import Api, path
from annotate_client.errors import (
    AnnotateError,
    BudgetRequestedError,
    ConflictError,
    WaitTimeoutError,
)
from annotate_client.progress import Progress, Report, watch
from annotate_client.shapes import (
    AgreementShape,
    AnswerShape,
    BatchShape,
    BudgetRequestShape,
    FiguresShape,
    ItemShape,
    QuoteShape,
    RunShape,
    StageShape,
)
from annotate_client.tables import frame_of

if TYPE_CHECKING:
    import pandas

# Of a batch whose calls are made, and of a computation that has ended.
PUBLISHED = "published"
RUN_DONE = "done"
WHEN_THEY_COME_IN = "Counted are the answers of HITs that have all they ask for, or have ended."
RUN_ENDED = frozenset({RUN_DONE, "failed", "stopped"})


@dataclass(frozen=True)
class Quote:
    """What publishing would cost. `row` has the rest: reward, fee, hourly wage, the budget left, closing time."""

    stage: str
    row: QuoteShape

    @property
    def items(self) -> int:
        return self.row["items"]

    @property
    def total(self) -> Decimal:
        """The most that it can cost, in dollars."""
        return Decimal(self.row["total"])

    @property
    def problems(self) -> list[str]:
        """Sentences that stop it."""
        return self.row["problems"]

    @property
    def warnings(self) -> list[str]:
        """Sentences that want a second look."""
        return self.row["warnings"]

    def __str__(self) -> str:
        said = f"{self.items:,} items, {self.row['answers']:,} answers, at most ${self.total:,.2f}"
        return "\n".join([said, *self.problems, *self.warnings])


class Stage:
    """`row` is what the API said last; `refresh` asks again."""

    def __init__(self, api: Api, slug: str, row: StageShape) -> None:
        self.api = api
        self.slug = slug
        self.row = row

    def __repr__(self) -> str:
        return f"Stage({self.slug!r}, {self.key!r})"

    @property
    def key(self) -> str:
        """Names it in addresses."""
        return self.row["key"]

    @property
    def figures(self) -> FiguresShape:
        return self.row["figures"]

    def refresh(self) -> Stage:
        self.row = cast(StageShape, self.api.get(self._path()))
        return self

    def change(self, **settings: Any) -> Stage:
        """Change settings such as `answers=5` or `reward="0.10"`. Raises InvalidError and ConflictError."""
        self.row = cast(StageShape, self.api.call("PATCH", self._path(), body=settings)[1])
        return self

    # Publishing

    def quote(self, items: int | None = None) -> Quote:
        """What it costs to publish the next `items` items that wait, all of them by default. It changes nothing."""
        return Quote(self._path(), cast(QuoteShape, self.api.get(self._path("quote"), items=items)))

    def publish(self, quote: Quote, *, confirm: Decimal | str | float) -> BatchShape:
        """Publish the items of the quote and reserve its money. `confirm` is its total in dollars, given back.
        `row` is what the stage is then.

        Called again with the same quote it gives the same batch, so nothing is paid twice. Raises AnnotateError
        where `confirm` is another amount, ConflictError (code `quote_changed`) where the price is another by now, and
        BudgetRequestedError where an owner has to agree first.
        """
        self._refuse_unconfirmed(quote, confirm)
        body = {"items": quote.items, "total": quote.row["total"], "confirmation": quote.row["confirmation"]}
        status, said = self.api.call("POST", self._path("publish"), body=body, repeatable=True)
        if status == 200:
            raise BudgetRequestedError(cast(BudgetRequestShape, said))
        self.refresh()
        return cast(BatchShape, said)

    def _refuse_unconfirmed(self, quote: Quote, confirm: Decimal | str | float) -> None:
        if quote.stage != self._path():
            raise AnnotateError(f"The quote is one of {quote.stage} and not of {self._path()}.")
        if not quote.items:
            raise AnnotateError(" ".join(["Nothing can be published.", *quote.problems]))
        if _amount(confirm) != quote.total:
            raise AnnotateError(f"Confirmed is {confirm!r}, and the quote says {quote.row['total']}.")

    def batches(self) -> Iterator[BatchShape]:
        """What was published, closed, extended and deleted at the marketplace."""
        return self.api.pages(self._path("batches"))

    def wait(self, *, progress: Report | None = None, timeout: float = 3600.0) -> FiguresShape:
        """Wait until every item that was published has its verdict; the figures then.

        Answers come in when their HIT has all that it asks for, or has ended; until then they count nowhere.
        Raises AnnotateError where nothing is published, and WaitTimeoutError after so many seconds, with what
        holds it up as far as that is known. Answers come in as before: wait again.
        """
        if not self.refresh().figures["published"]:
            raise AnnotateError(f"Nothing of {self.key} is published. Publish it first.")
        row, is_over = watch(
            lambda: self.refresh().row,
            lambda row: _of_answers(row["figures"]),
            lambda row: not row["figures"]["open"] and not row["figures"]["is_old"],
            progress,
            timeout,
        )
        if not is_over:
            raise WaitTimeoutError(timeout, _of_answers(row["figures"]), self._held_up(row["figures"]))
        return row["figures"]

    def _held_up(self, figures: FiguresShape) -> str:
        """As sentences."""
        said = [WHEN_THEY_COME_IN]
        said += [batch["message"] for batch in self.batches() if batch["state"] != PUBLISHED and batch["message"]]
        if waiting := figures["to_review"]:
            said.append(f"{waiting:,} answers wait for your review.")
        return " ".join(said)

    # Results

    def items(self, **filters: Any) -> Iterator[ItemShape]:
        """With their verdicts; filters are those of the API, such as `state="kept"`. A page at a time is read."""
        return self.api.pages(self._path("items"), **filters)

    def answers(self, **filters: Any) -> Iterator[AnswerShape]:
        """As they were posted, with their labels. A page at a time is read."""
        return self.api.pages(self._path("answers"), **filters)

    def iter_results(
        self, *, workers: str = "pseudonyms", answers: str = "counting", inputs: bool = False
    ) -> Iterator[dict[str, Any]]:
        """A row for each label, what one answer says about one unit of an item, read while it is sent.

        `workers="ids"` has the ids of workers, `answers="all"` also what does not count and `not_counted`, why;
        `inputs` adds what each item shows as `Input.*`.
        """
        return self.api.lines(
            self._path("results"), file="jsonl", workers=workers, answers=answers, inputs=inputs or None
        )

    def results(
        self, *, workers: str = "pseudonyms", answers: str = "counting", inputs: bool = False
    ) -> list[dict[str, Any]]:
        """All rows of `iter_results`."""
        return list(self.iter_results(workers=workers, answers=answers, inputs=inputs))

    def results_frame(
        self, *, workers: str = "pseudonyms", answers: str = "counting", inputs: bool = False
    ) -> pandas.DataFrame:
        """The same as a DataFrame, made piece by piece. Raises ImportError without pandas."""
        return frame_of(self.iter_results(workers=workers, answers=answers, inputs=inputs))

    # Agreement

    def agreement(self) -> AgreementShape:
        """How far workers agree, as it was computed last; `run` is None where it never was."""
        return cast(AgreementShape, self.api.get(self._path("agreement")))

    def compute_agreement(
        self, method: str = "majority", *, progress: Report | None = None, timeout: float = 3600.0
    ) -> AgreementShape:
        """Compute it over the answers that are there now, with one value of each item by `method`, and wait for it.

        The server computes it by itself as answers come in: such a run is waited for first. Raises
        AnnotateError, and WaitTimeoutError after so many seconds: then it goes on.
        """
        computation = self.agreement()["computation"]
        body = {"computation": computation, "params": {"method": method}}
        try:
            started = self._start(body)
        except ConflictError:
            for run in self.api.pages(path("projects", self.slug, "computation-runs")):
                if run["computation"] == computation and run["state"] not in RUN_ENDED:
                    self._ended(run, progress, timeout)
                    break
            started = self._start(body)
        run = self._ended(started, progress, timeout)
        if run["state"] != RUN_DONE:
            raise AnnotateError(f"The agreement was not computed ({run['state']}). {run['error']}".rstrip())
        return self.agreement()

    def _start(self, body: dict[str, Any]) -> RunShape:
        return cast(RunShape, self.api.post(path("projects", self.slug, "computation-runs"), body))

    def _ended(self, started: RunShape, progress: Report | None, timeout: float) -> RunShape:
        """The run at its end. Raises WaitTimeoutError."""
        run, is_over = watch(
            lambda: cast(RunShape, self.api.get(path("projects", self.slug, "computation-runs", started["id"]))),
            _of_run,
            lambda row: row["state"] in RUN_ENDED,
            progress,
            timeout,
        )
        if not is_over:
            raise WaitTimeoutError(timeout, _of_run(run))
        return run

    def _path(self, *parts: object) -> str:
        return path("projects", self.slug, "stages", self.key, *parts)


def _amount(given: Decimal | str | float) -> Decimal | None:
    """In dollars; None for what is no amount."""
    try:
        return Decimal(str(given))
    except InvalidOperation:
        return None


def _of_answers(figures: FiguresShape) -> Progress:
    published = figures["published"]
    return Progress(f"Collecting ({figures['answers']:,} answers)", published - figures["open"], published)


def _of_run(row: RunShape) -> Progress:
    return Progress("Computing agreement", row["done"], row["total"])
