"""The rules of published collections, each on answers of the protocol that it is offered for."""

from __future__ import annotations

import json

import pytest

from hits import protocols, recipes
from hits.protocols.choosing import shuffled
from hits.stats.vote_rules.known_rules import KNOWN, KnownRule
from hits.stats.vote_rules.rule_text import parse, units_of
from hits.stats.vote_rules.votes import Outcome, Vote, decide
from tests.hits.answers import question_set

GOOD_ENDS = {"staged_choice": "valid", "multiple_choice": "right"}


def votes(known: KnownRule) -> list[Vote]:
    """So many workers who give the protocol's good answer."""
    protocol = protocols.get(known.protocol, [protocols.HOME])
    sample = json.loads((protocols.HOME / "protocols" / known.protocol / "sample.json").read_text(encoding="utf-8"))
    found = []
    for worker in map("W{}".format, range(known.answers)):
        fields = dict(sample["fields"])
        if known.protocol == "staged_choice":
            fields = question_set.fields(worker)
        elif known.protocol == "select_all":
            shown = shuffled(
                sample["item"]["candidates"], worker, sample["document"]["text"], sample["item"]["question"]
            )
            fields["order"] = " ".join(one["id"] for one in shown)
        checked = protocol.check(sample["document"], sample["item"], protocol.settings({}), fields, worker)
        said = {label.unit: label.value for label in checked.labels if isinstance(label.value, str | bool | int)}
        said |= {f"{one.unit}.correct": one.correct for one in checked.labels if one.correct is not None}
        found.append(Vote(worker, None, said=said))
    return found


def outcome(known: KnownRule) -> Outcome:
    return decide(known.rule(), votes(known))


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.title)
def test_a_template_counts_units_that_its_own_protocol_has_and_concludes(known: KnownRule) -> None:
    said = {unit.rpartition("/")[2] if "each" in known.text else unit for vote in votes(known) for unit in vote.said}
    assert set(units_of(parse(known.text, known.answers))) <= said
    found = outcome(known)
    assert (found.outcome, found.conclusion) == ("kept", GOOD_ENDS.get(known.protocol, ""))
    assert found.conclusion or found.parts
    assert set(found.parts.values()) != {"wrong"}


def test_the_rules_of_our_recipes_are_templates_of_their_stages() -> None:
    texts = {(known.protocol, known.text) for known in KNOWN}
    for name in ("cosmos", "mcscript"):
        for stage in recipes.load(name).stages:
            if "text" in stage.rule.params:
                assert (stage.protocol, stage.rule.params["text"]) in texts, stage.key
