"""The recipe for marked spans: import, who decides, agreement, release."""

import io
import json
from decimal import Decimal
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hits import recipes
from hits.answers.verbs import harvesting
from hits.formats.files.faults import FormatErrors
from hits.items.verbs import importing
from hits.judging.verbs import advancing, deciding, scoring
from hits.projects.verbs import projects
from hits.publishing.verbs import publishing, sending
from hits.recipes.source import GivenLabel, JudgedItem
from hits.recipes.spans import conll
from hits.recipes.spans.agreement import Agreement
from hits.recipes.spans.steps import build_release, next_items, read_documents
from hits.releases.verbs import releasing
from hits.text.language.token_tags import tokens
from tests.hits import factories as make

RECIPE = recipes.load("spans")
TEXT = "Mara 🛳 rows to Port Linden. She left Veere."
MARA, PORT, LINDEN, VEERE = [0, 4, "person"], [15, 19, "place"], [15, 26, "place"], [37, 42, "place"]


def read(content):
    given = {"max_bytes": 10**6, "default_origin": "own", "options": RECIPE.options}
    return read_documents(io.BytesIO(content.encode()), name="texts", **given)


def judged(*answers, stage="annotate", key="t1", text=TEXT, outcome="kept", **data):
    labels = [
        label
        for number, spans in enumerate(answers)
        for label in (
            GivenLabel(f"A{number}", f"3{number}", "spans", spans, None),
            GivenLabel(f"A{number}", f"3{number}", "nothing", "no" if spans else "yes", None),
        )
    ]
    return JudgedItem(stage, key, data, key, {"text": text}, "own", "train", outcome, labels=tuple(labels))


class Kept:
    """What was collected, in memory."""

    seed, pseudonym_key, plugins = 3, "key", ()

    def __init__(self, *items, **options):
        self.items, self.options = items, {**RECIPE.options, **options}

    def judged(self, stage, *, labels=False, computation=""):
        return (item for item in self.items if item.stage == stage)


def released(*items, **options):
    content = build_release(Kept(*items, **options))
    files = {}
    for name, file in content.files.items():
        if not isinstance(file, bytes):
            file.seek(0)
            file = file.read()
        files[name] = file.decode(errors="replace")
    rows = [json.loads(line) for line in files["spans.jsonl"].splitlines()]
    return content, rows, files


# Import


def test_json_lines_and_plain_text_are_read_with_the_text_as_it_stands():
    assert [
        (one.key, one.data["text"]) for one in read('{"id": "a", "text": " One. "}\n\n{"id": "b", "text": "Two"}')
    ] == [
        ("a", " One. "),
        ("b", "Two"),
    ]
    plain = read("First 🛳 text.\n\n  Second text.\r\n")
    assert [(one.line, one.data["text"]) for one in plain] == [(1, "First 🛳 text."), (3, "Second text.")]
    assert plain[0].key == read("First 🛳 text.")[0].key != plain[1].key
    assert [item.data for one in plain for item in one.items] == [{}, {}]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"id": "a", "text": "x"}\n{"id": "a", "text": "y"}', "line 2, id: 'a' is taken"),
        ('{"id": "a"}', "the field text is missing"),
        ('{"id": "a", "text": "x", "spans": []}', "unknown field 'spans'"),
        ('{"id": "a", "text": "' + "x" * 20_001 + '"}', "20,001 characters"),
        ("same\nother\nsame", "line 3: is the same text as line 1"),
        ("a\0b", "control character"),
        (" \n", "holds no text"),
    ],
)
def test_a_file_with_faults_is_refused_with_their_places(content, message):
    with pytest.raises(FormatErrors, match=message):
        read(content)


# Who decides


def test_a_text_whose_workers_differ_goes_to_somebody_who_sees_all_spans_with_their_votes():
    (made,) = next_items(judged([MARA, LINDEN], [PORT, MARA], [MARA]))
    assert (made.stage, made.key) == ("adjudicate", "t1")
    assert made.data == {"proposals": [[*MARA, 3], [*PORT, 1], [*LINDEN, 1]], "answers": 3}


def test_workers_who_agree_are_not_decided_about_nor_is_a_decision():
    assert next_items(judged([MARA, PORT], [PORT, MARA], [MARA, PORT])) == []
    assert next_items(judged([], [], [])) == []
    assert next_items(judged([MARA], [], stage="adjudicate")) == []
    assert next_items(judged([MARA], [], outcome="open")) == []
    assert len(next_items(judged([MARA], [], []))) == 1


def test_the_one_who_decides_is_another_worker():
    annotate, adjudicate = RECIPE.stages
    assert (annotate.answers, adjudicate.answers) == (3, 1)
    assert adjudicate.asks_other_workers_than == ("annotate",)


# Agreement, checked against characters and matrices

PARTS = some.tuples(some.integers(0, 8), some.integers(1, 5), some.sampled_from("xy"))
SPANS = some.frozensets(PARTS.map(lambda part: (part[0], part[0] + part[1], part[2])), max_size=5)


def by_precision_and_recall(texts, label=None):
    """Exact F1 from precision and recall over all pairs."""
    right = of_one = of_other = 0
    for answers in texts:
        for a in range(len(answers)):
            for b in range(a):
                one = [span for span in answers[a] if label in (None, span[2])]
                other = [span for span in answers[b] if label in (None, span[2])]
                right += len([span for span in one if span in other])
                of_one, of_other = of_one + len(one), of_other + len(other)
    if not of_one + of_other:
        return None
    if not right:
        return 0.0
    precision, recall = right / of_one, right / of_other
    return 100 * 2 * precision * recall / (precision + recall)


def by_characters(texts, label=None):
    """Overlapping F1 by the characters that one worker marked with each label."""
    with_counterpart = marked = 0
    for answers in texts:
        for pair in combinations(answers, 2):
            inked = [{(at, name) for start, end, name in spans for at in range(start, end)} for spans in pair]
            for spans, ink in zip(pair, reversed(inked), strict=True):
                counted = [span for span in spans if label in (None, span[2])]
                marked += len(counted)
                with_counterpart += sum(
                    bool({(at, name) for at in range(start, end)} & ink) for start, end, name in counted
                )
    return 100 * with_counterpart / marked if marked else None


@given(some.lists(some.lists(SPANS, min_size=1, max_size=4), max_size=4))
def test_agreement_is_what_an_independent_computation_finds(texts):
    found = Agreement()
    for answers in texts:
        found.add(answers)
    assert found.exact.f1 == pytest.approx(by_precision_and_recall(texts))
    assert found.overlapping.f1 == pytest.approx(by_characters(texts))
    for label in "xy":
        assert found.exact_by_label[label].f1 == pytest.approx(by_precision_and_recall(texts, label))
        assert found.overlapping_by_label[label].f1 == pytest.approx(by_characters(texts, label))
    assert found.pairs == sum(len(answers) * (len(answers) - 1) // 2 for answers in texts)


def test_agreement_of_a_small_example():
    found = Agreement()
    found.add([[(0, 4, "x"), (10, 14, "y")], [(0, 4, "x"), (12, 20, "y")]])
    assert (found.exact.f1, found.overlapping.f1) == (50.0, 100.0)
    assert (found.exact_by_label["x"].f1, found.exact_by_label["y"].f1) == (100.0, 0.0)


# Release


def test_spans_that_enough_workers_marked_are_released_with_their_votes():
    _, (row,), _ = released(judged([MARA, LINDEN], [MARA, LINDEN], [MARA, VEERE]))
    assert row == {
        "id": "t1",
        "text": TEXT,
        "spans": [
            {"start": 0, "end": 4, "label": "person", "text": "Mara", "marked_by": 3},
            {"start": 15, "end": 26, "label": "place", "text": "Port Linden", "marked_by": 2},
        ],
        "answers": 3,
        "decided_by": "votes",
    }
    assert all(TEXT[span["start"] : span["end"]] == span["text"] for span in row["spans"])


@pytest.mark.parametrize(("enough", "texts"), [(1, ["Mara", "Port Linden", "Veere"]), (2, ["Mara"]), (3, [])])
def test_a_lead_says_how_many_are_enough(enough, texts):
    _, (row,), _ = released(judged([MARA, LINDEN], [MARA, VEERE], []), enough=enough)
    assert [span["text"] for span in row["spans"]] == texts


def test_what_another_worker_decided_stands_instead_of_the_votes():
    items = [
        judged([MARA], [MARA], [LINDEN], key="a"),
        judged([MARA], [MARA], [], key="b"),
        judged([MARA], [MARA], [MARA], key="c"),
        judged([VEERE], [MARA], [], key="d"),
        judged([VEERE], [MARA], [MARA], key="e"),
        judged([LINDEN, VEERE], stage="adjudicate", key="a"),
        judged([], stage="adjudicate", key="b"),
        judged(stage="adjudicate", key="d", outcome="open"),
        judged([LINDEN], stage="adjudicate", key="e", outcome="withdrawn"),
    ]
    content, rows, _ = released(*items)
    assert [(row["id"], row["decided_by"], [span["text"] for span in row["spans"]]) for row in rows] == [
        ("a", "adjudicator", ["Port Linden", "Veere"]),
        ("b", "adjudicator", []),
        ("c", "votes", ["Mara"]),
        ("d", "votes", []),
        ("e", "votes", ["Mara"]),
    ]
    assert [span["marked_by"] for span in rows[0]["spans"]] == [1, 0]
    figures = content.statistics["all"]
    assert (figures["texts whose workers differ"], figures["decided by another worker"]) == (4, 2)
    assert any("2 have no decision" in note for note in content.notes)


def test_what_is_open_or_dropped_is_left_out_and_counted():
    content, rows, _ = released(judged([MARA], key="a", outcome="open"), judged([MARA], key="b", outcome="dropped"))
    assert rows == []
    assert content.left_out == {"dropped by the rule": 1, "answers are missing": 1}


def test_the_agreement_of_all_workers_stands_in_the_statistics():
    content, _, _ = released(judged([MARA, LINDEN], [MARA, PORT], [MARA]), judged([MARA], [MARA], [MARA], key="t2"))
    figures = content.statistics["all"]
    texts = [
        [[tuple(s) for s in a] for a in answers] for answers in ([[MARA, LINDEN], [MARA, PORT], [MARA]], [[MARA]] * 3)
    ]
    assert figures["exact F1"] == pytest.approx(by_precision_and_recall(texts))
    assert figures["overlapping F1, place"] == pytest.approx(by_characters(texts, "place"))
    assert (figures["spans, person"], figures["spans, place"], figures["pairs of workers"]) == (2, 0, 6)


def test_the_files_say_how_places_are_counted_and_the_same_rows_give_the_same_bytes():
    items = [judged([MARA, LINDEN], [MARA, LINDEN], [MARA])]
    content, _, files = released(*items)
    assert "Unicode code points" in files["README.txt"] and "end is exclusive" in files["README.txt"]
    assert any("exclusive" in note for note in content.notes)
    assert released(*items)[2] == files


# CoNLL


def test_conll_has_a_token_a_line_and_a_blank_line_after_each_sentence():
    _, _, files = released(judged([MARA, LINDEN, VEERE], [MARA, LINDEN, VEERE], [MARA, LINDEN, VEERE]))
    assert files["spans.conll"] == (
        "Mara\tB-person\n🛳\tO\nrows\tO\nto\tO\nPort\tB-place\nLinden\tI-place\n.\tO\n\n"
        "She\tO\nleft\tO\nVeere\tB-place\n.\tO\n\n"
    )


def test_of_overlapping_spans_the_longest_is_written_and_the_others_are_counted():
    other = [20, 26, "person"]
    content, (row,), files = released(judged([PORT, LINDEN, other], [PORT, LINDEN, other], [PORT, LINDEN, other]))
    assert len(row["spans"]) == 3
    assert [line for line in files["spans.conll"].splitlines() if line.endswith("-place")] == [
        "Port\tB-place",
        "Linden\tI-place",
    ]
    assert "-person" not in files["spans.conll"]
    assert "2 left out" in files["README.txt"] and any("alone: 2." in note for note in content.notes)


def test_neighbours_begin_anew_a_token_covered_in_part_is_tagged_and_a_sentence_begins_with_b():
    assert "".join(conll.lines("ab cd", [(0, 2, "x"), (3, 5, "x")], "en")) == "ab\tB-x\ncd\tB-x\n\n"
    assert "".join(conll.lines("abc", [(1, 2, "x")], "en")) == "abc\tB-x\n\n"
    across = "".join(conll.lines("He went home. She slept well.", [(8, 17, "x")], "en"))
    assert across.replace("\tO", "") == "He\nwent\nhome\tB-x\n.\tI-x\n\nShe\tB-x\nslept\nwell\n.\n\n"


@given(some.text(alphabet="aB1 '.,-\n🛳é\u0301", max_size=50))
def test_tokens_hold_every_sign_that_is_no_space_once(text):
    covered = [at for start, end in tokens(text) for at in range(start, end)]
    assert covered == [at for at, sign in enumerate(text) if not sign.isspace()]


# All of it, at a real marketplace


def publish(stage):
    quote = publishing.quote(stage)
    sending.send(publishing.publish(stage, quote.items, quote.total, f"page of {stage.key}", None).pk)
    return {hit.item.document.data["text"]: hit.hit_id for hit in stage.hits.select_related("item__document")}


def take_up(stage):
    stage.refresh_from_db()
    harvesting.harvest(stage)
    scoring.score(stage)
    deciding.decide(stage)
    return advancing.advance(stage)


@pytest.mark.django_db(transaction=True)
def test_three_workers_mark_a_fourth_decides_where_they_differ_and_all_is_released(market):
    agreed = "Mara left."
    project = projects.create_project("Names", "spans", Decimal("10.00"), "lab@example.org", make.user())
    upload = importing.create_upload(project, "texts.txt", f"{TEXT}\n{agreed}\n".encode(), "public", None)
    assert importing.import_upload(upload.pk) == 2
    annotate, adjudicate = project.stages.order_by("position")
    hits = publish(annotate)
    people = [market.sign_up_worker() for _ in range(3)]
    for worker, last in zip(people, (LINDEN, LINDEN, PORT), strict=True):
        market.answer(worker, hits[TEXT], spans=json.dumps([last, MARA]))
        market.answer(worker, hits[agreed], spans=json.dumps([MARA]))
    assert take_up(annotate) == 1, "only the text whose workers differ goes on"
    market.answer(market.sign_up_worker(), publish(adjudicate)[TEXT], spans=json.dumps([MARA, LINDEN, VEERE]))
    take_up(adjudicate)
    made, _ = releasing.release(project, None)
    rows = {row["text"]: row for row in map(json.loads, made.files.get(name="spans.jsonl").blob.read().splitlines())}
    assert [(span["text"], span["marked_by"]) for span in rows[TEXT]["spans"]] == [
        ("Mara", 3),
        ("Port Linden", 2),
        ("Veere", 0),
    ]
    assert (rows[TEXT]["decided_by"], rows[agreed]["decided_by"]) == ("adjudicator", "votes")
    assert b"Veere\tB-place\n" in made.files.get(name="spans.conll").blob.read()
