"""A project of the recipe `record` and the moves of a lead and of workers, all through the real verbs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth import get_user_model

from hits.items.verbs import importing
from hits.models import Batch, Hit, Item, Project, Stage, Upload
from hits.projects.verbs import projects
from hits.publishing.rules import marketplace_account
from hits.publishing.verbs import publishing, sending
from tests.hits.market import Marketplace
from tests.hits.stand_in import StandIn

PASSAGE = "Mara Okafor opened the ferry station in Linden. Tomas Reyes stayed away.\n@highlight\nLinden has a ferry"


def _spans(text: str, *names: str) -> list[dict[str, int]]:
    found = []
    for name in names:
        start = text.find(name)
        while start >= 0:
            found.append({"start": start, "end": start + len(name) - 1})
            start = text.find(name, start + 1)
    return sorted(found, key=lambda span: span["start"])


def example(number: int, **changes: Any) -> dict[str, Any]:
    """One example whose answer is Linden; every example has a passage of its own."""
    text = f"Report {number}. {PASSAGE}"
    answers = [{**span, "text": "Linden"} for span in _spans(text, "Linden")]
    return {
        "id": f"doc-{number}",
        "source": "Our own",
        "passage": {"text": text, "entities": _spans(text, "Mara Okafor", "Linden", "Tomas Reyes")},
        "qas": [{"id": f"q-{number}", "query": "A boat lands in @placeholder again.", "answers": answers}],
    } | changes


def lines(examples: list[dict[str, Any]]) -> bytes:
    return "\n".join(json.dumps(one) for one in examples).encode()


@pytest.fixture
def lead(db: None) -> Any:
    return get_user_model().objects.create_user("lead")


@pytest.fixture
def project(lead: Any) -> Project:
    made = projects.create_project("River", "record", Decimal("20.00"), "lab@example.org", lead, seed=3)
    # A new worker of the marketplace has no history; the requirements have tests of their own. Nor do workers wait.
    projects.want_seconds(made, 0)
    # As a lead may choose: the marketplace pays at once. What is approved once checked has tests of its own.
    made.stages.update(auto_approval_seconds=0)
    return made


@pytest.fixture
def stage(project: Project) -> Stage:
    return project.stages.get(position=1)


@pytest.fixture
def bring(project: Project) -> Callable[..., Upload]:
    """Import a file of so many examples, or these very bytes."""

    def go(content: int | bytes, origin: str = "public") -> Upload:
        data = lines([example(n) for n in range(content)]) if isinstance(content, int) else content
        upload = importing.create_upload(project, "river.jsonl", data, origin, None)
        importing.import_upload(upload.pk)
        upload.refresh_from_db()
        return upload

    return go


@pytest.fixture
def publish() -> Callable[..., Batch]:
    """Confirm the quote of a stage and make its calls."""

    def go(stage: Stage, confirmation: str = "page-1") -> Batch:
        quote = publishing.quote(stage)
        batch = publishing.publish(stage, quote.items, quote.total, confirmation, None)
        sending.send(batch.pk)
        batch.refresh_from_db()
        stage.refresh_from_db()
        return batch

    return go


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    """The verbs call a marketplace in memory."""
    made = StandIn()
    monkeypatch.setattr(marketplace_account, "Gateway", lambda *_, **__: made)
    marketplace_account.gateway.cache_clear()
    yield made
    marketplace_account.gateway.cache_clear()


def fields(hit: Hit, name: str) -> dict[str, str]:
    """What the page posts when a worker chooses the first mention of that name."""
    return fields_of(hit.item, name)


def fields_of(item: Item, name: str) -> dict[str, str]:
    text = item.document.data["text"]
    start = text.index(name)
    return {"answer": f"{start}-{start + len(name) - 1}", "text": name}


@pytest.fixture
def answer(market: Marketplace) -> Callable[..., None]:
    """A worker accepts that HIT at the marketplace and submits a name."""

    def go(worker_id: str, hit: Hit, name: str = "Linden") -> None:
        hit.refresh_from_db()
        market.answer(worker_id, hit.hit_id, **fields(hit, name))

    return go
