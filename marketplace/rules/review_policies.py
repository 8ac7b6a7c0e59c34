"""Review policies: what they ask for, and the scores that they compute. Pure.

An answer is the set of its values, trimmed; two answers agree when their sets are equal, so that
leaving a question empty is an answer too. Scores are whole percents, rounded down: what is
reported is what is compared with a threshold.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element

from defusedxml.ElementTree import fromstring

from marketplace.rules import limits
from marketplace.rules.errors import ParameterValidationError

# A policy in the API's form: PolicyName, Parameters.
Policy = dict[str, Any]
Answer = frozenset[str]
KNOWN_ANSWERS = "ScoreMyKnownAnswers/2011-09-01"
PLURALITY = "SimplePlurality/2011-09-01"
# Above 100 a threshold is never (approve) or always (reject, extend) met.
PERCENT = (0, 101)
KNOWN_EXTENSIONS = (2, 25)
DEFAULT_KNOWN_EXTENSIONS = 5
EXTRA_SECONDS = (60, limits.YEAR_SECONDS)
QUESTIONS = 100
# Longer answers take no part in a plurality.
LONGEST_ANSWER = 256


@dataclass(frozen=True)
class KnownAnswers:
    """ScoreMyKnownAnswers, applied when an answer is submitted. A threshold of None asks for no action."""

    answer_key: Mapping[str, Answer]
    approve_from: int | None
    approve_reason: str
    reject_below: int | None
    reject_reason: str
    extend_below: int | None
    extend_to: int
    extend_seconds: int


@dataclass(frozen=True)
class Plurality:
    """SimplePlurality, applied when a HIT becomes reviewable."""

    questions: tuple[str, ...]
    threshold: int
    disregard_rejected: bool
    disregard_known_below: int | None
    approve_from: int | None
    reject_below: int | None
    reject_reason: str
    extend_below: int | None
    extend_to: int
    extend_seconds: int


def read_known_answers(policy: Policy) -> KnownAnswers:
    """Raises ParameterValidationError naming every fault of an AssignmentReviewPolicy."""
    given = _Given("AssignmentReviewPolicy", policy, KNOWN_ANSWERS)
    read = KnownAnswers(
        answer_key=given.answer_key(),
        approve_from=given.number("ApproveIfKnownAnswerScoreIsAtLeast", PERCENT),
        approve_reason=given.text("ApproveReason"),
        reject_below=given.number("RejectIfKnownAnswerScoreIsLessThan", PERCENT),
        reject_reason=given.text("RejectReason"),
        extend_below=given.number("ExtendIfKnownAnswerScoreIsLessThan", PERCENT),
        extend_to=given.number("ExtendMaximumAssignments", KNOWN_EXTENSIONS) or DEFAULT_KNOWN_EXTENSIONS,
        extend_seconds=given.number("ExtendMinimumTimeInSeconds", EXTRA_SECONDS) or 0,
    )
    given.finish()
    return read


def read_plurality(policy: Policy) -> Plurality:
    """Raises ParameterValidationError naming every fault of a HITReviewPolicy."""
    given = _Given("HITReviewPolicy", policy, PLURALITY)
    extend_below = given.number("ExtendIfHITAgreementScoreIsLessThan", (1, 100))
    extends = "ExtendIfHITAgreementScoreIsLessThan" in given.parameters
    read = Plurality(
        questions=given.questions(),
        threshold=given.number("QuestionAgreementThreshold", PERCENT, required=True) or 0,
        disregard_rejected=given.yes_or_no("DisregardAssignmentIfRejected"),
        disregard_known_below=given.number("DisregardAssignmentIfKnownAnswerScoreIsLessThan", PERCENT),
        approve_from=given.number("ApproveIfWorkerAgreementScoreIsAtLeast", PERCENT),
        reject_below=given.number("RejectIfWorkerAgreementScoreIsLessThan", PERCENT),
        reject_reason=given.text("RejectReason"),
        extend_below=extend_below,
        extend_to=given.number("ExtendMaximumAssignments", limits.MAX_ASSIGNMENTS, required=extends) or 0,
        extend_seconds=given.number("ExtendMinimumTimeInSeconds", EXTRA_SECONDS, required=extends) or 0,
    )
    given.finish()
    return read


class _Given:
    """The parameters of one policy, taken out one by one; `faults` grows, and finish() raises them all."""

    def __init__(self, member: str, policy: Policy, name: str) -> None:
        self.member = member
        if policy["PolicyName"] != name:
            raise ParameterValidationError(
                f"{member} names the policy '{policy['PolicyName']}'; only {name} can be used there."
            )
        self.faults: list[str] = []
        self.taken: set[str] = set()
        self.parameters: dict[str, dict[str, Any]] = {}
        for parameter in policy.get("Parameters", []):
            self._add(parameter)

    def _add(self, parameter: dict[str, Any]) -> None:
        # The service's own example writes QuestionIDs, its table QuestionIds.
        key = "QuestionIds" if parameter.get("Key") == "QuestionIDs" else parameter.get("Key")
        if not key:
            self.faults.append("a parameter has no Key")
        elif key in self.parameters:
            self.faults.append(f"{key} is given more than once")
        else:
            self.parameters[key] = parameter

    def finish(self) -> None:
        unknown = sorted(self.parameters.keys() - self.taken)
        self.faults += [f"{key} is not a parameter of this policy" for key in unknown]
        if self.faults:
            raise ParameterValidationError(f"{self.member}: {'; '.join(self.faults)}.")

    def _values(self, key: str, required: bool = False) -> list[str]:
        self.taken.add(key)
        parameter = self.parameters.get(key)
        if parameter is None:
            if required:
                self.faults.append(f"{key} is missing")
            return []
        if parameter.get("MapEntries"):
            self.faults.append(f"{key} takes Values, not MapEntries")
        values: list[str] = parameter.get("Values") or []
        if not values:
            self.faults.append(f"{key} has no value")
        return values

    def _one(self, key: str, required: bool = False) -> str | None:
        values = self._values(key, required)
        if len(values) > 1:
            self.faults.append(f"{key} takes one value; {len(values)} were given")
            return None
        return values[0].strip() if values else None

    def text(self, key: str) -> str:
        text = self._one(key) or ""
        if len(text) > limits.FEEDBACK:
            self.faults.append(f"{key} has {len(text)} characters; at most {limits.FEEDBACK} are allowed")
        return text

    def number(self, key: str, bounds: tuple[int, int], required: bool = False) -> int | None:
        text = self._one(key, required)
        if text is None:
            return None
        if not (text.isascii() and text.isdigit() and len(text) <= 10):
            self.faults.append(f"{key} is '{text[:40]}'; it must be a whole number")
            return None
        if not bounds[0] <= int(text) <= bounds[1]:
            self.faults.append(f"{key} is {text}, out of range: {bounds[0]} to {bounds[1]} is allowed")
            return None
        return int(text)

    def yes_or_no(self, key: str) -> bool:
        word = (self._one(key) or "F").lower()
        if word not in ("t", "f", "true", "false"):
            self.faults.append(f"{key} is '{word[:40]}'; write T or F")
        return word.startswith("t")

    def questions(self) -> tuple[str, ...]:
        listed = [part.strip() for value in self._values("QuestionIds", True) for part in value.split(",")]
        if any(not name for name in listed):
            self.faults.append("QuestionIds holds an empty id")
        if len(set(listed)) != len(listed):
            self.faults.append("QuestionIds names a question twice")
        if len(listed) > QUESTIONS:
            self.faults.append(f"QuestionIds holds {len(listed)} ids; at most {QUESTIONS} are allowed")
        return tuple(listed)

    def answer_key(self) -> dict[str, Answer]:
        self.taken.add("AnswerKey")
        parameter = self.parameters.get("AnswerKey")
        if parameter is None:
            self.faults.append("AnswerKey is missing")
            return {}
        if parameter.get("Values"):
            self.faults.append("AnswerKey takes MapEntries, not Values")
        entries = parameter.get("MapEntries") or []
        if not 1 <= len(entries) <= QUESTIONS:
            self.faults.append(f"AnswerKey has {len(entries)} entries; 1 to {QUESTIONS} are allowed")
        key: dict[str, Answer] = {}
        for entry in entries:
            question = (entry.get("Key") or "").strip()
            if not question:
                self.faults.append("an entry of AnswerKey has no Key")
            elif question in key:
                self.faults.append(f"AnswerKey names {question} twice")
            key[question] = answer(entry.get("Values") or [])
        return key


def answer(values: Sequence[str]) -> Answer:
    """A set of values; several of one question come joined by | from a form, and are taken apart here."""
    parts = (part.strip() for value in values for part in value.split("|"))
    return frozenset(part for part in parts if part)


def answers_of(xml: str) -> dict[str, list[str]]:
    """Values by question of a submitted answer (QuestionFormAnswers)."""
    found: dict[str, list[str]] = {}
    # As bytes: a text that declares its encoding is refused.
    for node in fromstring(xml.encode("ascii")):
        values = found.setdefault(_text(node, "QuestionIdentifier"), [])
        for child in node:
            if _name(child) in ("FreeText", "SelectionIdentifier", "OtherSelectionText"):
                values.append(child.text or "")
    return found


def _name(node: Element) -> str:
    return node.tag.rpartition("}")[2]


def _text(node: Element, name: str) -> str:
    return next((child.text or "" for child in node if _name(child) == name), "")


def percent(part: int, whole: int) -> int:
    return 100 * part // whole


@dataclass(frozen=True)
class KnownScore:
    """How one submission compares with the answer key."""

    correct: Mapping[str, bool]

    @property
    def score(self) -> int:
        return percent(sum(self.correct.values()), len(self.correct))


def score_known_answers(policy: KnownAnswers, given: Mapping[str, Sequence[str]]) -> KnownScore:
    return KnownScore({name: answer(given.get(name, [])) == known for name, known in policy.answer_key.items()})


@dataclass(frozen=True)
class Agreed:
    """The answer to a question that enough workers gave, and the percentage of workers who did."""

    answer: Answer
    score: int


@dataclass(frozen=True)
class WorkerScore:
    """Agreed questions that a worker answered as the others did, and otherwise."""

    agreeing: int
    differing: int

    @property
    def score(self) -> int:
        return percent(self.agreeing, self.agreeing + self.differing)


@dataclass(frozen=True)
class Agreement:
    """`agreed` holds None for a question without an agreed answer; a worker may have no score either."""

    agreed: Mapping[str, Agreed | None]
    workers: Sequence[WorkerScore | None]

    @property
    def hit_score(self) -> int:
        return percent(sum(found is not None for found in self.agreed.values()), len(self.agreed))


def score_plurality(policy: Plurality, submissions: Sequence[Mapping[str, Sequence[str]]]) -> Agreement:
    """Compare submissions with each other; those that the policy disregards must be left out before."""
    table = {name: [_usable(given.get(name, [])) for given in submissions] for name in policy.questions}
    agreed = {name: _agreed(column, policy.threshold) for name, column in table.items()}
    answers = {name: found.answer for name, found in agreed.items() if found is not None}
    workers = []
    for row in range(len(submissions)):
        same = [table[name][row] == answer for name, answer in answers.items() if table[name][row] is not None]
        workers.append(WorkerScore(sum(same), len(same) - sum(same)) if same else None)
    return Agreement(agreed, workers)


def _usable(values: Sequence[str]) -> Answer | None:
    return None if sum(map(len, values)) > LONGEST_ANSWER else answer(values)


def _agreed(column: Sequence[Answer | None], threshold: int) -> Agreed | None:
    """The one answer given most often, when more than `threshold` percent gave it. A tie agrees on nothing."""
    counts = Counter(given for given in column if given is not None).most_common(2)
    if not counts or (len(counts) == 2 and counts[0][1] == counts[1][1]):
        return None
    best, count = counts[0]
    score = percent(count, sum(given is not None for given in column))
    return Agreed(best, score) if score > threshold else None
