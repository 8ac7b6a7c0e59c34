"""What a recipe says, and reading it from the tables of its `stages.toml`; every fault at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

from pydantic import Field, StrictFloat, StrictInt, ValidationInfo, field_validator

from hits.formats.files.faults import Faults
from hits.formats.files.mapping import Table as RowTable
from hits.formats.inputs.qualification_test import Details, check_details, read_file
from hits.recipes.source import JudgedItem, NextItem, Option
from hits.recipes.stage_settings import CrowdlessStage, StageSettings
from hits.refusals import Refusal
from hits.text.paths import without_folders
from hits.text.tables import Table, Words, must, read, text

MOST_COPIES = 50
# The table of the file whose values count for each stage with a crowd that states none of its own.
DEFAULTS = "defaults"
OF_ONE_STAGE = frozenset({"key", "title", "crowd", "repeat", "group"})


class RecipeError(Refusal):
    """A recipe that is not there or is wrong; `faults` are sentences, each of which names its place.

    `where` is a recipe's name or, below the recipe's folder, a path. The text, `where` and `faults`, for leads, name
    files from the plug-in directory on; `in_full` has their whole paths, for the log and the command line.
    """

    error_code = "recipe_refused"
    http_status = 400

    def __init__(self, where: str | Path, faults: Sequence[str], folder: Path | None = None) -> None:
        self.in_full = _sentences(where, faults)
        root = folder.parent.parent if folder else Path()
        self.where = without_folders(str(where), root)
        self.faults = tuple(without_folders(fault, root) for fault in faults)
        super().__init__(_sentences(self.where, self.faults))


def _sentences(where: str | Path, faults: Sequence[str]) -> str:
    return "\n".join(f"{where}: {fault}" for fault in faults)


class OptionError(Refusal, ValueError):
    """An option that the recipe does not know, a value of another type than its own, or a share outside 0..1."""

    error_code = "option_refused"
    http_status = 400


# What a stage without a crowd has where others must say something.
_NOBODY: dict[str, Any] = {
    "answers": 1,
    "rule": None,
    "reward": Decimal("0.00"),
    "assignment_seconds": 30,
    "lifetime_seconds": 30,
    "auto_approval_seconds": 0,
    "approval": "automatic",
    "hit_title": "",
    "hit_description": "",
    "auto_publish": False,
}


@dataclass(frozen=True)
class TestSpec:
    """A qualification test that a project offers to workers from its beginning on; `questions` as they are kept."""

    # Its name is no test case's.
    __test__ = False
    details: Details
    questions: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Sample:
    """A small file that a recipe imports. It is downloaded under its name."""

    name: str
    path: Path

    @property
    def content(self) -> bytes:
        return self.path.read_bytes()


@dataclass(frozen=True)
class Recipe:
    """`name` is the folder's name; `steps` turns one stage's results into the next stage's items.

    `options` has each option's value, `described` what a lead reads of those that the file describes. A stage of the
    file may stand for several: `repeat` names the option that says how many (`copies_of`); `tables` are the file's.
    `sample` is the file of the folder whose name begins with `sample.`. `language` and `task_categories` stand on the
    card of releases.
    """

    name: str
    title: str
    version: str
    description: str
    stages: tuple[StageSettings, ...]
    options: dict[str, Any]
    described: dict[str, Option]
    tests: tuple[TestSpec, ...]
    tables: tuple[Mapping[str, Any], ...]
    steps: ModuleType
    language: str = ""
    task_categories: Sequence[str] = ()
    sample: Sample | None = None

    def next_items(self, item: JudgedItem) -> list[NextItem]:
        """What a verdict leads to: as the steps say or, without a word of theirs, a kept item goes to the fed stage.

        Raises RecipeError where steps lead elsewhere than `feeds` says.
        """
        feeds = next((stage.feeds for stage in self.stages if stage.key == item.stage), None)
        own = getattr(self.steps, "next_items", None)
        if own is None:
            return [NextItem(feeds, item.key, item.data)] if feeds and item.outcome == "kept" else []
        made: list[NextItem] = list(own(item))
        for stage in {one.stage for one in made} - {feeds} if feeds else ():
            said = f"its steps lead from {item.stage!r} to {stage!r}, but feeds names {feeds!r}: correct one of them"
            raise RecipeError(self.name, [said])
        return made

    @property
    def table(self) -> RowTable | None:
        """What its file has in each row; None where the file is no table that a lead can map."""
        return getattr(self.steps, "TABLE", None)

    def stages_with(self, options: Mapping[str, Any]) -> tuple[StageSettings, ...]:
        """The stages of a project with these options, in order; those of the recipe's own are `stages`."""
        found = (stage_spec(table, place, []) for place, table in copies_of(self.tables, options, []))
        return tuple(stage for stage in found if stage)

    def group_of(self, key: str) -> str:
        """The group of the stage with this key, empty where it has none: of copies of a stage, however many."""
        for table in self.tables:
            own = str(table["key"])
            if key == own or ("repeat" in table and re.fullmatch(rf"{re.escape(own)}-\d+", key)):
                return str(table.get("group", ""))
        return ""

    def repeats(self) -> dict[str, int]:
        """The options that say how many copies of a stage there are, each with the recipe's own number."""
        return {table["repeat"]: self.options[table["repeat"]] for table in self.tables if "repeat" in table}

    def options_with(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The recipe's options, replaced by the given ones. Raises OptionError."""
        for name, value in given.items():
            if name not in self.options:
                known = ", ".join(sorted(self.options)) or "none"
                raise OptionError(f"the recipe {self.name} has no option {name!r}; it has {known}")
            _refuse_value(name, value, self.options[name], self.described.get(name, Option()))
            self._refuse_unfit(name, value)
        return {**self.options, **given}

    def _refuse_unfit(self, name: str, value: object) -> None:
        check = getattr(self.steps, "check_option", None)
        try:
            if check:
                check(name, value)
        except ValueError as error:
            raise OptionError(f"the option {name} does not fit: {error}") from error


def _refuse_value(name: str, value: object, own: object, described: Option) -> None:
    """`own` is the recipe's value. Raises OptionError.

    An option whose name ends in `_share` is a share of one. No option counts below nothing, and one whose name begins
    with `most_` lets something through.
    """
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else None
    least = described.least if described.least is not None else 1 if name.startswith("most_") else 0
    if type(value) is not type(own) and (type(own), type(value)) != (float, int):
        must = f"be like {own!r}"
    elif name.endswith("_share") and number is not None and not 0 <= number <= 1:
        must = "lie between 0 and 1"
    elif number is not None and number < least:
        must = f"be {least} or more"
    elif number is not None and described.most is not None and number > described.most:
        must = f"be {described.most:g} or less"
    elif described.choices and value not in described.choices:
        must = f"be one of {', '.join(described.choices)}"
    else:
        return
    raise OptionError(f"the option {name} must {must}, not {value!r}")


def copies_of(
    tables: Sequence[Mapping[str, Any]], options: Mapping[str, Any], faults: list[str]
) -> list[tuple[str, Mapping[str, Any]]]:
    """(place, table) of each stage: one with `repeat` once for each number from 1 to the value of the option that it
    names, with the number in its key and wherever its texts have {number}. Adds to `faults`.
    """
    found: list[tuple[str, Mapping[str, Any]]] = []
    for i, table in enumerate(tables):
        place = f"stages[{i}]"
        if "repeat" not in table:
            found.append((place, table))
            continue
        times = options.get(str(table["repeat"]))
        if type(times) is not int or not 1 <= times <= MOST_COPIES:
            faults.append(f"{place}.repeat must name an option from 1 to {MOST_COPIES}, not {table['repeat']!r}")
            continue
        one = {name: value for name, value in table.items() if name != "repeat"}
        one["key"] = f"{table.get('key')}-{{number}}"
        found += [(place, _numbered(one, number)) for number in range(1, times + 1)]
    return found


def _numbered(value: Any, number: int) -> Any:
    if isinstance(value, dict):
        return {name: _numbered(one, number) for name, one in value.items()}
    if isinstance(value, list):
        return [_numbered(one, number) for one in value]
    return value.replace("{number}", str(number)) if isinstance(value, str) else value


def _with_defaults(
    defaults: Mapping[str, Any], stages: Sequence[Mapping[str, Any]], faults: list[str]
) -> tuple[Mapping[str, Any], ...]:
    """The tables of the stages with those values of `[defaults]` that they do not state. A stage without a crowd has
    none of what defaults are about, so it takes none.
    """
    for key in sorted(OF_ONE_STAGE & defaults.keys()):
        faults.append(f"{DEFAULTS} cannot hold {key}: each stage has its own")
    return tuple({**defaults, **one} if one.get("crowd", True) else one for one in stages)


def check_order(stages: Sequence[StageSettings], faults: list[str]) -> None:
    """Stages name one another by key: other workers than those of earlier ones, feeding a later one with a crowd.

    A stage without a crowd comes first, and a recipe has one at most: what people answer is made from it.
    """
    keys = [stage.key for stage in stages]
    crowds = {stage.key for stage in stages if stage.crowd}
    if stages and not crowds:
        faults.append("stages must hold at least one stage with a crowd")
    for i, stage in enumerate(stages):
        if i and not stage.crowd:
            faults.append(f"stages[{i}].crowd is false: only the first stage can be without a crowd")
        if stage.key in keys[:i]:
            faults.append(f"stages[{i}].key {stage.key!r} is the key of two stages")
        if stage.feeds is not None and stage.feeds not in keys[i + 1 :]:
            faults.append(f"stages[{i}].feeds must name a later stage, not {stage.feeds!r}")
        if stage.input and stage.input.stage and stage.input.stage not in crowds.intersection(keys[:i]):
            faults.append(f"stages[{i}].input.stage must name an earlier stage, not {stage.input.stage!r}")
        for other in stage.asks_other_workers_than:
            if other not in keys[:i] or other not in crowds:
                faults.append(f"stages[{i}].asks_other_workers_than must name earlier stages, not {other!r}")


def stage_spec(
    given: Mapping[str, Any], place: str, faults: list[str], defaults: Mapping[str, Any] | None = None
) -> StageSettings | None:
    """The stage, or None after a fault. Adds to `faults`; those of values that are of `defaults` are named there."""
    found: list[str] = []
    if given.get("crowd", True):
        places = {key: DEFAULTS for key, value in (defaults or {}).items() if given.get(key) == value}
        # What is drawn does not go out by itself.
        stage = read(StageSettings, {"auto_publish": not given.get("draws"), **given}, found, place, places)
    else:
        stage = StageSettings.model_construct(**{**_NOBODY, **dict(read(CrowdlessStage, given, found, place))})
    faults += [fault for fault in found if fault not in faults]
    return None if found else stage


class OptionTable(Table):
    """An option that the file describes: the fields of `Option` and its value."""

    label: Words = text(80, "")
    unit: Words = text(60, "")
    help: Words = text(500, "")
    paper: Words = text(300, "")
    choices: dict[str, Annotated[str, Field(min_length=1)]] = must("have words for each value", {})
    least: StrictInt | StrictFloat | None = must("be a number", None)
    most: StrictInt | StrictFloat | None = must("be a number", None)
    value: Any = must("be a number, true, false or a text")

    @field_validator("value")
    @classmethod
    def _fits(cls, value: object, info: ValidationInfo) -> object:
        if not isinstance(value, bool | int | float | str):
            raise ValueError
        choices = info.data.get("choices")
        if choices and value not in choices:
            raise ValueError(f"must be one of the choices {', '.join(choices)}, not {value!r}")
        return value


def _options(given: Mapping[str, Any], faults: list[str]) -> tuple[dict[str, Any], dict[str, Option]]:
    """(values, descriptions) by name. An option is a value, or a table with its `value` and the fields of `Option`."""
    values, described = dict(given), {}
    for name, table in given.items():
        if isinstance(table, dict):
            option = read(OptionTable, table, faults, f"options.{name}")
            values[name] = table.get("value")
            described[name] = Option(**option.model_dump(exclude={"value"}))
    return values, described


class QualificationTable(Table):
    """`check_details` says what each of these must be, `key` and `questions` apart."""

    key: str = must("be a text")
    title: Any = None
    description: Any = None
    pass_mark: Any = None
    minutes: Any = None
    retry_days: Any = None
    questions: Words = text(100)


def _test(given: Mapping[str, Any], place: str, faults: list[str], content: Callable[[str], bytes]) -> TestSpec:
    """`questions` names a JSON or CSV file beside the recipe's, for `hits.formats.inputs.qualification_test`."""
    read(QualificationTable, given, faults, place)
    values: dict[str, Any] = {field.name: given.get(field.name) for field in fields(Details)}
    details = Details(**values)
    questions: list[dict[str, Any]] = []
    found = Faults()
    if isinstance(details.key, str):
        details = check_details(details, found)
    if isinstance(name := given.get("questions"), str):
        try:
            questions = read_file(content(name), found)
        except OSError as error:
            faults.append(f"{place}.questions cannot be read: {error}")
    faults += [f"{place}.{fault.place or 'questions'} is wrong: {fault.message}" for fault in found.listed]
    return TestSpec(details, tuple(questions))


class RecipeTable(Table):
    """The whole file."""

    title: Words = text(120)
    version: Words = text(20)
    description: Words = text(2000)
    language: str = must("be the code of the texts' language, such as en", "")
    task_categories: list[str] = must("be a list of names of the Hugging Face Hub's tasks", [])
    options: dict[str, Any] = must("be a table", {})
    tests: list[dict[str, Any]] = must("be a list of tables", [])
    defaults: dict[str, Any] = must("be a table", {})
    stages: list[dict[str, Any]] = must("be a list of tables", [])


def recipe_fields(
    given: Mapping[str, Any], faults: list[str], content: Callable[[str], bytes] = lambda name: b""
) -> dict[str, Any]:
    """title, version, description, options, tests and stages of the whole file. Adds to `faults`.

    `content` is that of a file beside it; it raises OSError.
    """
    file = read(RecipeTable, given, faults, "")
    options, described = _options(file.options, faults)
    tests = tuple(_test(test, f"tests[{i}]", faults, content) for i, test in enumerate(file.tests))
    if len({test.details.key for test in tests}) < len(tests):
        faults.append("tests must have different keys")
    if not given.get("stages"):
        faults.append("stages must hold at least one stage")
    tables = _with_defaults(file.defaults, file.stages, faults)
    found = [stage_spec(table, place, faults, file.defaults) for place, table in copies_of(tables, options, faults)]
    stages = tuple(stage for stage in found if stage)
    if len(stages) == len(found):
        check_order(stages, faults)
    texts = file.model_dump(include={"title", "version", "description", "language", "task_categories"})
    return {**texts, "options": options, "described": described, "tests": tests, "stages": stages, "tables": tables}
