"""What a protocol may do beyond `TaskProtocol`: be set up on a page, and measure all answers to an item together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from hits.protocols.base import CrowdlessProtocol, Json, TaskProtocol


def with_unit(label: str, unit: str) -> str:
    """The unit in brackets behind a label that does not name it itself."""
    return label if not unit or unit.lower() in label.lower() else f"{label} ({unit})"


@dataclass(frozen=True)
class Setting:
    """One setting of a protocol as a form shows it; `TaskProtocol.settings` judges what is written into it.

    `unit` is what a number counts, and `help` says what the setting does, in a sentence that leads read below it.

    A `text` of more than one row may have paragraphs; `html` is a page, which may also come from a file, with the line
    numbers that its author sees; `lines` give a list with one text a line; a `choice` is one of `options`, which are
    (value, label). `lines` turns the value of a `lines` setting into the lines to show. An item that has one of the
    fields `brought_as` brings a value of its own, which is asked instead. The ids of a `lines` setting that `names`
    another one are those of choices of that one, and are shown by their texts.
    """

    name: str
    label: str
    kind: Literal["text", "html", "lines", "bool", "number", "choice", "parts"]
    help: str = ""
    rows: int = 1
    options: tuple[tuple[str, str], ...] = ()
    lines: Callable[[Any], list[str]] = list
    line: Callable[[Any], str] = str
    editor: PartsEditor | None = None
    seldom: bool = False
    hint: Callable[[Json, Json], str] | None = None
    unit: str = ""
    brought_as: tuple[str, ...] = ()
    names: str = ""

    @property
    def titled(self) -> str:
        """The label with the unit behind it, where it does not name it itself."""
        return with_unit(self.label, self.unit)


@dataclass(frozen=True)
class PartKind:
    """A kind of part of a list: `settings` can be written, `defaults` are the values of those that are left out, and
    `new` is what a new one begins with.
    """

    name: str
    title: str
    settings: tuple[Setting, ...]
    defaults: Json = field(default_factory=dict)
    new: Json = field(default_factory=dict)


@dataclass(frozen=True)
class PartList:
    """A list of parts, objects whose `kind` is one of the kinds. `one` is what a part is called.

    A new part gets a name of its own in the setting `key`, where there is one.
    """

    name: str
    title: str
    one: str
    kinds: tuple[PartKind, ...]
    key: str = ""


@dataclass(frozen=True)
class PartsEditor:
    """How a page writes an object of lists of parts, beside which it has `settings` of its own.

    `ready` are (title, object) to start from. `hint` tells a lead what of an item the parts can name. Faults begin
    with their place: list[number].setting.
    """

    lists: tuple[PartList, ...]
    settings: tuple[Setting, ...] = ()
    ready: tuple[tuple[str, Json], ...] = ()
    hint: Callable[[Json, Json], str] = lambda document, item: ""


@dataclass(frozen=True)
class Card:
    """A task to begin a new stage with, as leads choose it; `about` is one sentence.

    `name` is that of a ready-made one, and empty where the stage begins with nothing but `settings`. `picture`, and
    `dark` for dark screens, are files of the protocol's folder `static/`, which `python -m ops.pictures` makes;
    `example` is the document and the item that they show.
    """

    name: str
    title: str
    about: str
    settings: Json = field(default_factory=dict)
    picture: str = ""
    dark: str = ""
    example: tuple[Json, Json] = ({}, {})

    @property
    def files(self) -> list[str]:
        return [name for name in (self.picture, self.dark) if name]


@runtime_checkable
class OfferedProtocol(TaskProtocol, Protocol):
    """Has ready-made tasks, or pictures of what it asks, for those who choose what a new stage asks."""

    cards: tuple[Card, ...]


def cards_of(protocol: TaskProtocol) -> tuple[Card, ...]:
    """What a lead can begin with; of a protocol that declares nothing, one card without a picture."""
    if isinstance(protocol, OfferedProtocol):
        return protocol.cards
    return (Card("", protocol.title, "It begins with the settings that this task has by itself."),)


@runtime_checkable
class WrittenProtocol(TaskProtocol, Protocol):
    """Its settings can be written on a page by somebody who does not program.

    `example` is a document and an item of our own writing, shown while nothing is imported.
    """

    fields: tuple[Setting, ...]
    example: tuple[Json, Json]


@dataclass(frozen=True)
class Corrected:
    """A copy of what was written that passes the check, and what is different in it, as sentences."""

    text: str
    changes: tuple[str, ...]


@runtime_checkable
class CorrectingProtocol(WrittenProtocol, Protocol):
    """Offers a corrected copy of a page that it refuses."""

    def corrected(self, name: str, text: str) -> Corrected | None:
        """Of the setting of that name, whose kind is html; None where it passes, or no copy would."""


@runtime_checkable
class VariedProtocol(WrittenProtocol, Protocol):
    """Asks different things by its settings: some of its fields, and another example, belong to a stage."""

    def fields_for(self, settings: Json) -> tuple[Setting, ...]:
        """Those of `fields` that a stage with these settings uses."""

    def example_for(self, settings: Json) -> tuple[Json, Json]:
        """A document and an item of our own writing that such a stage would ask about."""


@runtime_checkable
class ItemwiseProtocol(TaskProtocol, Protocol):
    """Measures all answers to an item together, such as how often the majority is right."""

    def item_scores(self, items: Iterable[tuple[Json, Json, Sequence[Mapping[str, Any]]]], settings: Json) -> Json:
        """Measures over (document, item, what each answer says), read once; empty without any. There may be millions.

        An answer says a value of each unit, and of `<unit>.correct` where the unit was compared with a reference.
        """


@runtime_checkable
class KnownAnswersProtocol(TaskProtocol, Protocol):
    """Its items may bring known answers, which a worker has to be able to give."""

    def known_answer_faults(self, item: Json, settings: Json) -> list[str]:
        """What of the item's known answers nobody can choose with these settings, as sentences."""


@runtime_checkable
class KnownValuesProtocol(TaskProtocol, Protocol):
    """Says which values its labels are compared with."""

    def known_values(self, document: Json, item: Json, settings: Json) -> Json:
        """The value that is right, by unit; without the units of which none is known."""


@dataclass(frozen=True)
class Line:
    """One thing that an answer says, as people read it.

    `asked` is what the page asked, in its words, and empty where nothing was asked; `said` what was answered. `units`
    are the labels that it tells of, and `known` the right answer in words, where the item brings one. With `is_note`
    nobody asked: it was measured on the way.
    """

    asked: str
    said: str
    units: tuple[str, ...] = ()
    known: str = ""
    is_note: bool = False


@runtime_checkable
class WordedProtocol(TaskProtocol, Protocol):
    """Tells its answers in the words of its page."""

    def in_lines(self, document: Json, item: Json, settings: Json, said: Mapping[str, Any]) -> Sequence[Line]:
        """What an answer says, in the order of the page. `said` are values of labels by unit: all those of an answer,
        or one alone. A unit that no line tells of is not shown. Labels may be older than the settings.
        """


@runtime_checkable
class SuggestedProtocol(WordedProtocol, Protocol):
    """Takes values that a model proposes for the fields of an item, and its page shows them as `page.suggestions`: the
    words of each by field. Nothing is chosen beforehand on the page.

    A field is what a lead thinks of as one answer, such as `choice`; its answer may be several labels.
    """

    def suggestible(self, document: Json, item: Json, settings: Json) -> Sequence[str]:
        """The fields that can have a suggestion, in the order of the page."""

    def suggestion(self, document: Json, item: Json, settings: Json, field: str, text: str) -> Any:
        """The value that is kept, of one of these fields; JSON. Lists are written as JSON or with bars between.

        Raises AnswerRefusedError for a value that no worker could give; the reasons end a sentence about the value.
        """

    def suggested_labels(self, document: Json, item: Json, settings: Json, field: str, value: Any) -> Json:
        """The labels, by unit, of an answer that says the same."""


@runtime_checkable
class GoldProtocol(TaskProtocol, Protocol):
    """Compares answers with known ones that an item may bring, so its items can be check questions."""

    def has_known_answer(self, document: Json, item: Json, settings: Json) -> bool:
        """Whether the item brings one, also one that nobody can give."""


@runtime_checkable
class FittedProtocol(TaskProtocol, Protocol):
    """Not every item fits its settings, such as one that lacks a column which they name."""

    def item_faults(self, document: Json, item: Json, settings: Json) -> list[str]:
        """Why the item cannot be shown, or a known answer of it not be given, as sentences.

        They do not name the item, so that the same fault of many items is told once.
        """


@runtime_checkable
class NotingProtocol(TaskProtocol, Protocol):
    """Sees in new items what a lead should know of, and what keeps none of them out."""

    def import_notes(self, rows: Iterable[tuple[Json, Json]], settings: Json) -> list[str]:
        """Of the documents and items of one file, as sentences."""


@runtime_checkable
class RowsProtocol(TaskProtocol, Protocol):
    """Asks about rows: document and item hold {"columns": {name: value}}. So a stage of it can follow any other."""

    def columns(self, document: Json, item: Json) -> Json:
        """Those of both together; the item's counts where both have one of a name."""

    def named_columns(self, settings: Json) -> Sequence[str]:
        """The columns that the task with these settings names, each once: what it shows, and known answers."""


@runtime_checkable
class ShowingProtocol(RowsProtocol, Protocol):
    """Says which of the columns its page shows, so that lists show the same."""

    def shown_columns(self, settings: Json) -> Sequence[str]:
        """Those that workers see, in their order."""


@runtime_checkable
class ReadableProtocol(RowsProtocol, Protocol):
    """Takes answers from a file of results, which may be written in other words than its page posts."""

    def answer_names(self, settings: Json) -> dict[str, bool]:
        """What a file of results can have a column for, by name, and whether an answer needs it."""

    def posted(self, document: Json, item: Json, settings: Json, told: Mapping[str, str], worker: str) -> Json:
        """The fields that the page would have posted, from cells by name or by unit. What is none of them is passed
        on as it is, and `check` judges it. Raises AnswerRefusedError.
        """


@runtime_checkable
class MediaProtocol(RowsProtocol, Protocol):
    """Shows pictures, sounds or videos that were uploaded into the project, which values of a row name.

    Its `page`, `sources` and `item_faults` find them in the document: `media` has, by the name as it stands in the
    column, {"address", "kind", "width", "height", "others"}. `kind` is image, audio or video; width and height are 0
    where they are not known; `others` are the files that the name could mean, where there is more than one.
    """

    def media_columns(self, settings: Json) -> Sequence[str]:
        """The columns whose values may name such files."""


@runtime_checkable
class SourcesProtocol(TaskProtocol, Protocol):
    """Its page loads pictures, sounds or videos from elsewhere."""

    def sources(self, document: Json, item: Json, settings: Json) -> dict[str, list[str]]:
        """The origins of this item, such as https://images.example.org, by the directive of the page's policy that
        they are added to: `img-src` or `media-src`.
        """


@runtime_checkable
class SizedProtocol(TaskProtocol, Protocol):
    """Its answers may hold much text: so may a draft, which by itself has 20,000 characters at most."""

    def longest_answer(self, document: Json, item: Json, settings: Json) -> int:
        """The most characters that the fields of an answer have together, names included."""


@runtime_checkable
class TextsProtocol(TaskProtocol, Protocol):
    """Workers write texts on its page, of which a stage may collect how they came about (`text_evidence`).

    The template extends answers/task/base.html, which counts what is typed and pasted into these fields.
    """

    def asks_texts(self, settings: Json) -> bool:
        """Whether a task with these settings has such a field."""

    def text_fields(self, document: Json, item: Json, settings: Json) -> Sequence[str]:
        """The names of the form fields in which workers write in their own words."""

    def given_text(self, document: Json, item: Json, settings: Json) -> str:
        """What the page shows to write about, which an answer may well quote; empty for nothing."""


@dataclass(frozen=True)
class OwnPage:
    """A whole HTML page of a requester, as the marketplace shows it; `frame_height` in pixels, 0 fits the window."""

    html: str
    frame_height: int = 0


@runtime_checkable
class OwnPageProtocol(TaskProtocol, Protocol):
    """Its page is one of a lead's own: its HITs are HTMLQuestions, which the marketplace itself shows to workers.

    So nothing is asked here before an answer is sent, there are no drafts, and the page is never served from the
    dashboard's address but as a preview in a sandbox. `page` holds what `own_page` does.
    """

    def own_page(self, document: Json, item: Json, settings: Json) -> OwnPage:
        """The page of this item. Values of the item never become markup in it. Raises ValueError for an item that
        `item_faults` refuses.
        """


@runtime_checkable
class LevelledProtocol(TaskProtocol, Protocol):
    """Knows how the values of its units can be compared, so that statistics that fit can be chosen."""

    def levels(self, settings: Json) -> dict[str, str]:
        """nominal, ordinal, interval, set, span or text, by unit.

        A unit of a group, `q3/choice`, may be named by what stands behind the slash: then each group of each item is
        compared by itself, and all of them together are one unit. What is not named is not compared.
        """


@runtime_checkable
class GrowingProtocol(LevelledProtocol, Protocol):
    """Its answers may have units that the settings do not name, because the page's own scripts ask them."""

    def grown(self, settings: Json, units: Sequence[str]) -> Json:
        """The settings with those of the units that they do not name yet."""


@runtime_checkable
class ComparableProtocol(LevelledProtocol, Protocol):
    """Its values hold more than what is compared, such as where a name was clicked."""

    def comparable(self, unit: str, value: Any) -> Any:
        """What of a label's value is compared with others of its unit, a text or number."""


@dataclass(frozen=True)
class Change:
    """What one label changes in its item: texts by what they are called, before and after; `after` None is deleted.

    `title` says what is changed ("Question 2"), `reason` why, in words; it may be empty.
    """

    title: str
    action: str
    reason: str
    before: Mapping[str, str]
    after: Mapping[str, str] | None


@runtime_checkable
class ChangingProtocol(TaskProtocol, Protocol):
    """Its answers change the very item that they are about, and a lead may take each change back.

    A label is a change exactly if its value is an object whose `action` is a word of `actions`, which are (word, what
    a lead reads): so changes are found in a table without looking at every label. `deleting` are those of them that
    can leave nothing of an item.
    """

    actions: tuple[tuple[str, str], ...]
    deleting: tuple[str, ...]

    def change(self, item: Json, unit: str, value: Any) -> Change | None:
        """None for a label that changes nothing."""

    def left_out(self, item: Json, changes: Mapping[str, Any]) -> str:
        """Why nothing of the item is left after these label values by unit, a sentence; empty where something is."""


@dataclass(frozen=True)
class Likeness:
    """An answer that says much of what another answer to the same item says, and which one that is.

    `share`, 0..1, is how much of it stands in the other one, and `passage` the longest piece that both have. `own` and
    `others` are the two texts as runs of (text, stands in both).
    """

    other: int
    share: float
    passage: str
    own: tuple[tuple[str, bool], ...]
    others: tuple[tuple[str, bool], ...]


@runtime_checkable
class ComparingProtocol(TaskProtocol, Protocol):
    """Holds the answers to one item against one another, so that a reviewer sees which are copied.

    `compared` names the unit whose values are held against one another; reviewers read it as a word.
    """

    compared: str

    def compare(self, answers: Mapping[int, Any]) -> dict[int, Likeness]:
        """By the answers' own numbers, the one that each is most like; answers like no other one are left out."""


@runtime_checkable
class CorrectableProtocol(TaskProtocol, Protocol):
    """Leads may correct what its items ask about before they go out, on a page of the protocol's own."""

    def correct(self, document: Json, item: Json, wanted: Any) -> Json:
        """The item with what the page's form wants. Raises AnswerRefusedError; its fields are places in the form."""

    def follow(self, item: Json, before: Json, after: Json) -> Json:
        """Another item about the same text, in another stage, after the one there was corrected; itself where nothing
        of it changes with that. Raises AnswerRefusedError.
        """

    def correction_note(self, first: Json, now: Json) -> str:
        """What to know of an item that came into its stage as `first`; empty without any."""


@dataclass(frozen=True, order=True)
class MarkedSentence:
    """text[start:end] of a document, and the phrases in it that are asked about, as (start, end); ends exclusive."""

    start: int
    end: int
    phrases: tuple[tuple[int, int], ...]


@runtime_checkable
class MarkedProtocol(CorrectableProtocol, Protocol):
    """What its items ask about are phrases in sentences of a text, and `correct` takes them as MarkedSentences."""

    def marked(self, item: Json) -> tuple[MarkedSentence, ...]:
        """The sentences and phrases of the item, in the order of the text."""


@dataclass(frozen=True)
class MentionCorrection:
    """One mention of a text that is changed, added (`at` None) or removed (`wanted` None).

    `place` is the number of a sentence, None for the passage; `at` is where the mention starts now. `wanted` is (start,
    end, type, entity), end exclusive; without an entity it is a new one of the passage, and in a sentence none of it.
    """

    place: int | None
    at: int | None
    wanted: tuple[int, int, str, int | None] | None


@runtime_checkable
class AnnotatedProtocol(CrowdlessProtocol, Protocol):
    """Its items have texts with annotations, which leads or programs outside may replace."""

    def annotations(self, item: Json) -> Json:
        """What can be replaced."""

    def annotate(self, item: Json, given: Mapping[str, Any], options: Mapping[str, Any]) -> Json:
        """The item with these annotations, all that follows from them computed anew by the project's options.

        Raises AnswerRefusedError; its fields are places, such as `sentences[3].mentions[0].end`.
        """

    def correct(self, item: Json, correction: MentionCorrection, options: Mapping[str, Any]) -> Json:
        """The item with one mention corrected, as `annotate` does it. Raises AnswerRefusedError."""

    def drop(self, item: Json, query: str, *, back: bool) -> Json:
        """The item without a query, or with one that was taken out. Raises AnswerRefusedError."""
