"""A worker's answer as names and values."""

from xml.etree.ElementTree import Element

from defusedxml.ElementTree import fromstring

from common.cutting import bounded, cut
from marketplace.models import Assignment

MOST_FIELDS, LONGEST_NAME = 1000, 200


def answers_in(assignment: Assignment) -> list[tuple[str, str]]:
    """Each question's name with what was answered, as much of it as a page shows; nothing for an assignment that was
    not submitted.
    """
    if not assignment.answer:
        return []
    root: Element = fromstring(assignment.answer.encode(), forbid_dtd=True)
    # The name comes first, whatever kinds of answer follow it.
    found = [(_text(answer[0]), "; ".join(_text(value) for value in answer[1:])) for answer in root if len(answer)]
    values = bounded({str(number): value for number, (_, value) in enumerate(found[:MOST_FIELDS])})
    shown = [(cut(name, LONGEST_NAME), value) for (name, _), value in zip(found, values.values(), strict=False)]
    more = len(found) - len(shown)
    return [*shown, ("…", f"{more:,} more fields")] if more else shown


def _text(element: Element) -> str:
    return element.text or ""
