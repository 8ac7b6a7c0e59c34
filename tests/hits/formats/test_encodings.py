"""Files of text that are not UTF-8: the guess, how they read, and the same file in UTF-8."""

from __future__ import annotations

import io
import tracemalloc

import pytest

from hits.formats.files.encodings import (
    ENCODINGS,
    bytes_in_utf8,
    guessed,
    in_utf8,
    named,
)
from tests.hits.doing import refused
from tests.hits.formats.test_rows import PASSAGES, workbook

ONE = "id,text\na,Rain.\nb,Café\n"
WEST = "id;text\r\na;¿El niño cayó? – “Où êtes-vous”, 5 €\r\nb;Die Fähre über den Fluß"
TEXTS: dict[str, tuple[str, str, str]] = {
    "one letter": (ONE, "cp1252", "cp1252"),
    "Windows-1252": (WEST, "cp1252", "cp1252"),
    "Latin-1": ("id\ttext\na\tSchön, naïve Þórr? Jürgen, Fluß\n".replace("Þ", "T"), "latin-1", "cp1252"),
    "UTF-16 of a spreadsheet": ("id\ttext\r\na\tCafé, 日本\r\n", "utf-16", "utf-16"),
    "UTF-16, big endian": ("\ufeffid\ttext\na\tCafé\n", "utf-16-be", "utf-16"),
    "UTF-16 without a mark": ("id\ttext\na\tCafé\n", "utf-16-le", "utf-16-le"),
    "Polish": ("id,text\na,Zażółć gęślą jaźń. Wszystko w porządku, dziękuję bardzo.\n", "cp1250", "cp1250"),
    "Russian": ("id,text\na,Паром снова опоздал, и Мара читала газету на набережной.\n", "cp1251", "cp1251"),
    "Greek": ("id,text\na,Το πλοίο άργησε ξανά και η Μαρία διάβαζε εφημερίδα.\n", "cp1253", "cp1253"),
    "Japanese": ("id,text\na,フェリーはまた遅れた。マラは新聞を読んだ。\n", "cp932", "cp932"),
    "Chinese": ("id,text\na,渡轮又晚点了，玛拉在码头看报纸。\n", "gb18030", "gb18030"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_encoding_of_a_text_is_guessed_and_its_lines_read_right(name: str) -> None:
    text, encoding, expected = TEXTS[name]
    content = text.encode(encoding)
    with refused("encoding_needed") as refusal:
        bytes_in_utf8(content)
    assert refusal.value.details()["guess"] == expected
    lines = text.removeprefix("\ufeff").split("\n")
    shown = refusal.value.details()["lines"]
    assert shown and all(lines[row["line"] - 1].rstrip("\r").startswith(row["text"]) for row in shown)
    assert f"the option encoding: {expected} (command line: --encoding {expected})" in str(refusal.value)
    assert bytes_in_utf8(content, expected) == text.removeprefix("\ufeff").encode()


def test_single_stray_bytes_leave_the_rest_of_a_text_in_utf8_as_it_is() -> None:
    content = "id,text\na,Noël 日本\nb,Où\n".encode() + b"c,Caf\xe9 \x96 5 \x80\n"
    guess = guessed(io.BytesIO(content))
    assert guess and guess.readings()[0][0] == "utf-8-mixed" and guess.readings()[0][2] == [(4, "c,Café – 5 €")]
    assert bytes_in_utf8(content, "utf-8-mixed").decode() == "id,text\na,Noël 日本\nb,Où\nc,Café – 5 €\n"


NO_GUESS = {
    "empty": b"",
    "ASCII": b"id,text\na,b\n",
    "UTF-8": ONE.encode("utf-8-sig"),
    "a workbook": workbook(PASSAGES),
    "a picture": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 8,
    "every byte": bytes(range(256)) * 20,
    "UTF-32": ONE.encode("utf-32"),
    "a mark alone": b"\xff\xfe",
}


@pytest.mark.parametrize("name", NO_GUESS)
def test_utf_8_and_what_is_no_text_have_no_guess_and_stay_as_they_are(name: str) -> None:
    assert bytes_in_utf8(NO_GUESS[name]) == NO_GUESS[name]


@pytest.mark.parametrize(
    ("content", "encoding", "said"),
    [
        (b"caf\x81", "cp1252", "The file is not Windows-1252 or Latin-1"),
        (b"abc", "utf-16", "The file is not UTF-16: what follows its byte 1"),
        (b"caf\xe9", "utf-8", "The file is not UTF-8"),
        (b"abc", "hex", "“hex” is no encoding that is read: there are utf-8, cp1252"),
        (b"abc", "a\0b", "is no encoding that is read"),
        (workbook(PASSAGES), "cp1252", "A workbook or another ZIP archive has no encoding"),
    ],
)
def test_a_file_that_is_not_what_the_encoding_says_is_refused(content: bytes, encoding: str, said: str) -> None:
    with refused("encoding_refused", match="Nothing was imported") as refusal:
        bytes_in_utf8(content, encoding)
    assert said in str(refusal.value)


def test_encodings_have_the_names_that_people_write() -> None:
    assert [named(name) for name in ("Latin-1", "ISO-8859-1", "Windows-1252", "UTF8", "Shift-JIS", "utf_16_le")] == [
        *("cp1252", "cp1252", "cp1252", "utf-8", "cp932", "utf-16-le")
    ]
    assert [named(name) for name in ENCODINGS] == list(ENCODINGS)


def test_memory_does_not_grow_with_the_file() -> None:
    def peak(lines: int) -> int:
        stream = io.BytesIO("id,text\n".encode("cp1252") + "a,Où êtes-vous ?\n".encode("cp1252") * lines)
        tracemalloc.start()
        assert guessed(stream)
        assert sum(map(len, in_utf8(stream, "cp1252"))) > lines
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    assert peak(600_000) < 1.2 * peak(200_000)
