"""A questionnaire of a lead's own: what is shown of an item and what is asked about it, as data of the stage.

The setting `form` is {"show": [display, ...], "ask": [field, ...], "layout"?}; `displays` and `fields` say which kinds
there are, `schema` reads them. Document and item: {"columns": {name: value}}, together the columns of a row; those of
the item count where both have one.

Labels: each field that was shown and answered has one, under its key; a matrix has one for each row, `key/row`. Boxes
and rankings have one more for each choice, `key/id`, which rules can count. A field whose condition does not hold is
not there: what was posted for it is ignored, whatever it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hits.protocols import choosing
from hits.protocols.base import AnswerRefusedError, CheckedAnswer, Json, LabelValue, SettingsRefusedError
from hits.protocols.columns import columns_of, named
from hits.protocols.form import displays, fields, filling
from hits.protocols.form.fields import Field, NoGoldError, NotTakenError
from hits.protocols.form.parts import Given, Item, Kind
from hits.protocols.form.ready import ready_forms
from hits.protocols.form.schema import Form, form_of, read_form
from hits.protocols.given_settings import CLOSING, COMMON
from hits.protocols.given_settings import Given as GivenSettings
from hits.protocols.majorities import right_shares
from hits.protocols.optional import Card, Line, PartKind, PartList, PartsEditor, Setting
from hits.text.wording import _

SHOWN_QUESTION = 60
WRITTEN = (fields.ShortText, fields.LongText)
DEFAULTS: Json = {
    **COMMON,
    "form": {
        "show": [],
        "ask": [
            {
                "kind": "one",
                "key": "answer",
                "question": "Is this easy to understand?",
                "choices": [{"id": "yes", "text": "Yes"}, {"id": "no", "text": "No"}],
            }
        ],
    },
}


def _kinds(kinds: Mapping[str, type[Kind]], begin: Json) -> tuple[PartKind, ...]:
    return tuple(
        PartKind(name, kind.title, kind.inputs, kind.defaults(), {**begin, **kind.new}) for name, kind in kinds.items()
    )


def _hint(document: Json, item: Json) -> str:
    return named(document, item, "{%s}")


EDITOR = PartsEditor(
    lists=(
        PartList("show", "What is shown", "display", _kinds(displays.KINDS, {})),
        PartList("ask", "What is asked", "question", _kinds(fields.KINDS, {"question": "Your question?"}), key="key"),
    ),
    settings=(
        Setting(
            "layout",
            "Where the questions stand",
            "choice",
            "On a phone the questions are below in either case.",
            options=(("beside", "beside what is shown, always in sight"), ("below", "below what is shown")),
        ),
    ),
    ready=tuple((ready.title, ready.form) for ready in ready_forms()),
    hint=_hint,
)


EXAMPLE: tuple[Json, Json] = (
    {
        "columns": {
            "text": "The ferry to Linden sails again, a year late. “I came for the view and stayed for the soup,”"
            " said Ilse Brandt.",
            "question": "When does the ferry sail?",
            "answer_a": "It sails every hour, from six in the morning on.",
            "answer_b": "I do not know. The text does not say so.",
            "source": "Jeder Anfang ist schwer.",
            "translation": "Every beginning is hard.",
        }
    },
    {},
)
CARDS = (
    Card(
        "",
        "An empty form",
        "Questions of your own, one by one: choices, scales, texts, numbers, marked spans and more.",
        picture="empty.webp",
        dark="empty-dark.webp",
        example=EXAMPLE,
    ),
    *(
        Card(
            ready.name,
            ready.title,
            ready.about,
            {"form": ready.form},
            f"{ready.name}.webp",
            f"{ready.name}-dark.webp",
            ({"columns": ready.columns}, {}),
        )
        for ready in ready_forms()
    ),
)


class FormProtocol:
    name = "form"
    title = "A questionnaire of your own"
    fields = (
        Setting(
            "instructions",
            "Instructions",
            "text",
            "In Markdown: what a worker has to know who has never seen this. Empty: ours are shown.",
            rows=8,
        ),
        Setting("form", "Form", "parts", "What is shown and what is asked.", editor=EDITOR),
        *CLOSING,
    )
    example = EXAMPLE
    cards = CARDS

    def settings(self, given: Mapping[str, Any]) -> Json:
        """The given settings completed with defaults. Raises SettingsRefusedError with every fault."""
        found = GivenSettings(given, DEFAULTS)
        form, faults = read_form(found.values["form"])
        if form is None:
            raise SettingsRefusedError([*found.faults, *faults])
        found.values["form"] = form.as_json()
        return found.done()

    def page(self, document: Json, item: Json, settings: Json, worker: str = "") -> Json:
        """{"instructions": HTML, "show", "ask", "layout"}; a display or field names its template."""
        form = form_of(settings["form"])
        seen = form.item(columns_of(document, item), worker, document.get("media"))
        return {
            "instructions": filling.of_markdown(settings["instructions"]),
            "show": [display.page(seen) for display in form.show],
            "ask": [
                {**field.page(seen, number), "shown_if": _condition(field, form, seen)}
                for number, field in enumerate(form.ask, 1)
            ],
            "layout": form.layout if form.show else "below",
        }

    def check(
        self, document: Json, item: Json, settings: Json, fields: Mapping[str, str], worker: str = ""
    ) -> CheckedAnswer:
        form = form_of(settings["form"])
        answer = _Answer(form.item(columns_of(document, item), worker), fields)
        for number, field in enumerate(form.ask, 1):
            answer.take(field, number)
        if not answer.labels and not answer.faults:
            answer.faults.append(_("Nothing is answered yet. Answer a question."))
        if answer.faults:
            raise AnswerRefusedError(answer.faults, answer.names)
        return CheckedAnswer(tuple(answer.labels), choosing.remark(fields))

    def scores(self, answers: Iterable[tuple[Json, Json, Any]]) -> Json:
        """Nothing: the label of one field says little about a form; see `item_scores`."""
        return {}

    def item_scores(self, items: Iterable[tuple[Json, Json, Sequence[Mapping[str, Any]]]], settings: Json) -> Json:
        """As `majorities.right_shares`, over the items with known answers; of several fields each has to be right."""
        return right_shares(given for _, _, given in items)

    columns = staticmethod(columns_of)

    def named_columns(self, settings: Json) -> list[str]:
        form = form_of(settings["form"])
        return list(dict.fromkeys([*form.shown_columns, *form.gold_columns]))

    def shown_columns(self, settings: Json) -> list[str]:
        form = form_of(settings["form"])
        return list(dict.fromkeys(name for part in (*form.show, *form.ask) for name in sorted(part.columns())))

    def has_known_answer(self, document: Json, item: Json, settings: Json) -> bool:
        columns = columns_of(document, item)
        return any(str(columns.get(name) or "").strip() for name in form_of(settings["form"]).gold_columns)

    def media_columns(self, settings: Json) -> list[str]:
        shown = [display.media_column for display in form_of(settings["form"]).show]
        return list(dict.fromkeys(name for name in shown if name))

    def item_faults(self, document: Json, item: Json, settings: Json) -> list[str]:
        """What the form names and the item lacks, or has in a way that cannot be shown or compared; sentences."""
        form = form_of(settings["form"])
        seen = form.item(columns_of(document, item), media=document.get("media"))
        found = list(seen.missing(self.named_columns(settings)))
        for part in (*form.show, *form.ask):
            found += part.item_faults(seen)
        return list(dict.fromkeys(found))

    def sources(self, document: Json, item: Json, settings: Json) -> dict[str, list[str]]:
        """The origins that the page of this item loads pictures, sounds and videos from, by directive."""
        form = form_of(settings["form"])
        seen = form.item(columns_of(document, item), media=document.get("media"))
        found: dict[str, set[str]] = {}
        for display in form.show:
            for directive, origins in display.sources(seen).items():
                found.setdefault(directive, set()).update(origins)
        return {directive: sorted(origins) for directive, origins in found.items()}

    def longest_answer(self, document: Json, item: Json, settings: Json) -> int:
        return sum(field.most_characters for field in form_of(settings["form"]).ask)

    def asks_texts(self, settings: Json) -> bool:
        return any(isinstance(field, WRITTEN) for field in form_of(settings["form"]).ask)

    def text_fields(self, document: Json, item: Json, settings: Json) -> list[str]:
        return [field.key for field in form_of(settings["form"]).ask if isinstance(field, WRITTEN)]

    def given_text(self, document: Json, item: Json, settings: Json) -> str:
        """The columns that the page shows."""
        columns = columns_of(document, item)
        return "\n\n".join(str(columns[name]) for name in self.shown_columns(settings) if columns.get(name))

    def answer_names(self, settings: Json) -> dict[str, bool]:
        """What a file of results can have a column for, and whether each answer needs it."""
        asked = form_of(settings["form"]).ask
        return {name: field.required and not field.shown_if for field in asked for name in field.told_by()}

    def posted(self, document: Json, item: Json, settings: Json, told: Mapping[str, str], worker: str) -> Json:
        """The fields that the page would have posted. Raises AnswerRefusedError."""
        form = form_of(settings["form"])
        seen = form.item(columns_of(document, item), worker)
        found = dict(told)
        faults = []
        for field in form.ask:
            try:
                found |= field.posted(told, seen)
            except NoGoldError as error:
                faults.append(f"The answer to {field.key!r} {error}.")
            except NotTakenError as error:
                faults += [f"The answer to {field.key!r} {sentence}." for sentence in error.sentences]
        if faults:
            raise AnswerRefusedError(faults)
        return found

    def known_values(self, document: Json, item: Json, settings: Json) -> Json:
        """The value that is right, by unit; without the units of which none is known, and those of a field that is not
        shown where another one is answered rightly.
        """
        form = form_of(settings["form"])
        seen = form.item(columns_of(document, item))
        found: Json = {}
        for field in form.ask:
            if not _is_hidden_by(found, field, form):
                found |= dict(field.known_values(seen))
        return found

    def suggestible(self, document: Json, item: Json, settings: Json) -> list[str]:
        """The keys of the fields whose answer is one label; a matrix has one for each row."""
        return [field.key for field in form_of(settings["form"]).ask if field.key in field.units()]

    def suggestion(self, document: Json, item: Json, settings: Json, field: str, text: str) -> Any:
        """The value of the field's label, from what a file of results may have."""
        form = form_of(settings["form"])
        asked = next(one for one in form.ask if one.key == field)
        try:
            value = asked.suggested(text, form.item(columns_of(document, item)))
        except NoGoldError as error:
            raise AnswerRefusedError([str(error)]) from error
        except NotTakenError as error:
            raise AnswerRefusedError(error.sentences) from error
        if value is None:
            raise AnswerRefusedError(["names no answer"])
        return value

    def suggested_labels(self, document: Json, item: Json, settings: Json, field: str, value: Any) -> Json:
        return {field: value}

    def in_lines(self, document: Json, item: Json, settings: Json, said: Mapping[str, Any]) -> list[Line]:
        """Each question with what was answered."""
        form = form_of(settings["form"])
        seen = form.item(columns_of(document, item))
        return [line for field in form.asked_about(said) for line in field.lines(said, seen)]

    def levels(self, settings: Json) -> dict[str, str]:
        """How the values of each unit can be compared: nominal, ordinal, interval, set or text."""
        return {unit: level for field in form_of(settings["form"]).ask for unit, level in field.units().items()}


class _Answer:
    """What was posted, taken field by field: values by key, labels, and what is wrong with it."""

    def __init__(self, item: Item, posted: Mapping[str, str]) -> None:
        self.item, self.posted = item, posted
        self.values: dict[str, tuple[Field, Any]] = {}
        self.labels: list[LabelValue] = []
        self.faults: list[str] = []
        self.names: list[str] = []

    def take(self, field: Field, number: int) -> None:
        if not self._is_shown(field):
            return
        try:
            value = field.taken(Given(field.key, self.posted), self.item)
            if value is None and field.required:
                raise NotTakenError(_("is not answered yet"), field.first_name)
        except NotTakenError as error:
            question = _short(self.item.fill(field.question))
            self.faults += [
                _("Question %(number)s, “%(question)s”, %(fault)s.", number=number, question=question, fault=fault)
                for fault in error.sentences
            ]
            self.names += [error.name] * len(error.sentences)
            return
        if value is not None:
            self.values[field.key] = field, value
            self.labels += field.labels(value, self.item)

    def _is_shown(self, field: Field) -> bool:
        wanted = field.shown_if
        if wanted is None:
            return True
        if wanted.field not in self.values:
            return False
        other, value = self.values[wanted.field]
        return other.holds(value, wanted.values)


def _is_hidden_by(known: Json, field: Field, form: Form) -> bool:
    """Whether the known answer to the field of its condition keeps a field from being shown."""
    wanted = field.shown_if
    if wanted is None or wanted.field not in known:
        return False
    other = next(one for one in form.ask if one.key == wanted.field)
    return not other.holds(known[wanted.field], wanted.values)


def _condition(field: Field, form: Form, seen: Item) -> Json | None:
    """{"field", "values", "text"}: what the page has to find in which field, and the same in words."""
    if (wanted := field.shown_if) is None:
        return None
    number, other = next(pair for pair in enumerate(form.ask, 1) if pair[1].key == wanted.field)
    told = [other.told(value, seen) for value in wanted.values]
    words = _(" or ").join(_("“%(answer)s”", answer=text) for posted, text in told)
    condition = _("question %(number)s is %(words)s", number=number, words=words)
    return {"field": wanted.field, "values": [posted for posted, text in told], "text": condition}


def _short(question: str) -> str:
    told = " ".join(question.split())
    return told if len(told) <= SHOWN_QUESTION else f"{told[: SHOWN_QUESTION - 1]}…"


protocol = FormProtocol()
