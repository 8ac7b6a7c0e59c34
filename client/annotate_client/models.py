"""For a model that answers items beside people: take items, answer them, and go on until none is left."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, SupportsFloat, TypeAlias, cast

from annotate_client.api import URL, SignedIn, path
from annotate_client.errors import AnnotateError, ApiError
from annotate_client.progress import LONGER, LONGEST_PAUSE, Progress, Report
from annotate_client.shapes import LeasedItem, LeasedItems, ModelHome, StageForModel, StoredAnswers

#: In the environment.
MODEL_TOKEN = "ANNOTATE_MODEL_TOKEN"
REFUSED = frozenset({"model_answers_refused", "answered_otherwise"})
#: Milliseconds that an answer may have taken.
LONGEST_DAY = 86_400_000
#: Seconds between two questions for items while none is left, at first.
FIRST_PAUSE = 1.0


#: An item to answer; `task` is what the page of a worker shows, as data.
GivenItem: TypeAlias = LeasedItem


class ModelAnswerError(AnnotateError, ValueError):
    """An answer that cannot be sent. `item` is the id of its item, `name` what of it is wrong, and `value` that."""

    def __init__(self, item: int, name: str, value: object, why: str) -> None:
        super().__init__(f"The {name} {value!r:.80} of the answer to item {item} is {why}.")
        self.item, self.name, self.value = item, name, value


class NotGivenAgainWarning(UserWarning):
    """A model was given items three times and did not answer them, so it is not given them any more."""


class ModelAnswersRefusedError(AnnotateError):
    """Answers of which none was stored. `faults` has each fault once, with the items that have it."""

    def __init__(self, error: ApiError) -> None:
        self.code = error.code
        self.faults: list[dict[str, Any]] = list(error.details.get("faults", []))
        lines = [f"  {fault['message']} (items {', '.join(map(str, fault['items']))})" for fault in self.faults]
        super().__init__("\n".join([error.message, *lines]))

    @property
    def items(self) -> set[int]:
        """Ids of the items whose answers are refused: take these out and send the rest."""
        return {item for fault in self.faults for item in fault["items"]}


@dataclass(frozen=True)
class ModelAnswer:
    """What a model says of one item.

    `fields` are names to texts, as the page of a worker posts them. `confidence` is 0 to 1: how sure the model is that
    it is right, also as a scalar of numpy. `cost` is in dollars; None: the model's usual one.
    """

    fields: dict[str, str]
    confidence: SupportsFloat | None = None
    milliseconds: SupportsFloat | None = None
    cost: Decimal | str | None = None

    def about(self, item: int) -> dict[str, Any]:
        """As the API takes it. Raises ModelAnswerError."""
        confidence = _number(item, "confidence", self.confidence, 0, 1)
        milliseconds = _number(item, "milliseconds", self.milliseconds, 0, LONGEST_DAY)
        return {
            "item": item,
            "fields": self.fields,
            "confidence": confidence,
            "milliseconds": None if milliseconds is None else round(milliseconds),
            "cost": None if self.cost is None else str(self.cost),
        }


def _number(item: int, name: str, value: Any, least: float, most: float) -> float | None:
    """Also of what is a number by `__float__` alone, such as the scalars of numpy. Raises ModelAnswerError."""
    if value is None:
        return None
    try:
        number = math.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not least <= number <= most:
        raise ModelAnswerError(item, name, value, f"no number from {least:,} to {most:,}")
    return number


class ModelClient(SignedIn):
    """With the token of a model, which is no lead's and opens nothing else."""

    scheme = "Model"
    names = (URL, MODEL_TOKEN)

    def about(self) -> ModelHome:
        """Who the token is, and how far each stage is."""
        return cast(ModelHome, self.api.get("model/"))

    def stage(self, key: str) -> StageForModel:
        """How an answer looks. Raises NotFoundError."""
        return cast(StageForModel, self.api.get(path("model", "stages", key)))

    def take(self, stage: str, count: int = 20, lease_seconds: int = 600) -> list[GivenItem]:
        """Up to `count` items (100 at most) that nobody else of this model has until the lease ends.

        Empty: none is free. `about` says how many of the stage are leased, and how many are not given again.
        """
        return self._take(stage, count, lease_seconds)["items"]

    def _take(self, stage: str, count: int, lease_seconds: int) -> LeasedItems:
        body = {"count": count, "lease_seconds": lease_seconds}
        return cast(LeasedItems, self.api.post(path("model", "stages", stage, "items"), body))

    def answer(self, stage: str, answers: Iterable[tuple[int, ModelAnswer]]) -> StoredAnswers:
        """Answer items by their ids, 100 at most at once. The same answers sent again change nothing.

        Raises ModelAnswerError, and ModelAnswersRefusedError with every fault; then none of them is stored.
        """
        return self._send(stage, [answer.about(item) for item, answer in answers])

    def _send(self, stage: str, answers: Sequence[dict[str, Any]]) -> StoredAnswers:
        try:
            said = self.api.post(path("model", "stages", stage, "answers"), {"answers": answers}, repeatable=True)
        except ApiError as error:
            if error.code in REFUSED:
                raise ModelAnswersRefusedError(error) from error
            raise
        return cast(StoredAnswers, said)

    def run(
        self,
        stage: str,
        predict: Callable[[GivenItem], ModelAnswer],
        *,
        count: int = 20,
        lease_seconds: int = 600,
        idle_seconds: float = 0.0,
        progress: Report | None = None,
    ) -> int:
        """Answer what is there, and what comes within `idle_seconds` after the last item; how many answers were new.

        Items that another process of this model has, or one that ended without answering them, are waited for until
        they are answered or given again. Where the model was given items three times and did not answer them, it
        warns with NotGivenAgainWarning at the end.

        What `predict` raises ends it, and so does an answer that is refused, with ModelAnswersRefusedError; the other
        answers until then are stored.
        """
        new, pause, idle_since = 0, FIRST_PAUSE, time.monotonic()
        report = _changes(progress)
        while True:
            taken = self._take(stage, count, lease_seconds)
            if taken["items"]:
                new += self._answer_all(stage, taken["items"], predict)
                report(f"Answering {stage} ({new:,} new answers)")
                pause, idle_since = FIRST_PAUSE, time.monotonic()
                continue
            left = idle_since + idle_seconds - time.monotonic()
            if next_free := taken["next_free_at"]:
                report(f"Waiting for {stage}: {taken['leased']:,} items are leased, the next is free at {next_free}")
                left = LONGEST_PAUSE
            if left <= 0:
                _warn_of(stage, taken["not_given_again"])
                return new
            time.sleep(min(pause, left))
            pause = min(pause * LONGER, LONGEST_PAUSE)

    def _answer_all(self, stage: str, items: Sequence[GivenItem], predict: Callable[[GivenItem], ModelAnswer]) -> int:
        """How many answers were new. What `predict` raises is raised after the answers before it are stored."""
        answers: list[dict[str, Any]] = []
        new = 0
        try:
            for item in items:
                answers.append(predict(item).about(item["id"]))
        finally:
            if answers:
                new = self._store(stage, answers)
        return new

    def _store(self, stage: str, answers: Sequence[dict[str, Any]]) -> int:
        try:
            return self._send(stage, answers)["new"]
        except ModelAnswersRefusedError as error:
            if rest := [answer for answer in answers if answer["item"] not in error.items]:
                self._send(stage, rest)
            raise


def _changes(progress: Report | None) -> Callable[[str], None]:
    """What reports a sentence, unless it was the last one too."""
    told = ""

    def report(what: str) -> None:
        nonlocal told
        if progress and what != told:
            progress(Progress(what, 0, 0))
        told = what

    return report


def _warn_of(stage: str, count: int) -> None:
    if count:
        warnings.warn(
            f"{count:,} items of {stage} were given to this model three times without an answer and are not given to "
            "it any more. A manager or an owner of the project can give them again on the page “Models”.",
            NotGivenAgainWarning,
            stacklevel=3,
        )
