"""Stories: three layouts, told apart by the file's name."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hits.formats.inputs.stories import FormatErrors, Story, read
from tests.hits.formats.shared_data import shared_file

LAKE = "The lake froze overnight. Nobody dared the first step."
BAKER = "Our baker sells out by nine."


def read_bytes(raw: bytes | str, name: str = "notes.txt", **options: Any) -> list[Story]:
    return read(io.BytesIO(raw.encode() if isinstance(raw, str) else raw), name, **options)


def faults(raw: bytes | str, name: str = "notes.txt", **options: Any) -> list[tuple[int | None, str, str]]:
    with pytest.raises(FormatErrors) as caught:
        read_bytes(raw, name, **options)
    return [(fault.line, fault.place, fault.message) for fault in caught.value.errors]


def jsonl(*stories: Any) -> bytes:
    return "\n".join(json.dumps(story) for story in stories).encode()


def test_json_lines_have_an_id_a_text_and_perhaps_a_title():
    raw = jsonl({"id": "a", "text": f" {LAKE}\n"}, {"title": "Bread", "id": "b", "text": BAKER})
    found = read_bytes(b"\xef\xbb\xbf" + raw.replace(b"\n", b"\r\n\r\n"), "MY/stories.JSONL")
    assert found == [Story("a", "", f" {LAKE}\n"), Story("b", "Bread", BAKER)]
    assert [story.line for story in found] == [1, 3]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("around", ["", "{end}", "{end} {end}"])
def test_without_blank_lines_between_texts_each_line_is_a_story(end, around):
    around = around.format(end=end)
    found = read_bytes(around + end.join([LAKE, f"  {BAKER} "]) + around, "folder/our notes.txt")
    assert [(story.key, story.text) for story in found] == [("our notes-1", LAKE), ("our notes-2", BAKER)]
    assert found[1].line == 2 + around.count(end)


@pytest.mark.parametrize("gap", ["\n\n", "\r\n\r\n", "\n \t\n\n"])
def test_blank_lines_between_texts_part_stories_of_several_lines(gap):
    end = "\r\n" if "\r" in gap else "\n"
    first, second = read_bytes(f"{LAKE}{end}{BAKER}{gap}{BAKER}")
    assert (first.text, second.text) == (f"{LAKE}\n{BAKER}", BAKER)
    assert (first.line, second.line) == (1, 2 + gap.count("\n"))


def test_an_article_is_its_body_without_the_bullets():
    raw = f"{LAKE}\n\n{BAKER}\n\n@highlight\n\nBread sells out\n\n@highlight\n\nLake is frozen\n"
    assert read_bytes(raw, "C:\\news\\0af3.story") == [Story("0af3", "", f"{LAKE}\n\n{BAKER}")]
    assert read_bytes(f"{BAKER} See @highlight or @highlights.", "b.story")[0].text.endswith("@highlights.")


@pytest.mark.parametrize(
    ("story", "place", "words"),
    [
        ({"id": "b"}, "", "the field text is missing"),
        ({"text": BAKER}, "", "the field id is missing"),
        ({"id": "b", "text": BAKER, "body": ""}, "", "unknown field 'body': remove it; there are id, text, title"),
        ({"id": "b", "text": 5}, "text", "must be a text, not a number"),
        ({"id": "b", "text": " \n"}, "text", "must not be blank"),
        ({"id": "b", "text": "... 12 - 4!"}, "text", "holds no sentence"),
        ({"id": "b", "text": "x" * 200_001}, "text", "has 200,001 characters, the limit is 200,000"),
        ({"id": "b", "text": "a\x0bb"}, "text", "U+000B, at character 1"),
        ({"id": "b", "text": "a\ud800"}, "text", "half of a surrogate pair"),
        ({"id": "b", "text": BAKER, "title": None}, "title", "must be a text, not null"),
        ({"id": "b", "text": BAKER, "title": "t" * 1001}, "title", "the limit is 1,000"),
        ({"id": "a", "text": BAKER}, "id", "'a' is taken: line 1 has it already"),
        ({"id": "y" * 201, "text": BAKER}, "id", "has 201 characters"),
        ([LAKE], "", "must be an object, not a list"),
    ],
)
def test_a_wrong_line_is_refused_with_its_place(story, place, words):
    ((line, where, message),) = faults(jsonl({"id": "a", "text": LAKE}, story), "s.jsonl")
    assert (line, where) == (2, place) and words in message


def test_all_faults_of_a_file_come_at_once():
    raw = f"{LAKE}\x01\n\n1984\n\ncaf".encode() + b"\xe9\n\n" + b"z" * 200_001
    assert [(line, place) for line, place, _ in faults(raw)] == [(5, ""), (1, "text"), (3, "text"), (7, "text")]
    assert f"byte 0xe9 at byte offset {raw.index(0xE9)}" in faults(raw)[0][2]


@pytest.mark.parametrize(
    ("raw", "name", "words"),
    [
        ("", "a.txt", "the file holds no story"),
        ("\n \n", "a.story", "the file holds no story"),
        ("", "a.jsonl", "the file holds no story"),
        ("@highlight\n\nOnly a bullet", "a.story", "the body of the article is missing"),
        (b"PK\x05\x06" + bytes(18), "a.txt", "is a ZIP archive"),
        (LAKE, "a.docx", "'a.docx' ends in none of .jsonl, .txt, .story"),
        (LAKE, "", "ends in none of"),
        (LAKE, "n" * 250 + ".story", "has 250 characters, the limit is 200"),
        ("{", "a.jsonl", "is not JSON"),
    ],
)
def test_it_refuses_a_file_that_cannot_be_read(raw, name, words):
    ((_, _, message),) = faults(raw, name)
    assert words in message


def test_it_refuses_a_file_above_the_limit_and_tells_its_progress():
    raw, told = f"{BAKER}\n" * 2100, []
    assert len(read_bytes(raw, max_bytes=len(raw), progress=told.append)) == 2100 and told == [1000, 2000, 2100]
    assert "split it into several files" in faults(raw, max_bytes=99)[0][2]


parts = st.lists(
    st.text(st.characters(categories=["L", "N", "P", "Zs"]), min_size=1, max_size=9).map(lambda text: f"a{text}z"),
    min_size=1,
    max_size=4,
)


@settings(max_examples=60)
@given(st.lists(parts, min_size=2, max_size=4))
def test_plain_text_gives_back_the_stories_that_it_was_made_of(stories):
    lines = [line for story in stories for line in story]
    assert [story.text for story in read_bytes("\n".join(lines))] == lines
    blocks = ["\n".join(story) for story in stories]
    found = read_bytes("\n\n".join(blocks))
    assert [story.text for story in found] == blocks
    assert len({story.key for story in found}) == len(blocks)


def test_the_shared_news_are_one_story_a_line():
    path = shared_file("articles/abc-news.txt")
    expected = [line.strip() for line in path.read_text("utf-8").splitlines() if line.strip()]
    found = read(io.BytesIO(path.read_bytes()), path.name)
    assert len(found) == 150 and [story.text for story in found] == expected
    assert (found[0].key, found[149].key) == ("abc-news-1", "abc-news-150")


def test_the_shared_articles_lose_their_bullets_and_nothing_else():
    paths = sorted(shared_file("articles").glob("*.story"))
    for path in paths:
        (story,) = read(io.BytesIO(path.read_bytes()), path.name)
        body, _, bullets = path.read_text("utf-8").partition("\n@highlight")
        assert (story.key, story.text) == (path.stem, body.strip()) and bullets
    assert len(paths) == 12
