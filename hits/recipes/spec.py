"""What a recipe says, and reading it from the tables of its `stages.toml`; every fault at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from hits.formats.faults import Faults
from hits.formats.qualification_test import Details, check_details, read_file
from hits.quality.blocking import Policy, PolicyError
from hits.quality.votes import Rule, RuleError
from hits.recipes.source import JudgedItem, NextItem, Option
from hits.refusals import Refusal
from hits.text.paths import without_folders

Approval = Literal["automatic", "review"]

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
OF_ONE_STAGE = frozenset({"key", "title", "crowd", "repeat"})
# The marketplace's own limit, of the time a HIT is open and of the time an assignment may take.
LONGEST_SECONDS = 365 * _DAY
_KEY = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_PROTOCOL = re.compile(r"[a-z][a-z0-9_]*")
_OWN_QUALIFICATION = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")
_WORDS_OF_OPTIONS = {"label": 80, "unit": 60, "help": 500, "paper": 300}
_COUNTRY = re.compile(r"[A-Z]{2}")


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


@dataclass(frozen=True)
class Requirement:
    """What a worker must have. `qualification` is a system one or, with a hyphen, the project's own."""

    qualification: str
    comparator: str
    integers: tuple[int, ...] = ()
    locales: tuple[str, ...] = ()
    guards: str = "PreviewAndAccept"

    def to_dict(self) -> dict[str, Any]:
        """Only values that JSON holds; without the values that the comparator does not take."""
        values = {"integers": list(self.integers), "locales": list(self.locales)}
        head = {"qualification": self.qualification, "comparator": self.comparator, "guards": self.guards}
        return head | {name: value for name, value in values.items() if value}


@dataclass(frozen=True)
class StageSpec:
    """One stage with its numbers. `reward` is in $; `answers` are wanted an item; `feeds` is the next stage,
    to which kept items go; see `Recipe.next_items`.

    Without `crowd`, items are made by a program and corrected by leads: nothing of the stage is published, so it has
    no rule, and its pay and times say nothing.

    `draws` is how many items a draw brings by default; 0 where items are imported or come from other stages.
    `grants` is a qualification of the project that everybody gets who has answered here; empty for none. With
    `auto_publish`, what arrives from the stage before goes out by itself; what is drawn does not. With `auto_block`,
    the check of `quality` blocks by itself; else a lead does. `expected_seconds` is what an answer takes until times
    are measured; None: the time that `hit_description` names.
    """

    key: str
    title: str
    protocol: str
    reward: Decimal
    answers: int
    assignment_seconds: int
    lifetime_seconds: int
    auto_approval_seconds: int
    approval: Approval
    hit_title: str
    hit_description: str
    keywords: str
    settings: dict[str, Any]
    requirements: tuple[Requirement, ...]
    rule: Rule | None
    quality: Policy | None
    asks_other_workers_than: tuple[str, ...]
    feeds: str | None
    draws: int
    grants: str
    auto_publish: bool
    auto_block: bool
    expected_seconds: int | None
    crowd: bool = True


@dataclass(frozen=True)
class TestSpec:
    """A qualification test that a project offers to workers from its beginning on; `questions` as they are kept."""

    # Its name is no test case's.
    __test__ = False
    details: Details
    questions: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Recipe:
    """`name` is the folder's name; `steps` turns one stage's results into the next stage's items.

    `options` has each option's value, `described` what a lead reads of those that the file describes. A stage of the
    file may stand for several: `repeat` names the option that says how many (`copies_of`); `tables` are the file's.
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

    def stages_with(self, options: Mapping[str, Any]) -> tuple[StageSpec, ...]:
        """The stages of a project with these options, in order; those of the recipe's own are `stages`."""
        found = (stage_spec(table, place, []) for place, table in copies_of(self.tables, options, []))
        return tuple(stage for stage in found if stage)

    def repeats(self) -> dict[str, int]:
        """The options that say how many copies of a stage there are, each with the recipe's own number."""
        return {table["repeat"]: self.options[table["repeat"]] for table in self.tables if "repeat" in table}

    def options_with(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The recipe's options, replaced by the given ones. Raises OptionError."""
        for name, value in given.items():
            if name not in self.options:
                known = ", ".join(sorted(self.options)) or "none"
                raise OptionError(f"the recipe {self.name} has no option {name!r}; it has {known}")
            _refuse_other_type(name, value, self.options[name])
            _refuse_no_share(name, value)
            described = self.described.get(name, Option())
            _refuse_too_small(name, value, described.least)
            _refuse_too_large(name, value, described.most)
            _refuse_no_choice(name, value, described.choices)
            self._refuse_unfit(name, value)
        return {**self.options, **given}

    def _refuse_unfit(self, name: str, value: object) -> None:
        check = getattr(self.steps, "check_option", None)
        try:
            if check:
                check(name, value)
        except ValueError as error:
            raise OptionError(f"the option {name} does not fit: {error}") from error


def _refuse_other_type(name: str, value: object, own: object) -> None:
    if type(value) is type(own) or (type(own) is float and type(value) is int):
        return
    raise OptionError(f"the option {name} must be like {own!r}, not {value!r}")


def _refuse_no_share(name: str, value: object) -> None:
    """An option whose name ends in `_share` is a share of one."""
    if name.endswith("_share") and isinstance(value, int | float) and not 0 <= value <= 1:
        raise OptionError(f"the option {name} must lie between 0 and 1, not {value!r}")


def _refuse_too_small(name: str, value: object, least: float | None) -> None:
    """No option counts below nothing, and one whose name begins with `most_` lets something through."""
    least = (1 if name.startswith("most_") else 0) if least is None else least
    if isinstance(value, int | float) and not isinstance(value, bool) and value < least:
        raise OptionError(f"the option {name} must be {least} or more, not {value!r}")


def _refuse_too_large(name: str, value: object, most: float | None) -> None:
    if most is not None and isinstance(value, int | float) and value > most:
        raise OptionError(f"the option {name} must be {most:g} or less, not {value!r}")


def _refuse_no_choice(name: str, value: object, choices: Mapping[str, str]) -> None:
    if choices and value not in choices:
        raise OptionError(f"the option {name} must be one of {', '.join(choices)}, not {value!r}")


class Table:
    """A table of the file that is taken apart: each key is taken once and what is left over is a fault.

    The values of the keys in `shared` stand in `[defaults]`: their faults are named there, once for all stages.
    """

    def __init__(self, values: Mapping[str, Any], place: str, faults: list[str], shared: Collection[str] = ()) -> None:
        self._left = dict(values)
        self._shared = shared
        self._place = place
        self.faults = faults

    def place(self, name: str) -> str:
        """Where in the file a key's value stands."""
        table = DEFAULTS if name in self._shared else self._place
        return f"{table}.{name}" if table else name

    def say(self, name: str, message: str) -> None:
        self.faults.append(f"{self.place(name)} {message}")

    def take(self, name: str, default: Any = None) -> Any:
        return self._left.pop(name, default)

    def text(self, name: str, longest: int, default: str | None = None) -> str:
        value = self.take(name, default)
        if not isinstance(value, str) or not (value.strip() or default == ""):
            self.say(name, "must be a text that is not blank")
            return ""
        if len(value) > longest:
            self.say(name, f"has {len(value)} characters, the limit is {longest}")
        return value.strip()

    def matching(self, name: str, pattern: re.Pattern[str], what: str) -> str:
        value = self.take(name)
        if not isinstance(value, str) or not pattern.fullmatch(value) or len(value) > 60:
            self.say(name, f"must be {what}, not {value!r}")
            return ""
        return value

    def whole(self, name: str, low: int, high: int, default: int | None = None) -> int:
        value = self.take(name, default)
        if type(value) is not int or not low <= value <= high:
            self.say(name, f"must be a whole number from {low:,} to {high:,}, not {value!r}")
            return low
        return value

    def truth(self, name: str, default: bool) -> bool:
        value = self.take(name, default)
        if type(value) is not bool:
            self.say(name, f"must be true or false, not {value!r}")
            return default
        return value

    def one_of(self, name: str, allowed: Sequence[str], default: str | None = None) -> str:
        value = self.take(name, default)
        if value not in allowed:
            self.say(name, f"must be one of {', '.join(allowed)}, not {value!r}")
            return allowed[0]
        return str(value)

    def table(self, name: str) -> dict[str, Any]:
        value = self.take(name, {})
        if not isinstance(value, dict):
            self.say(name, "must be a table")
            return {}
        return value

    def items(self, name: str, fits: Callable[[object], bool], what: str) -> tuple[Any, ...]:
        value = self.take(name, [])
        if not isinstance(value, list) or not all(fits(item) for item in value):
            self.say(name, f"must be a list of {what}, not {value!r}")
            return ()
        return tuple(value)

    def refuse_rest(self) -> None:
        for name in sorted(self._left):
            self.say(name, "is unknown: remove it or correct its spelling")


def _is_table(value: object) -> bool:
    return isinstance(value, dict)


def _reward(table: Table) -> Decimal:
    value = table.take("reward")
    try:
        reward = Decimal(value) if isinstance(value, str) else None
    except InvalidOperation:
        reward = None
    if reward is None or not reward.is_finite() or not 0 <= reward < 1_000_000 or reward != round(reward, 2):
        table.say("reward", f'must be dollars and cents in quotes, such as "0.04", not {value!r}')
        return Decimal("0.00")
    return reward.quantize(Decimal("0.01"))


def _rule(table: Table, answers: int) -> Rule | None:
    given = dict(table.table("rule"))
    name, version = given.pop("name", None), given.pop("version", None)
    try:
        return Rule(name, version, {**given, "answers": answers})
    except (RuleError, TypeError) as error:
        table.say("rule", f"is wrong: {error}")
        return None


def _quality(table: Table) -> Policy | None:
    given = table.table("quality")
    try:
        return Policy.from_dict(given) if given else None
    except PolicyError as error:
        for fault in error.faults:
            table.say("quality", f"is wrong: {fault}")
        return None


def _requirement(given: Mapping[str, Any], place: str, faults: list[str]) -> Requirement:
    table = Table(given, place, faults)
    requirement = Requirement(
        qualification=table.text("qualification", 60),
        comparator=table.one_of("comparator", (*_ORDER, *_EQUALITY, *_LISTS, *_PRESENCE)),
        integers=table.items("integers", lambda item: type(item) is int, "whole numbers"),
        locales=table.items(
            "locales", lambda item: isinstance(item, str) and bool(_COUNTRY.fullmatch(item)), "country codes like US"
        ),
        guards=table.one_of("guards", GUARDS, GUARDS[1]),
    )
    table.refuse_rest()
    if fault := _requirement_fault(requirement):
        faults.append(f"{place} {fault}")
    return requirement


def _requirement_fault(given: Requirement) -> str | None:
    """Why the values and the comparator do not fit the qualification; the API's own rules."""
    kind = given.qualification
    if kind == LOCALE:
        fits = given.comparator in (*_EQUALITY, *_LISTS) and given.locales and not given.integers
        if not fits:
            return f"{LOCALE} takes EqualTo, NotEqualTo, In or NotIn with locales"
    elif kind not in INTEGER_QUALIFICATIONS and not _is_own(kind):
        names = ", ".join((*INTEGER_QUALIFICATIONS, LOCALE))
        return f"names no qualification: {kind!r}; there are {names} and the project's own, such as poor-quality"
    elif given.locales:
        return f"{kind} takes no locales"
    elif (given.comparator in _PRESENCE) == bool(given.integers):
        return "takes integers with every comparator but Exists and DoesNotExist"
    if given.comparator not in _LISTS and len(given.integers) + len(given.locales) > 1:
        return f"takes one value with {given.comparator}"
    return None


def _is_own(kind: str) -> bool:
    """A hyphen makes a name the project's own, unless it is a system name that was spelled with hyphens."""
    return bool(_OWN_QUALIFICATION.fullmatch(kind)) and kind.replace("-", "_") not in INTEGER_QUALIFICATIONS


def _requirements(table: Table) -> tuple[Requirement, ...]:
    given = table.items("requirements", _is_table, "tables")
    if len(given) > 10:
        table.say("requirements", f"holds {len(given)}, the limit is 10")
    place = table.place("requirements")
    return tuple(_requirement(one, f"{place}[{i}]", table.faults) for i, one in enumerate(given))


def stage_spec(
    given: Mapping[str, Any], place: str, faults: list[str], defaults: Mapping[str, Any] | None = None
) -> StageSpec | None:
    """The stage, or None after a fault; the limits are those of the API. Adds to `faults`.

    Some of its values may be those of `defaults`.
    """
    found: list[str] = []
    shared = defaults if defaults and given.get("crowd", True) else {}
    table = Table(given, place, found, [name for name, value in shared.items() if given.get(name) == value])
    stage = _stage(table)
    faults += [fault for fault in found if fault not in faults]
    return None if found else stage


def _stage(table: Table) -> StageSpec:
    if not table.truth("crowd", True):
        return _without_crowd(table)
    answers = table.whole("answers", 1, 100)
    rule = _rule(table, answers)
    fields: dict[str, Any] = {
        "key": table.matching("key", _KEY, "lower-case words joined by hyphens"),
        "title": table.text("title", 120),
        "protocol": table.matching("protocol", _PROTOCOL, "the name of a protocol's folder"),
        "reward": _reward(table),
        "assignment_seconds": table.whole("assignment_seconds", 30, LONGEST_SECONDS),
        "lifetime_seconds": table.whole("lifetime_seconds", 30, LONGEST_SECONDS),
        "auto_approval_seconds": table.whole("auto_approval_seconds", 0, 30 * _DAY),
        "approval": table.one_of("approval", ("automatic", "review")),
        "hit_title": table.text("hit_title", 128),
        "hit_description": table.text("hit_description", 2000),
        "keywords": table.text("keywords", 1000, ""),
        "settings": table.table("settings"),
        "requirements": _requirements(table),
        "quality": _quality(table),
        "asks_other_workers_than": table.items("asks_other_workers_than", lambda i: isinstance(i, str), "stage keys"),
        "feeds": table.text("feeds", 60, "") or None,
        "draws": table.whole("draws", 0, 1_000_000, 0),
        "grants": _grants(table),
        "expected_seconds": table.whole("expected_seconds", 0, _DAY, 0) or None,
    }
    fields["auto_publish"] = table.truth("auto_publish", not fields["draws"])
    fields["auto_block"] = table.truth("auto_block", False)
    table.refuse_rest()
    return StageSpec(answers=answers, rule=rule, **fields)


def _without_crowd(table: Table) -> StageSpec:
    """Only a name, a protocol and its settings: nobody is asked, so nothing is paid, required or voted on."""
    fields: dict[str, Any] = {
        "key": table.matching("key", _KEY, "lower-case words joined by hyphens"),
        "title": table.text("title", 120),
        "protocol": table.matching("protocol", _PROTOCOL, "the name of a protocol's folder"),
        "settings": table.table("settings"),
    }
    nothing: dict[str, Any] = {
        "reward": Decimal("0.00"),
        "answers": 1,
        "assignment_seconds": 30,
        "lifetime_seconds": 30,
        "auto_approval_seconds": 0,
        "approval": "automatic",
        "hit_title": "",
        "hit_description": "",
        "keywords": "",
        "requirements": (),
        "rule": None,
        "quality": None,
        "asks_other_workers_than": (),
        "feeds": None,
        "draws": 0,
        "grants": "",
        "auto_publish": False,
        "auto_block": False,
        "expected_seconds": None,
    }
    for name in nothing:
        if table.take(name) is not None:
            table.say(name, "is of a stage with a crowd: remove it here")
    table.refuse_rest()
    return StageSpec(**fields, **nothing, crowd=False)


def _grants(table: Table) -> str:
    given = table.text("grants", 60, "")
    if given and not _is_own(given):
        table.say("grants", f"must be a qualification of the project's own, such as part-one, not {given!r}")
    return given


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


def _with_defaults(table: Table, stages: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], list[dict[str, Any]]]:
    """(`[defaults]`, the tables of the stages with those values that they do not state). A stage without a crowd has
    none of what defaults are about, so it takes none.
    """
    defaults = table.table(DEFAULTS)
    for name in sorted(OF_ONE_STAGE & defaults.keys()):
        table.say(DEFAULTS, f"cannot hold {name}: each stage has its own")
    return defaults, [{**defaults, **one} if one.get("crowd", True) else dict(one) for one in stages]


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
        for other in stage.asks_other_workers_than:
            if other not in keys[:i] or other not in crowds:
                faults.append(f"stages[{i}].asks_other_workers_than must name earlier stages, not {other!r}")


def _options(table: Table) -> tuple[dict[str, Any], dict[str, Option]]:
    """(values, descriptions) by name. An option is a value, or a table with its `value` and the fields of `Option`."""
    given = table.table("options")
    values: dict[str, Any] = {}
    described: dict[str, Option] = {}
    for name, one in given.items():
        values[name] = one
        if isinstance(one, dict):
            values[name], described[name] = _described(Table(one, f"options.{name}", table.faults))
    return values, described


def _described(table: Table) -> tuple[Any, Option]:
    value, choices = table.take("value"), table.table("choices")
    bounds = {name: table.take(name) for name in ("least", "most")}
    if not isinstance(value, bool | int | float | str):
        table.say("value", f"must be a number, true, false or a text, not {value!r}")
    if not all(isinstance(words, str) and words for words in choices.values()):
        table.say("choices", "must have words for each value")
    if choices and value not in choices:
        table.say("value", f"must be one of the choices {', '.join(choices)}, not {value!r}")
    for name, bound in bounds.items():
        if bound is not None and (isinstance(bound, bool) or not isinstance(bound, int | float)):
            table.say(name, f"must be a number, not {bound!r}")
    words: dict[str, Any] = {name: table.text(name, longest, "") for name, longest in _WORDS_OF_OPTIONS.items()}
    table.refuse_rest()
    return value, Option(**words, choices=choices, **bounds)


def _tests(table: Table, read: Callable[[str], bytes]) -> tuple[TestSpec, ...]:
    given = table.items("tests", _is_table, "tables")
    found = [_test(Table(one, f"tests[{i}]", table.faults), read) for i, one in enumerate(given)]
    keys = [one.details.key for one in found]
    if len(set(keys)) < len(keys):
        table.say("tests", "must have different keys")
    return tuple(found)


def _test(table: Table, read: Callable[[str], bytes]) -> TestSpec:
    """`questions` names a JSON or CSV file beside the recipe's, as `hits.formats.qualification_test` reads it."""
    faults = Faults()
    details = Details(
        *(table.take(name) for name in ("key", "title", "description", "pass_mark", "minutes", "retry_days"))
    )
    name = table.text("questions", 100)
    table.refuse_rest()
    texts = (details.key, details.title, details.description)
    if not all(isinstance(text, str) for text in texts):
        table.say("key", "must be a text, as title and description")
        return TestSpec(details, ())
    details = check_details(details, faults)
    try:
        questions = read_file(read(name), faults)
    except OSError as error:
        table.say("questions", f"cannot be read: {error}")
        return TestSpec(details, ())
    for fault in faults.listed:
        table.say(fault.place or "questions", f"is wrong: {fault.message}")
    return TestSpec(details, tuple(questions))


def recipe_fields(
    given: Mapping[str, Any], faults: list[str], read: Callable[[str], bytes] = lambda name: b""
) -> dict[str, Any]:
    """title, version, description, options, tests and stages of the whole file. Adds to `faults`.

    `read` gives the content of a file beside it and raises OSError.
    """
    table = Table(given, "", faults)
    raw_stages = table.items("stages", _is_table, "tables")
    if not raw_stages:
        table.say("stages", "must hold at least one stage")
    fields: dict[str, Any] = {
        "title": table.text("title", 120),
        "version": table.text("version", 20),
        "description": table.text("description", 2000),
    }
    fields["options"], fields["described"] = _options(table)
    fields["tests"] = _tests(table, read)
    defaults, tables = _with_defaults(table, raw_stages)
    table.refuse_rest()
    copies = copies_of(tables, fields["options"], faults)
    found = [stage_spec(one, place, faults, defaults) for place, one in copies]
    stages = tuple(stage for stage in found if stage)
    if len(stages) == len(found):
        check_order(stages, faults)
    return {**fields, "stages": stages, "tables": tuple(tables)}
