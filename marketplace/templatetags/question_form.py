"""A QuestionForm on a page: each question with what was typed and what is wrong with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django import template
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from marketplace.rules.questions.content import Block, show_text
from marketplace.rules.questions.form_model import Choice, Form, FreeText, Overview, Question, Selection
from marketplace.site.saying import said

register = template.Library()


@dataclass(frozen=True)
class Option:
    choice: Choice
    id: str
    chosen: bool


@dataclass(frozen=True)
class Field:
    """A question as it is drawn. `id` starts the ids of its elements: labels and faults are tied to them."""

    question: Question
    number: int
    id: str
    text: str
    fault: str
    options: Sequence[Option] = ()
    chose_other: bool = False
    empty_chosen: bool = False

    kind = "question"

    @property
    def widget(self) -> str:
        answer = self.question.answer
        return "text" if isinstance(answer, FreeText) else answer.widget

    @property
    def input_type(self) -> str:
        return "checkbox" if self.widget == "checkbox" else "radio"

    @property
    def written(self) -> FreeText | None:
        """The text that can be written: the answer, or what goes under other."""
        answer = self.question.answer
        return answer if isinstance(answer, FreeText) else answer.other

    @property
    def text_field(self) -> str:
        return self.question.identifier if self.widget == "text" else self.question.other_field

    @property
    def hint(self) -> str:
        """What the answer must be, where the question sets bounds."""
        return _hint(self.question.answer)


def _hint(answer: FreeText | Selection) -> str:
    if isinstance(answer, Selection):
        if answer.most == 1:
            return ""
        if not answer.fewest:
            return _("Choose up to %(most)s.") % {"most": answer.most}
        return _("Choose %(fewest)s to %(most)s.") % {"fewest": answer.fewest, "most": answer.most}
    return " ".join(filter(None, (_of_number(answer) if answer.numeric else "", _of_length(answer))))


def _of_number(answer: FreeText) -> str:
    bounds = {"least": answer.least, "most": answer.most}
    if answer.least is not None and answer.most is not None:
        return _("A number at least %(least)s, at most %(most)s.") % bounds
    if answer.least is not None:
        return _("A number at least %(least)s.") % bounds
    return _("A number at most %(most)s.") % bounds if answer.most is not None else _("A number.")


def _of_length(answer: FreeText) -> str:
    bounds = {"least": answer.shortest, "most": answer.longest}
    if answer.shortest and answer.longest:
        return _("At least %(least)s and at most %(most)s characters.") % bounds
    if answer.shortest:
        return _("At least %(least)s characters.") % bounds
    return _("At most %(most)s characters.") % bounds if answer.longest else ""


@register.simple_tag
def filled(
    form: Form, values: Mapping[str, Sequence[str]] | None = None, faults: Mapping[str, str] | None = None
) -> list[Overview | Field]:
    """The parts of the form in order. Without `values` the fields hold their default texts."""
    parts: list[Overview | Field] = []
    number = 0
    for part in form.parts:
        if isinstance(part, Overview):
            parts.append(part)
        else:
            number += 1
            parts.append(_field(part, number, values or None, faults or {}))
    return parts


def _field(
    question: Question, number: int, values: Mapping[str, Sequence[str]] | None, faults: Mapping[str, str]
) -> Field:
    name, answer = f"q{number}", question.answer
    fault = said(faults.get(question.identifier, ""))
    if isinstance(answer, FreeText):
        return Field(question, number, name, _typed(values, question.identifier, answer.default), fault)
    sent = list(values.get(question.identifier, ())) if values else []
    options = [
        Option(choice, f"{name}-{place}", choice.identifier in sent)
        for place, choice in enumerate(answer.choices, start=1)
    ]
    text = _typed(values, question.other_field, answer.other.default) if answer.other else ""
    chosen = any(option.chosen for option in options)
    return Field(question, number, name, text, fault, options, bool(text) and not chosen, not chosen)


def _typed(values: Mapping[str, Sequence[str]] | None, field: str, default: str) -> str:
    return default if values is None else next(iter(values.get(field, ())), "")


@register.filter
def exactly(text: str) -> SafeString:
    """Text that comes out of the page as it went in, carriage returns included."""
    return mark_safe(show_text(text))


@register.filter
def markup(block: Block) -> SafeString:
    """The markup of a block, which was written from an allow-list when the form was read."""
    return mark_safe(block.markup)
