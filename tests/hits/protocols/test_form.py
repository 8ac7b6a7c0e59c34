"""Forms of a lead's own: what a schema may hold, what is taken from what workers post, and what follows from it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.template.loader import render_to_string
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from jsonschema import Draft202012Validator

from hits.answers.verbs.serving import Page
from hits.crowd import people
from hits.crowd.html import parse
from hits.crowd.key import AnswerKey
from hits.crowd.task_page import NotATaskError, read_screen
from hits.models import Hit, Project, Stage
from hits.protocols.base import AnswerRefusedError, SettingsRefusedError
from hits.protocols.form import addresses, fields, patterns, schema, simulated
from hits.protocols.form.protocol import protocol
from hits.protocols.form.ready import ready_forms
from hits.protocols.spans import simulated as spans_people
from hits.text.cells import as_text
from tests.hits.protocols import forms

DOCUMENT, ITEM = {"columns": forms.COLUMNS}, {}


def made(*ask: dict[str, Any], show: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    return protocol.settings({"form": {"show": show or [], "ask": list(ask)}})


def checked(form: dict[str, Any], posted: dict[str, str], worker: str = "AW", **columns: Any) -> dict[str, Any]:
    item = {"columns": columns}
    return {label.unit: label.value for label in protocol.check(DOCUMENT, item, form, posted, worker).labels}


def refused(form: dict[str, Any], posted: dict[str, str]) -> AnswerRefusedError:
    with pytest.raises(AnswerRefusedError) as error:
        protocol.check(DOCUMENT, ITEM, form, posted, "AW")
    return error.value


def rendered(
    form: dict[str, Any], item: dict[str, Any] = ITEM, worker: str = "AW", document: dict[str, Any] = DOCUMENT
) -> str:
    stage = Stage(hit_title="T", protocol="form", project=Project(contact_email="lab@example.org"))
    page = Page(Hit(stage=stage), "form/task.html", protocol.page(document, item, form, worker), form, "3A", token="t")
    return render_to_string(page.template, {"page": page, "project": stage.project})


ONE = {"kind": "one", "key": "mood", "question": "Mood?", "choices": ["Good", "Bad"]}
THINGS = {"kind": "spans", "key": "who", "question": "Which things?", "column": "text", "choices": ["Ship", "Soup"]}
EVERYTHING = protocol.settings({"form": forms.FORM})


# The schema


def test_a_schema_with_thirty_faults_is_told_thirty_sentences_each_with_its_place() -> None:
    choices = [{"id": "x y", "text": ""}, {"text": "B", "halp": "?"}, {"id": "c", "text": "D" * 501}]
    form = {
        "shw": [],
        "layout": "left",
        "show": [
            {"kind": "text", "text": ""},
            {"kind": "imaeg", "column": "photo"},
            {"kind": "image", "column": "", "description": "x"},
            {"kind": "text", "text": "{open", "heading": 3},
            {"kind": "markdown", "text": "[words]({link})"},
            {"kind": "markdown"},
            {"kind": "side_by_side", "parts": ["alone"]},
            "text",
        ],
        "ask": [
            {"kind": "one", "key": "A b", "question": "", "choices": choices},
            {"kind": "one", "key": "and", "question": "?", "choices": ["x", "X"]},
            {"kind": "any", "key": "many", "question": "?", "choices": ["x", "y"], "least": 3},
            {"kind": "short_text", "key": "many", "question": "?", "pattern": "(a", "most": 0},
            {"kind": "number", "key": "n", "question": "?", "low": "1", "whole": "yes"},
            {"kind": "number", "key": "o", "question": "?", "low": 3, "high": 1},
            {"kind": "scale", "key": "s", "question": "?", "points": 12},
            {"kind": "scale", "key": "t", "question": "?", "anchors": ["a", "b", "c"]},
            {"kind": "date", "key": "d", "question": "?", "earliest": "soon"},
            {**ONE, "key": "u", "shown_if": {"field": "u", "values": ["good"]}},
            {**ONE, "key": "v", "shown_if": {"field": "nobody", "values": ["good"]}},
        ],
    }  # fmt: skip
    with pytest.raises(SettingsRefusedError) as error:
        protocol.settings({"form": form})
    reasons = error.value.reasons
    places = [
        "shw", "layout", "show[0].text", "show[1].kind", "show[2].column", "show[3].text", "show[3].heading",
        "show[4].text", "show[5].text", "show[6].parts", "show[7]",
        "ask[0].key", "ask[0].question", "ask[0].choices[0].id", "ask[0].choices[0].text", "ask[0].choices[1].halp",
        "ask[0].choices[2].text", "ask[1].key", "ask[2].least", "ask[3].key", "ask[3].pattern", "ask[3].most",
        "ask[4].low", "ask[4].whole", "ask[5].high", "ask[6].points", "ask[7].anchors", "ask[8].earliest",
        "ask[9].shown_if.field", "ask[10].shown_if.field",
    ]  # fmt: skip
    assert sorted(reason.split()[0] for reason in reasons) == sorted(places), "\n".join(reasons)
    assert len(set(reasons)) == 30 and all(reason.endswith(".") for reason in reasons)


@pytest.mark.parametrize(
    ("other", "wanted", "why"),
    [
        ({**ONE, "key": "later"}, {"field": "later", "values": ["good"]}, "a later one"),
        (
            {"kind": "long_text", "key": "free", "question": "?"},
            {"field": "free", "values": ["x"]},
            "'free' has none",
        ),
        (ONE, {"field": "mood", "values": ["great"]}, "one of the answers of 'mood' (good, bad), not 'great'"),
    ],
)
def test_a_condition_names_an_earlier_field_and_its_answers(other: Any, wanted: Any, why: str) -> None:
    asked = {**ONE, "key": "asked", "shown_if": wanted}
    ask = [asked, other] if wanted["field"] == "later" else [other, asked]
    _, faults = schema.read_form({"ask": ask})
    assert len(faults) == 1 and why in faults[0] and ".shown_if." in faults[0]


@pytest.mark.parametrize(
    "garbage", [None, 3, "x", [], {}, {"ask": []}, {"ask": {}}, {"show": 3, "ask": [ONE]}, {"ask": [ONE] * 41},
                {"ask": [{"kind": ["one"]}]}, {"ask": [None]}, {"ask": [ONE], "show": [{}]},
                {"ask": [{**ONE, "question": "x" * 300_000}]}, {"ask": [{**ONE, "choices": [3, [], None]}]}]
)  # fmt: skip
def test_what_is_no_form_is_refused_with_sentences(garbage: Any) -> None:
    form, faults = schema.read_form(garbage)
    assert form is None and faults
    assert all(fault.endswith(".") and len(fault) < 400 for fault in faults)


SCALARS = some.none() | some.booleans() | some.floats() | some.text(max_size=5)
NAMES = some.sampled_from(["show", "ask", "kind", "key", "choices", "text", "rows", "id"])
ANYTHING = some.recursive(
    SCALARS, lambda inner: some.lists(inner, max_size=3) | some.dictionaries(NAMES, inner, max_size=4), max_leaves=10
)


@settings(max_examples=100, deadline=None)
@given(ANYTHING)
def test_any_json_is_read_or_refused_with_sentences(garbage: Any) -> None:
    form, faults = schema.read_form({"show": [garbage], "ask": [garbage, {**ONE, "choices": garbage}]})
    assert form is None and faults


def test_a_known_answer_may_not_stand_in_a_column_that_workers_see() -> None:
    _, faults = schema.read_form({"show": [{"kind": "text", "text": "{a}"}], "ask": [{**ONE, "gold": "a"}]})
    assert faults == ("ask[0] must not take its gold answers from the column 'a', which workers see.",)


def test_columns_cannot_be_named_without_end() -> None:
    _, faults = schema.read_form({"show": [{"kind": "text", "text": "{a}" * 201}], "ask": [ONE]})
    assert faults == ("form names columns 201 times, the limit is 200.",)


def test_the_json_schema_in_the_documents_is_that_of_the_code_and_takes_what_the_code_takes() -> None:
    written = (django_settings.ROOT / "docs" / "form.schema.json").read_text(encoding="utf-8")
    assert written == schema.written(), "run: python -m hits.protocols.form.schema > docs/form.schema.json"
    judge = Draft202012Validator(json.loads(written))
    assert list(judge.iter_errors(forms.FORM)) == []
    assert list(judge.iter_errors(EVERYTHING["form"])) == []
    assert list(judge.iter_errors({"ask": [{**ONE, "kind": "ene"}]}))


# Any form


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(forms.random_form())
def test_any_form_is_shown_takes_an_answer_that_fits_and_refuses_one_that_does_not_at_its_field(made_form: Any) -> None:
    form, right, wrong = made_form
    kept = protocol.settings({"form": form})
    assert protocol.settings(kept) == kept
    page = parse(rendered(kept))
    sections = [node.attributes["data-field"] for node in page.all("div", "data-field")]
    assert sections == [field["key"] for field in form["ask"]]
    names = {node.attributes["name"] for tag in ("input", "select", "textarea") for node in page.all(tag, "name")}
    assert set(right) <= names
    labels = protocol.check(DOCUMENT, ITEM, kept, right, "AW").labels
    assert sum(len(name) + len(value) for name, value in right.items()) <= protocol.longest_answer({}, {}, kept)
    levels = protocol.levels(kept)
    assert {label.unit for label in labels} <= set(levels) and len({label.unit for label in labels}) == len(labels)
    assert all(len(label.unit) <= 60 and json.loads(json.dumps(label.value)) == label.value for label in labels)
    for key, (fields_, name) in wrong.items():
        others = {name_: value for name_, value in right.items() if name_.partition(".")[0] != key}
        refusal = refused(kept, {**others, **fields_})
        assert (refusal.fields, len(refusal.reasons)) == ((name,), 1)
        refusal = refused(kept, others)
        assert len(refusal.reasons) == 1 and "is not answered yet." in refusal.reasons[0]
        assert refusal.fields[0] in names


@pytest.mark.parametrize("ready", ready_forms(), ids=lambda one: one.name)
def test_a_ready_made_form_is_shown_and_answered_by_simulated_people(ready: Any) -> None:
    form = protocol.settings({"form": ready.form})
    assert form["form"] == ready.form
    document = {"columns": ready.columns}
    assert protocol.item_faults(document, {}, form) == []
    page = rendered(form, worker="AW", document=document)
    given = simulated.answer(
        people.gather(7, 1, 0, 0.9, 0.0)[0], read_screen(parse(page), "https://a.example/"), AnswerKey()
    )
    assert given is not None
    assert protocol.check(document, {}, form, given.fields, "AW").labels


@pytest.mark.parametrize("kind", ["careful", "random"])
def test_simulated_people_mark_the_texts_of_a_form(kind: str) -> None:
    form = made({**THINGS, "column": "report"}, {**THINGS, "key": "again", "whole_words": False, "least": 2})
    screen = read_screen(parse(rendered(form)), "https://a.example/")
    (person,) = people.gather(7, 1, 0, 0.9, 0.0, blind=int(kind == "random"))
    given = simulated.answer(person, screen, AnswerKey())
    assert given is not None
    found = checked(form, given.fields)
    assert len(found["again"]) >= 2 and (found["who"] or found["who/nothing"] == "yes")
    with pytest.raises(NotATaskError):
        spans_people.answer(person, screen, AnswerKey())


def test_there_are_six_ready_made_forms() -> None:
    assert {ready.name for ready in ready_forms()} == {
        "sentiment", "pair_preference", "fluency_adequacy", "image_labels", "demographics", "consent",
    }  # fmt: skip


# What is shown


def test_values_of_an_item_never_become_markup() -> None:
    evil = {name: "<script>x</script> **b** [l](https://evil.example)" for name in ("text", "answer a", "answer b")}
    page = rendered(EVERYTHING, {"columns": evil})
    assert "<script>x" not in page and "<strong>b" not in page and 'href="https://evil' not in page
    assert "&lt;script&gt;x" in page and "<strong>Mind</strong>" in page


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", "[x](javascript:alert(1))", "![x](https://a.example/x.png)",
             "<img src=x onerror=y>", "[x](http://a.example)", "<https://a.example/\" onclick=y>"]
)  # fmt: skip
def test_markdown_holds_no_script_no_picture_and_no_address_but_https(text: str) -> None:
    form = made(ONE, show=[{"kind": "markdown", "column": "m"}, {"kind": "markdown", "text": text.replace("{", "{{")}])
    for display in protocol.page({}, {"columns": {"m": text}}, form)["show"]:
        page = parse(display["html"])
        assert not {node.tag for node in page.walk()} & {"script", "img", "style"}
        for node in page.walk():
            assert set(node.attributes) <= {"href", "target", "rel"}
            assert node.attributes.get("href", "https://").startswith("https://")


def test_a_column_that_is_missing_stands_in_brackets_and_doubled_braces_are_braces() -> None:
    form = made(ONE, show=[{"kind": "text", "text": "{{not}} {there} {text}"}])
    (shown,) = protocol.page(DOCUMENT, ITEM, form)["show"]
    assert shown["text"] == "{not} [there] The ferry sails <b>again</b>."


def test_a_column_that_an_earlier_stage_did_not_bring_is_told_as_such() -> None:
    form = made(ONE, show=[{"kind": "text", "text": "{ask.mood}"}])
    (fault,) = protocol.item_faults(DOCUMENT, ITEM, form)
    assert fault.endswith("or correct the form. An earlier stage brings it only where its answers agree.")


def test_what_an_item_lacks_or_cannot_be_shown_is_told() -> None:
    columns = {name: value for name, value in forms.COLUMNS.items() if name != "answer a"}
    columns |= {
        "talk": "[]",
        "prices": "{}",
        "photo": "http://a.example/x",
        "film": "https://10.0.0.1/x",
        "mood gold": "Meh",
    }
    faults = protocol.item_faults({"columns": columns}, {}, EVERYTHING)
    assert [fault.partition(":")[0] for fault in faults] == [
        "The form names the column 'answer a', which is missing",
        "The column 'talk' holds no conversation",
        "The column 'prices' holds no table",
        "The column 'photo' holds no address of this kind",
        "The column 'film' holds no address of this kind",
        "The gold answer 'Meh' of the column 'mood gold' is none of the answers of 'mood'.",
    ]
    assert protocol.item_faults(DOCUMENT, {}, EVERYTHING) == []


def test_only_the_origins_of_the_item_itself_are_sources() -> None:
    assert protocol.sources(DOCUMENT, ITEM, EVERYTHING) == {
        "img-src": ["https://pictures.example.org"],
        "media-src": ["https://films.example.org:8443", "https://sounds.example.org"],
    }
    assert protocol.sources({}, {}, EVERYTHING) == {}


@pytest.mark.parametrize(
    "address", ["http://a.example/x", "https://localhost/x", "https://127.0.0.1/x", "https://[::1]/", "https://0x7f.1/",
                "https://2130706433/", "https://router/x", "https://printer.local/", "https://a.internal/",
                "https://u:p@a.example/", "https://a.example;script-src *", "https://a.example, https://b.example",
                "https://a.example/ x", "//a.example", "https://a.example'", "https://ä.example/",
                "https://a.example:99999/", "https://",
                "data:image/png;base64,x", "https://a.example/" + "x" * 2000, "javascript:alert(1)", "https://a.example\\@b.example/"]
)  # fmt: skip
def test_addresses_that_are_not_public_or_could_change_the_policy_are_refused(address: str) -> None:
    with pytest.raises(
        ValueError, match=r"^(has more than|does not begin|has a sign|is no address|has a user name|is not on)"
    ):
        addresses.origin_of(address)


# What is taken


def test_each_field_has_one_label_under_its_key_and_its_parts_count_in_rules() -> None:
    assert checked(EVERYTHING, forms.ANSWER) == {
        "mood": "happy", "size": "small", "topic": ["ships", "rain"], "topic/ships": "yes", "topic/soup": "no",
        "topic/rain": "yes", "code": {"text": "AB123"}, "year": 2026, "fluency": 4, "warmth": 37.0,
        "first": ["train", "boat", "car"], "first/train": 1, "first/boat": 2, "first/car": 3,
        "better": checked(EVERYTHING, forms.ANSWER)["better"], "day": "2026-11-22", "rate/deck": 1, "rate/soup": 3,
        "names": [{"start": 3, "end": 13, "label": "person"}, {"start": 42, "end": 48, "label": "place"}],
        "names/person": "yes", "names/place": "yes", "names/nothing": "no",
    }  # fmt: skip
    levels = protocol.levels(EVERYTHING)
    units = ("mood", "size", "topic", "code", "year", "fluency", "rate/deck", "names", "names/place")
    assert {unit: levels[unit] for unit in units} == {
        "mood": "nominal", "size": "ordinal", "topic": "set", "code": "text", "year": "interval",
        "fluency": "ordinal", "rate/deck": "ordinal", "names": "span", "names/place": "nominal",
    }  # fmt: skip


def test_a_hidden_field_gives_no_label_and_what_was_posted_for_it_is_ignored() -> None:
    bad = {"kind": "one", "key": "how", "question": "How bad?", "choices": ["Very", "A bit"],
           "shown_if": {"field": "mood", "values": ["bad"]}}  # fmt: skip
    why = {"kind": "long_text", "key": "why", "question": "Why?", "shown_if": {"field": "how", "values": ["very"]}}
    form = made(ONE, bad, why)
    assert checked(form, {"mood": "good", "how": "very", "why": "x" * 100_000}) == {"mood": "good"}
    assert checked(form, {"mood": "bad", "how": "a-bit", "why": "So."}) == {"mood": "bad", "how": "a-bit"}
    assert checked(form, {"mood": "bad", "how": "very", "why": "So."})["why"] == {"text": "So."}
    assert refused(form, {"mood": "bad", "how": "very"}).fields == ("why",)


def test_an_optional_field_may_stay_empty_but_not_all_of_them() -> None:
    form = made({**ONE, "required": False}, {**ONE, "key": "other", "required": False})
    assert checked(form, {"other": "bad"}) == {"other": "bad"}
    assert "Nothing is answered yet" in refused(form, {}).reasons[0]


def test_two_sides_change_places_from_worker_to_worker_and_are_mapped_back() -> None:
    form = made({"kind": "pair", "key": "better", "question": "?", "a": "{answer a}", "b": "{answer b}", "gold": "g"})
    seen = set()
    for number in range(20):
        worker = f"A{number}"
        (field,) = protocol.page(DOCUMENT, {"columns": {"g": "a"}}, form, worker)["ask"]
        side = "left" if field["left"] == "At six." else "right"
        (label,) = protocol.check(DOCUMENT, {"columns": {"g": "a"}}, form, {"better": side}, worker).labels
        assert (label.value, label.correct) == ("a", True)
        seen.add(side)
    assert seen == {"left", "right"}


@pytest.mark.parametrize(
    ("field", "posted", "gold", "wrong"),
    [
        (ONE, {"mood": "good"}, "Good", "bad"),
        ({**ONE, "kind": "any"}, {"mood.good": "yes", "mood.bad": "yes"}, "bad|Good", "good"),
        ({**ONE, "kind": "any"}, {"mood.good": "yes", "mood.bad": "yes"}, '["bad", "good"]', "bad"),
        ({"kind": "number", "key": "n", "question": "?"}, {"n": "7"}, 7, "8"),
        ({"kind": "scale", "key": "s", "question": "?"}, {"s": "2"}, "2", 3),
        ({"kind": "date", "key": "d", "question": "?"}, {"d": "2026-11-22"}, "2026-11-22", "2026-11-23"),
        (THINGS, {"who": '[[4, 9, "ship"]]'}, '[[4, 9, "Ship"]]', "[]"),
        (THINGS, {"who": '[[4, 9, "ship"]]'}, [{"start": 4, "end": 9, "label": "ship"}], '[[4, 9, "soup"]]'),
        ({**ONE, "kind": "ranking"}, {"mood.good": "2", "mood.bad": "1"}, "Bad | Good", "Good|Bad"),
    ],
)
def test_an_answer_is_compared_with_the_known_one_where_there_is_one(
    field: Any, posted: Any, gold: Any, wrong: Any
) -> None:
    form = made({**field, "gold": "g"})
    for told, correct in ((gold, True), (wrong, False), ("", None), (None, None)):
        item = {"columns": {"g": told}}
        assert protocol.check(DOCUMENT, item, form, posted).labels[0].correct is correct
        assert protocol.item_faults(DOCUMENT, item, form) == []
    assert protocol.item_faults(DOCUMENT, {"columns": {"g": "no such answer"}}, form)


def test_marked_spans_are_refused_at_their_field_and_say_what_to_change() -> None:
    form = made(THINGS, {**THINGS, "key": "again", "whole_words": False, "overlap": True, "least": 1})
    refusal = refused(form, {"who": '[[4, 9, "ship"], [4, 15, "soup"]]', "again": '[[3, 9, "ship"], [90, 95, "ship"]]'})
    assert refusal.fields == ("who", "again", "again")
    begin = "Question {}, “Which things?”, is not marked as asked. ".format
    assert refusal.reasons == (
        f"{begin(1)}“ferry” and “ferry sails” overlap. Delete one of the two.",
        f"{begin(2)}“ferry” must not begin or end with a space. Delete it and mark it again.",
        f"{begin(2)}A marked span is empty or lies outside the text. Reload the page and mark it again.",
    )
    refusal = refused(form, {"who.nothing": "yes", "again.nothing": "yes"})
    assert refusal.fields == ("again",) and "has something to mark" in refusal.reasons[0]


def test_each_text_to_mark_of_a_form_has_its_own_answer_and_nothing_to_mark_is_one() -> None:
    form = made(THINGS, {**THINGS, "key": "again"}, {**THINGS, "key": "more", "required": False})
    assert checked(form, {"who.nothing": "yes", "again.from-1": "2", "again.to-1": "3", "again.label-1": "ship"}) == {
        "who": [], "who/nothing": "yes", "who/ship": "no", "who/soup": "no",
        "again": [{"start": 4, "end": 15, "label": "ship"}],
        "again/nothing": "no", "again/ship": "yes", "again/soup": "no",
    }  # fmt: skip
    assert refused(form, {"who": "[]", "more.nothing": "yes"}).fields == ("who", "again")


def test_places_are_characters_of_the_stored_text_whatever_a_browser_counts() -> None:
    text = forms.COLUMNS["report"]
    form = made({**THINGS, "column": "report", "whole_words": False})
    for words in ("Cafe\u0301", "asked.\r\nTom", "👩\u200d🚀", "Linden"):
        start = text.index(words)
        ((found),) = checked(form, {"who": json.dumps([forms.span(words, "ship")])})["who"]
        assert (found["start"], text[found["start"] : found["end"]]) == (start, words)
    pieces = [node for node in parse(rendered(form)).all("span", "data-start")]
    for piece in pieces:
        assert text[int(piece.attributes["data-start"]) :].startswith(piece.text())
    assert "".join(piece.text() for piece in pieces) == text.replace("\r\n", "")


def test_a_later_question_may_depend_on_a_label_that_was_given() -> None:
    form = made(THINGS, {**ONE, "shown_if": {"field": "who", "values": ["soup"]}})
    assert "mood" not in checked(form, {"who": '[[4, 9, "ship"]]', "mood": "good"})
    assert checked(form, {"who": '[[4, 9, "soup"]]', "mood": "good"})["mood"] == "good"
    assert "Only if question 1 is “Soup”" in rendered(form)


@pytest.mark.parametrize("value", ["", " \n", 7, None, "x" * 20_001])
def test_an_item_without_a_text_to_mark_does_not_fit(value: Any) -> None:
    form = made(THINGS)
    (fault,) = protocol.item_faults({}, {"columns": {"text": value}}, form)
    assert fault.startswith("The column 'text' holds no text to mark")
    assert "data-marking" not in rendered(form, {"columns": {"text": value}})


@pytest.mark.parametrize(
    ("wrong", "place"),
    [({"choices": []}, "choices"), ({"choices": ["Nothing"]}, "choices[0].id"), ({"least": 3, "most": 2}, "most"),
     ({"most": 201}, "most"), ({"column": ""}, "column")],
)  # fmt: skip
def test_labels_of_spans_are_a_list_in_which_nothing_has_a_meaning_of_its_own(wrong: Any, place: str) -> None:
    _, faults = schema.read_form({"ask": [{**THINGS, **wrong}]})
    assert [fault.split()[0] for fault in faults] == [f"ask[0].{place}"]


def test_the_order_of_one_worker_stays_and_does_not_depend_on_the_known_answer() -> None:
    form = made(
        {**ONE, "choices": list("abcdef"), "shuffle": True, "gold": "g"}, show=[{"kind": "text", "text": "{text}"}]
    )

    def order(worker: str, gold: str = "a") -> list[str]:
        (field,) = protocol.page(DOCUMENT, {"columns": {"g": gold}}, form, worker)["ask"]
        return [choice["id"] for choice in field["choices"]]

    assert order("A1") == order("A1", "b")
    assert len({tuple(order(f"A{number}")) for number in range(30)}) > 15


def test_answers_that_stay_last_do_so_in_every_order() -> None:
    form = made({**ONE, "choices": ["a", "b", "c", "Other", "None"], "shuffle": True, "stay_last": 2})
    orders = set()
    for number in range(30):
        (field,) = protocol.page(DOCUMENT, {}, form, f"A{number}")["ask"]
        orders.add(tuple(choice["text"] for choice in field["choices"]))
    assert {order[3:] for order in orders} == {("Other", "None")}
    assert len({order[:3] for order in orders}) > 3
    with pytest.raises(SettingsRefusedError, match="stay_last must be less than 2, the number of choices"):
        made({**ONE, "choices": ["a", "b"], "stay_last": 2})


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(.*a){20}", "([a-zA-Z]+)*[0-9]"])
def test_no_expression_takes_long_on_any_text(pattern: str) -> None:
    # An engine that tries every way would not come to an end.
    assert not patterns.fits(pattern, "a" * 10_000 + "!")


@pytest.mark.parametrize("kind", sorted(fields.KINDS))
def test_garbage_of_any_size_is_refused_or_bounded(kind: str) -> None:
    form = made(
        next(
            {key: value for key, value in field.items() if key != "shown_if"}
            for field in forms.ASK
            if field["kind"] == kind
        )
    )
    names = list(parse(rendered(form)).all("input", "name"))
    posted = {node.attributes["name"]: "1" * 100_000 for node in names} | {
        form["form"]["ask"][0]["key"]: "x" * 1_000_000
    }
    for reason in refused(form, posted).reasons:
        assert len(reason) < 300 and reason.endswith(".") and reason[0].isupper()


def test_each_column_that_a_form_names_is_missed_where_an_item_lacks_it():
    columns = protocol.columns(DOCUMENT, {})
    named = protocol.named_columns(EVERYTHING)
    assert len(named) > 5 and set(named) <= set(columns)
    for name in named:
        rest = {key: value for key, value in columns.items() if key != name}
        assert any(
            f"'{name}', which is missing" in fault for fault in protocol.item_faults({"columns": rest}, {}, EVERYTHING)
        )


# What a model suggests


def test_each_field_whose_answer_is_one_label_takes_a_suggestion_as_a_file_of_results_has_it() -> None:
    keys = ["mood", "why-sad", "size", "topic", "code", "year", "fluency", "warmth", "first", "better", "day", "names"]
    assert protocol.suggestible(DOCUMENT, ITEM, EVERYTHING) == keys
    given_and_kept = {
        "mood": ("Sad", "sad"),
        "why-sad": ("It rains.", {"text": "It rains."}),
        "topic": ("Rain | ships", ["ships", "rain"]),
        "year": ("1999", 1999),
        "fluency": ("4", 4),
        "warmth": ("37", 37.0),
        "first": ("train | boat | car", ["train", "boat", "car"]),
        "better": ("b", "b"),
        "day": ("2026-11-22", "2026-11-22"),
    }
    for key, (text, value) in given_and_kept.items():
        assert protocol.suggestion(DOCUMENT, ITEM, EVERYTHING, key, text) == value, key
    for key, text in {"mood": "wet", "topic": "ships | soup | rain", "code": "abc", "year": "1850", "fluency": "9",
                      "first": "boat", "better": "left", "day": "soon", "names": "[[0, 1]]"}.items():  # fmt: skip
        with pytest.raises(AnswerRefusedError):
            protocol.suggestion(DOCUMENT, ITEM, EVERYTHING, key, text)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(forms.random_form())
def test_whatever_a_worker_can_answer_can_be_suggested_and_says_the_same(random_form: Any) -> None:
    form, right, _ = random_form
    taken = protocol.settings({"form": form})
    labels = checked(taken, right)
    for key in protocol.suggestible(DOCUMENT, ITEM, taken):
        if key not in labels:
            continue
        value = protocol.suggestion(DOCUMENT, ITEM, taken, key, as_text(labels[key]))
        assert protocol.suggested_labels(DOCUMENT, ITEM, taken, key, value) == {key: labels[key]}
