"""Regular expressions of requesters, written for JavaScript, run on what workers write, with an end to their time."""

from re import compile as pattern_of
from time import monotonic

import regex as library

from marketplace.rules.questions.form_model import Pattern
from marketplace.rules.questions.xml import fault

# For one answer; a pattern that needs longer tries all ways of failing.
SECONDS = 0.1
SECONDS_OF_A_FORM = 1.0
_LONGEST = 2000
# The library writes a{1000} out a thousand times, and what is nested multiplies: a line could take all memory.
_MOST_STEPS = 5000
_COUNT = pattern_of(r"\{([0-9]+)(,[0-9]*)?\}")
# What JavaScript knows behind "(?". The library knows more, such as calls of the expression in itself.
_GROUPS = (":", "=", "!", "<")
# JavaScript knows digits and word characters of ASCII only, and its $ does not stop before a last line feed.
_OUTSIDE = {"d": "[0-9]", "D": "[^0-9]", "w": "[A-Za-z0-9_]", "W": "[^A-Za-z0-9_]"}
_IN_CLASS = {"d": "0-9", "w": "A-Za-z0-9_"}


def check_pattern(pattern: Pattern) -> None:
    """Raises ParameterValidationError for an expression that cannot be run here."""
    if len(pattern.regex) > _LONGEST:
        raise fault(f"AnswerFormatRegex: the expression has more than {_LONGEST} characters.")
    if _steps(pattern.regex) > _MOST_STEPS:
        raise fault(f"AnswerFormatRegex: the repetitions come to more than {_MOST_STEPS:,} steps.")
    try:
        _compiled(pattern)
    except (library.error, RecursionError, OverflowError, ValueError) as error:
        raise fault(f"AnswerFormatRegex: '{pattern.regex[:60]}' is not an expression that works: {error}.") from error


def _steps(source: str) -> int:
    """How long the expression is with all repetitions written out; never less than that."""
    sums, last, place = [0], 0, 0
    while place < len(source):
        char, begin = source[place], place
        place += 2 if char == "\\" else 1
        if char == "(":
            if source[place : place + 1] == "?" and not source.startswith(_GROUPS, place + 1):
                raise fault(f"AnswerFormatRegex: JavaScript knows no '{source[begin : begin + 3]}'.")
            sums.append(0)
        elif char == ")" and len(sums) > 1:
            last = sums.pop()
            sums[-1] += last
        elif count := _COUNT.match(source, begin):
            grown = last * max(1, int(count[1]))
            sums[-1] += grown - last
            last, place = grown, count.end()
        elif char not in "*+?":
            # A sign that repeats is not what the next one would repeat.
            if char == "[":
                place = _behind_class(source, place)
            last = 1
            sums[-1] += 1
    return sum(sums)


def _behind_class(source: str, place: int) -> int:
    """Where the class ends that begins before `place`."""
    place += source.startswith("^", place)
    if source.startswith("]", place):
        raise fault("AnswerFormatRegex: a class in brackets is empty.")
    while place < len(source) and source[place] != "]":
        place += 2 if source[place] == "\\" else 1
    return place + 1


class Allowance:
    """The time that the expressions of one form may take together."""

    def __init__(self, seconds: float = SECONDS_OF_A_FORM) -> None:
        self._left = seconds

    def fits(self, pattern: Pattern, text: str) -> bool:
        """Whether the expression is found in the text.

        One that runs out of time counts as found: its author's slip must not keep a worker from submitting.
        """
        if self._left <= 0:
            return True
        started = monotonic()
        try:
            return _compiled(pattern).search(text, timeout=min(SECONDS, self._left)) is not None
        except (TimeoutError, RecursionError):
            return True
        finally:
            self._left -= monotonic() - started


def _compiled(pattern: Pattern) -> "library.Pattern[str]":
    flags = library.VERSION0 | (library.IGNORECASE if pattern.ignore_case else 0)
    return library.compile(_translated(pattern.regex), flags)


def _translated(source: str) -> str:
    """The same expression for the library: what JavaScript reads differently is written out."""
    written: list[str] = []
    in_class = escaped = False
    for char in source:
        if escaped:
            written.append((_IN_CLASS if in_class else _OUTSIDE).get(char, f"\\{char}"))
            escaped = False
        elif char == "\\":
            escaped = True
        elif char == "$" and not in_class:
            written.append(r"\Z")
        else:
            # Only a backslash ends the meaning of a bracket; a second opening one in a class is itself.
            written.append("\\[" if in_class and char == "[" else char)
            in_class = char != "]" if in_class else char == "["
    return "".join(written) + ("\\" if escaped else "")
