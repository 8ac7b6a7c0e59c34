"""What a recipe says, and reading it from the tables of its `stages.toml`; every fault at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainValidator,
    StrictFloat,
    StrictInt,
    ValidationInfo,
    field_validator,
    model_validator,
)

from hits.formats.files.faults import Faults
from hits.formats.files.mapping import Table as RowTable
from hits.formats.inputs.qualification_test import Details, check_details, read_file
from hits.formats.pool_keys import PREFIX
from hits.recipes.source import JudgedItem, NextItem, Option
from hits.refusals import Refusal
from hits.stats.blocking import Policy, PolicyError
from hits.stats.enough import condition
from hits.stats.vote_rules.rule_tree import RuleTextError
from hits.stats.vote_rules.votes import Rule, RuleError
from hits.text.paths import without_folders
from hits.text.tables import Table, Words, must, named, one_of, read, text, truth, whole

INTEGER_QUALIFICATIONS = ("percent_approved", "number_approved")
LOCALE = "locale"
GUARDS = ("Accept", "PreviewAndAccept", "DiscoverPreviewAndAccept")
_PRESENCE = ("Exists", "DoesNotExist")
_LISTS = ("In", "NotIn")
_EQUALITY = ("EqualTo", "NotEqualTo")
_ORDER = ("LessThan", "LessThanOrEqualTo", "GreaterThan", "GreaterThanOrEqualTo")
_DAY = 86_400
MOST_COPIES = 50
# The table of the file whose values count for each stage with a crowd that states none of its own.
DEFAULTS = "defaults"
OF_ONE_STAGE = frozenset({"key", "title", "crowd", "repeat", "group"})
# Workers judge a HIT by its reward and its length, and one answer is all that they can lose.
MOST_ITEMS_A_HIT = 20
# The marketplace's own limit, of the time a HIT is open and of the time an assignment may take.
LONGEST_SECONDS = 365 * _DAY
_OWN_QUALIFICATION = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")


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


def _is_own(qualification: str) -> bool:
    """A hyphen makes a name the project's own, unless it is a system name that was spelled with hyphens."""
    of_system = qualification.replace("-", "_") in INTEGER_QUALIFICATIONS
    return bool(_OWN_QUALIFICATION.fullmatch(qualification)) and not of_system


class Requirement(Table):
    """What a worker must have. `qualification` is a system one or, with a hyphen, the project's own; what begins with
    "pool-" is a pool.
    """

    qualification: Words = text(60)
    integers: tuple[StrictInt, ...] = must("be a list of whole numbers", ())
    locales: tuple[Annotated[str, Field(pattern="^[A-Z]{2}$")], ...] = must("be a list of country codes like US", ())
    comparator: str = one_of((*_ORDER, *_EQUALITY, *_LISTS, *_PRESENCE))
    guards: str = one_of(GUARDS, "PreviewAndAccept")

    @model_validator(mode="before")
    @classmethod
    def _hides_from_others(cls, given: Any) -> Any:
        """A pool has people whom a lead chose: unless the requirement says otherwise, nobody else finds the HITs."""
        if not isinstance(given, Mapping) or "guards" in given or given.get("comparator") != "Exists":
            return given
        of_pool = str(given.get("qualification", "")).strip().startswith(PREFIX)
        return {**given, "guards": GUARDS[-1]} if of_pool else given

    @field_validator("qualification")
    @classmethod
    def _is_known(cls, name: str) -> str:
        known = (*INTEGER_QUALIFICATIONS, LOCALE)
        if name not in known and not _is_own(name):
            there = f"there are {', '.join(known)} and the project's own, such as poor-quality"
            raise ValueError(f"names no qualification: {name!r}; {there}")
        return name

    @field_validator("comparator")
    @classmethod
    def _fits(cls, comparator: str, info: ValidationInfo) -> str:
        # The three values above are judged together only when none of them is wrong by itself.
        if len(info.data) == 3 and (why := _misfit(comparator, **info.data)):
            raise ValueError(f"does not fit: {why}")
        return comparator

    def to_dict(self) -> dict[str, Any]:
        """Only values that JSON holds; without the values that the comparator does not take."""
        values = {"integers": list(self.integers), "locales": list(self.locales)}
        head = {"qualification": self.qualification, "comparator": self.comparator, "guards": self.guards}
        return head | {name: value for name, value in values.items() if value}


def _misfit(comparator: str, qualification: str, integers: Sequence[int], locales: Sequence[str]) -> str:
    """Why the values and the comparator do not fit the qualification, by the API's own rules; empty where they do."""
    if qualification == LOCALE:
        if comparator not in (*_EQUALITY, *_LISTS) or not locales or integers:
            return f"{LOCALE} takes EqualTo, NotEqualTo, In or NotIn with locales"
    elif locales:
        return f"{qualification} takes no locales"
    elif qualification.startswith(PREFIX) and comparator not in _PRESENCE:
        return f"{qualification} is a pool, which takes Exists or DoesNotExist"
    elif (comparator in _PRESENCE) == bool(integers):
        return f"{qualification} takes integers with every comparator but Exists and DoesNotExist"
    if comparator not in _LISTS and len(integers) + len(locales) > 1:
        return f"{qualification} takes one value with {comparator}"
    return ""


class CrowdlessStage(Table):
    """Only a name, a protocol and its settings: nobody is asked, so nothing is paid, required or voted on.

    Stages that follow one another with the same `group` stand under that name on pages.
    """

    key: str = named("[a-z][a-z0-9]*(-[a-z0-9]+)*", "lower-case words joined by hyphens")
    title: Words = text(120)
    protocol: str = named("[a-z][a-z0-9_]*", "the name of a protocol's folder")
    settings: dict[str, Any] = must("be a table", {})
    crowd: bool = truth(True)
    group: Words = text(60, "")

    @classmethod
    def refusal_of(cls, key: str) -> str:
        of_crowds = key in StageSpec.model_fields
        return "is of a stage with a crowd: remove it here" if of_crowds else super().refusal_of(key)


def _in_quotes(value: object) -> object:
    # A number of TOML's own is a float, which holds no exact cents.
    if not isinstance(value, str):
        raise ValueError
    return value


def _rule(given: object, info: ValidationInfo) -> Rule:
    if not isinstance(given, dict):
        raise ValueError
    params = {**given, "answers": info.data.get("most_answers") or info.data.get("answers", 1)}
    try:
        return Rule(params.pop("name", None), params.pop("version", None), params)
    except (RuleError, TypeError) as error:
        raise ValueError(f"is wrong: {error}") from error


def _quality(given: object) -> Policy | None:
    if not isinstance(given, dict):
        raise ValueError
    try:
        return Policy.from_dict(given) if given else None
    except PolicyError as error:
        raise ValueError(*(f"is wrong: {fault}" for fault in error.faults)) from error


def _granted(qualification: str) -> str:
    if qualification and not _is_own(qualification):
        raise ValueError(f"must be a qualification of the project's own, such as part-one, not {qualification!r}")
    if qualification.startswith(PREFIX):
        raise ValueError(f"must not begin with {PREFIX}: such a name is that of a pool, whose workers a lead chooses")
    return qualification


class StageInput(Table):
    """Where the items of a stage come from without a word of the recipe's steps: `hits.recipes.inputs` makes them.

    `stage` is the key of an earlier stage, whose kept items they are; empty for the rows of the imported file. `each`
    says whether an item is made of each kept item or of each answer to it that counts. With `known`, its items are
    taken from that stage: those with a known answer, by which its workers are tested.
    """

    stage: str = must("be the key of an earlier stage, or empty for the rows of the imported file", "", max_length=60)
    each: str = one_of(("item", "answer", "known"), "item")

    @field_validator("each")
    @classmethod
    def _fits(cls, each: str, info: ValidationInfo) -> str:
        if each == "answer" and not info.data.get("stage"):
            raise ValueError("is answer, which the rows of a file have not: name a stage, or write item")
        if each == "known" and not info.data.get("stage"):
            raise ValueError("is known, so name the stage whose workers are tested")
        return each


IN_CENTS = AfterValidator(lambda dollars: dollars.quantize(Decimal("0.01")))
# An empty value undoes that of `[defaults]`.
OR_NONE = AfterValidator(lambda value: value or None)


class StageSpec(CrowdlessStage):
    """One stage with its numbers; the limits are those of the API. `reward` is in $; `answers` are wanted an item, and
    one HIT asks about `items_per_hit` of them for one reward; `gold_share` of the answers are to check questions;
    with `screening_share`, the stage is a test: its items are those with a known answer, who has that share of a HIT's
    right passes, `grants` has the percentage as its value, and who failed may try again `screening_retries` times,
    `screening_hours` after the last one; `practice_items` others come before, with what was right;
    with `most_answers`, an item gets one answer more up to so many until the condition `enough` holds;
    `feeds` is the next stage, to which kept items go; see `Recipe.next_items`. `input` is for stages about which the
    recipe's steps say nothing.

    Without `crowd`, items are made by a program and corrected by leads: nothing of the stage is published, so it has
    no rule, and its pay and times say nothing.

    with the approval automatic, what passes the check is approved at once, and of what does not,
    `unchecked_answers` of one worker `auto_approval_seconds` after their submission;

    `draws` is how many items a draw brings by default; 0 where items are imported or come from other stages.
    `grants` is a qualification of the project that everybody gets who has answered here; empty for none. With
    `auto_publish`, what arrives from the stage before goes out by itself; what is drawn does not. With `auto_block`,
    the check of `quality` blocks by itself; else a lead does. With `advance_approved`, of answers that a lead reviews
    only approved ones go on to later stages. With `text_evidence`, pages count what is typed and pasted, and texts are
    compared with one another: workers are told, and reviewers read it. `expected_seconds` is what an answer takes until
    times are measured; None: the time that `hit_description` names.
    """

    lists = {"requirements": Requirement}

    answers: int = whole(1, 100)
    most_answers: Annotated[int | None, OR_NONE] = whole(0, 100, None)
    enough: Words = text(500, "")
    items_per_hit: int = whole(1, MOST_ITEMS_A_HIT, 1)
    gold_share: float = must("be a number from 0 to 0.5", 0.0, strict=True, ge=0, le=0.5)
    rule: Annotated[Rule | None, PlainValidator(_rule)] = must('be a table such as { name = "measured", version = 1 }')
    reward: Annotated[Decimal, BeforeValidator(_in_quotes), IN_CENTS] = must(
        'be dollars and cents in quotes, such as "0.04"', ge=0, lt=1_000_000, decimal_places=2
    )
    assignment_seconds: int = whole(30, LONGEST_SECONDS)
    lifetime_seconds: int = whole(30, LONGEST_SECONDS)
    approval: str = one_of(("automatic", "review"))
    auto_approval_seconds: int = whole(0, 30 * _DAY)
    unchecked_answers: int = whole(0, 1000, 5)
    hit_title: Words = text(128)
    hit_description: Words = text(2000)
    keywords: Words = text(1000, "")
    requirements: tuple[Requirement, ...] = must("be a list of tables", (), max_length=10)
    quality: Annotated[Policy | None, PlainValidator(_quality)] = must("be a table", None)
    asks_other_workers_than: tuple[str, ...] = must("be a list of stage keys", ())
    feeds: Annotated[Words | None, OR_NONE] = text(60, None)
    input: StageInput | None = must('be a table such as { stage = "ask", each = "answer" }', None)
    draws: int = whole(0, 1_000_000, 0)
    grants: Annotated[Words, AfterValidator(_granted)] = text(60, "")
    auto_publish: bool = truth(True)
    auto_block: bool = truth(False)
    advance_approved: bool = truth(True)
    expected_seconds: Annotated[int | None, OR_NONE] = whole(0, _DAY, None)
    screening_share: float = must("be a number from 0 to 1", 0.0, strict=True, ge=0, le=1)
    practice_items: int = whole(0, 10, 0)
    screening_retries: int = whole(0, 5, 0)
    screening_hours: int = whole(1, 720, 24)
    page_language: Literal["", "en", "de", "es"] = must('be "en", "de" or "es", or left out', "")
    text_evidence: bool = truth(False)
    suggestions: Literal["hidden", "shown", "half"] = must('be "hidden", "shown" or "half", or left out', "hidden")

    @field_validator("suggestions")
    @classmethod
    def _tests_workers_alone(cls, suggestions: str, info: ValidationInfo) -> str:
        if suggestions != "hidden" and info.data.get("screening_share"):
            raise ValueError("must be hidden where screening_share is set: a test is of the workers, not of the model")
        return suggestions

    @field_validator("most_answers")
    @classmethod
    def _is_more(cls, most: int | None, info: ValidationInfo) -> int | None:
        if most is not None and most <= info.data.get("answers", 0):
            raise ValueError(f"must be more than answers, which is {info.data['answers']}, or 0 for no more than those")
        return most

    @field_validator("enough")
    @classmethod
    def _is_a_condition(cls, text: str, info: ValidationInfo) -> str:
        if "most_answers" not in info.data:
            return text
        most = info.data["most_answers"]
        if most is None:
            if text:
                raise ValueError("goes with most_answers: state both, or remove it")
            return text
        if not text:
            raise ValueError("must say when an item has enough answers, such as at least 2 agree on label")
        try:
            condition(text, most)
        except RuleTextError as error:
            raise ValueError(*(f"is wrong: {fault}" for fault in error.faults)) from error
        return text

    @field_validator("items_per_hit")
    @classmethod
    def _asks_about_one(cls, items: int, info: ValidationInfo) -> int:
        if items > 1 and info.data.get("most_answers"):
            raise ValueError("must be 1 where most_answers is set: each item wants another number of answers")
        return items

    @field_validator("screening_share")
    @classmethod
    def _can_be_a_test(cls, share: float, info: ValidationInfo) -> float:
        if not share:
            return share
        if abs(round(100 * share) - 100 * share) > 1e-6:
            raise ValueError(f"is a share in whole percent, such as 0.75, not {share}")
        if info.data.get("grants") == "":
            raise ValueError("goes with grants: name the qualification that has the result, such as reading-test")
        if info.data.get("gold_share"):
            raise ValueError("goes without gold_share: all items of a test have a gold answer")
        if info.data.get("approval") == "review":
            raise ValueError(
                "goes with the approval automatic: workers are told that a test is paid whatever the result"
            )
        if info.data.get("most_answers"):
            raise ValueError("goes without most_answers: each worker of a test answers once")
        return share

    @field_validator("practice_items")
    @classmethod
    def _is_before_a_test(cls, items: int, info: ValidationInfo) -> int:
        if items and info.data.get("screening_share") == 0:
            raise ValueError("goes with screening_share: practice comes before a test")
        return items

    @field_validator("auto_approval_seconds")
    @classmethod
    def _leaves_time(cls, seconds: int, info: ValidationInfo) -> int:
        if not seconds and info.data.get("approval") == "review":
            raise ValueError("must be more than 0 s: answers are approved by a lead, who needs time")
        return seconds


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
    stages: tuple[StageSpec, ...]
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

    def stages_with(self, options: Mapping[str, Any]) -> tuple[StageSpec, ...]:
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


def check_order(stages: Sequence[StageSpec], faults: list[str]) -> None:
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
) -> StageSpec | None:
    """The stage, or None after a fault. Adds to `faults`; those of values that are of `defaults` are named there."""
    found: list[str] = []
    if given.get("crowd", True):
        places = {key: DEFAULTS for key, value in (defaults or {}).items() if given.get(key) == value}
        # What is drawn does not go out by itself.
        stage = read(StageSpec, {"auto_publish": not given.get("draws"), **given}, found, place, places)
    else:
        stage = StageSpec.model_construct(**{**_NOBODY, **dict(read(CrowdlessStage, given, found, place))})
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
