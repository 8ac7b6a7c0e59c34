"""Values for the fuzzer, made from botocore's shapes: right, nearly right, and hostile. Everything is seeded."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

HOSTILE_TEXTS = (
    "",
    " ",
    "\x00",
    "a\x00b",
    "\ud800",
    "\r\nSet-Cookie: fuzz=1",
    "<script>fuzz</script>",
    "'; DROP TABLE marketplace_hit; --",
    "%s%n{{7*7}}${7*7}",
    "\u202e\u200f \U0001f9ff é",
    "../../../../etc/passwd",
    "//evil.example",
    "javascript:alert(1)",
    "9" * 400,
    "A" * 70_000,
    "-1",
    "0",
    "1e309",
    "NaN",
    "9223372036854775808",
    "²",
    "١٢",
    "null",
    "[]",
    "00000000000000000071",
)
HOSTILE_NUMBERS = (-1, 0, 1, 2**31 - 1, 2**31, -(2**31), 2**63 - 1, -(2**63), 2**63, 10**30, 1.5, -0.0, 1e300, 30, 10)
HOSTILE = (None, True, [], {}, [[]], [None], {"a": 1}, "x", 1)
NAMESPACE = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
EXTERNAL = (
    f'<ExternalQuestion xmlns="{NAMESPACE}2006-07-14/ExternalQuestion.xsd">'
    "<ExternalURL>https://tasks.example.org/task?item=1</ExternalURL><FrameHeight>0</FrameHeight></ExternalQuestion>"
)
HTML = (
    f'<HTMLQuestion xmlns="{NAMESPACE}2011-11-11/HTMLQuestion.xsd"><HTMLContent><![CDATA[<!DOCTYPE html><html><head>'
    "<title>t</title></head><body><form name='mturk_form' method='post' action='https://www.mturk.com/mturk/"
    "externalSubmit'><input name='a'></form></body></html>]]></HTMLContent><FrameHeight>450</FrameHeight>"
    "</HTMLQuestion>"
)
FORM = (
    f'<QuestionForm xmlns="{NAMESPACE}2017-11-06/QuestionForm.xsd"><Question><QuestionIdentifier>q</QuestionIdentifier>'
    "<IsRequired>true</IsRequired><QuestionContent><Text>Why?</Text></QuestionContent><AnswerSpecification>"
    "<SelectionAnswer><Selections><Selection><SelectionIdentifier>a</SelectionIdentifier><Text>A</Text></Selection>"
    "</Selections></SelectionAnswer></AnswerSpecification></Question></QuestionForm>"
)
ANSWER_KEY = (
    f'<AnswerKey xmlns="{NAMESPACE}2005-10-01/AnswerKey.xsd"><Question><QuestionIdentifier>q</QuestionIdentifier>'
    "<AnswerOption><SelectionIdentifier>a</SelectionIdentifier><AnswerScore>10</AnswerScore></AnswerOption></Question>"
    "</AnswerKey>"
)
BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><x>&b;</x>'
# What a member is likely to mean, so that a good share of the calls gets past the first checks.
LIKELY: dict[str, tuple[Any, ...]] = {
    "Question": (*(EXTERNAL,) * 6, HTML, HTML, FORM, FORM, BOMB, "what?"),
    "Test": (FORM, HTML),
    "AnswerKey": (ANSWER_KEY, FORM),
    "Reward": ("0.05", "0", "1.00", "0.", "0.5", "0.11", "12345678"),
    "BonusAmount": ("0.01", "1.00", "0", "99999"),
    "MaxAssignments": (1, 2, 5, 9, 10, 100),
    "NumberOfAdditionalAssignments": (1, 2, 9),
    "LifetimeInSeconds": (30, 60, 3600),
    "AssignmentDurationInSeconds": (30, 60, 3600),
    "AutoApprovalDelayInSeconds": (0, 1, 3600),
    "ExpireAt": (0, 1, 1.5, 4_000_000_000, 253402300800, -62135596801),
    "QualificationTypeId": (
        "00000000000000000071",
        "000000000000000000L0",
        "00000000000000000040",
        "00000000000000000060",
    ),
    "PolicyName": ("SimplePlurality/2011-09-01", "ScoreMyKnownAnswers/2011-09-01"),
    "Version": ("2006-05-05", "2014-08-15"),
    "Destination": (
        "arn:aws:sns:us-east-1:1:t",
        "https://sqs.us-east-1.amazonaws.com/123456789012/q",
        "fuzz@example.org",
    ),
    "TestDurationInSeconds": (30, 3600),
    "RetryDelayInSeconds": (0, 60),
    "Key": ("AnswerKey", "QuestionIds", "QuestionAgreementThreshold", "DisregardAssignmentIfRejected", "q"),
    "UniqueRequestToken": ("t1", "t2", "t3"),
    "Query": ("a", "Reader"),
    "MaxResults": (1, 2, 100),
}


# How often an optional member is sent, where another share than a third finds more.
CHANCES = {"Question": 0.95, "HITLayoutId": 0.03, "NextToken": 0.2, "UniqueRequestToken": 0.05, "Test": 0.3}
CHANCES |= {"QualificationRequirements": 0.12, "AssignmentStatuses": 0.1, "IntegerValues": 0.7, "ActionsGuarded": 0.3}


class Pool:
    """Ids of things that exist, by the name of the member that takes them."""

    def __init__(self) -> None:
        self.ids: dict[str, list[str]] = defaultdict(list)
        self.pairs: list[dict[str, str]] = []

    def learn(self, value: Any) -> None:
        if isinstance(value, dict):
            if {"AssignmentId", "WorkerId"} <= value.keys():
                self.pairs = [*self.pairs[-60:], {key: value[key] for key in ("AssignmentId", "WorkerId")}]
            for name, inner in value.items():
                if isinstance(inner, str) and name.endswith(("Id", "NextToken")):
                    self.add(name, inner)
                self.learn(inner)
        elif isinstance(value, list):
            for inner in value:
                self.learn(inner)

    def add(self, name: str, value: str) -> None:
        known = self.ids[name]
        if value not in known:
            known.append(value)
            # Old ones go: most of them are disposed of by now.
            del known[:-60]

    def pair(self, draw: random.Random) -> dict[str, str]:
        """An assignment and the worker who has it."""
        return dict(draw.choice(self.pairs)) if self.pairs else {}

    def any(self, draw: random.Random) -> str:
        filled = [ids for ids in self.ids.values() if ids]
        return draw.choice(draw.choice(filled)) if filled else "3NONE"


def make(shape: Any, name: str, draw: random.Random, pool: Pool, spite: float) -> Any:
    """A value for `shape`; `spite` is the share of members that get something wrong."""
    if draw.random() < spite:
        return _wrong(shape, draw, pool)
    kind = shape.type_name
    if kind == "structure":
        return {
            member: make(inner, member, draw, pool, spite)
            for member, inner in shape.members.items()
            if (member in shape.required_members and draw.random() > spite / 4) or _wanted(member, draw)
        }
    if kind == "list":
        return [make(shape.member, name, draw, pool, spite) for _ in range(draw.choice((0, 1, 1, 1, 2, 3)))]
    if kind == "string":
        return _text(shape, name, draw, pool)
    likely = LIKELY.get(name)
    if likely and draw.random() < 0.9:
        return draw.choice(likely)
    return {"boolean": draw.random() < 0.5, "timestamp": draw.choice((0, 1.5, 4e9))}.get(kind, draw.randint(0, 100))


def _wanted(member: str, draw: random.Random) -> bool:
    chance = CHANCES.get(member)
    if chance is None:
        chance = 0.08 if member.endswith("Policy") or "Layout" in member else 0.35
    return draw.random() < chance


def _text(shape: Any, name: str, draw: random.Random, pool: Pool) -> str:
    if getattr(shape, "enum", None):
        return str(draw.choice(shape.enum))
    member = "WorkerId" if name == "WorkerIds" else name
    choices: list[str] = [*LIKELY.get(member, ())]
    if pool.ids.get(member) and (not choices or draw.random() < 0.7):
        return draw.choice(pool.ids[member])
    if choices:
        return draw.choice(choices)
    if shape.name == "CountryParameters":
        return draw.choice(("US", "CA", "XX"))
    return "".join(draw.choices("ABC123", k=draw.choice((1, 5, 12))))


def _wrong(shape: Any, draw: random.Random, pool: Pool) -> Any:
    kind = shape.type_name
    roll = draw.random()
    if roll < 0.1:
        return draw.choice(HOSTILE)
    if kind == "string":
        return pool.any(draw) if roll < 0.3 else draw.choice(HOSTILE_TEXTS)
    if kind in ("integer", "long", "timestamp"):
        return draw.choice(HOSTILE_NUMBERS)
    if kind == "list":
        return draw.choice(([], [None], ["x"] * 101, {}, None))
    return draw.choice(HOSTILE)
