"""QuestionForm XML, in both of its versions, read strictly: a form that would not work is refused at creation."""

from collections import Counter
from decimal import Decimal, InvalidOperation
from xml.etree.ElementTree import Element

from marketplace.rules.questions.content import Block, read_block, read_blocks
from marketplace.rules.questions.form_model import (
    Choice,
    Form,
    FreeText,
    Overview,
    Pattern,
    Question,
    Selection,
    Styles,
)
from marketplace.rules.questions.patterns import check_pattern
from marketplace.rules.questions.xml import SCHEMAS, Reader, fault, parse, split, whole_number

NAMESPACES = (SCHEMAS + "2017-11-06/QuestionForm.xsd", SCHEMAS + "2005-10-01/QuestionForm.xsd")
# Fields of the page around the form.
_TAKEN = frozenset({"assignmentId", "hitId", "workerId", "turkSubmitTo", "csrfmiddlewaretoken"})
_LONGEST_IDENTIFIER = 128
_MOST_LINES = 40


def parse_form(xml: str, what: str = "Question") -> Form:
    """Read a QuestionForm; `what` names the parameter. Raises ParameterValidationError."""
    return read_root(parse(xml, what))


def read_root(root: Element) -> Form:
    namespace, name = split(root.tag)
    if name != "QuestionForm" or namespace not in NAMESPACES:
        raise fault(
            f"The root is <{name}> in the namespace '{namespace}'; expected <QuestionForm> in '{NAMESPACES[0]}'."
        )
    reader = Reader(namespace)
    parts = [
        Overview(read_blocks(reader, child)) if name == "Overview" else _question(reader, child)
        for name, child in reader.children(root, ("Overview", "Question"))
    ]
    form = Form(tuple(parts))
    if not form.questions:
        raise fault("A QuestionForm needs at least one <Question>.")
    _refuse_clashes(form)
    return form


def _refuse_clashes(form: Form) -> None:
    fields = [question.identifier for question in form.questions]
    fields += [q.other_field for q in form.questions if isinstance(q.answer, Selection) and q.answer.other]
    for name, count in Counter(fields).items():
        if count > 1:
            raise fault(f"The QuestionIdentifier '{name}' is used more than once.")


def _question(reader: Reader, element: Element) -> Question:
    needed = ("QuestionIdentifier", "QuestionContent", "AnswerSpecification")
    parts = reader.record(element, needed, ("DisplayName", "IsRequired"))
    identifier = _identifier(reader, parts["QuestionIdentifier"])
    return Question(
        identifier=identifier,
        content=read_blocks(reader, parts["QuestionContent"]),
        answer=_answer(reader, parts["AnswerSpecification"]),
        display_name=reader.word(parts["DisplayName"]) if "DisplayName" in parts else "",
        required="IsRequired" in parts and _boolean(reader, parts["IsRequired"]),
    )


def _identifier(reader: Reader, element: Element) -> str:
    name, text = reader.name(element), reader.word(element)
    if not text or len(text) > _LONGEST_IDENTIFIER:
        raise fault(f"<{name}> must have 1 to {_LONGEST_IDENTIFIER} characters.")
    if text in _TAKEN:
        raise fault(f"The {name} '{text}' is reserved.")
    return text


def _boolean(reader: Reader, element: Element) -> bool:
    word = reader.word(element)
    if word not in ("true", "false", "1", "0"):
        raise fault(f"{reader.name(element)} is '{word[:40]}'; write true or false.")
    return word in ("true", "1")


def _answer(reader: Reader, element: Element) -> FreeText | Selection:
    kinds = reader.children(element, ("FreeTextAnswer", "SelectionAnswer", "FileUploadAnswer"))
    if len(kinds) != 1:
        raise fault("An <AnswerSpecification> holds exactly one of <FreeTextAnswer> and <SelectionAnswer>.")
    name, found = kinds[0]
    if name == "FileUploadAnswer":
        raise fault("<FileUploadAnswer> is no longer part of a QuestionForm; ask for a link or use your own page.")
    return _free_text(reader, found) if name == "FreeTextAnswer" else _selection(reader, found)


def _free_text(reader: Reader, element: Element) -> FreeText:
    parts = reader.record(element, (), ("Constraints", "DefaultText", "NumberOfLinesSuggestion"))
    lines = reader.whole(parts["NumberOfLinesSuggestion"]) if "NumberOfLinesSuggestion" in parts else 1
    default = reader.text(parts["DefaultText"]) if "DefaultText" in parts else ""
    rules = _Constraints(reader, parts["Constraints"]) if "Constraints" in parts else None
    if rules is None:
        return FreeText(lines=max(1, min(lines, _MOST_LINES)), default=default)
    return FreeText(
        lines=max(1, min(lines, _MOST_LINES)),
        default=default,
        numeric=rules.numeric,
        least=rules.least,
        most=rules.most,
        shortest=rules.shortest,
        longest=rules.longest,
        patterns=tuple(rules.patterns),
    )


class _Constraints:
    """What a free text must be."""

    def __init__(self, reader: Reader, element: Element) -> None:
        self.numeric = False
        self.least: Decimal | None = None
        self.most: Decimal | None = None
        self.shortest: int | None = None
        self.longest: int | None = None
        self.patterns: list[Pattern] = []
        readers = {"IsNumeric": self._number, "Length": self._length, "AnswerFormatRegex": self._pattern}
        for name, child in reader.children(element, readers):
            readers[name](child)

    def _number(self, element: Element) -> None:
        self.numeric = True
        self.least, self.most = _decimal(element, "minValue"), _decimal(element, "maxValue")
        if self.least is not None and self.most is not None and self.least > self.most:
            raise fault(f"IsNumeric: minValue {self.least} is above maxValue {self.most}.")

    def _length(self, element: Element) -> None:
        self.shortest, self.longest = _count(element, "minLength"), _count(element, "maxLength")
        if self.longest == 0 or (self.shortest or 0) > (self.longest or 10**9):
            raise fault(f"Length: no answer can have {self.shortest or 0} to {self.longest} characters.")

    def _pattern(self, element: Element) -> None:
        regex, flags = element.get("regex"), element.get("flags", "")
        if regex is None or flags not in ("", "i"):
            raise fault("AnswerFormatRegex needs the attribute regex, and knows no flags but 'i'.")
        pattern = Pattern(regex, flags == "i", element.get("errorText", "").strip())
        check_pattern(pattern)
        self.patterns.append(pattern)


def _decimal(element: Element, name: str) -> Decimal | None:
    text = element.get(name)
    if text is None:
        return None
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        raise fault(f"{name} is '{text[:40]}'; it must be a number.")
    return number


def _count(element: Element, name: str) -> int | None:
    text = element.get(name)
    return None if text is None else whole_number(text.strip(), name)


def _selection(reader: Reader, element: Element) -> Selection:
    optional = ("MinSelectionCount", "MaxSelectionCount", "StyleSuggestion")
    parts = reader.record(element, ("Selections",), optional)
    choices, other = _choices(reader, parts["Selections"])
    style = reader.word(parts["StyleSuggestion"]) if "StyleSuggestion" in parts else ""
    if style and style not in Styles:
        raise fault(f"StyleSuggestion is '{style[:40]}'; expected one of {', '.join(Styles)}.")
    available = len(choices) + (other is not None)
    fewest = reader.whole(parts["MinSelectionCount"]) if "MinSelectionCount" in parts else 0
    # A picker for several needs no number to say so.
    several = available if style == "multichooser" else 1
    most = reader.whole(parts["MaxSelectionCount"]) if "MaxSelectionCount" in parts else max(several, fewest)
    if most < 1 or fewest > min(most, available):
        raise fault(f"MinSelectionCount {fewest} and MaxSelectionCount {most} do not fit {available} selections.")
    return Selection(choices, fewest, most, style, other)


def _choices(reader: Reader, element: Element) -> tuple[tuple[Choice, ...], FreeText | None]:
    choices: list[Choice] = []
    other: FreeText | None = None
    for name, child in reader.children(element, ("Selection", "OtherSelection")):
        if name == "OtherSelection" and other is not None:
            raise fault("<Selections> has more than one <OtherSelection>.")
        if name == "OtherSelection":
            other = _free_text(reader, child)
        else:
            choices.append(_choice(reader, child))
    if not choices:
        raise fault("<Selections> has no <Selection>.")
    identifiers = [choice.identifier for choice in choices]
    if len(set(identifiers)) < len(identifiers):
        raise fault("A SelectionIdentifier is used more than once in one <Selections>.")
    return tuple(choices), other


def _choice(reader: Reader, element: Element) -> Choice:
    parts = reader.record(element, ("SelectionIdentifier",), ("Text", "FormattedContent", "Binary"))
    shown = {name: part for name, part in parts.items() if name != "SelectionIdentifier"}
    if len(shown) != 1:
        raise fault("A <Selection> shows exactly one of <Text>, <FormattedContent> and <Binary>.")
    ((name, part),) = shown.items()
    content: Block = read_block(reader, name, part)
    return Choice(_identifier(reader, parts["SelectionIdentifier"]), content)
