"""A worker's answer as names and values."""

from xml.etree.ElementTree import Element

from defusedxml.ElementTree import fromstring

from marketplace.models import Assignment


def answers_in(assignment: Assignment) -> list[tuple[str, str]]:
    """Each question's name with what was answered; nothing for an assignment that was not submitted."""
    if not assignment.answer:
        return []
    root: Element = fromstring(assignment.answer.encode(), forbid_dtd=True)
    # The name comes first, whatever kinds of answer follow it.
    return [(_text(answer[0]), "; ".join(_text(value) for value in answer[1:])) for answer in root if len(answer)]


def _text(element: Element) -> str:
    return element.text or ""
