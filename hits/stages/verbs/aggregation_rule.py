"""Ruling: the vote rule of a stage in its editions, what another rule would conclude, and judging again.

A preview reads what the votes say in their one spelling (`Item.ballots`), so that each kind of item is judged once.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Max, Min, Q, QuerySet

from hits.answers.rules.answer_words import ValueWords
from hits.judging.rules import aggregated_values
from hits.judging.rules.required_answers import chunks
from hits.models import Item, RuleEdition, Stage, Verdict
from hits.projects.rules.plugins import recipe_of
from hits.refusals import Refused
from hits.stats.vote_rules.conditions import Value, Values
from hits.stats.vote_rules.known_rules import KNOWN, KnownRule
from hits.stats.vote_rules.rule_reader import read_text
from hits.stats.vote_rules.rule_text import RuleFault, RuleTextError, computed_units, faults_against, parse, units_of
from hits.stats.vote_rules.votes import Outcome, Rule, RuleError, Vote
from hits.stats.vote_rules.votes import decide as apply_rule

EXAMPLES = 3
# Items whose answers tell which units and values there are.
SAMPLE = 2000
# A unit with more values is a written text or a number rather than a choice.
MOST_VALUES = 12
# What follows the name of a unit where its answers were compared with gold.
CORRECT = ".correct"
NOTHING_SAID = ("", "[]")
_OUTCOMES: Mapping[str, str] = {Item.State.KEPT: "kept", Item.State.DROPPED: "dropped"}
_ORDER = ("kept", "dropped", "open")
# What votes say in one spelling, how many answers are wanted where that is not the rule's number, and (unit, value,
# confidence) as computed; None where nothing computed holds.
BallotsKey = tuple[str, int | None, tuple[tuple[str, Any, float | None], ...] | None]


class Ending(NamedTuple):
    """How an item stands: `outcome` is kept, dropped or open; `word` is the rule's own, where it has one."""

    outcome: str
    word: str = ""

    def __str__(self) -> str:
        if self.outcome == "dropped" and self.word:
            return f"dropped as {self.word}"
        return self.word or self.outcome

    @property
    def rank(self) -> tuple[int, str]:
        return _ORDER.index(self.outcome), self.word


OPEN = Ending("open")


@dataclass(frozen=True)
class Kind:
    """Items that stand alike and whose answers say the same; `first` and `last` are two of them.

    `ballots_key` has what their votes say, and how many answers they want.
    """

    ballots_key: BallotsKey
    now: Ending
    items: int
    first: int
    last: int

    @property
    def ballots(self) -> str:
        return self.ballots_key[0]


@dataclass(frozen=True)
class Move:
    """Items that another rule would conclude otherwise. `examples` are (id, key) of a few."""

    before: Ending
    after: Ending
    items: int
    examples: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class Preview:
    """What a rule would make of the answers that are there.

    `counts` are (ending, items now, items then); `parts` the same for the words of groups, where a rule judges groups.
    `unread` items were judged before their answers were kept in one spelling, and `uncomputed` ones wait for values at
    which the rule looks: they stand as they are in all counts.
    """

    items: int
    kinds: int
    counts: tuple[tuple[Ending, int, int], ...]
    moves: tuple[Move, ...]
    parts: tuple[tuple[str, int, int], ...]
    unread: int
    uncomputed: int

    @property
    def moved(self) -> int:
        return sum(move.items for move in self.moves)

    @property
    def reopened(self) -> int:
        """Items that had a verdict and would want answers again."""
        return sum(move.items for move in self.moves if move.after == OPEN)


@dataclass(frozen=True)
class Difference:
    """An item whose verdict is another one than before."""

    key: str
    before: Ending
    after: Ending


# Reading


def current(stage: Stage) -> Rule:
    return Rule.from_dict(stage.rule)


def _refused(faults: Sequence[RuleFault]) -> Refused:
    """Of a text that is no rule: every fault with its line and column."""
    said = "; ".join(map(str, faults))
    return Refused("rule_refused", said, status=400, faults=[vars(fault) for fault in faults])


def written(stage: Stage, text: str) -> Rule:
    """The rule that the text writes for this stage. Raises Refused (rule_refused) with every fault."""
    text = text.replace("\r\n", "\n").rstrip()
    try:
        rule = parse(text, stage.answers_at_most)
    except RuleTextError as error:
        raise _refused(error.faults) from error
    if unknown := aggregated_values.unknown(stage, computed_units(rule)):
        raise _refused([RuleFault(1, 1, f"the rule {fault}") for fault in unknown])
    return Rule("conditions", 1, {"answers": stage.answers_at_most, "text": text + "\n"})


def text_of(stage: Stage) -> str:
    """The stage's rule in lines; of one that is not written in lines, those that conclude the same of an item that has
    all its answers."""
    params = stage.rule["params"]
    if "text" in params:
        return str(params["text"])
    if stage.rule["name"] == "matches_reference":
        compared = [unit for unit in units(stage) if unit.endswith(CORRECT)]
        unit = compared[0] if len(compared) == 1 else "UNIT.correct"
        return f"keep: at least {params['need']} {unit} = yes\notherwise: drop\n"
    return "otherwise: keep\n"


def units(stage: Stage) -> dict[str, tuple[str, ...] | None]:
    """The fields that a rule can name: each unit with its values, None where there are too many to be a choice.

    From a sample of the answers and from the stage's own rule, which names values that nobody may have said yet.
    """
    found: dict[str, set[str]] = defaultdict(set)
    told = stage.items.exclude(ballots__in=NOTHING_SAID).order_by("pk").values_list("ballots", flat=True)
    for ballots in set(told[:SAMPLE]):
        for said in json.loads(ballots):
            for unit, value in said.items():
                found[unit].add(_spelled(value))
    rule = stage.rule["params"]
    if "text" in rule and not parse(rule["text"], rule["answers"]).each:
        for unit, values in units_of(parse(rule["text"], rule["answers"])).items():
            found[unit].update(values)
    return {unit: None if len(found[unit]) > MOST_VALUES else tuple(sorted(found[unit])) for unit in sorted(found)}


def texts(stage: Stage, known: Mapping[str, tuple[str, ...] | None]) -> tuple[dict[str, dict[str, str]], bool]:
    """(of each of these units the values that are keys of choices, with their texts; whether some read otherwise from
    item to item, which have no text here). Three queries at most."""
    words = ValueWords(stage)
    said = {unit: values for unit, values in known.items() if values and not unit.endswith(CORRECT)}
    told = {unit: words.texts(unit, values) for unit, values in said.items()}
    differ = any(words.differ(unit, values) for unit, values in said.items())
    return {unit: found for unit, found in told.items() if found}, differ


def _spelled(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def unheard(text: str, known: Mapping[str, tuple[str, ...] | None]) -> list[RuleFault]:
    """Units and values of the text that no answer so far holds: a slip, or something that nobody said yet."""
    if not known:
        return []
    return faults_against(text, _within_groups(known) if "each" in read_text(text).headers else known)


def _within_groups(known: Mapping[str, tuple[str, ...] | None]) -> dict[str, tuple[str, ...] | None]:
    """The units as a rule for groups sees them: without the group."""
    found: dict[str, tuple[str, ...] | None] = {}
    for unit, values in known.items():
        name = unit.partition("/")[2] or unit
        before = found.get(name, ())
        found[name] = None if values is None or before is None else tuple(sorted({*before, *values}))
    return found


def templates(stage: Stage) -> list[KnownRule]:
    """Rules of published collections for stages of this protocol that want as many answers as this one."""
    return [known for known in KNOWN if (known.protocol, known.answers) == (stage.protocol, stage.answers_at_most)]


def later_items(stage: Stage) -> list[tuple[str, int]]:
    """(title, items) of the stages that have items from this one; no rule takes those away again."""
    rows = Item.objects.filter(parent__stage=stage).order_by().values_list("stage__position", "stage__title")
    return [(title, count) for _, title, count in rows.annotate(n=Count("pk")).order_by("stage__position")]


# Another rule


def preview(stage: Stage, rule: Rule) -> Preview:
    """What the rule would conclude of every item; changes nothing."""
    kinds = _kinds_with_values(stage) if _computed(rule) else _kinds(stage)
    judged = {key: _judge(rule, *key) for key in {kind.ballots_key for kind in kinds}}
    now: Counter[Ending] = Counter()
    then: Counter[Ending] = Counter()
    moving: dict[tuple[Ending, Ending], list[Kind]] = defaultdict(list)
    for kind in kinds:
        ending = _ending(judged[kind.ballots_key], kind)
        now[kind.now] += kind.items
        then[ending] += kind.items
        if ending != kind.now:
            moving[kind.now, ending].append(kind)
    return Preview(
        items=now.total(),
        kinds=len(judged),
        counts=tuple((e, now[e], then[e]) for e in sorted({*now, *then}, key=lambda e: e.rank)),
        moves=_moves(stage, moving),
        parts=_parts(stage, kinds, judged),
        unread=sum(kind.items for kind in kinds if kind.ballots == "" and kind.now != OPEN),
        uncomputed=sum(kind.items for kind in kinds if (outcome := judged[kind.ballots_key]) and outcome.waits),
    )


def _kinds(stage: Stage) -> list[Kind]:
    items = stage.items.exclude(state=Item.State.CHECK)
    alike = items.order_by().values_list("ballots", "wanted", "state", "conclusion")
    rows = alike.annotate(n=Count("pk"), first=Min("pk"), last=Max("pk"))
    return [
        Kind((ballots, wanted, None), Ending(_OUTCOMES.get(state, "open"), word), n, first, last)
        for ballots, wanted, state, word, n, first, last in rows
    ]


def _computed(rule: Rule) -> bool:
    return "text" in rule.params and bool(computed_units(parse(rule.params["text"], rule.params["answers"])))


def _kinds_with_values(stage: Stage) -> list[Kind]:
    """The same with the computed values of the items, which only the computation itself holds: item by item."""
    found: dict[tuple[BallotsKey, Ending], list[int]] = defaultdict(list)
    pks = list(stage.items.exclude(state=Item.State.CHECK).order_by("pk").values_list("pk", flat=True))
    columns = ("pk", "ballots", "wanted", "state", "conclusion", "ballots_at")
    for some in chunks(pks):
        rows = list(Item.objects.filter(pk__in=some).order_by("pk").values_list(*columns))
        _, values = aggregated_values.of_items(stage, {pk: at for pk, *_, at in rows})
        for pk, ballots, wanted, state, word, _ in rows:
            key = ballots, wanted, _values_key(values.get(pk))
            found[key, Ending(_OUTCOMES.get(state, "open"), word)].append(pk)
    return [Kind(key, now, len(pks), pks[0], pks[-1]) for (key, now), pks in found.items()]


def _values_key(values: Values) -> tuple[tuple[str, Any, float | None], ...] | None:
    if values is None:
        return None
    # Lists, as of spans of a text, are compared with nothing.
    return tuple(
        (unit, one.value, one.confidence)
        for unit, one in sorted(values.items())
        if not isinstance(one.value, list | dict)
    )


def _judge(
    rule: Rule, ballots: str, wanted: int | None, values: tuple[tuple[str, Any, float | None], ...] | None
) -> Outcome | None:
    """None where nothing is known of the answers."""
    if not ballots:
        return None
    said = json.loads(ballots)
    votes = [Vote(str(number), None, _compared(one), said=one) for number, one in enumerate(said)]
    computed = None if values is None else {unit: Value(value, sure) for unit, value, sure in values}
    return apply_rule(rule, votes, wanted, computed)


def _compared(said: Mapping[str, Any]) -> bool | None:
    """Whether the vote is right, for rules that look at nothing else: its first unit that was compared."""
    return next((bool(said[unit]) for unit in sorted(said) if unit.endswith(CORRECT)), None)


def _ending(judged: Outcome | None, kind: Kind) -> Ending:
    return kind.now if judged is None or judged.waits else Ending(judged.outcome, judged.conclusion)


def _moves(stage: Stage, moving: Mapping[tuple[Ending, Ending], Sequence[Kind]]) -> tuple[Move, ...]:
    shown = {ends: _some(stage, kinds) for ends, kinds in moving.items()}
    keys = dict(stage.items.filter(pk__in=[pk for pks in shown.values() for pk in pks]).values_list("pk", "key"))
    moves = [
        Move(*ends, sum(kind.items for kind in kinds), tuple((pk, keys[pk]) for pk in shown[ends]))
        for ends, kinds in moving.items()
    ]
    return tuple(sorted(moves, key=lambda move: (-move.items, move.before.rank, move.after.rank)))


def _some(stage: Stage, kinds: Sequence[Kind]) -> list[int]:
    if len(kinds) > 1 or kinds[0].items < EXAMPLES or kinds[0].ballots_key[2] is not None:
        return sorted({pk for kind in islice(kinds, EXAMPLES) for pk in (kind.first, kind.last)})[:EXAMPLES]
    alike = stage.items.filter(ballots=kinds[0].ballots, pk__gte=kinds[0].first, pk__lte=kinds[0].last)
    return list(alike.order_by("pk").values_list("pk", flat=True)[:EXAMPLES])


def _parts(
    stage: Stage, kinds: Sequence[Kind], judged: Mapping[BallotsKey, Outcome | None]
) -> tuple[tuple[str, int, int], ...]:
    then = _words(kinds, judged)
    present = current(stage)
    now: Counter[str] = Counter()
    if "text" in present.params and bool(parse(present.params["text"], present.params["answers"]).each):
        now = _words(kinds, {key: _judge(present, *key) for key in judged})
    return tuple((word, now[word], then[word]) for word in sorted({*now, *then}))


def _words(kinds: Iterable[Kind], judged: Mapping[BallotsKey, Outcome | None]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for kind in kinds:
        outcome = judged[kind.ballots_key]
        for word in outcome.parts.values() if outcome else ():
            counts[word or "dropped"] += kind.items
    return counts


# Editions


def editions(stage: Stage) -> list[RuleEdition]:
    """Newest first; of a stage whose rule nobody changed, the recipe's, which has no row yet."""
    rows = list(stage.rule_editions.select_related("created_by"))
    return rows or [_first(stage)]


def edition(stage: Stage, number: int) -> RuleEdition | None:
    return next((row for row in editions(stage) if row.number == number), None)


def _first(stage: Stage) -> RuleEdition:
    note = f"From the recipe {recipe_of(stage.project).title}"
    return RuleEdition(stage=stage, number=stage.rule_edition, rule=stage.rule, note=note)


def rule_of(stage: Stage, row: RuleEdition) -> Rule:
    """The edition's rule for as many answers as the stage wants now. Raises Refused (rule_refused)."""
    rule = Rule.from_dict(row.rule)
    try:
        return replace(rule, params={**rule.params, "answers": stage.answers_at_most})
    except RuleError as error:
        raise _refused([RuleFault(1, 1, str(error))]) from error


def save(stage: Stage, rule: Rule, seen: int, note: str, user: User | None) -> RuleEdition:
    """Make the rule the stage's own, and mark what it judges; `seen` is the edition that the lead looked at.

    Raises Refused (rule_unchanged, rule_changed) when another edition was saved in between.
    """
    if rule.to_dict() == stage.rule:
        raise Refused("rule_unchanged", "The stage goes by this very rule. Nothing was saved.")
    with transaction.atomic():
        standing = Stage.objects.filter(pk=stage.pk, rule_edition=seen)
        if not standing.update(rule=rule.to_dict(), rule_edition=seen + 1):
            raise Refused("rule_changed", "Somebody saved another rule meanwhile. Look at it first. Nothing was saved.")
        if not stage.rule_editions.exists():
            _first(stage).save()
        made = RuleEdition.objects.create(
            stage=stage, number=seen + 1, rule=rule.to_dict(), note=note[:200], created_by=user
        )
        # In this transaction: a crash between the two would leave verdicts of the old rule that nobody comes back to.
        mark(stage)
    stage.rule, stage.rule_edition = made.rule, made.number
    return made


# Judging again


def mark(stage: Stage) -> int:
    """Every item with answers is to be judged again; returns how many. `deciding` takes them up."""
    answered = Q(state__in=_OUTCOMES) | ~Q(ballots__in=NOTHING_SAID)
    # Stale ones too: another process may be judging them for the first time, and the update waits for its end.
    return stage.items.filter(answered | Q(stale=True)).update(stale=True)


def left_to_judge(stage: Stage) -> int:
    return stage.items.filter(stale=True).count()


def differences(stage: Stage, since: datetime) -> list[Difference]:
    """Items that stand otherwise than at that moment, by key."""
    verdicts = Verdict.objects.filter(item__stage=stage)
    before = _endings(verdicts.filter(decided_at__lt=since, superseded_at__gte=since))
    after = _endings(verdicts.filter(decided_at__gte=since, superseded_at=None))
    found = [Difference(key, before.get(key, OPEN), after.get(key, OPEN)) for key in sorted({*before, *after})]
    return [one for one in found if one.before != one.after]


def _endings(verdicts: QuerySet[Verdict]) -> dict[str, Ending]:
    rows = verdicts.values_list("item__key", "outcome", "conclusion").iterator(chunk_size=5000)
    return {key: Ending(outcome, word) for key, outcome, word in rows}


def moves_of(found: Iterable[Difference]) -> list[Move]:
    """How many went from where to where, the most first."""
    counts = Counter((one.before, one.after) for one in found)
    return [Move(*ends, items) for ends, items in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))]
