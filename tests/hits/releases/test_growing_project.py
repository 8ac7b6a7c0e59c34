"""Ten releases of a Cosmos QA project that grows and changes: what a release said of an item stays true."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from hypothesis import HealthCheck, settings
from hypothesis import strategies as some
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from hits.judging.rules.recipe_rows import Rows
from hits.models import Document, Item, Project, Release
from hits.projects.verbs import project_files, projects
from hits.recipes.cosmos.steps import question_set
from hits.recipes.source import AUTHOR
from hits.refusals import Refusal
from hits.releases.verbs import releasing
from tests.hits import factories
from tests.hits.doing import do, refused

pytestmark = pytest.mark.django_db
FILES = {"train": "train.jsonl", "dev": "valid.jsonl", "test": "test.jsonl"}
OPTIONS = {"best_written": 1, "best_kept_share": 0.0}


def started(lead: User) -> Project:
    return projects.create_project("Stories", "cosmos", Decimal(9), "lab@example.org", lead, options=OPTIONS, seed=7)


def add(project: Project, numbers: range, *, authors: int = 40) -> None:
    """Valid question sets, three about each paragraph."""
    validate = project.stages.get(key="validate")
    for number in numbers:
        key = f"s{number:04}"
        about = f"Story {number // 3} of a long walk to the harbour and back."
        document, _ = Document.objects.get_or_create(
            project=project, key=f"p{number // 3}", defaults={"data": {"text": about, "source": ""}, "origin": "public"}
        )
        data = question_set(key, f"Why did {number} go?", f"To see {number}", ["a", "b", "c"], f"W{number % authors}")
        Item.objects.create(
            stage=validate, document=document, key=key, data=data, state=Item.State.KEPT, conclusion="valid"
        )


def splits_of(made: Release) -> dict[str, str]:
    """Split by item, as the files have it."""
    rows = {split: made.files.get(name=name).blob.read().splitlines() for split, name in FILES.items()}
    return {json.loads(row)["id"]: split for split, of in rows.items() for row in of}


class Growing(RuleBasedStateMachine):
    """Each step changes the project and releases it."""

    lead: User

    def __init__(self) -> None:
        super().__init__()
        self.project = started(self.lead)
        self.ever: dict[str, set[str]] = defaultdict(set)
        self.count = 0

    def items(self) -> Any:
        return Item.objects.filter(stage__project=self.project).order_by("key")

    def drawn(self, dice: int, count: int) -> list[int]:
        return random.Random(dice).sample(list(self.items().values_list("pk", flat=True)), count)

    @initialize()
    def begin(self) -> None:
        self.grow(90)

    @rule(count=some.sampled_from([1, 7, 60]))
    def grow(self, count: int) -> None:
        add(self.project, range(self.count, self.count + count))
        self.count += count
        self.release()

    @rule(writer=some.integers(0, 39))
    def block(self, writer: int) -> None:
        self.items().filter(**{f"data__{AUTHOR}": f"W{writer}"}).update(state=Item.State.WITHDRAWN)
        self.release()

    @rule(dice=some.integers(0, 99))
    def change_the_rule(self, dice: int) -> None:
        for state, conclusion in ((Item.State.DROPPED, "invalid"), (Item.State.KEPT, "valid")):
            self.items().filter(pk__in=self.drawn(dice, 12)).update(state=state, conclusion=conclusion)
            dice += 1
        self.release()

    @rule(dice=some.integers(0, 99))
    def correct(self, dice: int) -> None:
        """A paragraph reads as another one from now on."""
        one, other = (Item.objects.get(pk=pk).document for pk in self.drawn(dice, 2))
        Document.objects.filter(pk=one.pk).update(data=other.data)
        self.release()

    @rule()
    def withdraw(self) -> None:
        do("releases.withdraw", self.project.releases.first(), reason="Its test set leaked")
        self.release()

    def release(self) -> None:
        made, _ = releasing.release(self.project, None)
        for key, split in splits_of(made).items():
            self.ever[key].add(split)
        assert {key: splits for key, splits in self.ever.items() if len(splits) > 1} == {}
        again, is_new = releasing.release(self.project, None)
        assert (again, is_new) == (made, False), "nothing changed, so it is the same release"


@pytest.mark.long
def test_ten_releases_move_no_item_between_splits() -> None:
    Growing.lead = factories.user()
    run_state_machine_as_test(
        Growing,
        settings=settings(
            max_examples=4,
            stateful_step_count=9,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_a_release_says_the_same_when_it_is_made_again_without_a_change(lead: User) -> None:
    """Also where the best writers have just enough sets, of which some went to train."""
    Growing.lead = lead
    growing = Growing()
    growing.grow(count=90)
    growing.block(writer=0)
    growing.grow(count=1)
    growing.grow(count=60)


@pytest.mark.long
def test_a_clone_that_says_so_keeps_the_splits_and_another_deals_anew(lead: User) -> None:
    project = started(lead)
    add(project, range(300))
    first = splits_of(releasing.release(project, None)[0])
    same, anew = (
        project_files.clone(project, f"{splits}", Decimal(9), lead, splits=splits) for splits in (True, False)
    )
    for clone in (same, anew):
        Project.objects.filter(pk=clone.pk).update(seed=8)
        clone.refresh_from_db()
        add(clone, range(150, 600))
    kept, dealt = (splits_of(releasing.release(clone, None)[0]) for clone in (same, anew))
    both = first.keys() & kept.keys()
    assert len(both) == 150 and all(kept[key] == first[key] for key in both)
    assert any(dealt[key] != first[key] for key in both)


def test_releases_from_before_splits_were_stored_count_by_their_files(lead: User) -> None:
    project = started(lead)
    add(project, range(120))
    first = splits_of(releasing.release(project, None)[0])
    project.released_items.all().delete()
    add(project, range(120, 240))
    second = splits_of(releasing.release(project, None)[0])
    assert {key: second[key] for key in first} == first and project.released_items.count() >= 240


def test_the_card_names_what_left_and_what_may_be_in_no_split(lead: User) -> None:
    project = started(lead)
    add(project, range(90))
    first = splits_of(releasing.release(project, None)[0])
    gone, one, other = (next(key for key, of in first.items() if of == split) for split in ("test", "dev", "train"))
    items = Item.objects.filter(stage__project=project)
    items.filter(key=gone).update(state=Item.State.DROPPED)
    Document.objects.filter(items__key=one).update(data=items.get(key=other).document.data)
    made, _ = releasing.release(project, None)
    card = made.files.get(name="README.md").blob.read().decode()
    assert "* Of what earlier releases had in test, this one has 1 no more." in card
    assert made.manifest["left_out"]["released in two splits before, so in none from now on"] == 6


def test_a_withdrawn_release_keeps_its_files_and_names_its_successor(lead: User) -> None:
    project = started(lead)
    add(project, range(30))
    first, _ = releasing.release(project, lead)
    add(project, range(30, 60))
    second, _ = releasing.release(project, lead)
    files = first.files.count()
    for successor in (1, 7):
        with refused("withdrawal_refused"):
            do("releases.withdraw", first, lead, reason="It leaked", successor=successor)
    do("releases.withdraw", first, lead, reason="It leaked", successor=2)
    first.refresh_from_db()
    assert (first.withdrawn_reason, first.successor, first.files.count()) == ("It leaked", second, files)
    row = project.actions.order_by("pk").last()
    assert row and row.detail == {"release": 1, "reason": "It leaked", "successor": 2}
    with refused("withdrawal_refused"):
        do("releases.withdraw", second, lead, reason="So did this", successor=1)


def test_a_recipe_that_would_move_an_item_is_refused(lead: User, monkeypatch: pytest.MonkeyPatch) -> None:
    project = started(lead)
    add(project, range(90))
    first = splits_of(releasing.release(project, None)[0])
    add(project, range(90, 93))
    monkeypatch.setattr(Rows, "released", lambda self: iter(()))
    Project.objects.filter(pk=project.pk).update(seed=8)
    project.refresh_from_db()
    with pytest.raises(Refusal, match="was released in another split"):
        releasing.release(project, None)
    assert project.releases.count() == 1 and first


def test_of_two_releases_made_at_once_the_later_one_knows_the_splits_of_the_other(
    lead: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = started(lead)
    add(project, range(90))
    card, others = releasing._card, []

    def meanwhile(*given: Any) -> Any:
        """Another lead makes a release, of fewer items, while this one is being written."""
        if not others:
            others.append(None)
            Item.objects.filter(key__lt="s0030").update(state=Item.State.DROPPED)
            others[0] = releasing.release(Project.objects.get(pk=project.pk), None)[0]
            Item.objects.filter(key__lt="s0030").update(state=Item.State.KEPT)
        return card(*given)

    monkeypatch.setattr(releasing, "_card", meanwhile)
    made, is_new = releasing.release(project, None)
    first, second = splits_of(others[0]), splits_of(made)
    assert (made.number, is_new, len(first), len(second)) == (2, True, 60, 90)
    assert {key: second[key] for key in first} == first
