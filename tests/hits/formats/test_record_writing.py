import io
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from hits.formats.inputs.record import Answer, Document, Query, Span, read, write
from tests.hits.formats.shared_data import shared_file

letters = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=6)
names = letters.filter(lambda name: not name.isspace())
fillers = st.text(st.characters(exclude_categories=["Cc", "Cs"], include_characters="\n\t"), min_size=1, max_size=5)


@st.composite
def passages(draw):
    """(text, spans): names with fillers between them, so that no two spans overlap."""
    text, spans = "x", []
    for name, filler in draw(st.lists(st.tuples(names, fillers), min_size=1, max_size=6)):
        spans.append(Span(len(text), len(text) + len(name) - 1))
        text += name + filler
    return text, spans


@st.composite
def queries(draw, number, text, spans):
    numbered = draw(st.booleans())
    chosen = draw(st.lists(st.sampled_from(spans), min_size=1, max_size=3))
    before = draw(letters)
    return Query(
        key=str(number) if numbered else f"q{number}{draw(letters)}",
        query=f"{before} @placeholder won",
        answers=tuple(Answer(s.start, s.end, text[s.start : s.end + 1]) for s in chosen),
        key_field="idx" if numbered else "id",
    )


@st.composite
def documents(draw, number):
    text, spans = draw(passages())
    numbered = draw(st.booleans())
    count = draw(st.integers(1, 3))
    return Document(
        key=str(number) if numbered else f"d{number}{draw(letters)}",
        source=draw(letters),
        origin=draw(st.sampled_from(["public", "crawled"])),
        text=text,
        entities=tuple(draw(st.permutations(spans))),
        queries=tuple(draw(queries(number * 10 + i, text, spans)) for i in range(count)),
        key_field="idx" if numbered else "id",
    )


collections = st.integers(1, 3).flatmap(lambda n: st.tuples(*(documents(i) for i in range(n)))).map(list)


def as_lines(raw):
    return "\n".join(json.dumps(example) for example in json.loads(raw)["data"]).encode()


@settings(max_examples=60)
@given(collections)
def test_what_was_written_is_read_back(given_documents):
    raw = write(given_documents, "1.0", origins=True)
    assert read(io.BytesIO(raw)) == given_documents
    assert read(io.BytesIO(as_lines(raw))) == given_documents
    assert write(read(io.BytesIO(raw)), "1.0", origins=True) == raw


@settings(max_examples=30)
@given(collections)
def test_without_origins_all_but_the_origin_is_read_back(given_documents):
    back = read(io.BytesIO(write(given_documents, "1.0")), default_origin="crawled")
    assert {document.origin for document in back} == {"crawled"}
    assert write(back, "1.0") == write(given_documents, "1.0")


DOCUMENT = Document(
    "d", "Ours", "crawled", "Ad\u00e9 won", (Span(0, 2),), (Query("q", "@placeholder?", (Answer(0, 2, "Ad\u00e9"),)),)
)


def test_the_published_layout_has_its_keys_in_order_and_no_origin():
    assert write([DOCUMENT], "1.0").decode() == (
        '{"version": "1.0", "data": [\n'
        '{"id": "d", "source": "Ours", "passage": {"text": "Ad\u00e9 won", "entities": [{"start": 0, "end": 2}]}, '
        '"qas": [{"id": "q", "query": "@placeholder?", "answers": [{"start": 0, "end": 2, "text": "Ad\u00e9"}]}]}\n'
        "]}\n"
    )


def test_no_documents_are_still_a_file():
    assert json.loads(write([], "2.0")) == {"version": "2.0", "data": []}


def test_the_shared_json_lines_round_trip():
    raw = shared_file("record/examples.jsonl").read_bytes()
    examples = [json.loads(line) for line in raw.splitlines()]
    written = json.loads(write(read(io.BytesIO(raw)), "1.0"))["data"]
    assert len(examples) == 20
    assert written == examples
    assert [list(example) for example in written] == [list(example) for example in examples]


def test_the_shared_file_of_the_own_layout_round_trips_key_by_key():
    raw = shared_file("record/original-layout.json").read_bytes()
    written = write(read(io.BytesIO(raw)), json.loads(raw)["version"])
    assert json.dumps(json.loads(written)) == json.dumps(json.loads(raw))
