"""A page of a lead's own: a Mechanical Turk or Turkle template, filled in with the columns of a row.

The setting `template` is HTML with `${column}` placeholders. Document and item hold {"columns": {name: value}}; see
`hits.protocols.columns`. A HIT of it is an HTMLQuestion: the marketplace shows the page, and nothing is asked here
before an answer is sent.

Labels: each field of the page that was answered has one, under its name (see `controls.unit_of`): the value of radio
buttons, of a list or a classifier, a number, a text. Checkboxes, lists with several choices, and whatever has its name
more than once give a list, which is empty where nothing was chosen. It is the same whether a crowd-form or a plain form
sent it. A field that a script made is a text, and `grown` adds it to the setting `more_fields`. The setting `gold`
names, by field, the column with the known answer; see `known`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from common.html_templates import NotFilledError, TooLargeError
from hits.protocols.base import CheckedAnswer, Json, LabelValue, SettingsRefusedError
from hits.protocols.columns import columns_of, named
from hits.protocols.given_settings import MAX_SECONDS, Given
from hits.protocols.html_page import correcting, known
from hits.protocols.html_page.answers import values_of
from hits.protocols.html_page.controls import LEVELS, LONGEST_UNIT, RESERVED, is_plain
from hits.protocols.html_page.template import MOST_BYTES, MOST_FIELDS, Template, read_template, with_more
from hits.protocols.lines import plain, written
from hits.protocols.majorities import right_shares
from hits.protocols.optional import Card, Corrected, Line, OwnPage, Setting
from hits.text.markup import markup_in

HIGHEST = 10_000
DEFAULT_TEMPLATE = """<form>
  <fieldset>
    <legend>Is this easy to understand?</legend>
    <label><input type="radio" name="answer" value="yes" required> Yes</label>
    <label><input type="radio" name="answer" value="no"> No</label>
  </fieldset>
  <button>Submit</button>
</form>
"""
DEFAULTS: Json = {
    "template": DEFAULT_TEMPLATE,
    "markup": [],
    "more_fields": [],
    "gold": {},
    "frame_height": 0,
    "min_seconds": 0,
}


EXAMPLE: tuple[Json, Json] = ({"columns": {"text": "The ferry to Linden sails again, a year late."}}, {})


class HtmlPageProtocol:
    name = "html_page"
    title = "A page of your own (HTML template)"
    fields = (
        Setting(
            "template",
            "Template",
            "html",
            "HTML with ${column} where the value of that column stands, as Mechanical Turk and Turkle take it.",
            rows=24,
            hint=lambda document, item: named(document, item, "${%s}"),
        ),
        Setting(
            "markup",
            "Columns with markup, one a line",
            "lines",
            "Their values are shown as HTML where the template has them as text: without scripts, forms and whatever "
            "loads more than pictures and sounds. Those of other columns are shown exactly as they are written.",
            rows=2,
        ),
        Setting(
            "more_fields",
            "Fields that scripts add, one a line",
            "lines",
            "Only for pages whose scripts make fields. Name those that a rule or a gold answer is about; others are "
            "added here when an answer brings them.",
            rows=2,
        ),
        Setting(
            "gold",
            "Gold answers, one a line",
            "lines",
            "field = column. With them you see how accurate each worker is; an empty cell means that nothing is known.",
            rows=2,
            lines=known.gold_lines,
        ),
        Setting(
            "frame_height",
            "Height of the frame",
            "number",
            f"0 to {HIGHEST:,}; 0 leaves it to the marketplace, which fits the frame to the window.",
            unit="pixels",
        ),
        Setting(
            "min_seconds",
            "Minimum time",
            "number",
            f"0 to {MAX_SECONDS}. A faster answer counts only when you approve it; the page itself asks for no time.",
            unit="seconds",
        ),
    )
    example = EXAMPLE
    cards = (
        Card(
            "",
            "A page of your own",
            "HTML with the columns of a row in it, as Mechanical Turk and Turkle take it.",
            picture="page.webp",
            example=EXAMPLE,
        ),
    )

    def settings(self, given: Mapping[str, Any]) -> Json:
        """The given settings completed with defaults. Raises SettingsRefusedError with every fault."""
        found = Given(given, DEFAULTS)
        found.whole("frame_height", 0, HIGHEST)
        found.faults += self._template_faults(found.values)
        return found.done()

    def _template_faults(self, values: Json) -> list[str]:
        """Brings template and names into the form in which they are kept."""
        text, names = values["template"], values["more_fields"]
        if not isinstance(text, str):
            return [f"template must be a text, not {text!r:.60}."]
        values["template"] = text = _as_kept(text)
        template, faults = read_template(text)
        wrong = [*_name_faults(names, template), *_markup_faults(values["markup"], template)]
        if template and not wrong and not template.makes_fields and not with_more(template, names).fields:
            wrong = [
                'template line 1: the page asks nothing: give a field a name, such as <input name="answer">, or name '
                "the fields that its scripts add."
            ]
        if template and not wrong:
            values["gold"], wrong = known.read_gold(values["gold"], with_more(template, names))
        return [*faults, *wrong]

    def corrected(self, name: str, text: str) -> Corrected | None:
        return correcting.corrected(_as_kept(text))

    def page(self, document: Json, item: Json, settings: Json, worker: str = "") -> Json:
        """{"html", "frame_height"}."""
        return vars(self.own_page(document, item, settings)).copy()

    def own_page(self, document: Json, item: Json, settings: Json) -> OwnPage:
        """Raises NotFilledError, a ValueError, for an item that `item_faults` refuses."""
        return OwnPage(_template(settings).filled(columns_of(document, item)), settings["frame_height"])

    def check(
        self, document: Json, item: Json, settings: Json, fields: Mapping[str, str], worker: str = ""
    ) -> CheckedAnswer:
        template, columns = _template(settings), columns_of(document, item)
        values = values_of(template, columns, fields)
        names = {field.unit: name for name, field in template.fields.items()}
        return CheckedAnswer(
            tuple(
                LabelValue(unit, value, known.judged(template, columns, settings["gold"], names.get(unit, ""), value))
                for unit, value in values.items()
            )
        )

    def grown(self, settings: Json, units: Sequence[str]) -> Json:
        """The settings with the fields that answers brought and the task does not name, as many as can be named."""
        there = self.levels(settings)
        more = [unit for unit in dict.fromkeys(units) if unit not in there]
        return {**settings, "more_fields": [*settings["more_fields"], *more][:MOST_FIELDS]}

    def in_lines(self, document: Json, item: Json, settings: Json, said: Mapping[str, Any]) -> list[Line]:
        """Each field by its name, which the page's author gave it."""
        right = self.known_values(document, item, settings)
        names = {field.unit: name for name, field in _template(settings).fields.items()}
        return [
            line
            for unit, name in names.items()
            for line in written(name, unit, said, plain(right[unit]) if unit in right else "")
        ]

    def scores(self, answers: Iterable[tuple[Json, Json, Any]]) -> Json:
        """Nothing: the label of one field says little about a page; see `item_scores`."""
        return {}

    def item_scores(self, items: Iterable[tuple[Json, Json, Sequence[Mapping[str, Any]]]], settings: Json) -> Json:
        """As `majorities.right_shares`, over the items with known answers; of several fields each has to be right."""
        return right_shares(given for _, _, given in items)

    columns = staticmethod(columns_of)

    def named_columns(self, settings: Json) -> list[str]:
        return list(dict.fromkeys([*_template(settings).columns, *settings["gold"].values()]))

    def shown_columns(self, settings: Json) -> list[str]:
        return list(_template(settings).columns)

    def has_known_answer(self, document: Json, item: Json, settings: Json) -> bool:
        columns = columns_of(document, item)
        return any(str(columns.get(name) or "").strip() for name in settings["gold"].values())

    def item_faults(self, document: Json, item: Json, settings: Json) -> list[str]:
        """What the task names and the item lacks, or has in a way that cannot be shown or compared; sentences."""
        template, columns, gold = _template(settings), columns_of(document, item), settings["gold"]
        missing = [
            f"The template names the column {name!r:.60}, which is missing: add it, or correct the template."
            for name in template.columns
            if name not in columns
        ]
        if missing := [*missing, *known.missing(columns, gold)]:
            return missing
        return [*_filling_faults(template, columns), *known.item_faults(template, columns, gold)]

    def import_notes(self, rows: Iterable[tuple[Json, Json]], settings: Json) -> list[str]:
        """Columns in which somebody meant markup, and that are shown as they are written."""
        first, count = dict[str, str](), Counter[str]()
        for document, item in rows:
            for name, value in columns_of(document, item).items():
                if name not in settings["markup"] and (found := markup_in(str(value))):
                    first.setdefault(name, found)
                    count[name] += 1
        return [
            f"The column {name!r:.60} has markup in {count[name]:,} {'row' if count[name] == 1 else 'rows'}, such as "
            f"{first[name]:.40}. Workers see it as it is written. To show it as HTML, name the column under “Columns "
            "with markup” on the page “Task”."
            for name in first
        ]

    def answer_names(self, settings: Json) -> dict[str, bool]:
        """What a file of results can have a column for, and whether each answer needs it."""
        template = _template(settings)
        return {name: template.is_strict and field.required for name, field in template.fields.items()}

    def posted(self, document: Json, item: Json, settings: Json, told: Mapping[str, str], worker: str) -> Json:
        """The fields as they are: such files hold what pages post, several values of a field parted by bars."""
        found = {}
        for name, field in _template(settings).posted(columns_of(document, item)).items():
            for column in {name, field.name, field.unit} & told.keys():
                found[name] = _barred(told[column]) if field.parted else told[column]
        fields = {column for field in _template(settings).fields.values() for column in (field.name, field.unit)}
        return found | {name: text for name, text in told.items() if name not in found and name not in fields}

    def known_values(self, document: Json, item: Json, settings: Json) -> Json:
        """The value that is right, by unit; without the fields of which none is known."""
        template = _template(settings)
        found = known.values(template, columns_of(document, item), settings["gold"])
        return {template.fields[name].unit: value for name, value in found.items()}

    def levels(self, settings: Json) -> dict[str, str]:
        """How the values of each unit can be compared: nominal, interval, set or text."""
        return {field.unit: LEVELS[field.kind] for field in _template(settings).fields.values()}


def _as_kept(template: str) -> str:
    return template.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _barred(text: str) -> str:
    """A list in JSON, as the long table has it, parted by bars; anything else as it is."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return "|".join(map(str, values)) if isinstance(values, list) else text


def _filling_faults(template: Template, columns: Json) -> list[str]:
    """Why the page of a row cannot be shown, or its answers not be told apart."""
    try:
        template.filled(columns)
    except TooLargeError:
        return [f"The page filled in with this row has more than {MOST_BYTES:,} bytes: shorten its values."]
    except NotFilledError as error:
        return [str(error)]
    return [
        f"The field {field.name!r:.60} can have several values, which come parted by bars, and a choice of this "
        "row holds a bar: write it without."
        for field in template.fields.values()
        if field.parted and any("|" in value for value in template.options(field, columns))
    ]


def _markup_faults(names: Any, template: Template | None) -> list[str]:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return [f"markup must be a list of columns, not {names!r:.60}."]
    return [
        f"markup names the column {name!r:.60}, which the template does not show."
        for name in dict.fromkeys(names)
        if template and name not in template.columns
    ]


def _name_faults(names: Any, template: Template | None) -> list[str]:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return [f"more_fields must be a list of names, not {names!r:.60}."]
    faults = []
    for name in names:
        if not is_plain(name):
            faults.append(f"more_fields has {name!r:.70}: a name has 1 to {LONGEST_UNIT} characters that can be read.")
        elif name in RESERVED or (template and name in template.fields):
            faults.append(f"more_fields has {name!r:.60}, which the page or the marketplace has already.")
    if len(set(names)) < len(names):
        faults.append("more_fields has a name more than once.")
    if len(names) > MOST_FIELDS:
        faults.append(f"more_fields has {len(names):,} names; at most {MOST_FIELDS} are taken.")
    return faults


def _template(settings: Json) -> Template:
    """Of settings that were taken once."""
    template, faults = read_template(settings["template"])
    if template is None:
        raise SettingsRefusedError(faults)
    return with_more(replace(template, markup=frozenset(settings["markup"])), settings["more_fields"])


protocol = HtmlPageProtocol()
