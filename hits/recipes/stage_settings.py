"""The settings of a stage, each declared once: what its value must be, what leads read of it, and when it can change.

`stages.toml`, the Settings page, the API, clones and project files read `StageSettings`; the verb that changes a
setting is `hits.stages.verbs.stage_settings`. A new one is a field here and a column of `hits.stages.models.Stage`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainValidator,
    StrictInt,
    ValidationInfo,
    field_validator,
    model_validator,
)

from hits.formats.pool_keys import PREFIX
from hits.stats.blocking import Policy, PolicyError
from hits.stats.enough import condition
from hits.stats.vote_rules.rule_tree import RuleTextError
from hits.stats.vote_rules.votes import Rule, RuleError
from hits.text.tables import Table, Words, must, named, one_of, text, truth, whole

INTEGER_QUALIFICATIONS = ("percent_approved", "number_approved")
LOCALE = "locale"
GUARDS = ("Accept", "PreviewAndAccept", "DiscoverPreviewAndAccept")
_PRESENCE = ("Exists", "DoesNotExist")
_LISTS = ("In", "NotIn")
_EQUALITY = ("EqualTo", "NotEqualTo")
_ORDER = ("LessThan", "LessThanOrEqualTo", "GreaterThan", "GreaterThanOrEqualTo")
_DAY = 86_400
# Workers judge a HIT by its reward and its length, and one answer is all that they can lose.
MOST_ITEMS_A_HIT = 20
# The marketplace's own limit, of the time a HIT is open and of the time an assignment may take.
LONGEST_SECONDS = 365 * _DAY
_OWN_QUALIFICATION = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")

# When a setting can change. The marketplace fixes some for the HITs that are made; the next ones get what is set then.
ANY_TIME, NEXT_HITS, BEFORE_PUBLISHING = "any time", "next HITs", "fixed"
# The sections of the Settings page.
PAY, FINDING, PAGE, QUALITY = "Answers and pay", "How workers find it", "How workers see it", "Quality"
TIMES, WHO, TEST, ITEMS = "Times and approval", "Who may answer", "Test of workers", "Items"


@dataclass(frozen=True)
class Setting:
    """What leads read of a setting. `unit` is what a number counts, where the label does not name it.

    `when` is one of ANY_TIME, NEXT_HITS and BEFORE_PUBLISHING; for the last, `why_fixed` says why it cannot change
    once items are published.
    """

    label: str
    help: str
    section: str
    unit: str
    when: str
    why_fixed: str


def _setting(
    field: Any,
    label: str,
    section: str,
    help: str,
    *,
    unit: str = "",
    when: str = BEFORE_PUBLISHING,
    why_fixed: str = "",
) -> Any:
    """A field that leads can change on the Settings page."""
    field.metadata.append(Setting(label, help, section, unit, when, why_fixed))
    return field


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
        if len(info.data) == 3 and (why := _mismatch(comparator, **info.data)):
            raise ValueError(f"does not fit: {why}")
        return comparator

    def to_dict(self) -> dict[str, Any]:
        """Only values that JSON holds; without the values that the comparator does not take."""
        values = {"integers": list(self.integers), "locales": list(self.locales)}
        head = {"qualification": self.qualification, "comparator": self.comparator, "guards": self.guards}
        return head | {name: value for name, value in values.items() if value}


def _mismatch(comparator: str, qualification: str, integers: Sequence[int], locales: Sequence[str]) -> str:
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
        of_crowds = key in StageSettings.model_fields
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


class StageSettings(CrowdlessStage):
    """One stage with its numbers; the limits are those of the API. Without `crowd`, items are made by a program and
    corrected by leads: nothing of the stage is published, so it has no rule, and its pay and times say nothing.

    `feeds` is the next stage, to which kept items go; see `Recipe.next_items`. `input` is for stages about which the
    recipe's steps say nothing. With `auto_publish`, what arrives from the stage before goes out by itself; what is
    drawn does not. With `auto_block`, the check of `quality` blocks by itself; else a lead does. With
    `advance_approved`, of answers that a lead reviews only approved ones go on to later stages.
    """

    lists = {"requirements": Requirement}

    title: Words = _setting(
        text(120), "Name of the stage", PAY, "Leads see it; files are named after it.", when=ANY_TIME
    )
    answers: int = _setting(
        whole(1, 100),
        "Answers an item",
        PAY,
        "The aggregation rule counts them.",
        unit="answers",
        why_fixed="Items were published for this many answers, and the aggregation rule counts them.",
    )
    most_answers: Annotated[int | None, OR_NONE] = _setting(
        whole(0, 100, None),
        "Most answers an item",
        PAY,
        "0: every item gets as many as that. Else an item gets one answer more, up to so many, until it has enough. "
        "The budget holds the price of the most.",
        unit="answers",
        why_fixed="Money is set aside for this many answers.",
    )
    enough: Words = _setting(
        text(500, ""),
        "An item has enough answers when",
        PAY,
        "Such as: at least 2 agree on choice; or: confidence choice >= 0.9. A condition in the language of the vote "
        "rule.",
        why_fixed="Items were decided by it.",
    )
    items_per_hit: int = _setting(
        whole(1, MOST_ITEMS_A_HIT, 1),
        "Items a HIT",
        PAY,
        "A worker answers so many, one after another. Reward, description and times are of all together.",
        unit="items",
        when=NEXT_HITS,
    )
    gold_share: float = _setting(
        must("be a number from 0 to 0.5", 0.0, strict=True, ge=0, le=0.5),
        "Share of check questions",
        PAY,
        "Of the answers that are bought. Above 0, rows with a gold answer are no data.",
        unit="share, 0 to 0.5",
        why_fixed="What is published is data, or a check question, for good.",
    )
    rule: Annotated[Rule | None, PlainValidator(_rule)] = must('be a table such as { name = "measured", version = 1 }')
    reward: Annotated[Decimal, BeforeValidator(_in_quotes), IN_CENTS] = _setting(
        must('be dollars and cents in quotes, such as "0.04"', ge=0, lt=1_000_000, decimal_places=2),
        "Reward for an answer",
        PAY,
        "A worker is paid it for each HIT; the marketplace's fee comes on top.",
        unit="$",
        when=NEXT_HITS,
    )
    expected_seconds: Annotated[int | None, OR_NONE] = _setting(
        whole(0, _DAY, None),
        "Time that an answer is expected to take",
        PAY,
        "The hourly wage is computed with it until times are measured. Empty: as the description says.",
        when=ANY_TIME,
    )
    assignment_seconds: int = _setting(
        whole(30, LONGEST_SECONDS),
        "Time for an assignment",
        TIMES,
        "From accepting to submitting; the HIT goes to somebody else after it.",
        when=NEXT_HITS,
    )
    lifetime_seconds: int = _setting(
        whole(30, LONGEST_SECONDS),
        "Time that a HIT stays open",
        TIMES,
        "It closes after that, answered or not. “Extend” keeps open HITs open for longer.",
        when=NEXT_HITS,
    )
    approval: str = _setting(
        one_of(("automatic", "review")),
        "Approval",
        TIMES,
        "When answers are approved and paid, and whether you read them before.",
        why_fixed="Answers were given on these terms.",
    )
    auto_approval_seconds: int = _setting(
        whole(0, 30 * _DAY),
        "Approved automatically after",
        TIMES,
        "What nobody has approved or rejected by then is approved and paid. Where answers are approved once checked: "
        "what did not pass, such as an empty answer. 0: all is paid on submission, unchecked.",
        when=NEXT_HITS,
    )
    unchecked_answers: int = _setting(
        whole(0, 1000, 5),
        "Unchecked answers of one worker approved that way",
        TIMES,
        "Of what did not pass, so many of one worker here. Further ones wait for you, and a notice says so; what "
        "nobody decides about in 30 days the marketplace pays.",
        when=NEXT_HITS,
    )
    hit_title: Words = _setting(
        text(128),
        "Title",
        FINDING,
        "Workers choose by it in the marketplace's list; each stage has its own.",
        why_fixed="Workers know the task by it, and answers to two versions of a task could not be compared.",
    )
    hit_description: Words = _setting(
        text(2000),
        "Description",
        FINDING,
        "Two sentences for the list: what is done, and how long it takes.",
        why_fixed="Answers to two versions of a task could not be compared.",
    )
    keywords: Words = _setting(text(1000, ""), "Keywords", FINDING, "Commas between them.", when=NEXT_HITS)
    requirements: tuple[Requirement, ...] = _setting(
        must("be a list of tables", (), max_length=10),
        "Requirements",
        WHO,
        "Who does not meet them cannot take a HIT.",
        when=NEXT_HITS,
    )
    quality: Annotated[Policy | None, PlainValidator(_quality)] = _setting(
        must("be a table", None),
        "Blocking policy",
        QUALITY,
        "Workers who answer much worse than others are named on the stage's page, with the evidence.",
        when=ANY_TIME,
    )
    asks_other_workers_than: tuple[str, ...] = _setting(
        must("be a list of stage keys", ()),
        "Other workers than in",
        WHO,
        "Item by item: who answered it, or what it was made from, in one of these.",
        why_fixed="Answers were given on these terms.",
    )
    feeds: Annotated[Words | None, OR_NONE] = text(60, None)
    input: StageInput | None = must('be a table such as { stage = "ask", each = "answer" }', None)
    draws: int = _setting(
        whole(0, 1_000_000, 0),
        "Items of a sample",
        ITEMS,
        "How many a draw brings unless another number is typed; 0: nothing is drawn.",
        unit="items",
        when=ANY_TIME,
    )
    grants: Annotated[Words, AfterValidator(_granted)] = _setting(
        text(60, ""),
        "Qualification for everybody who has answered here",
        WHO,
        "Lower-case words joined by hyphens, such as part-one; empty: none. Of a test it has the percentage.",
        why_fixed="Workers have the qualification already.",
    )
    screening_share: float = _setting(
        must("be a number from 0 to 1", 0.0, strict=True, ge=0, le=1),
        "Test: share that has to be right",
        TEST,
        "0: the stage is no test. Else its items are those with a gold answer, and who has this share of a HIT's items "
        "right passes, such as 0.75.",
        unit="share, 0 to 1",
        why_fixed="Workers were told when they pass.",
    )
    practice_items: int = _setting(
        whole(0, 10, 0),
        "Test: items to practise on before it",
        TEST,
        "Shown first to each worker, with what was right. They are part of the HIT and its reward.",
        unit="items",
        why_fixed="Items are kept for practice, or were asked already.",
    )
    screening_retries: int = _setting(
        whole(0, 5, 0),
        "Test: tries after a failed one",
        TEST,
        "0: who has failed cannot take it again.",
        unit="tries",
        why_fixed="Workers were told whether they may try again.",
    )
    screening_hours: int = _setting(
        whole(1, 720, 24),
        "Test: hours until another try",
        TEST,
        "1 to 720, counted from the failed one.",
        unit="hours",
        why_fixed="Workers were told when they may try again.",
    )
    page_language: Literal["", "en", "de", "es"] = _setting(
        must('be "en", "de" or "es", or left out', ""),
        "Language of buttons and hints on the workers' page",
        PAGE,
        "What you write yourself, such as the question, is shown as you wrote it.",
        why_fixed="Workers have seen their pages in it.",
    )
    text_evidence: bool = _setting(
        truth(False),
        "Collect how texts came about, for whoever reviews them",
        PAGE,
        "The page counts what is typed and pasted, and texts are compared with those of other workers. The page tells "
        "workers so. Nothing is decided by it.",
        when=ANY_TIME,
    )
    suggestions: Literal["hidden", "shown", "half"] = _setting(
        must('be "hidden", "shown" or "half", or left out', "hidden"),
        "Suggestions of a model",
        PAGE,
        "What the page of an item with a suggestion shows. With half, the page “Suggestions” says how far workers "
        "follow them.",
        why_fixed="Answers were given with or without suggestions in sight, and are compared by that.",
    )
    auto_publish: bool = truth(True)
    auto_block: bool = truth(False)
    advance_approved: bool = truth(True)

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


# Those that leads can change, by name.
SETTINGS: Mapping[str, Setting] = MappingProxyType(
    {
        name: setting
        for name, field in StageSettings.model_fields.items()
        for setting in field.metadata
        if isinstance(setting, Setting)
    }
)
