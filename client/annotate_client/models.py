"""For a model that answers items beside people: take items, answer them, and go on until none is left."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias, cast

from annotate_client.api import Api, path
from annotate_client.client import ADDRESS
from annotate_client.errors import AnnotateError, ApiError
from annotate_client.progress import LONGER, LONGEST_PAUSE, Progress, Report
from annotate_client.shapes import LeasedItem, ModelHome, StageForModel, StoredAnswers

#: In the environment.
MODEL_TOKEN = "ANNOTATE_MODEL_TOKEN"
REFUSED = frozenset({"model_answers_refused", "answered_otherwise"})
#: Seconds between two questions for items while none is left, at first.
FIRST_PAUSE = 1.0


#: An item to answer; `task` is what the page of a worker shows, as data.
GivenItem: TypeAlias = LeasedItem


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
    it is right. `cost` is in dollars; None: the model's usual one.
    """

    fields: dict[str, str]
    confidence: float | None = None
    milliseconds: int | None = None
    cost: Decimal | str | None = None

    def about(self, item: int) -> dict[str, Any]:
        """As the API takes it."""
        cost = None if self.cost is None else str(self.cost)
        measured = {"confidence": self.confidence, "milliseconds": self.milliseconds, "cost": cost}
        return {"item": item, "fields": self.fields, **measured}


class ModelClient:
    """With the token of a model, which is no lead's and opens nothing else."""

    def __init__(self, address: str, token: str, *, timeout: float = 60.0, retries: int = 3) -> None:
        """`timeout` is how many seconds the server may be silent. Raises ValueError for what is no address or token."""
        self.api = Api(address, token, scheme="Model", timeout=timeout, retries=retries)

    @classmethod
    def from_environment(cls, **options: Any) -> ModelClient:
        """By ANNOTATE_ADDRESS and ANNOTATE_MODEL_TOKEN. Raises ValueError."""
        if missing := [name for name in (ADDRESS, MODEL_TOKEN) if not os.environ.get(name)]:
            raise ValueError(f"Set {' and '.join(missing)} in the environment.")
        return cls(os.environ[ADDRESS], os.environ[MODEL_TOKEN], **options)

    def __enter__(self) -> ModelClient:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"ModelClient({self.api.address!r})"

    def close(self) -> None:
        self.api.close()

    def about(self) -> ModelHome:
        """Who the token is, and how far each stage is."""
        return cast(ModelHome, self.api.get("model/"))

    def stage(self, key: str) -> StageForModel:
        """How an answer looks. Raises NotFoundError."""
        return cast(StageForModel, self.api.get(path("model", "stages", key)))

    def take(self, stage: str, count: int = 20, lease_seconds: int = 600) -> list[GivenItem]:
        """Up to `count` items (100 at most) that nobody else of this model has until the lease ends; empty: none."""
        body = {"count": count, "lease_seconds": lease_seconds}
        return cast("list[GivenItem]", self.api.post(path("model", "stages", stage, "items"), body)["items"])

    def answer(self, stage: str, answers: Iterable[tuple[int, ModelAnswer]]) -> StoredAnswers:
        """Answer items by their ids, 100 at most at once. The same answers sent again change nothing.

        Raises ModelAnswersRefusedError with every fault; then none of them is stored.
        """
        body = {"answers": [answer.about(item) for item, answer in answers]}
        try:
            said = self.api.post(path("model", "stages", stage, "answers"), body, repeatable=True)
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

        An answer that is refused ends it with ModelAnswersRefusedError, after the others that it came with are stored.
        """
        new, pause, idle_since = 0, FIRST_PAUSE, time.monotonic()
        while True:
            if items := self.take(stage, count, lease_seconds):
                new += self._store(stage, [(item["id"], predict(item)) for item in items])
                if progress:
                    progress(Progress(f"Answering {stage} ({new:,} new answers)", 0, 0))
                pause, idle_since = FIRST_PAUSE, time.monotonic()
                continue
            left = idle_since + idle_seconds - time.monotonic()
            if left <= 0:
                return new
            time.sleep(min(pause, left))
            pause = min(pause * LONGER, LONGEST_PAUSE)

    def _store(self, stage: str, answers: Sequence[tuple[int, ModelAnswer]]) -> int:
        try:
            return self.answer(stage, answers)["new"]
        except ModelAnswersRefusedError as error:
            if rest := [(item, answer) for item, answer in answers if item not in error.items]:
                self.answer(stage, rest)
            raise
