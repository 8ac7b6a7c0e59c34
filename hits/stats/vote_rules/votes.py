"""Vote rules as versioned data, and the verdict of an item: what its answers conclude by the rule (`decide`).

A rule is a name, a version and parameters, stored with each verdict that it makes. To change what a rule does,
register a new version beside the old one, so that old verdicts can still be made again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from hits.stats.vote_rules.conditions import Judged, OutcomeName, Said, Values, conclude
from hits.stats.vote_rules.rule_text import RuleTextError, parse


class RuleError(ValueError):
    """A rule that does not exist, or parameters that do not fit it."""


@dataclass(frozen=True)
class Vote:
    """One worker's answer: `said` holds what it says of each unit, which is all that written rules look at.

    `correct` is None where nothing was compared; a `void` vote counts for nothing. `compared` is what it says in a form
    in which it can be compared, by (unit, group): lists go by it, and no rule does.
    """

    worker: str
    value: Any
    correct: bool | None = None
    void: bool = False
    said: Said = field(default_factory=dict, hash=False)
    compared: Mapping[tuple[str, str], Hashable] = field(default_factory=dict, hash=False, compare=False)


@dataclass(frozen=True)
class Counts:
    """Votes that count, by their comparison; `missing` is how many of the wanted answers are not there."""

    right: int
    wrong: int
    unscored: int
    void: int
    missing: int

    def to_dict(self) -> dict[str, int]:
        return asdict(self)


Params = Mapping[str, Any]
# The last ones are how many answers the item wants, and what was computed from them.
Decision = Callable[[Params, Counts, Sequence[Said], int, Values], Judged]
Check = Callable[[Params], None]


@dataclass(frozen=True)
class _Definition:
    decision: Decision
    params: tuple[str, ...]
    check: Check


_REGISTRY: dict[tuple[str, int], _Definition] = {}


def _register(name: str, version: int, *params: str, check: Check) -> Callable[[Decision], Decision]:
    """`check` raises RuleError when the parameters, which have the right names, do not fit."""

    def keep(decision: Decision) -> Decision:
        _REGISTRY[name, version] = _Definition(decision, params, check)
        return decision

    return keep


def _check_whole(params: Params, name: str) -> None:
    if type(params[name]) is not int or params[name] < 1:
        raise RuleError(f"{name} must be a whole number of at least 1, not {params[name]!r}")


def _check_answers(params: Params) -> None:
    _check_whole(params, "answers")


def _check_need(params: Params) -> None:
    _check_whole(params, "need")
    _check_whole(params, "answers")
    if params["need"] > params["answers"]:
        raise RuleError(f"{params['answers']} answers cannot hold {params['need']} right")


def _check_text(params: Params) -> None:
    _check_whole(params, "answers")
    if not isinstance(params["text"], str):
        raise RuleError(f"text must be the rule's lines, not {params['text']!r}")
    try:
        parse(params["text"], params["answers"])
    except RuleTextError as error:
        raise RuleError(str(error)) from error


@_register("matches_reference", 1, "need", "answers", check=_check_need)
def _matches_reference(params: Params, counts: Counts, said: Sequence[Said], wanted: int, values: Values) -> Judged:
    """Kept with `need` right ones; dropped once `answers` answers can no longer hold so many."""
    if counts.right >= params["need"]:
        return Judged("kept")
    return Judged("dropped" if wanted - counts.wrong < params["need"] else "open")


@_register("measured", 1, "answers", check=_check_answers)
def _measured(params: Params, counts: Counts, said: Sequence[Said], wanted: int, values: Values) -> Judged:
    """Kept as soon as `answers` answers are there, right or wrong: they are measured, not judged."""
    return Judged("open" if counts.missing else "kept")


@_register("conditions", 1, "answers", "text", check=_check_text)
def _conditions(params: Params, counts: Counts, said: Sequence[Said], wanted: int, values: Values) -> Judged:
    """What the lines of `text` conclude; the language is described in `rule_text`."""
    return conclude(parse(params["text"], params["answers"]), said, wanted, values)


@dataclass(frozen=True)
class Rule:
    """Parameters of `matches_reference` 1: need, answers (1 <= need <= answers); of `measured` 1: answers;
    of `conditions` 1: answers, text.

    Raises RuleError for an unknown name or version and for parameters that are missing, unknown or wrong.
    """

    name: str
    version: int
    params: Params = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.name, self.version) not in _REGISTRY:
            known = ", ".join(f"{name} {version}" for name, version in available())
            raise RuleError(f"there is no rule {self.name!r} in version {self.version!r}; there are: {known}")
        _check_params(self)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "version": self.version, "params": dict(self.params)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Rule:
        """Raises RuleError, also when the keys are not exactly name, version and params."""
        if set(data) != {"name", "version", "params"} or not isinstance(data["params"], Mapping):
            raise RuleError(f"a rule needs exactly name, version and params, not {sorted(data)}")
        return cls(data["name"], data["version"], dict(data["params"]))


@dataclass(frozen=True)
class Outcome:
    """`conclusion` is the rule's own word; `parts` holds one for each group of units where a rule judges groups.

    `waits`: it is open until something is computed over the answers that are there.
    """

    outcome: OutcomeName
    rule: str
    version: int
    counts: Counts
    conclusion: str = ""
    parts: Mapping[str, str] = field(default_factory=dict, hash=False)
    waits: bool = False


def available() -> list[tuple[str, int]]:
    """Every rule with its version, sorted."""
    return sorted(_REGISTRY)


def parameters(name: str, version: int) -> tuple[str, ...]:
    """The names of a rule's parameters. Raises RuleError when there is no such rule."""
    if (name, version) not in _REGISTRY:
        raise RuleError(f"there is no rule {name!r} in version {version!r}")
    return _REGISTRY[name, version].params


def _check_params(rule: Rule) -> None:
    wanted = set(parameters(rule.name, rule.version))
    given = set(rule.params)
    if wanted != given:
        raise RuleError(f"rule {rule.name} needs exactly the parameters {sorted(wanted)}, not {sorted(given)}")
    try:
        _REGISTRY[rule.name, rule.version].check(rule.params)
    except RuleError as error:
        raise RuleError(f"rule {rule.name}: {error}") from error


def _counting(votes: Sequence[Vote]) -> list[Vote]:
    counting = [vote for vote in votes if not vote.void]
    if len({vote.worker for vote in counting}) != len(counting):
        raise ValueError("one worker has two votes that count: void one of them before deciding")
    return counting


def _count(counting: Sequence[Vote], void: int, wanted: int) -> Counts:
    verdicts = [vote.correct for vote in counting]
    return Counts(
        right=sum(verdict is True for verdict in verdicts),
        wrong=sum(verdict is False for verdict in verdicts),
        unscored=sum(verdict is None for verdict in verdicts),
        void=void,
        missing=max(0, wanted - len(counting)),
    )


def decide(rule: Rule, labels: Sequence[Vote], answers: int | None = None, values: Values = None) -> Outcome:
    """What the rule concludes from the votes, in any order; the same votes and values always give the same outcome.

    `values` were computed over these votes: see `hits.judging.rules.aggregated_values`. None: not yet.

    `answers` are wanted of this item, where it wants fewer than the rule says: see `hits.stats.enough`. Then nothing
    is concluded before they are there. 'open' means that answers are missing or not compared yet. Raises ValueError
    when a worker votes twice.
    """
    counting = _counting(labels)
    wanted = rule.params["answers"] if answers is None else answers
    counts = _count(counting, len(labels) - len(counting), wanted)
    decision = _REGISTRY[rule.name, rule.version].decision
    if answers is not None and counts.missing:
        judged = Judged("open")
    else:
        judged = decision(rule.params, counts, [vote.said for vote in counting], wanted, values)
    return Outcome(judged.outcome, rule.name, rule.version, counts, judged.conclusion, judged.parts, judged.waits)
