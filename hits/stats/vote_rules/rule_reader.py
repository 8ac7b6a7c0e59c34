"""Reads the text of a vote rule line by line, with every fault of the language. `rule_text` describes it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches

from hits.stats.vote_rules.rule_tree import (
    HEADERS,
    NUMERIC,
    And,
    Claim,
    Computed,
    Conclusion,
    Condition,
    Line,
    Not,
    Or,
    RuleFault,
)

MAX_LENGTH = 5_000
MAX_WORD = 40
MAX_NESTING = 20

_COUNTING = ("at least", "at most", "exactly")
# Those that can say how many agree, whatever they said.
_AGREEING = ("at least", "all", "more than half")
QUANTIFIERS = (*_COUNTING, "all", "none", "more than half", "most")
_HOW_MANY = "at least N, at most N, exactly N, all, none, more than half or most"
# What a claim can say of the values that were computed, and with which signs.
COMPUTED = {"aggregate": ("=", "!=", "in", *NUMERIC), "confidence": NUMERIC}
_MEANT = {
    **dict.fromkeys(("any", "some", "somebody", "one"), "at least 1"),
    **dict.fromkeys(("every", "everybody", "everyone", "both", "each"), "all"),
    **dict.fromkeys(("no", "nobody", "noone"), "none"),
    **dict.fromkeys(("majority", "half", "mostly"), "more than half"),
}
JOINTS = ("and", "or")
_TOKEN = re.compile(r'"(?:[^"]|"")*"|[!<>]=|[=(),]|[^\s=!(),":]+|\S')
WORD = re.compile(r'[^\s=!(),":]+')
_NUMBER = re.compile(r"-?[0-9]{1,9}(\.[0-9]{1,9})?")
_CONCLUSION = re.compile(r"[^\W\d_][\w-]*")
_STARTS = {"(", "not", *COMPUTED, *(name.split()[0] for name in QUANTIFIERS)}
_TAKEN = ("answers", "value", "each", "otherwise", "keep", "drop")


@dataclass
class Read:
    """What could be read of a text, and the faults of the language.

    `broken` lines hold what is sound of a condition with faults; `words` say which line concludes a word.
    """

    lines: list[Line] = field(default_factory=list)
    broken: list[Line] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    otherwise: Conclusion | None = None
    words: dict[str, int] = field(default_factory=dict)
    faults: list[RuleFault] = field(default_factory=list)
    judging: bool = False
    ended: bool = False

    def say(self, line: int, column: int, message: str) -> None:
        self.faults.append(RuleFault(line, column, message))


def read_text(text: str) -> Read:
    """Reads on behind a fault, to the end of the text. Raises nothing."""
    read = Read()
    if len(text) > MAX_LENGTH:
        read.say(1, 1, f"a rule takes at most {MAX_LENGTH:,} characters, this text has {len(text):,}")
        return read
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if line.strip():
            _read_line(read, number, line)
    if not read.ended:
        read.say(len(lines), 1, "the last line is missing: write otherwise: drop, or otherwise: keep")
    return read


def _read_line(read: Read, number: int, line: str) -> None:
    left, colon, right = line.partition(":")
    column = len(line) - len(line.lstrip()) + 1
    after = len(left) + 2 + len(right) - len(right.lstrip())
    words = left.split()
    heading = " ".join(words).lower()
    if not colon or not words:
        read.say(number, column, "write a conclusion and a colon first, such as valid: at least 2 label = good")
    elif heading in HEADERS or words[0].lower() == "each":
        _read_header(read, number, column, after, words, right)
    elif read.ended:
        read.say(number, column, "no item comes to a line behind otherwise: move it up, or delete it")
    elif heading == "otherwise":
        _read_otherwise(read, number, after, right)
    else:
        _read_conditional(read, number, column, words, line, len(left) + 1)


def _read_header(read: Read, number: int, column: int, after: int, words: Sequence[str], right: str) -> None:
    name = " ".join(words).lower() if words[0].lower() != "each" else "each"
    if read.judging:
        read.say(number, column, f"{name} belongs above the first conclusion")
    if name in read.headers:
        read.say(number, column, f"{name} is there twice: delete one of them")
    if name == "each":
        if len(words) != 2 or right.strip():
            read.say(number, column, "write each, one word for a group and a colon, such as each question:")
        value = words[-1]
    else:
        value = " ".join(right.split()).lower()
        if value not in HEADERS[name]:
            read.say(number, after, f"write {name}: {' or '.join(HEADERS[name])}")
    read.headers[name] = value


def _read_otherwise(read: Read, number: int, column: int, right: str) -> None:
    read.ended = read.judging = True
    words = right.split()
    verb = words[0].lower() if words else ""
    if verb not in ("keep", "drop") or (verb == "keep" and len(words) > 2):
        read.say(number, column, "write otherwise: drop, otherwise: keep, or either with one WORD behind it")
        return
    read.otherwise = _conclusion(read, number, column, verb == "keep", " ".join(words[1:]))


def _read_conditional(read: Read, number: int, column: int, words: Sequence[str], line: str, start: int) -> None:
    read.judging = True
    kept = words[0].lower() != "drop"
    bare = [word.lower() for word in words] == ["keep"]
    conclusion = _conclusion(read, number, column, kept, " ".join(words if kept and not bare else words[1:]))
    reader = _Reader(number, line, start)
    condition = reader.whole()
    read.faults += reader.faults
    # A wrong conclusion is a fault already; the condition is looked at all the same.
    found = Line(conclusion or Conclusion(False, ""), condition, number)
    (read.broken if reader.faults else read.lines).append(found)


def _conclusion(read: Read, number: int, column: int, kept: bool, word: str) -> Conclusion | None:
    """None after a fault. A bare `drop` or `keep` may be there several times, a word concludes once."""
    if kept and not word and "each" in read.headers:
        read.say(number, column, "give the groups that are kept a word: write it alone, or otherwise: keep WORD")
    elif word.lower().startswith("keep "):
        read.say(number, column, "write the word alone, such as valid: it keeps the item unless it says drop")
    elif word and (not _CONCLUSION.fullmatch(word) or len(word) > MAX_WORD or word.lower() in _TAKEN):
        wanted = f"one word of letters, digits and hyphens, at most {MAX_WORD}, none of {', '.join(_TAKEN)}"
        read.say(number, column, f"{word!r} is no conclusion: write {wanted}")
    elif word in read.words:
        again = f"{word!r} is concluded in line {read.words[word]} already"
        read.say(number, column, f"{again}: join the two by or, or take another word")
    else:
        if word:
            read.words[word] = number
        return Conclusion(kept, word)
    return None


class _UnreadableError(Exception):
    """The claim breaks off at a column."""

    def __init__(self, column: int, message: str) -> None:
        self.column, self.message = column, message


# Stands where a claim could not be read; a line that holds it is broken.
_NOTHING = And(())


class _Reader:
    """Reads one line's condition by recursive descent and goes on behind a fault."""

    def __init__(self, number: int, line: str, start: int) -> None:
        found = [(match.group(), match.start() + 1) for match in _TOKEN.finditer(line, start)]
        self.tokens = [*found, ("", len(line.rstrip()) + 1)]
        self.at = 0
        self.number = number
        self.faults: list[RuleFault] = []

    @property
    def text(self) -> str:
        """The token that comes next; empty at the end."""
        return self.tokens[self.at][0]

    @property
    def column(self) -> int:
        return self.tokens[self.at][1]

    def take(self) -> str:
        text = self.text
        self.at += bool(text)
        return text

    def say(self, column: int, message: str) -> None:
        self.faults.append(RuleFault(self.number, column, message))

    def whole(self) -> Condition:
        if sum(text == "(" or text.lower() == "not" for text, _ in self.tokens) > MAX_NESTING:
            self.say(self.column, f"a line takes at most {MAX_NESTING} parentheses and nots: split it into lines")
            return _NOTHING
        condition = self.condition()
        while self.text:
            if self.text == ")":
                self.say(self.column, "this ) closes nothing: delete it, or write its (")
                self.take()
                self.go_on()
            else:
                self.resume()
        return condition

    def resume(self) -> None:
        """Reads on behind a missing joint, for the faults that follow."""
        advice = "or put a value of several words into double quotes"
        self.say(self.column, f"write and or or before {self.text!r}, {advice}")
        if self.text.lower() not in _STARTS:
            self.skip()
        self.go_on()

    def go_on(self) -> None:
        if self.text.lower() in JOINTS:
            self.take()
        if self.text not in (")", ""):
            self.condition()

    def condition(self) -> Condition:
        parts, joint = [self.part()], ""
        while self.text.lower() in JOINTS:
            if joint and self.text.lower() != joint:
                self.say(self.column, "and beside or: put parentheses around what belongs together")
            joint = self.take().lower()
            parts.append(self.part())
        return _joined(joint, parts)

    def part(self) -> Condition:
        if self.text == "(":
            return self.enclosed()
        if self.text.lower() == "not":
            self.take()
            return Not(self.part())
        try:
            return self.claim()
        except _UnreadableError as fault:
            self.say(fault.column, fault.message)
            self.skip()
            return _NOTHING

    def enclosed(self) -> Condition:
        opened = self.column
        self.take()
        inner = self.condition()
        while self.text not in (")", ""):
            self.resume()
        if not self.text:
            self.say(opened, "this ( is never closed: write ) where it ends")
        self.take()
        return inner

    def skip(self) -> None:
        """To the next place where a condition can go on: a joint, or the ) of what is open."""
        depth = 0
        while self.text and (depth or (self.text != ")" and self.text.lower() not in JOINTS)):
            depth += (self.text == "(") - (self.text == ")")
            self.take()

    def claim(self) -> Claim | Computed:
        if self.text.lower() in COMPUTED:
            return self.computed()
        start = self.column
        quantifier = self.quantifier()
        number = self.counted(quantifier) if quantifier in _COUNTING else None
        if self.agree(quantifier):
            unit_column, unit = self.column, self.unit()
            return Claim(quantifier, number, unit, (), False, (start, unit_column))
        unit_column, unit = self.column, self.unit()
        sign_column, sign = self.column, self.sign(unit)
        if quantifier == "most" and sign != "=":
            raise _UnreadableError(sign_column, f"most compares one value with every other: write most {unit} = VALUE")
        values, columns = self.values(sign)
        return Claim(quantifier, number, unit, values, sign == "!=", (start, unit_column, *columns))

    def computed(self) -> Computed:
        start, what = self.column, self.take().lower()
        unit_column, unit = self.column, self.unit()
        column, sign = self.column, self.text.lower()
        if sign not in COMPUTED[what]:
            example = f"{unit} = VALUE" if what == "aggregate" else f"{unit} >= 0.9"
            raise _UnreadableError(column, f"write {' or '.join(COMPUTED[what])} after {unit!r}, such as {example}")
        self.take()
        if sign in NUMERIC:
            columns: tuple[int, ...] = (self.column,)
            values: tuple[str, ...] = (self.limit(what, sign),)
        else:
            values, columns = self.values(sign)
        sign = "=" if (sign, len(values)) == ("in", 1) else sign
        return Computed(what, unit, sign, values, (start, unit_column, *columns))

    def limit(self, what: str, sign: str) -> str:
        """In its shortest spelling."""
        if not _NUMBER.fullmatch(self.text):
            raise _UnreadableError(self.column, f"write a number after {sign}, such as {what} UNIT {sign} 0.9")
        if what == "confidence" and not 0 < float(self.text) <= 1:
            raise _UnreadableError(self.column, "a confidence is more than 0 and at most 1: write such as 0.9")
        return f"{Decimal(self.take()).normalize():f}"

    def quantifier(self) -> str:
        for name in QUANTIFIERS:
            size = len(name.split())
            if [text.lower() for text, _ in self.tokens[self.at : self.at + size]] == name.split():
                self.at += size
                return name
        raise _UnreadableError(self.column, self._no_quantifier())

    def _no_quantifier(self) -> str:
        following = self.tokens[self.at + 1][0].lower() if self.text else ""
        if not self.text or self.text.lower() in JOINTS or self.text == ")":
            return f"write a condition here: {_HOW_MANY}, then UNIT = VALUE"
        if following in ("=", "!=", "in", *NUMERIC):
            return f"say how many before {self.text!r}: {_HOW_MANY}"
        meant = _MEANT.get(self.text.lower()) or next(iter(get_close_matches(self.text.lower(), QUANTIFIERS, n=1)), "")
        return f"{self.text!r} does not say how many: write {meant or _HOW_MANY}"

    def counted(self, quantifier: str) -> int:
        column, text = self.column, self.text
        if not (text.isascii() and text.isdigit() and len(text) <= 3):
            raise _UnreadableError(column, f"write a whole number after {quantifier}, such as {quantifier} 2")
        return int(self.take())

    def agree(self, quantifier: str) -> bool:
        """Takes `agree on`, where it is there."""
        if [text.lower() for text, _ in self.tokens[self.at : self.at + 2]] != ["agree", "on"]:
            return False
        if quantifier not in _AGREEING:
            wanted = "at least N, all or more than half"
            raise _UnreadableError(self.column, f"{quantifier} does not go with agree on: write {wanted}")
        self.at += 2
        return True

    def unit(self) -> str:
        if not WORD.fullmatch(self.text) or self.text.lower() in (*JOINTS, "not", "in"):
            raise _UnreadableError(self.column, "write the unit that is counted here, such as label")
        return self.take()

    def sign(self, unit: str) -> str:
        if self.text.lower() not in ("=", "!=", "in"):
            raise _UnreadableError(self.column, f"write = VALUE, != VALUE or in VALUE, VALUE after {unit!r}")
        return self.take().lower()

    def values(self, sign: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
        found = {self.column: self.value()}
        while self.text == ",":
            if sign != "in":
                raise _UnreadableError(self.column, f"{sign} takes one value: several stand after in")
            self.take()
            column, value = self.column, self.value()
            if value in found.values():
                self.say(column, f"{value!r} is there twice: delete one of them")
            found[column] = value
        return tuple(found.values()), tuple(found)

    def value(self) -> str:
        if self.text == '"':
            raise _UnreadableError(self.column, "this quotation mark is never closed")
        if self.text.startswith('"'):
            return self.take()[1:-1].replace('""', '"')
        if not WORD.fullmatch(self.text) or self.text.lower() in (*JOINTS, "not"):
            example = 'in double quotes unless it is a word, such as "not sure"'
            raise _UnreadableError(self.column, f"write a value here, {example}")
        return self.take()


def _joined(joint: str, parts: Sequence[Condition]) -> Condition:
    """What was put into parentheses without need joins its neighbours, so that a rule has one spelling."""
    if not joint:
        return parts[0]
    kind = And if joint == "and" else Or
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, kind) else (part,))]
    return kind(tuple(flat))
