"""Templates as laboratories have them, a row for each, what a worker does in its page, and the labels that follow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Frame

FOLDER = Path(__file__).parent / "templates"
NASTY = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'> & </textarea> \" ${headline} \\' ]]>"


@dataclass(frozen=True)
class Case:
    name: str
    columns: dict[str, str]
    work: Callable[[Frame], None]
    labels: dict[str, Any]
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def html(self) -> str:
        return (FOLDER / f"{self.name}.html").read_text(encoding="utf-8")


def press(frame: Frame, name: str) -> None:
    frame.get_by_role("button", name=name).click()


def markup(frame: Frame) -> None:
    # Whatever a row holds is shown, and nothing of it runs.
    assert frame.locator("#passage").text_content() == NASTY
    assert frame.evaluate("[document.documentElement.dataset.told, window.hacked]") == [NASTY, None]
    assert frame.locator("h1").get_attribute("title") == '<b>Rain</b> & "wind"'
    assert frame.get_by_label("Rewrite it").input_value() == NASTY
    frame.get_by_label("<i>cool</i>").check()
    press(frame, "Submit")


def crowd_form(frame: Frame) -> None:
    frame.get_by_label("A title").fill("Harbour at noon")
    frame.get_by_label("A description").fill("Two boats.\nOne gull.")
    frame.get_by_label("How many people?").fill("3")
    frame.get_by_label("Boats").check()
    frame.get_by_label("Birds").check()
    press(frame, "Submit")


def crowd_classifier(frame: Frame) -> None:
    frame.get_by_label("N/A").check()
    press(frame, "Submit")


def jquery(frame: Frame) -> None:
    assert frame.evaluate("typeof window.jQuery") == "undefined"
    frame.locator("#same").select_option("no")
    press(frame, "Submit")


def no_form(frame: Frame) -> None:
    frame.get_by_label("Your answer").fill("Zoë said “no” | twice")
    frame.get_by_label("How certain are you?").select_option("rather certain")
    press(frame, "Submit")


def sliders(frame: Frame) -> None:
    frame.get_by_label("Fluency").fill("73")
    frame.get_by_label("Adequacy").fill("4.5")
    frame.get_by_label("Words that you would change").fill("2")
    press(frame, "Submit")


def crowd_slider(frame: Frame) -> None:
    frame.get_by_role("slider").fill("8")
    frame.get_by_label("In a book").check()
    press(frame, "Send")


def crowd_entities(frame: Frame) -> None:
    text = frame.get_by_role("textbox", name="Mark the persons")
    for key in ("Control+Home", *["Shift+ArrowRight"] * 4):
        text.press(key)
    press(frame, "Person")
    press(frame, "Submit")


def crowd_radio_group(frame: Frame) -> None:
    frame.get_by_label("A is better").check()
    frame.get_by_label("B is better").check()
    frame.get_by_label("Why?").fill("It is true.")
    press(frame, "Submit")


def radio_groups(frame: Frame) -> None:
    frame.get_by_label("1 agree").check()
    frame.get_by_label("2 neither").check()
    press(frame, "Submit")


def checkboxes(frame: Frame) -> None:
    for label in ("Sea", "Work & pay", "Not for children"):
        frame.get_by_label(label).check()
    frame.get_by_label("Languages").select_option(["en", "nl"])
    frame.get_by_label("first place").fill("Linden")
    frame.get_by_label("second place").fill("Veere")
    frame.get_by_label("Anything else?").fill("a | b")
    press(frame, "Send it")


def fields_by_script(frame: Frame) -> None:
    frame.get_by_text("Mara").click()
    frame.get_by_text("Ilse").click()
    press(frame, "Done")


def answer_buttons(frame: Frame) -> None:
    frame.locator("[name=better]").fill("lynx")
    press(frame, "Wrong")


CASES = [
    Case(
        "markup_in_columns",
        {"headline": '<b>Rain</b> & "wind"', "passage": NASTY, "other": "<i>cool</i>", "unused": "kept"},
        markup,
        {"headline": '<b>Rain</b> & "wind"', "tone": "<i>cool</i>", "rewritten": NASTY},
    ),
    Case(
        "crowd_form",
        {"caption": "A harbour"},
        crowd_form,
        {
            "title": "Harbour at noon",
            "description": "Two boats.\nOne gull.",
            "people": 3,
            "shown": ["boats", "birds"],
            "unclear": [],
        },
    ),
    Case("crowd_classifier", {"text": "It was fine."}, crowd_classifier, {"sentiment": "N/A"}),
    Case("jquery_unreachable", {"name_a": "Lamp 2", "name_b": "Lamp II"}, jquery, {"same": "no", "clicks": "0"}),
    Case(
        "no_form",
        {"question": "What did she refuse?", "speaker": "Zoë", "quote": "No, and no again."},
        no_form,
        {"answer": "Zoë said “no” | twice", "certainty": "rather certain"},
    ),
    Case("sliders", {"sentence": "It rains."}, sliders, {"fluency": 73, "adequacy": 4.5, "words": 2}),
    Case("crowd_slider", {"claim": "Snow is cold."}, crowd_slider, {"likely": 8, "source": "book"}),
    Case("crowd_entities", {"sentence": "Mara saw “Ilse's” boat & left."}, crowd_entities, {"who": ["0-4 person"]}),
    Case(
        "crowd_radio_group",
        {"answer.a": "Yes.", "answer.b": "No."},
        crowd_radio_group,
        {"a-better": [], "b-better": ["on"], "tie": [], "why": "It is true."},
    ),
    Case(
        "radio_groups",
        {"statement_1": "I swim.", "statement_2": "I sail.", "statement_3": "I row."},
        radio_groups,
        {"s1": "1", "s2": "0"},
    ),
    Case(
        "checkboxes",
        {"title": "Herring & rain"},
        checkboxes,
        {
            "topic": ["sea", "work & pay"],
            "spam": [],
            "adult": ["on"],
            "languages": ["en", "nl"],
            "place": ["Linden", "Veere"],
            "remarks": "a | b",
        },
    ),
    Case(
        "fields_by_script",
        {"text": "Mara saw Ilse's boat"},
        fields_by_script,
        {"count": "2", "marked": "[0,2]"},
    ),
    Case(
        "answer_buttons",
        {"page_url": "https://cats.example/?a=1&b=2", "label": "cat"},
        answer_buttons,
        {"better": "lynx", "verdict": "wrong"},
    ),
]
