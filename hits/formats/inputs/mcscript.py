"""MCScript files: stories about everyday scenarios, each with questions, and answers to choose from.

The layout is that of the data sets MCScript and MCScript2.0:

    <data><instance id scenario><text>...</text><questions>
      <question id text type><answer correct id text/>...</question>...
    </questions></instance>...</data>

`scenario` and `type` may be absent, as they are in the files of MCScript, and `questions` may be empty; `correct` is
True or False, and exactly one answer of a question is correct. A type that nobody knows is kept as it stands.
Reading and writing keep ids, texts and their order, with every space; not kept are comments, the order of attributes,
space between elements, how a character is escaped, the case of True and False, and whether an empty scenario or type
was written at all.

A file is UTF-8. Document types are refused, and with them every entity but XML's own five: nothing is ever resolved.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.saxutils import escape

from defusedxml import DefusedXmlException
from defusedxml.expatreader import create_parser

from hits.formats.files.bulk import without_cycle_collection
from hits.formats.files.faults import Fault, Faults, FormatErrors
from hits.formats.files.reading import LONGEST_KEY, MAX_BYTES, Keys, Progress, Row, quoted, text_pieces, told, unwanted

__all__ = ["Answer", "Fault", "FormatErrors", "Instance", "Question", "is_xml", "read", "write"]

LONGEST_STORY = 200_000
MOST_ELEMENTS = 1_000_000
LONGEST_QUESTION = 5000
LONGEST_ANSWER = 5000
_CORRECT = {"true": True, "false": False}
_HEAD = 1024
# What neither a file nor a worker can write; `unwanted` has the rest of what XML cannot hold.
_NO_CHARACTERS = re.compile("[\ufffe\uffff]")
_IN_TEXT = {'"': "&quot;"}
_IN_ATTRIBUTE = {'"': "&quot;", "\n": "&#10;", "\t": "&#9;"}
_LAYOUT = "Layout: <data><instance id scenario><text/><questions><question id text type><answer id text correct/>…"


@dataclass(frozen=True, slots=True)
class Answer:
    id: str
    text: str
    correct: bool


@dataclass(frozen=True, slots=True)
class Question:
    """Two answers or more, one of them correct. `type` is whatever the file says, such as text or script, or empty."""

    id: str
    text: str
    type: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Instance:
    """A story, verbatim, with its questions in the order of the file; `scenario` is empty where the file has none.

    `line` and `place` say where it was read; they take no part in comparison.
    """

    id: str
    scenario: str
    text: str
    questions: tuple[Question, ...]
    line: int | None = field(default=None, compare=False)
    place: str = field(default="", compare=False)


def is_xml(stream: BinaryIO) -> bool:
    """Whether the first character that is no space is `<`; the stream stays where it is."""
    at = stream.tell()
    head = stream.read(_HEAD).decode(errors="replace").removeprefix("\ufeff").lstrip()
    stream.seek(at)
    return head.startswith("<")


def read(stream: BinaryIO, *, max_bytes: int = MAX_BYTES, progress: Progress | None = None) -> list[Instance]:
    """Every instance of the file, or FormatErrors with every fault and no instance.

    `progress` is called with the number of instances checked so far, every 1,000 and at the end.
    """
    faults = Faults()
    with without_cycle_collection():
        instances = list(told(_instances(text_pieces(stream, max_bytes, faults), faults), progress))
    if not instances and not faults.count:
        faults.add(None, "", f"the file holds no instance. {_LAYOUT}")
    faults.refuse()
    return instances


# From bytes to instances


def _instances(pieces: Iterable[str], faults: Faults) -> Iterator[Instance]:
    """Whatever could be read before the XML breaks, if it does."""
    # Asked for by name: a document type may define entities, and entities may be bombs or other people's files.
    parser = create_parser(forbid_dtd=True)
    handler = _Handler(faults, parser.getLineNumber)
    parser.setContentHandler(handler)
    try:
        for piece in pieces:
            parser.feed(piece)
            yield from handler.taken()
        parser.close()
    except SAXParseException as error:
        column = (error.getColumnNumber() or 0) + 1
        message = f"is not XML: {error.getMessage()}, at column {column}; nothing after it can be read"
        faults.add(error.getLineNumber(), "", message)
    except DefusedXmlException:
        message = "holds a document type (<!DOCTYPE ...>), which may define entities: remove it and what it defines"
        faults.add(parser.getLineNumber(), "", message)
    yield from handler.taken()


@dataclass(frozen=True, slots=True)
class _Element(Row):
    """An element whose faults are being collected, with the way to it, such as instance[3].question[0]."""

    path: str

    def say(self, place: str, message: str) -> None:
        self.faults.add(self.line, ".".join(part for part in (self.path, place) if part), message)


# The attributes that an element needs and those that it may have, and the elements that may stand in it.
_ATTRIBUTES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "data": ((), ()),
    "instance": (("id",), ("scenario",)),
    "text": ((), ()),
    "questions": ((), ()),
    "question": (("id", "text"), ("type",)),
    "answer": (("id", "text", "correct"), ()),
}
_WITHIN = {
    "": ("data",),
    "data": ("instance",),
    "instance": ("text", "questions"),
    "text": (),
    "questions": ("question",),
    "question": ("answer",),
    "answer": (),
}


@dataclass(slots=True)
class _Open:
    """An element that has begun: its name, its place, its attributes and what was found in it so far."""

    name: str
    place: _Element
    attributes: dict[str, str]
    text: list[str] = field(default_factory=list)
    children: list[Any] = field(default_factory=list)
    keys: Keys = field(default_factory=Keys)
    counts: dict[str, int] = field(default_factory=dict)


class _Handler(ContentHandler):
    """Builds instances while the parser goes through a file. What stands within an unknown element is passed over."""

    def __init__(self, faults: Faults, line: Callable[[], int]) -> None:
        super().__init__()
        self.faults = faults
        self.line = line
        self.open = [_Open("", _Element(faults, 1, ""), {})]
        self.passed_over = 0
        self.elements = 0
        self.done: list[Instance] = []

    def taken(self) -> list[Instance]:
        """The instances that ended since the last time."""
        done, self.done = self.done, []
        return done

    def startElement(self, name: str, attrs: Any) -> None:  # noqa: N802 (the parser's name)
        self.elements += 1
        if self.elements > MOST_ELEMENTS:
            what = f"holds more than {MOST_ELEMENTS:,} elements, which are the most that one import takes"
            self.faults.add(self.line(), "", f"{what}: split the file and import its parts one after another")
            self.faults.refuse()
        around = self.open[-1]
        number = around.counts.get(name, 0)
        if self.passed_over or name not in _WITHIN[around.name]:
            if not self.passed_over:
                self.here(around).say("", _unknown(name, around.name))
            self.passed_over += 1
            return
        place = _Element(self.faults, self.line(), _path(around, name, number))
        if number and name in _WITHIN["instance"]:
            place.say("", f"an instance has one <{name}>: join them")
        around.counts[name] = number + 1
        self.open.append(_Open(name, place, dict(attrs)))
        _check_attributes(self.open[-1])

    def characters(self, content: str) -> None:
        one = self.open[-1]
        if one.name == "text" and not self.passed_over:
            one.text.append(content)
        elif not self.passed_over and content.strip():
            self.here(one).say(
                "", f"{quoted(content.strip())} stands outside <text>: remove it, or put it where it belongs"
            )

    def here(self, one: _Open) -> _Element:
        """The line where the parser is, within the element."""
        return _Element(self.faults, self.line(), one.place.path)

    def endElement(self, name: str) -> None:  # noqa: N802
        if self.passed_over:
            self.passed_over -= 1
            return
        one = self.open.pop()
        around = self.open[-1]
        if name == "text":
            around.children.append(one.place.text("".join(one.text), "", LONGEST_STORY))
        elif name == "questions":
            around.children += one.children
        elif name == "answer":
            around.children.append(_answer(one, around.keys))
        elif name == "question":
            around.children.append(_question(one, around.keys))
        elif name == "instance":
            self.done.append(_instance(one, around.keys))


def _path(around: _Open, name: str, number: int) -> str:
    """The outermost element and the list of questions say nothing of where an element stands."""
    if name in ("data", "questions"):
        return around.place.path
    own = name if name == "text" else f"{name}[{number}]"
    return f"{around.place.path}.{own}" if around.place.path else own


def _unknown(name: str, around: str) -> str:
    allowed = " and ".join(f"<{one}>" for one in _WITHIN[around]) or "no other element"
    return f"unknown element <{name:.40}>: in {f'<{around}>' if around else 'the file'} stands {allowed}. {_LAYOUT}"


def _check_attributes(one: _Open) -> None:
    needed, optional = _ATTRIBUTES[one.name]
    if needed or not one.attributes:
        one.place.check_names(one.attributes, needed, optional)
    else:
        one.place.say("", f"<{one.name}> has no attributes: remove {', '.join(map(quoted, list(one.attributes)[:5]))}")


def _attribute(one: _Open, name: str, longest: int) -> str:
    """The attribute as it stands; empty where it is absent, which was said before."""
    return one.place.text(one.attributes[name], name, longest) if name in one.attributes else ""


def _kind(one: _Open, name: str) -> str:
    """An attribute that may be absent or empty."""
    return _attribute(one, name, LONGEST_KEY) if one.attributes.get(name) else ""


def _key(one: _Open, keys: Keys) -> str:
    key = _attribute(one, "id", LONGEST_KEY)
    keys.check(one.place, key)
    return key


def _answer(one: _Open, keys: Keys) -> Answer:
    said = one.attributes.get("correct", "False")
    if said.lower() not in _CORRECT:
        one.place.say("correct", f"must be True or False, not {quoted(said)}")
    return Answer(_key(one, keys), _attribute(one, "text", LONGEST_ANSWER), _CORRECT.get(said.lower(), False))


def _question(one: _Open, keys: Keys) -> Question:
    answers = tuple(one.children)
    correct = sum(answer.correct for answer in answers)
    if len(answers) < 2:
        one.place.say("", f"has fewer than two answers to choose from, {len(answers)}: add some, or remove it")
    elif correct != 1:
        one.place.say("", f"has {correct} correct answers: say True of one answer and False of the others")
    return Question(_key(one, keys), _attribute(one, "text", LONGEST_QUESTION), _kind(one, "type"), answers)


def _instance(one: _Open, keys: Keys) -> Instance:
    texts = [child for child in one.children if isinstance(child, str)]
    questions = tuple(child for child in one.children if isinstance(child, Question))
    if not texts:
        one.place.say("", "has no <text>")
    text = texts[0] if texts else ""
    return Instance(_key(one, keys), _kind(one, "scenario"), text, questions, one.place.line, one.place.path)


# From instances to bytes


def write(instances: Iterable[Instance], stream: BinaryIO, *, told: bool = True) -> int:
    """The file in UTF-8, in the spelling of the published files: the same instances always give the same bytes.

    One instance is in memory at a time. Which answer is correct stands in the file only where it is `told`. Returns the
    number of instances. Raises ValueError for a text with
    control characters other than tab and line feed, halves of surrogate pairs, U+FFFE or U+FFFF, which `read` or
    XML refuses; then the stream holds a part of a file, which is to be thrown away.
    """
    count = 0
    stream.write(b'<?xml version="1.0" ?>\n<data>\n')
    for instance in instances:
        stream.write("".join(line + "\n" for line in _lines(instance, told)).encode())
        count += 1
    stream.write(b"</data>\n")
    return count


def _lines(instance: Instance, told: bool) -> Iterator[str]:
    where = f"instance {quoted(instance.id)}"
    yield f"  <instance{_attributes(where, id=instance.id, scenario=instance.scenario or None)}>"
    yield f"    <text>{escape(_checked(instance.text, where), _IN_TEXT)}</text>"
    if not instance.questions:
        yield "    <questions/>"
    else:
        yield "    <questions>"
        for question in instance.questions:
            yield from _question_lines(question, f"{where}, question {quoted(question.id)}", told)
        yield "    </questions>"
    yield "  </instance>"


def _question_lines(question: Question, where: str, told: bool) -> Iterator[str]:
    yield f"      <question{_attributes(where, id=question.id, text=question.text, type=question.type or None)}>"
    for one in question.answers:
        correct = str(one.correct) if told else None
        yield f"        <answer{_attributes(where, correct=correct, id=one.id, text=one.text)}/>"
    yield "      </question>"


def _attributes(where: str, **values: str | None) -> str:
    """In the order of their names, as the published files have them; those that are None are left out."""
    given = ((name, value) for name, value in values.items() if value is not None)
    return "".join(f' {name}="{escape(_checked(value, where), _IN_ATTRIBUTE)}"' for name, value in given)


def _checked(text: str, where: str) -> str:
    if message := unwanted(text):
        raise ValueError(f"{where}: {quoted(text)} {message}")
    if found := _NO_CHARACTERS.search(text):
        raise ValueError(f"{where}: {quoted(text)} holds U+{ord(found[0]):04X}, which XML cannot hold")
    return text
