import io
import json
import time
from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hits.formats.inputs.record import Answer, FormatErrors, Span, read
from tests.hits.formats.shared_data import shared_file

TEXT = "Mara Lindt met Oslo's mayor.\n@highlight\nLindt visits Oslo"


def span(name, at=0):
    start = TEXT.index(name, at)
    return {"start": start, "end": start + len(name) - 1}


def example(number=1, **changes):
    entities = [span("Mara Lindt"), span("Oslo"), span("Lindt", 30), span("Oslo", 30)]
    answers = [{**span("Oslo"), "text": "Oslo"}, {**span("Oslo", 30), "text": "Oslo"}]
    return {
        "source": "Own",
        "passage": {"text": TEXT, "entities": entities},
        "qas": [{"query": "She flew to @placeholder.", "answers": answers, "idx": number}],
        "idx": number,
    } | changes


def lines(*examples):
    return "\n".join(json.dumps(e) if isinstance(e, dict) else e for e in examples).encode()


def read_bytes(raw, **options):
    return read(io.BytesIO(raw), **options)


def faults(raw, **options):
    with pytest.raises(FormatErrors) as caught:
        read_bytes(raw, **options)
    return [(fault.line, fault.place, fault.message) for fault in caught.value.errors]


def one_fault(raw, **options):
    (fault,) = faults(raw, **options)
    return fault


def changed(path, value):
    """An example with the value at the path (keys and indexes) changed; the value `del` removes it."""
    whole = deepcopy(example())
    *way, last = path
    part = whole
    for step in way:
        part = part[step]
    if value is DELETED:
        del part[last]
    else:
        part[last] = value
    return whole


DELETED = object()


def test_it_reads_json_lines():
    (document,) = read_bytes(lines(example(7)))
    assert (document.key, document.key_field, document.source, document.origin) == ("7", "idx", "Own", "public")
    assert document.text == TEXT
    assert document.entities[1] == Span(15, 18)
    (query,) = document.queries
    assert (query.key, query.key_field, query.query) == ("7", "idx", "She flew to @placeholder.")
    assert query.answers[0] == Answer(15, 18, "Oslo")


@pytest.mark.parametrize("indent", [None, 4])
def test_it_reads_the_data_sets_own_layout_on_one_line_or_many(indent):
    given = {"version": "1.0", "data": [example(1, id="doc-a"), example(2, id="doc-b")]}
    for number, one in enumerate(given["data"]):
        del one["idx"]
        one["qas"][0]["id"] = f"query-{number}"
        del one["qas"][0]["idx"]
    documents = read_bytes(json.dumps(given, indent=indent).encode())
    assert [(d.key, d.key_field, d.queries[0].key) for d in documents] == [
        ("doc-a", "id", "query-0"),
        ("doc-b", "id", "query-1"),
    ]


def test_it_reads_blank_lines_windows_line_ends_and_a_byte_order_mark():
    raw = b"\xef\xbb\xbf" + lines(example(1), "", "  ", example(2)).replace(b"\n", b"\r\n")
    assert [d.key for d in read_bytes(raw)] == ["1", "2"]


def test_a_document_knows_where_it_was_read():
    by_line = read_bytes(lines(example(1), "", example(2)))
    assert [(d.line, d.place) for d in by_line] == [(1, ""), (3, "")]
    by_path = read_bytes(json.dumps({"data": [example(1), example(2)]}).encode())
    assert [(d.line, d.place) for d in by_path] == [(None, "data[0]"), (None, "data[1]")]
    assert by_line == by_path


def test_the_origin_is_that_of_the_example_or_the_default():
    raw = lines(example(1), example(2, origin="crawled"), example(3, origin="public"))
    assert [d.origin for d in read_bytes(raw)] == ["public", "crawled", "public"]
    assert [d.origin for d in read_bytes(raw, default_origin="crawled")] == ["crawled", "crawled", "public"]
    with pytest.raises(ValueError, match="default_origin must be one of"):
        read_bytes(raw, default_origin="unknown")


def test_it_tells_how_many_examples_it_has_checked():
    told = []
    read_bytes(lines(*(example(i) for i in range(2500))), progress=told.append)
    assert told == [1000, 2000, 2500]


@pytest.mark.parametrize(
    "path, value, place, words",
    [
        (["source"], DELETED, "", "the field source is missing"),
        (["source"], 3, "source", "must be a text, not a number"),
        (["orgin"], "crawled", "", "unknown field 'orgin'"),
        (["origin"], "stolen", "origin", "must be one of public, crawled, not 'stolen'"),
        (["passage"], DELETED, "", "the field passage is missing"),
        (["passage"], "text", "passage", "must be an object, not a text"),
        (["passage", "text"], None, "passage.text", "must be a text, not null"),
        (["passage", "text"], " \n", "passage.text", "must not be blank"),
        (["passage", "entities"], {}, "passage.entities", "must be a list, not an object"),
        (["passage", "entities"], DELETED, "passage", "the field entities is missing"),
        (["passage", "entities", 2], 5, "passage.entities[2]", "must be an object, not a number"),
        (["passage", "entities", 2, "text"], "Lindt", "passage.entities[2]", "unknown field 'text'"),
        (["passage", "entities", 2, "end"], DELETED, "passage.entities[2]", "the field end is missing"),
        (["passage", "entities", 2, "end"], "44", "passage.entities[2]", "end must be a whole number, not a text"),
        (["passage", "entities", 2, "start"], True, "passage.entities[2]", "start must be a whole number, not true"),
        (["passage", "entities", 2, "end"], 57, "passage.entities[2]", "40 to 57 lies outside the passage of 57"),
        (["passage", "entities", 2, "start"], -1, "passage.entities[2]", "-1 to 44 lies outside the passage"),
        (["passage", "entities", 2, "start"], 45, "passage.entities[2]", "start 45 lies after end 44"),
        (["passage", "entities", 2], {"start": 45, "end": 45}, "passage.entities[2]", "45 to 45 is blank"),
        (["passage", "entities", 2], {"start": 22, "end": 44}, "passage.entities[2]", "crosses a line end"),
        (["passage", "entities", 2], {"start": 5, "end": 9}, "passage.entities[2]", "'Lindt' overlaps entities[0]"),
        (["passage", "entities", 2], {"start": 15, "end": 18}, "passage.entities[2]", "'Oslo' overlaps entities[1]"),
        (["qas"], DELETED, "", "the field qas is missing"),
        (["qas"], [], "qas", "at least one query"),
        (["qas"], {}, "qas", "must be a list, not an object"),
        (["qas", 0], "q", "qas[0]", "must be an object, not a text"),
        (["qas", 0, "query"], DELETED, "qas[0]", "the field query is missing"),
        (["qas", 0, "query"], "She flew.", "qas[0].query", "@placeholder exactly once, not 0 times"),
        (["qas", 0, "query"], "@placeholder @placeholder", "qas[0].query", "exactly once, not 2 times"),
        (["qas", 0, "idx"], DELETED, "qas[0]", "needs either id (a text) or idx"),
        (["qas", 0, "answers"], [], "qas[0].answers", "at least one reference answer"),
        (["qas", 0, "answers"], "Oslo", "qas[0].answers", "must be a list, not a text"),
        (["qas", 0, "answers", 1, "text"], DELETED, "qas[0].answers[1]", "the field text is missing"),
        (["qas", 0, "answers", 1, "text"], "oslo", "qas[0].answers[1]", "'oslo' is not what the passage has"),
        (["qas", 0, "answers", 1, "end"], 99, "qas[0].answers[1]", "lies outside the passage"),
        (["qas", 0, "answers", 0], {**span("mayor"), "text": "mayor"}, "qas[0].answers[0]", "'mayor', is none of"),
        (["idx"], DELETED, "", "needs either id (a text) or idx"),
        (["idx"], "5", "idx", "must be a whole number, not a text"),
        (["idx"], 5.0, "idx", "must be a whole number, not a decimal number"),
        (["id"], "both", "", "one of them"),
    ],
)  # fmt: skip
def test_it_refuses_a_wrong_field_and_says_where(path, value, place, words):
    raw = lines(example(0), changed(path, value))
    line, found_place, message = one_fault(raw)
    assert (line, found_place) == (2, place)
    assert words in message


def test_the_own_layout_names_the_path_of_a_fault():
    bad = example(2)
    bad["qas"][0]["answers"][1]["text"] = "Bergen"
    raw = json.dumps({"version": "1", "data": [example(1), bad]}).encode()
    line, place, message = one_fault(raw)
    assert (line, place) == (None, "data[1].qas[0].answers[1]")
    assert "'Bergen' is not what the passage has there, 'Oslo'" in message


def test_all_faults_of_a_file_come_at_once():
    two = changed(["source"], 1)
    two["qas"][0]["query"] = "none"
    found = faults(lines(example(5), two, "{broken", example(6, origin=""), example(5)))
    assert [(line, place) for line, place, _ in found] == [
        (2, "source"),
        (2, "qas[0].query"),
        (3, ""),
        (4, "origin"),
        (5, "idx"),
        (5, "qas[0].idx"),
    ]


@pytest.mark.parametrize("character", ["\x00", "\x08", "\x0b", "\r", "\x1b", "\x7f", "\x85", "\ud800"])
def test_it_refuses_control_characters_and_broken_surrogates_everywhere(character):
    for path, text in ((["source"], "a"), (["qas", 0, "query"], "@placeholder"), (["passage", "text"], TEXT)):
        _, _, message = one_fault(lines(changed(path, text + character)))
        assert f"U+{ord(character):04X}, at character {len(text)}: remove it" in message


def test_tabs_and_line_feeds_are_text():
    text = TEXT + "\n\tNow"
    (document,) = read_bytes(lines(changed(["passage", "text"], text)))
    assert document.text == text


def test_markup_is_kept_verbatim():
    text = TEXT + " <script>alert(1)</script> &amp; \u202f\U0001f600"
    (document,) = read_bytes(lines(changed(["passage", "text"], text)))
    assert document.text == text


def test_offsets_count_characters_not_bytes_or_utf16_units():
    text = "\U0001f600\u00e9 Ada won"
    whole = example()
    whole["passage"] = {"text": text, "entities": [{"start": 3, "end": 5}]}
    whole["qas"][0]["answers"] = [{"start": 3, "end": 5, "text": "Ada"}]
    assert read_bytes(lines(whole))[0].entities == (Span(3, 5),)


def test_every_overlap_is_named_also_within_a_longer_entity_and_out_of_order():
    spans = [{"start": 5, "end": 9}, {"start": 0, "end": 13}, {"start": 11, "end": 13}, span("Oslo"), span("Oslo", 30)]
    found = faults(lines(changed(["passage", "entities"], spans)))
    assert [(place, message) for _, place, message in found] == [
        ("passage.entities[0]", "'Lindt' overlaps entities[1] 'Mara Lindt met'"),
        ("passage.entities[2]", "'met' overlaps entities[1] 'Mara Lindt met'"),
    ]


def test_entities_may_stand_in_any_order():
    whole = example()
    whole["passage"]["entities"].reverse()
    assert read_bytes(lines(whole))[0].entities[0] == Span(53, 56)


def test_it_refuses_doubled_ids_and_says_where_they_stood_first():
    found = faults(lines(example(1), example(1)))
    assert found == [
        (2, "idx", "'1' is taken: line 1, idx has it already"),
        (2, "qas[0].idx", "'1' is taken: line 1, qas[0].idx has it already"),
    ]
    raw = json.dumps({"data": [example(1), example(1, qas=example(2)["qas"])]}).encode()
    assert one_fault(raw) == (None, "data[1].idx", "'1' is taken: data[0].idx has it already")


@pytest.mark.parametrize("key, words", [("", "must not be blank"), ("x" * 201, "has 201 characters, the limit is 200")])
def test_it_refuses_a_blank_or_overlong_id(key, words):
    whole = example(id=key)
    del whole["idx"]
    assert words in one_fault(lines(whole))[2]


def test_it_refuses_bytes_that_are_not_utf8_and_names_the_byte_offset():
    raw = lines(example(1)) + b"\n\xff{}\n" + lines(example(2, source="caf\u00e9")).replace(b"\\u00e9", b"\xe9")
    found = faults(raw)
    assert [line for line, _, _ in found] == [2, 3]
    for (_, _, message), byte in zip(found, (0xFF, 0xE9), strict=True):
        at = raw.index(bytes([byte]))
        assert message == f"is not UTF-8: byte 0x{byte:02x} at byte offset {at}; save the file as UTF-8"


def test_the_own_layout_refuses_wrong_bytes_and_wrong_json_with_their_line():
    assert one_fault(b'{\n "version": "\xff"}') == (
        2, "", "is not UTF-8: byte 0xff at byte offset 15; save the file as UTF-8",
    )  # fmt: skip
    line, _, message = one_fault(b'{\n "version": "1",\n "data": [}')
    assert line == 3
    assert message.startswith("is not JSON: ")


@pytest.mark.parametrize(
    "raw, words",
    [
        (b"", "the file holds no example"),
        (b"\n \n", "the file holds no example"),
        (b"\xef\xbb\xbf", "the file holds no example"),
        (b'{"version": "1", "data": []}', "the file holds no example"),
        (b'{"version": "1"}', "or one example a line"),
        (b'{"version": "1", "data": {}}', "or one example a line"),
        (b"[1, 2]", "or one example a line"),
        (b"7", "must be an object, not a number"),
        (b"[" * 100_000, "nested too deep"),
        (b'{"idx": ' + b"9" * 5000 + b"}", "a number is too long"),
    ],
)
def test_it_refuses_a_file_that_holds_no_examples(raw, words):
    assert words in one_fault(raw)[2]


def test_the_head_of_the_own_layout_is_checked():
    found = faults(json.dumps({"version": 2, "data": [example(1)], "more": 1}).encode())
    assert [(place, message[:20]) for _, place, message in found] == [
        ("version", "must be a text, not "),
        ("", "unknown field 'more'"),
    ]


def test_it_refuses_a_file_above_the_limit_and_says_what_to_do():
    raw = lines(example(1))
    assert len(read_bytes(raw, max_bytes=len(raw))) == 1
    (_, _, message) = one_fault(raw, max_bytes=100)
    assert message.startswith(f"the file has {len(raw)} bytes")
    assert "the limit is 100 bytes" in message
    assert "split it into several files" in message


def test_it_lists_a_thousand_faults_and_counts_the_rest():
    with pytest.raises(FormatErrors) as caught:
        read_bytes(b"\n".join([b"{"] + [b"nonsense"] * 1200))
    assert (len(caught.value.errors), caught.value.rest, caught.value.count) == (1, 0, 1)
    with pytest.raises(FormatErrors) as caught:
        read_bytes(b"\n".join([b"nonsense"] * 1200))
    assert (len(caught.value.errors), caught.value.rest, caught.value.count) == (1000, 200, 1200)
    assert str(caught.value).startswith("is not JSON: Expecting value, at column 1 (1,000 lines: 1, 2, 3, 4, 5 and 995")
    assert str(caught.value).endswith("more)\nand 200 more")


def test_a_message_quotes_only_the_beginning_of_something_long():
    _, _, message = one_fault(lines(changed(["origin"], "x" * 1_000_000)))
    assert len(message) < 200


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 60) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
places = st.sampled_from(
    [(name,) for name in ("id", "idx", "source", "origin", "passage", "qas")]
    + [("passage", name) for name in ("text", "entities", "more")]
    + [("passage", "entities", 0), ("passage", "entities", 0, "start"), ("passage", "entities", 0, "end")]
    + [("qas", 0), *(("qas", 0, name) for name in ("id", "idx", "query", "answers"))]
    + [("qas", 0, "answers", 0), *(("qas", 0, "answers", 0, name) for name in ("start", "end", "text"))]
)


@settings(max_examples=300)
@given(places, json_values)
def test_whatever_stands_in_a_field_is_read_or_refused_with_a_place(place, value):
    raw = json.dumps({"version": "1", "data": [changed(place, value)]}).encode()
    try:
        (document,) = read_bytes(raw)
    except FormatErrors as refused:
        assert all(fault.place.startswith("data[0]") and fault.message for fault in refused.errors)
    else:
        assert all(document.text[a.start : a.end + 1] == a.text for q in document.queries for a in q.answers)


@given(st.binary(max_size=60))
def test_whatever_bytes_come_they_are_refused_with_a_reason(raw):
    assert faults(raw)


def test_ten_times_as_many_examples_take_about_ten_times_as_long():
    base = [json.loads(line) for line in shared_file("record/examples.jsonl").read_bytes().splitlines()]

    def seconds(count):
        many = ((number, base[number % len(base)]) for number in range(count))
        raw = lines(*({**one, "idx": number, "qas": [{**one["qas"][0], "idx": number}]} for number, one in many))
        start = time.process_time()
        assert len(read_bytes(raw)) == count
        return time.process_time() - start

    assert seconds(10_000) < 20 * seconds(1_000)
