"""What a worker sent for a QuestionForm: checked against the form, and written as QuestionFormAnswers."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from re import compile as pattern

from marketplace.rules.errors import FormFaults, RequestError
from marketplace.rules.questions.form_model import Answer, Form, FreeText, Question, Selection
from marketplace.rules.questions.patterns import Allowance
from marketplace.rules.questions.xml import SCHEMAS, ascii_xml
from marketplace.rules.sentences import Sentence, counted

ANSWERS = SCHEMAS + "2005-10-01/QuestionFormAnswers.xsd"
_NUMBER = pattern(r"[+-]?([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})")
_ANSWER_THIS = Sentence("Answer this question.")


def read_form(form: Form, data: Mapping[str, Sequence[str]]) -> list[Answer]:
    """The answers in the form's order, one for each question. Raises FormFaults with a sentence for each bad one.

    `data` holds the values of each field: texts and selections under the question's identifier, what was
    written beside the choices under `other_field`.
    """
    answers: list[Answer] = []
    faults: dict[str, str] = {}
    allowance = Allowance()
    for question in form.questions:
        try:
            answers.append(_read(question, data, allowance))
        except RequestError as fault:
            faults[question.identifier] = fault.message
    if faults:
        raise FormFaults(faults)
    return answers


def _read(question: Question, data: Mapping[str, Sequence[str]], allowance: Allowance) -> Answer:
    if isinstance(question.answer, FreeText):
        text = _first(data, question.identifier)
        if not text.strip():
            if question.required:
                raise RequestError(_ANSWER_THIS)
        else:
            _check_text(question.answer, text, allowance)
        return Answer(question.identifier, text)
    return _read_selection(question, question.answer, data, allowance)


def _first(data: Mapping[str, Sequence[str]], field: str) -> str:
    """The text of a field. A browser writes line ends with two characters; the worker saw one."""
    return next(iter(data.get(field, ())), "").replace("\r\n", "\n")


def _check_text(wanted: FreeText, text: str, allowance: Allowance) -> None:
    if wanted.numeric:
        _check_number(wanted, text.strip())
    if wanted.shortest is not None and len(text) < wanted.shortest:
        raise RequestError(
            counted(
                "Write at least %(count)s character; it has %(has)s.",
                "Write at least %(count)s characters; it has %(has)s.",
                wanted.shortest,
                has=len(text),
            )
        )
    if wanted.longest is not None and len(text) > wanted.longest:
        raise RequestError(
            counted(
                "Write at most %(count)s character; it has %(has)s.",
                "Write at most %(count)s characters; it has %(has)s.",
                wanted.longest,
                has=len(text),
            )
        )
    for each in wanted.patterns:
        if not allowance.fits(each, text):
            raise RequestError(each.message or Sentence("This does not have the form that the requester asks for."))


def _check_number(wanted: FreeText, text: str) -> None:
    if not _NUMBER.fullmatch(text):
        raise RequestError(Sentence("Write a number, in digits."))
    number = Decimal(text)
    if wanted.least is not None and number < wanted.least:
        raise RequestError(Sentence("Write a number of at least %(least)s.", least=wanted.least))
    if wanted.most is not None and number > wanted.most:
        raise RequestError(Sentence("Write a number of at most %(most)s.", most=wanted.most))


def _read_selection(
    question: Question, wanted: Selection, data: Mapping[str, Sequence[str]], allowance: Allowance
) -> Answer:
    sent = [value for value in data.get(question.identifier, ()) if value]
    chosen = tuple(choice.identifier for choice in wanted.choices if choice.identifier in sent)
    if set(sent) - set(chosen):
        raise RequestError(Sentence("Choose from what is offered."))
    other = _first(data, question.other_field) if wanted.other else ""
    if not other.strip():
        other = ""
    elif wanted.other:
        _check_text(wanted.other, other, allowance)
    count = len(chosen) + bool(other)
    if count == 0 and not question.required:
        return Answer(question.identifier)
    fewest = max(1, wanted.fewest)
    if count < fewest:
        raise RequestError(_ANSWER_THIS if fewest == 1 else _too_few(fewest, count))
    if count > wanted.most:
        raise RequestError(_too_many(wanted, count, bool(other)))
    return Answer(question.identifier, None, chosen, other)


def _too_few(fewest: int, count: int) -> str:
    if count:
        return Sentence("Choose at least %(fewest)s; %(chosen)s chosen.", fewest=fewest, chosen=count)
    return Sentence("Choose at least %(fewest)s; none chosen.", fewest=fewest)


def _too_many(wanted: Selection, count: int, other: bool) -> str:
    if wanted.most == 1 and other:
        return Sentence("Choose one of the answers, or write your own, not both.")
    return Sentence("Choose at most %(most)s; %(chosen)s chosen.", most=wanted.most, chosen=count)


def form_answers_xml(answers: Iterable[Answer]) -> str:
    """QuestionFormAnswers on one line, ASCII with character references."""
    written = "".join(
        f"<Answer><QuestionIdentifier>{ascii_xml(answer.identifier)}</QuestionIdentifier>{_value(answer)}</Answer>"
        for answer in answers
    )
    return (
        f'<?xml version="1.0" encoding="ASCII"?><QuestionFormAnswers xmlns="{ANSWERS}">{written}</QuestionFormAnswers>'
    )


def _value(answer: Answer) -> str:
    if answer.text is not None:
        return f"<FreeText>{ascii_xml(answer.text)}</FreeText>"
    chosen = "".join(f"<SelectionIdentifier>{ascii_xml(each)}</SelectionIdentifier>" for each in answer.selections)
    return chosen + (f"<OtherSelectionText>{ascii_xml(answer.other)}</OtherSelectionText>" if answer.other else "")
