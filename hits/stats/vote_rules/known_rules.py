"""The vote rules of published collections, written in the language of `rule_text`.

COSMOS_VALIDATION judges a question set by three workers who answer a sequence of steps: `paragraph` and `question`
are good or bad, `picked` is a candidate or `none` where no correct answer can be determined, `needs_common_sense` and
`needs_context` are yes or no and are asked only of those who picked a candidate.
Source: Huang et al. (2019), Cosmos QA, sections 2.3 and 2.4. Our reading of two places that leave room:
- The valid and the unanswerable sets add up to all sets, so they are disjoint, though each condition may hold of a
  set that the other holds of. Unanswerable therefore comes first: two intended picks and one worker who needed no
  context or no common sense. Whatever it takes is not valid.
- "Answers satisfactory" for all workers is that each of them could determine a correct answer: none picked `none`.
  A worker who picked another candidate found the answers satisfactory, too.
- For an unanswerable set the publication states those two conditions alone, so that a set goes out whose third worker
  called the paragraph inappropriate. COSMOS_VALIDATION asks all workers to find paragraph and question good;
  COSMOS_VALIDATION_TO_THE_LETTER does not.

COSMOS_HUMANS, of a stage that asks for a `choice`, measures people by the majority of three: a set is right when two of
them chose the intended answer; three different choices are no majority, so the set is wrong. Nothing is dropped, as the
share of right ones is wanted.
Source: the same, section 4.1.

COSMOS_GENERATED judges each machine-written candidate by itself (`<candidate>/selected` is yes or no): correct only
if all three workers selected it; a candidate that a worker said nothing of was not selected. Nothing is dropped.
Source: the same, section 5.4.

MCSCRIPT_LABELS judges each question of a HIT (`<question>/label`) by five workers: a majority for text or for script;
with no such majority but three in the two together, text-or-script; a majority for unfitting or for unknown drops
the question, and so does the want of any majority.
Source: Ostermann et al. (2019), MCScript2.0, section 3.3.
"""

from __future__ import annotations

from dataclasses import dataclass

from hits.stats.vote_rules.votes import Rule


@dataclass(frozen=True)
class KnownRule:
    """A written rule with how many answers an item wants, and the protocol whose units it names."""

    title: str
    protocol: str
    answers: int
    text: str

    def rule(self) -> Rule:
        return Rule("conditions", 1, {"answers": self.answers, "text": self.text})


COSMOS_VALIDATION = KnownRule(
    "Cosmos QA: valid and unanswerable question sets",
    "staged_choice",
    3,
    """\
answers missing: wait
value missing: counts as nothing
drop unsatisfactory: at least 1 paragraph = bad or at least 1 question = bad
unanswerable: at least 2 picked.correct = yes and (at least 1 needs_context = no or at least 1 needs_common_sense = no)
valid: at least 2 picked.correct = yes and all picked != none
otherwise: drop
""",
)

COSMOS_VALIDATION_TO_THE_LETTER = KnownRule(
    "Cosmos QA: valid and unanswerable question sets, the latter whatever the third worker found inappropriate",
    "staged_choice",
    3,
    """\
answers missing: wait
value missing: counts as nothing
unanswerable: at least 2 picked.correct = yes and (at least 1 needs_context = no or at least 1 needs_common_sense = no)
valid: at least 2 picked.correct = yes and all paragraph = good and all question = good and all picked != none
otherwise: drop
""",
)

COSMOS_HUMANS = KnownRule(
    "Cosmos QA: human performance by majority",
    "multiple_choice",
    3,
    """\
answers missing: wait
value missing: counts as nothing
right: at least 2 choice.correct = yes
otherwise: keep wrong
""",
)

COSMOS_GENERATED = KnownRule(
    "Cosmos QA: generated answers that all selected",
    "select_all",
    3,
    """\
each candidate:
answers missing: wait
value missing: counts as another value
correct: all selected = yes
otherwise: keep wrong
""",
)

MCSCRIPT_LABELS = KnownRule(
    "MCScript2.0: where a question's answer comes from",
    "answer_writing",
    5,
    """\
each question:
answers missing: wait
value missing: counts as nothing
text: at least 3 label = text
script: at least 3 label = script
text-or-script: at least 3 label in text, script
drop unfitting: at least 3 label = unfitting
drop unknown: at least 3 label = unknown
otherwise: drop no-majority
""",
)

KNOWN = (COSMOS_VALIDATION, COSMOS_VALIDATION_TO_THE_LETTER, COSMOS_HUMANS, COSMOS_GENERATED, MCSCRIPT_LABELS)
