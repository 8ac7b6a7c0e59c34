"""The numbers of a demonstration, tried on the texts themselves for the seeds 1 to 20."""

from __future__ import annotations

from pathlib import Path

import pytest

from hits.crowd.key import Truth
from hits.crowd.people import gather
from hits.crowd.scaling import Numbers, numbers_for
from hits.formats.inputs import record
from hits.protocols.clickable_entity.simulated import Choice, choose
from hits.stats.blocking import Policy, Tally, binomial_p_below, workers_to_block
from hits.text.language.passages import mention_groups
from tests.demo.record import ACCURACY, SPAMMERS, WORKERS
from tests.hits.formats.shared_data import FOLDER, shared_file

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "samples" / "record.jsonl"
CROWD_AVERAGE = 0.75  # of all answers when spammers give one in five of them
REAL = FOLDER / "record" / "examples.jsonl"


def questions(file: Path) -> list[tuple[list[Choice], Truth]]:
    found = []
    with file.open("rb") as stream:
        for document in record.read(stream):
            spans = sorted(document.entities)
            groups = mention_groups(document.text, spans)
            choices = [
                Choice(f"{start}-{end}", document.text[start : end + 1], str(group))
                for (start, end), group in zip(spans, groups, strict=True)
            ]
            for query in document.queries:
                places = frozenset(f"{answer.start}-{answer.end}" for answer in query.answers)
                found.append((choices, Truth(query.key, places, frozenset(a.text for a in query.answers))))
    return found


def file_or_skip(file: Path) -> Path:
    return file if file == SAMPLE else shared_file(str(file.relative_to(FOLDER)))


@pytest.mark.parametrize("file", [SAMPLE, REAL], ids=["sample", "real examples"])
def test_whoever_answers_everything_is_judged_rightly_for_every_seed(file: Path) -> None:
    asked = questions(file_or_skip(file))
    numbers = numbers_for(len(asked))
    assert isinstance(numbers, Numbers)
    for seed in range(1, 21):
        people = gather(seed, WORKERS, SPAMMERS, ACCURACY, 0.05)
        tallies = [
            Tally(
                person.name,
                len(asked),
                sum(
                    choose(person, truth.item, choices, truth).value in _right(choices, truth)
                    for choices, truth in asked
                ),
            )
            for person in people
        ]
        blocked = {evidence.worker for evidence in workers_to_block(tallies, numbers.policy)}
        assert blocked == {person.name for person in people if person.kind == "spammer"}, f"seed {seed}"


def _right(choices: list[Choice], truth: Truth) -> set[str]:
    groups = {choice.group for choice in choices if choice.value in truth.spans}
    return {choice.value for choice in choices if choice.group in groups}


def test_an_honest_worker_is_safe_from_the_first_answers_that_count() -> None:
    """Fewer than one worker in 1,000 falls below the floor by bad luck, at the lowest accuracy of the crowd."""
    for items in (20, 500):
        numbers = numbers_for(items)
        assert numbers is not None
        policy = numbers.policy
        below = [k for k in range(policy.min_answers) if k / policy.min_answers < policy.floor]
        blocking = [k for k in below if binomial_p_below(k, policy.min_answers, CROWD_AVERAGE) < policy.alpha]
        assert binomial_p_below(max(blocking), policy.min_answers, ACCURACY - 0.05) < 0.001


def test_large_inputs_keep_the_recipes_numbers() -> None:
    assert numbers_for(5000) is None
    assert numbers_for(4999) is not None


def test_the_numbers_are_said_plainly() -> None:
    numbers = Numbers(5, 3, Policy(check_every=10, min_answers=10, floor=0.45, alpha=0.05))
    assert numbers.in_words() == (
        "5 answers an item, 3 of them right to keep it; a quality check after every 10 scored answers; "
        "blocked from 10 scored answers below 45% right (alpha 0.05)"
    )
