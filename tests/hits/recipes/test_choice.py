"""The recipe for a task of one's own: votes of one item as a row, and the sample file of the tutorial."""

import io
import re
from collections import Counter

from django.conf import settings as django_settings
from hypothesis import given, settings
from hypothesis import strategies as some

from hits.formats.inputs import choices
from hits.protocols.multiple_choice.protocol import protocol
from hits.recipes.choice.steps import row_of
from hits.recipes.source import GivenLabel, JudgedItem

CHOICES = [{"id": "c1", "text": "Ada"}, {"id": "c2", "text": "Ben"}, {"id": "c3", "text": "Cem"}]


def judged(labels):
    data = {"question": "Who?", "choices": CHOICES}
    return JudgedItem("choose", "k", data, "d", {"text": "T"}, "public", "train", "kept", labels=tuple(labels))


@settings(max_examples=50)
@given(some.lists(some.sampled_from(["c1", "c2", "c3"]), min_size=1, max_size=7))
def test_the_majority_is_what_was_chosen_most_often_and_a_tie_is_none(said):
    labels = [GivenLabel(f"A{i}", f"3{i}", "choice", choice, None) for i, choice in enumerate(said)]
    row = row_of(judged(labels), protocol.settings({}))
    counts = {choice["text"]: said.count(choice["id"]) for choice in CHOICES}
    best = [text for text, count in counts.items() if count == max(counts.values())]
    assert (row["votes"], row["answers"]) == (counts, len(said))
    assert row["majority"] == (best if len(best) == 1 else [])
    assert row["share"] == (round(max(counts.values()) / len(said), 4) if len(best) == 1 else None)


@settings(max_examples=50)
@given(some.lists(some.frozensets(some.sampled_from(["c1", "c2", "c3"]), min_size=1), min_size=1, max_size=5))
def test_of_several_choices_each_that_more_than_half_made_is_the_majority(said):
    labels = [
        GivenLabel(f"A{i}", f"3{i}", f"{choice['id']}/chosen", "yes" if choice["id"] in chosen else "no", None)
        for i, chosen in enumerate(said)
        for choice in CHOICES
    ]
    row = row_of(judged(labels), protocol.settings({"several": True}))
    counts = Counter(ident for chosen in said for ident in chosen)
    assert row["majority"] == [one["text"] for one in CHOICES if counts[one["id"]] > len(said) / 2]
    assert (row["answers"], row["share"]) == (len(said), None)


def test_the_sample_of_the_tutorial_holds_five_questions_each_with_four_choices_of_which_one_is_right():
    with (django_settings.ROOT / "samples" / "choice.csv").open("rb") as file:
        tasks = choices.read(file)
    assert [task.key for task in tasks] == ["bridge", "seeds", "ferry", "bakery", "lake"]
    assert [(bool(task.question), len(task.choices), len(task.gold)) for task in tasks] == [(True, 4, 1)] * 5


def test_the_json_line_of_the_documents_is_a_question_whose_second_choice_is_right():
    page = (django_settings.ROOT / "docs" / "how-to" / "own-file.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^\{.*\}$", page, re.MULTILINE)
    (task,) = choices.read(io.BytesIO(line.encode()))
    assert (task.choices[1:2], len(task.choices)) == (task.gold, 3)
