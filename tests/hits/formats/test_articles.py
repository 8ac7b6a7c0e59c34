"""Articles: four layouts, told apart by the file's name."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from hits.formats.files import archives
from hits.formats.inputs import articles
from hits.formats.inputs.articles import Article, FormatErrors, read, read_all
from tests.hits.formats.shared_data import shared_file

LAKE = "The lake froze overnight. Nobody dared the first step."
BAKER = "Our baker sells out by nine."
STORY = f"{LAKE}\n\n{BAKER}\nSo does Mara's.\n\n@highlight\n\nBread sells out\n\n@highlight\n\nLake is\nfrozen\n"


def read_bytes(raw: bytes | str, name: str, **options: Any) -> list[Article]:
    return read(io.BytesIO(raw.encode() if isinstance(raw, str) else raw), name, **options)


def faults(raw: bytes | str, name: str, **options: Any) -> list[tuple[int | None, str, str]]:
    with pytest.raises(FormatErrors) as caught:
        read_bytes(raw, name, **options)
    return [(fault.line, fault.place, fault.message) for fault in caught.value.errors]


def jsonl(*rows: Any) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()


def packed(files: dict[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, raw in files.items():
            archive.writestr(name, raw)
    return stream.getvalue()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_story_is_its_paragraphs_and_its_bullets(end):
    (found,) = read_bytes(STORY.replace("\n", end), "C:\\news\\0af3.story", default_origin="crawled")
    paragraphs = (LAKE, f"{BAKER} So does Mara's.")
    assert found == Article("0af3", "", paragraphs, ("Bread sells out", "Lake is frozen"), "crawled")
    assert read_bytes(f"{BAKER} See @highlight.", "b.story")[0].highlights == ()


def test_json_lines_have_an_id_and_paragraphs_and_what_else_is_known():
    whole = {"id": "a", "title": "Bread", "paragraphs": [f" {LAKE}\n", BAKER], "highlights": [BAKER]}
    raw = jsonl({**whole, "origin": "crawled", "source": "The Quay"}, {"id": "b", "title": "", "paragraphs": [BAKER]})
    found = read_bytes(b"\xef\xbb\xbf" + raw.replace(b"\n", b"\r\n\r\n"), "MY/news.JSONL")
    assert found[0] == Article("a", "Bread", (LAKE, BAKER), (BAKER,), "crawled", "The Quay")
    assert found[1] == Article("b", "", (BAKER,), (), "public")
    assert [article.line for article in found] == [1, 3]


def test_of_plain_text_each_line_is_an_article():
    found = read_bytes(f"{LAKE}\n\n  {BAKER}  \n", "our news.txt")
    assert [(article.key, article.paragraphs, article.line) for article in found] == [
        ("our news-1", (LAKE,), 1),
        ("our news-3", (BAKER,), 3),
    ]


def test_an_archive_is_read_as_its_files_are():
    files = {"a/one.story": STORY, "a/two.jsonl": jsonl({"id": "j", "paragraphs": [LAKE]}), "three.txt": BAKER}
    beside = {"a/.DS_Store": b"\xff", "__MACOSX/a/._one.story": b"\xff", "a/": ""}
    found = read_bytes(packed(files | beside), "news.zip")
    assert [article.key for article in found] == ["one", "j", "three-1"]
    assert [article.place for article in found] == list(files)
    assert (
        read_all((name, io.BytesIO(raw.encode() if isinstance(raw, str) else raw)) for name, raw in files.items())
        == found
    )


@pytest.mark.parametrize(
    ("row", "place", "words"),
    [
        ({"id": "b"}, "", "the field paragraphs is missing"),
        ({"paragraphs": [BAKER]}, "", "the field id is missing"),
        ({"id": "b", "paragraphs": [BAKER], "body": ""}, "", "unknown field 'body'"),
        ({"id": "b", "paragraphs": []}, "paragraphs", "must hold at least one text"),
        ({"id": "b", "paragraphs": BAKER}, "paragraphs", "must be a list of texts, not a text"),
        ({"id": "b", "paragraphs": [BAKER] * 2001}, "paragraphs", "has 2,001 texts, the limit is 2,000"),
        ({"id": "b", "paragraphs": [BAKER, 5]}, "paragraphs[1]", "must be a text, not a number"),
        ({"id": "b", "paragraphs": [" \n"]}, "paragraphs[0]", "must not be blank"),
        ({"id": "b", "paragraphs": ["12 - 4"]}, "paragraphs", "there is no word in them"),
        ({"id": "b", "paragraphs": ["x" * 200_001]}, "", "the article has 200,001 characters"),
        ({"id": "b", "paragraphs": ["x" * 150_000] * 2}, "", "the article has 300,000 characters"),
        ({"id": "b", "paragraphs": ["a\x0bb"]}, "paragraphs[0]", "U+000B, at character 1"),
        ({"id": "b", "paragraphs": ["a\ud800"]}, "paragraphs[0]", "half of a surrogate pair"),
        ({"id": "b", "paragraphs": ["@highlight Bread"]}, "paragraphs[0]", "begins with @highlight"),
        ({"id": "b", "paragraphs": ["a @placeholder b"]}, "paragraphs[0]", "marks the gap of a query"),
        ({"id": "b", "paragraphs": [BAKER], "highlights": [""]}, "highlights[0]", "must not be blank"),
        ({"id": "b", "paragraphs": [BAKER], "highlights": None}, "highlights", "must be a list of texts, not null"),
        ({"id": "b", "paragraphs": [BAKER], "title": "t" * 1001}, "title", "the limit is 1,000"),
        ({"id": "b", "paragraphs": [BAKER], "origin": "own"}, "origin", "must be one of public, crawled, not 'own'"),
        ({"id": "b", "paragraphs": [BAKER], "source": 3}, "source", "must be a text, not a number"),
        ({"id": "a", "paragraphs": [BAKER]}, "id", "'a' is taken: line 1 has it already"),
        ({"id": "y" * 201, "paragraphs": [BAKER]}, "id", "has 201 characters"),
        ([LAKE], "", "must be an object, not a list"),
    ],
)
def test_a_fault_is_named_with_its_place(row, place, words):
    (found,) = faults(jsonl({"id": "a", "paragraphs": [LAKE]}, row), "a.jsonl")
    assert found[:2] == (2, place)
    assert words in found[2]


def test_every_fault_of_every_file_is_named_at_once():
    files = {
        "a.story": "@highlight\n\nBread",
        "b/a.story": b"Bread \xff\n",
        "c.docx": "x",
        "d.zip": packed({"e.story": STORY}),
        "f.jsonl": jsonl({"id": "x", "paragraphs": [1]}, {"id": "f", "paragraphs": [LAKE]}),
        "g.txt": f"{LAKE}\n",
        "h.jsonl": jsonl({"id": "g-1", "paragraphs": [LAKE]}),
        "i.story": "\n",
    }
    found = faults(packed(files), "news.zip")
    assert sorted((place, line) for line, place, _ in found) == [
        ("a.story", 1),
        ("b/a.story", 1),
        ("c.docx", None),
        ("d.zip", None),
        ("f.jsonl, paragraphs[0]", 1),
        ("h.jsonl, id", 1),
        ("i.story", None),
    ]
    said = {place: message for _, place, message in found}
    assert "ends in none of .story, .jsonl, .txt, .zip" in said["c.docx"]
    assert said["h.jsonl, id"] == "'g-1' is taken: g.txt, line 1 has it already"
    assert "body of the article is missing" in said["a.story"] and "no article" in said["i.story"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.txt", "a.story", "a.zip"])
def test_a_file_without_an_article_is_refused(name):
    raw = packed({}) if name == "a.zip" else b"\n"
    assert "no article" in faults(raw, name)[0][2]


def test_an_archive_that_unpacks_to_too_much_is_refused_before_it_is_unpacked():
    bomb = packed({f"{n}.txt": b"a " * 4_000_000 for n in range(9)})
    assert len(bomb) < 100_000
    assert "unpacked, more than 10,000,000 bytes" in faults(bomb, "a.zip", max_bytes=10_000_000)[0][2]


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_archive_is_packed_in_the_usual_way_or_refused(method):
    assert "pack it anew as a usual ZIP archive" in faults(packed({"a.txt": BAKER}, method), "a.zip")[0][2]


def test_what_is_no_whole_archive_is_refused():
    whole = packed({"a.story": STORY, "b.story": STORY})
    for size in range(0, len(whole) - 1, 7):
        assert faults(whole[:size], "a.zip")
    broken = bytearray(whole)
    broken[45] ^= 0xFF
    assert "cannot be unpacked" in faults(bytes(broken), "a.zip")[0][2]
    assert (
        "password"
        in faults(whole.replace(b"PK\x01\x02\x14\x03\x14\0\0\0", b"PK\x01\x02\x14\x03\x14\0\1\0"), "a.zip")[0][2]
    )


def test_a_list_of_very_many_files_is_refused_before_it_is_read(monkeypatch):
    monkeypatch.setattr(articles, "MOST_FILES", 3)
    many = packed({f"{n}.txt": BAKER for n in range(4)})
    assert "more than 3 files" in faults(many, "a.zip")[0][2]
    long = many[:-10] + struct.pack("<L", 2_000_000_000) + many[-6:]
    assert "more than 3 files" in faults(long, "a.zip")[0][2]


def test_a_list_of_very_many_files_is_found_whatever_the_end_of_the_archive_says():
    """Its offset looks like another end, or its comment is so long that the note of its true size stands before."""
    raw = packed({"a" * 200 + ".txt": "One.", "b" * 200 + ".txt": "Two."})
    end = raw.rindex(b"PK\x05\x06")
    looks_like_an_end = raw[: end + 16] + b"PK\x05\x06" + raw[end + 20 :]
    noted = b"PK\x06\x07" + struct.pack("<LQL", 0, end, 1)
    small = raw[end : end + 12] + struct.pack("<LLH", 0, 0, 0xFFFF) + bytes(0xFFFF)
    for made in (looks_like_an_end, raw[:end] + noted + small):
        with pytest.raises(FormatErrors) as caught:
            archives.check_directory(io.BytesIO(made), "", 1)
        assert "more than 1 files" in str(caught.value)


def test_spaces_without_a_line_end_take_no_time():
    text = f"One{' ' * 150_000}two."
    (article,) = read_bytes(jsonl({"id": "a", "paragraphs": [text, "Here \t\n\n there"]}), "news.jsonl")
    assert article.paragraphs == (text, "Here there")


def test_progress_tells_how_many_articles_were_checked():
    told: list[int] = []
    assert len(read_bytes(f"{BAKER}\n" * 2500, "a.txt", progress=told.append)) == 2500
    assert told == [1000, 2000, 2500]


@settings(max_examples=200, deadline=None)
@given(some.binary(max_size=400), some.sampled_from(["a.jsonl", "a.txt", "a.story", "a.zip"]))
def test_any_bytes_are_read_or_refused(raw, name):
    try:
        found = read_bytes(raw, name)
    except FormatErrors as error:
        assert error.errors
    else:
        assert all(article.paragraphs for article in found)


def test_the_shared_articles_are_read():
    stories = sorted(shared_file("articles").glob("*.story"))
    files = [(path.name, io.BytesIO(path.read_bytes())) for path in stories]
    found = read_all(files)
    assert len(found) == 12 and all(article.highlights for article in found)
    assert not any("\n" in text for article in found for text in article.paragraphs + article.highlights)
    assert len(read_bytes(shared_file("articles/abc-news.txt").read_bytes(), "abc-news.txt")) == 150
    assert len(read_bytes(shared_file("news/bbc-news.jsonl").read_bytes(), "bbc-news.jsonl")) == 1780
