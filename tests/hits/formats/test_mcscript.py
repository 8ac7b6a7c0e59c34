"""MCScript files: what is read, refused and written."""

from __future__ import annotations

import io
import tracemalloc
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hits.formats.inputs.mcscript import (
    Answer,
    FormatErrors,
    Instance,
    Question,
    is_xml,
    read,
    write,
)
from tests.hits.formats.shared_data import shared_file

FILE = """<?xml version="1.0" ?>
<data>
  <instance id="7" scenario="feeding a cat">
    <text> The cat &quot;Minka&quot; sat &amp; waited.
I filled her bowl. </text>
    <questions>
      <question id="0" text="What did they fill?" type="text">
        <answer correct="False" id="0" text="A bath &lt;3"/>
        <answer correct="True" id="1" text="The bowl"/>
      </question>
    </questions>
  </instance>
  <instance id="8">
    <text>It rained.</text>
    <questions/>
  </instance>
</data>
"""
CAT = Instance(
    "7",
    "feeding a cat",
    ' The cat "Minka" sat & waited.\nI filled her bowl. ',
    (Question("0", "What did they fill?", "text", (Answer("0", "A bath <3", False), Answer("1", "The bowl", True))),),
)


def read_bytes(raw: bytes | str, **options: Any) -> list[Instance]:
    return read(io.BytesIO(raw.encode() if isinstance(raw, str) else raw), **options)


def written(instances: Any) -> bytes:
    stream = io.BytesIO()
    write(instances, stream)
    return stream.getvalue()


def faults(raw: bytes | str, **options: Any) -> list[tuple[int | None, str, str]]:
    with pytest.raises(FormatErrors) as caught:
        read_bytes(raw, **options)
    return [(fault.line, fault.place, fault.message) for fault in caught.value.errors]


def test_stories_are_read_with_their_questions_and_where_they_stand():
    found = read_bytes(FILE)
    assert found == [CAT, Instance("8", "", "It rained.", ())]
    assert [(one.line, one.place) for one in found] == [(3, "instance[0]"), (13, "instance[1]")]
    assert written(found).decode() == FILE


@pytest.mark.parametrize(
    "other",
    [
        "\ufeff" + FILE,
        FILE.replace("\n", "\r\n"),
        FILE.replace('"1.0"', '"1.0" encoding="ISO-8859-1"'),
        FILE.replace("<questions/>", "<!-- <x> --><?note a?>"),
        FILE.replace('correct="True"', 'correct="true"'),
        FILE.replace('<instance id="8">', '<instance scenario="" id="8">'),
        FILE.replace("&quot;", '"').replace("&amp;", "<![CDATA[&]]>"),
    ],
)
def test_other_spellings_of_a_file_say_the_same(other):
    assert read_bytes(other) == read_bytes(FILE)


def test_a_type_that_nobody_knows_and_a_missing_one_are_kept():
    for given_type, kept in ((' type="common&#10;sense?"', "common\nsense?"), (' type=""', ""), ("", "")):
        (found, _) = read_bytes(FILE.replace(' type="text"', given_type))
        assert found.questions[0].type == kept
        assert read_bytes(written([found])) == [found]


@pytest.mark.parametrize(
    ("old", "new", "line", "place", "words"),
    [
        (' id="7"', "", 3, "instance[0]", "the field id is missing"),
        (' id="7"', ' id=" "', 3, "instance[0].id", "must not be blank"),
        (' id="7"', f' id="{"7" * 201}"', 3, "instance[0].id", "the limit is 200"),
        (' id="8"', ' id="7"', 13, "instance[1].id", "'7' is taken: line 3 has it already"),
        (' id="8"', ' id="8" lang="en"', 13, "instance[1]", "unknown field 'lang': remove it"),
        ("<text>It", '<text lang="en">It', 14, "instance[1].text", "<text> has no attributes: remove 'lang'"),
        ("<text>It rained.</text>", "", 13, "instance[1]", "has no <text>"),
        ("It rained.", " \n", 14, "instance[1].text", "must not be blank"),
        ("It rained.", "It\x85rained.", 14, "instance[1].text", "U+0085, at character 2: remove it"),
        ("It rained.", "It <b>rained</b>.", 14, "instance[1].text", "unknown element <b>: in <text> stands no other"),
        ("It rained.", "a" * 200_001, 14, "instance[1].text", "has 200,001 characters"),
        ("<questions/>", "<text>It snowed.</text>", 15, "instance[1].text", "an instance has one <text>"),
        (
            "<questions/>",
            "<answers><text/></answers>",
            15,
            "instance[1]",
            "in <instance> stands <text> and <questions>",
        ),
        ("<questions/>", "What?", 15, "instance[1]", "'What?' stands outside <text>"),
        (' text="What did they fill?"', "", 7, "instance[0].question[0]", "the field text is missing"),
        ('text="What did they fill?"', 'text=""', 7, "instance[0].question[0].text", "must not be blank"),
        ('"True"', '"yes"', 9, "instance[0].question[0].answer[1].correct", "must be True or False, not 'yes'"),
        ('"True"', '"False"', 7, "instance[0].question[0]", "has 0 correct answers: say True of one answer"),
        ('"False"', '"True"', 7, "instance[0].question[0]", "has 2 correct answers"),
        (' id="1"', ' id="0"', 9, "instance[0].question[0].answer[1].id", "'0' is taken: line 8 has it already"),
        (' text="The bowl"', "", 9, "instance[0].question[0].answer[1]", "the field text is missing"),
        ('text="The bowl"', 'text="The&#13;bowl"', 9, "instance[0].question[0].answer[1].text", "U+000D"),
    ],
)
def test_a_fault_is_named_with_its_line_and_place(old, new, line, place, words):
    found = faults(FILE.replace(old, new, 1))
    assert (line, place) in [(where, what) for where, what, _ in found]
    assert any(words in message for where, _, message in found if where == line)


def test_a_question_needs_two_answers_and_an_id_of_its_own():
    lines = FILE.splitlines(keepends=True)
    twice = "".join(lines[:10] + lines[6:7] + lines[8:])
    assert faults(twice) == [
        (
            11,
            "instance[0].question[1]",
            "has fewer than two answers to choose from, 1: add some, or remove it",
        ),
        (11, "instance[0].question[1].id", "'0' is taken: line 7 has it already"),
    ]


def test_all_faults_of_a_file_come_at_once_up_to_where_its_xml_breaks():
    raw = FILE.replace("waited", "w\x80").replace('"True"', '"?"').encode()
    raw = raw.replace(b"bowl. ", b"bowl. \xff").replace(b"<questions/>", b"<questions>")
    found = faults(raw)
    assert [(line, place) for line, place, _ in found] == [
        (5, ""),
        (4, "instance[0].text"),
        (9, "instance[0].question[0].answer[1].correct"),
        (7, "instance[0].question[0]"),
        (16, ""),
    ]
    assert found[0][2].startswith("is not UTF-8: byte 0xff")
    assert found[-1][2] == "is not XML: mismatched tag, at column 5; nothing after it can be read"


@pytest.mark.parametrize(
    ("raw", "line", "words"),
    [
        ("", None, "the file holds no instance. Layout: <data><instance id scenario>"),
        ("<data/>", None, "the file holds no instance"),
        ("{}", 1, "is not XML: not well-formed (invalid token), at column 1"),
        ("<data>\n <instance", 2, "is not XML: unclosed token, at column 2"),
        ("<data></data>\n<data/>", 2, "is not XML: junk after document element"),
        ("<dataset><instance/></dataset>", 1, "unknown element <dataset>: in the file stands <data>"),
        ("<data>&bomb;</data>", 1, "is not XML: undefined entity, at column 7"),
        (b"PK\x03\x04" + bytes(9), None, "is a ZIP archive"),
    ],
)
def test_it_refuses_a_file_that_cannot_be_read(raw, line, words):
    ((where, _, message),) = faults(raw)
    assert where == line and words in message


@pytest.mark.parametrize(
    "document_type",
    [
        '<!DOCTYPE data [<!ENTITY a "b"><!ENTITY c "&a;&a;&a;&a;">]>',
        '<!DOCTYPE data [<!ENTITY a SYSTEM "file:///etc/hostname">]>',
        '<!DOCTYPE data [<!ENTITY % a SYSTEM "file:///etc/hostname"> %a;]>',
        '<!DOCTYPE data SYSTEM "http://127.0.0.1:9/data.dtd">',
        "<!DOCTYPE data>",
    ],
)
def test_a_document_type_is_refused_and_none_of_its_entities_resolved(document_type):
    raw = FILE.replace("<data>", f"\n{document_type}\n<data>").replace("It rained.", "It &a;&c;.")
    ((line, place, message),) = faults(raw)
    assert (line, place) == (3, "")
    assert message.startswith("holds a document type (<!DOCTYPE ...>), which may define entities: remove it")


def test_it_refuses_a_file_above_the_limit_and_tells_its_progress():
    raw = written(Instance(str(number), "", "It rained.", ()) for number in range(2100))
    told: list[int] = []
    assert len(read_bytes(raw, max_bytes=len(raw), progress=told.append)) == 2100 and told == [1000, 2000, 2100]
    assert "split it into several files" in faults(raw, max_bytes=len(raw) - 1)[0][2]


@pytest.mark.parametrize(
    ("raw", "expected"), [(FILE, True), ("\ufeff \n<data/>", True), ("a tree | <b>", False), ("", False)]
)
def test_xml_is_told_by_its_first_character(raw, expected):
    stream = io.BytesIO(b"##" + raw.encode())
    stream.seek(2)
    assert is_xml(stream) is expected and stream.tell() == 2


# Writing

CHARACTERS = st.characters(
    exclude_categories=["Cc", "Cs"], include_characters="\t\n", exclude_characters="\ufffe\uffff"
) | st.sampled_from([*"<>&\"'\n\t ", "👩‍👧", "שלום", "]]>", "&amp;", "\u2028", "\U0001fffe", " \n"])
texts = st.lists(CHARACTERS, min_size=1, max_size=12).map("".join).filter(lambda text: text.strip())
kinds = st.just("") | texts


@st.composite
def questions(draw: Any, key: str) -> Question:
    answers = draw(st.lists(texts, min_size=2, max_size=3))
    correct = draw(st.integers(0, len(answers) - 1))
    return Question(
        key,
        draw(texts),
        draw(kinds),
        tuple(Answer(f"{text}{i}", text, i == correct) for i, text in enumerate(answers)),
    )


@st.composite
def instances(draw: Any, number: int) -> Instance:
    asked = tuple(draw(questions(str(i))) for i in range(draw(st.integers(0, 2))))
    return Instance(f"{number} {draw(texts)}", draw(kinds), draw(texts), asked)


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 3).flatmap(lambda count: st.tuples(*map(instances, range(count)))))
def test_what_was_written_is_read_back(given_instances):
    raw = written(given_instances)
    assert tuple(read_bytes(raw)) == given_instances
    assert written(read_bytes(raw)) == raw
    # Another parser sees the same.
    tree = ElementTree.fromstring(raw)
    assert [one.text for one in tree.iter("text")] == [one.text for one in given_instances]


@pytest.mark.parametrize("character", ["\x00", "\r", "\x1f", "\x85", "\ud800", "\ufffe", "\uffff"])
def test_what_xml_or_a_reader_refuses_is_not_written(character):
    answers = (Answer("0", f"a{character}", True), Answer("1", "b", False))
    for broken, where in (
        (Instance("a", "", f"b{character}", ()), "instance 'a': "),
        (Instance("a", f"b{character}", "c", ()), "instance 'a': "),
        (Instance("a", "", "b", (Question("q", "c", "", answers),)), "instance 'a', question 'q': "),
    ):
        with pytest.raises(ValueError, match=f"^{where}.*U\\+{ord(character):04X}"):
            written([broken])


def test_a_file_of_any_length_is_written_in_the_memory_of_one_story():
    class Nowhere(io.RawIOBase):
        size = 0

        def write(self, data: Any) -> int:
            self.size += len(data)
            return len(data)

    stream = Nowhere()
    tracemalloc.start()
    try:
        count = write((Instance(str(number), "", "It rained. " * 1000, ()) for number in range(300)), stream)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 300 and stream.size > 3_000_000 and peak < 300_000


@pytest.mark.parametrize(
    ("name", "stories", "asked", "answers"), [("dev-data.xml", 219, 1411, 2822), ("trial-data.xml", 68, 342, 1020)]
)
def test_a_real_file_is_read_whole_and_written_back_byte_for_byte(name, stories, asked, answers):
    raw = shared_file(f"mcscript/{name}").read_bytes()
    found = read_bytes(raw)
    assert len(found) == stories
    assert sum(len(one.questions) for one in found) == asked
    assert sum(len(question.answers) for one in found for question in one.questions) == answers
    assert written(found) == raw
    # Canonical XML, which knows nothing of this module, agrees with a file in another spelling.
    spelled = ElementTree.tostring(ElementTree.fromstring(raw))
    again = written(read_bytes(spelled)).decode()
    assert ElementTree.canonicalize(again) == ElementTree.canonicalize(raw.decode())
