"""A QuestionForm as data."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from marketplace.rules.questions.content import Block

Styles = ("radiobutton", "dropdown", "checkbox", "list", "combobox", "multichooser")


@dataclass(frozen=True)
class Pattern:
    """A regular expression of the requester, in JavaScript's dialect; `message` is theirs too, or empty."""

    regex: str
    ignore_case: bool = False
    message: str = ""


@dataclass(frozen=True)
class FreeText:
    """A text to write; None stands for a bound that is not set. `lines` is a suggestion."""

    lines: int = 1
    default: str = ""
    numeric: bool = False
    least: Decimal | None = None
    most: Decimal | None = None
    shortest: int | None = None
    longest: int | None = None
    patterns: Sequence[Pattern] = ()

    kind = "text"


@dataclass(frozen=True)
class Choice:
    identifier: str
    content: Block


@dataclass(frozen=True)
class Selection:
    """Choices to pick from; an answer that is written under `other` counts as one of them."""

    choices: Sequence[Choice]
    fewest: int = 0
    most: int = 1
    style: str = ""
    other: FreeText | None = None

    kind = "selection"

    @property
    def widget(self) -> str:
        """How it is drawn: radio, checkbox, dropdown or list. A style that cannot hold `most` choices gives way."""
        if self.style in ("dropdown", "combobox", "list") and all(c.content.kind == "text" for c in self.choices):
            return "dropdown" if self.most == 1 and self.style != "list" else "list"
        if self.most > 1 or self.style in ("checkbox", "multichooser"):
            return "checkbox"
        return "radio"


@dataclass(frozen=True)
class Overview:
    content: Sequence[Block]

    kind = "overview"


@dataclass(frozen=True)
class Question:
    identifier: str
    content: Sequence[Block]
    answer: FreeText | Selection
    display_name: str = ""
    required: bool = False

    kind = "question"

    @property
    def other_field(self) -> str:
        """The form field of the answer beside the choices."""
        return f"{self.identifier}.other"


@dataclass(frozen=True)
class Form:
    parts: Sequence[Overview | Question]

    @property
    def questions(self) -> list[Question]:
        return [part for part in self.parts if isinstance(part, Question)]


@dataclass(frozen=True)
class Answer:
    """One question's answer: `text` for a free text (None otherwise), else the selections and what is under other."""

    identifier: str
    text: str | None = None
    selections: tuple[str, ...] = ()
    other: str = ""
