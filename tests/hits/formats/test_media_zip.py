"""A zip from outside: everything wrong with it is said at once, and nothing of it can grow without bound."""

from __future__ import annotations

import io
import random
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from contextlib import suppress

import pytest

from hits.formats.files import media_zip
from hits.formats.files.faults import FormatErrors
from tests.hits import samples_of_media as sample


def names(content: bytes) -> list[str]:
    with media_zip.read(io.BytesIO(content)) as found:
        return [entry.name for entry in found.entries]


def faults(content: bytes) -> list[str]:
    with pytest.raises(FormatErrors) as refusal, media_zip.read(io.BytesIO(content)):
        pass
    return [str(fault) for fault in refusal.value.errors]


def with_entry(change: Callable[[zipfile.ZipInfo], None], content: bytes = sample.png()) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        info = zipfile.ZipInfo("cat.png")
        change(info)
        archive.writestr(info, content)
    return made.getvalue()


def test_files_come_with_their_folders_types_and_sizes() -> None:
    content = sample.zipped({"images/cat.png": sample.png(40, 30), "bell.wav": sample.wav(), "a/b/c.svg": sample.SVG})
    with media_zip.read(io.BytesIO(content)) as found:
        told = {entry.name: (entry.content_type, entry.width, entry.height) for entry in found.entries}
    assert told == {
        "images/cat.png": ("image/png", 40, 30),
        "bell.wav": ("audio/wav", 0, 0),
        "a/b/c.svg": ("image/svg+xml", 0, 0),
    }


def test_what_a_mac_and_windows_add_and_folders_are_passed_over() -> None:
    more = {"__MACOSX/._cat.png": b"x", "images/.DS_Store": b"x", "images/Thumbs.db": b"x", "images/._dog.png": b"x"}
    assert names(sample.zipped({"images/": b"", "images/cat.png": sample.png(), **more})) == ["images/cat.png"]


def test_a_name_in_two_spellings_of_unicode_is_one_name() -> None:
    assert names(sample.zipped({"cafe\u0301.png": sample.png()})) == ["caf\u00e9.png"]


def test_all_faults_are_told_at_once_and_the_same_one_of_many_files_once() -> None:
    texts = {f"notes/{n}.txt": b"text" for n in range(8)}
    found = faults(sample.zipped({"../up.png": sample.png(), "cat.png": sample.png(), "empty.png": b"", **texts}))
    assert found == [
        "../up.png: has a name that leads out of the archive, or with an empty part: pack the files anew",
        "empty.png: is empty",
        "notes/0.txt, notes/1.txt, notes/2.txt, notes/3.txt, notes/4.txt and 3 more: is none of the files that are "
        "taken: pictures (JPEG, PNG, GIF, WebP, SVG), sounds (MP3, Ogg, WAV, M4A) and videos (MP4, WebM)",
    ]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../cat.png", "leads out"),
        ("/etc/cat.png", "leads out"),
        ("a//cat.png", "leads out"),
        ("a/./cat.png", "leads out"),
        ("a\\cat.png", "backslash"),
        ("C:cat.png", "colon"),
        ("ca\x07t.png", "cannot be seen"),
        ("ca\u202et.png", "cannot be seen"),
        (" cat.png", "space"),
        ("a /cat.png", "space"),
        ("a/" * 11 + "cat.png", "folders deep"),
        ("c" * 201 + ".png", "more than 200"),
        # In the spelling that is kept, each of these is two characters.
        ("\u0958" * 190 + ".png", "more than 200"),
    ],
)
def test_a_name_that_could_do_harm_is_refused(name: str, why: str) -> None:
    (fault,) = faults(sample.zipped({name: sample.png()}))
    assert why in fault
    assert all(sign.isprintable() for sign in fault)


def test_spaces_of_other_scripts_within_a_name_are_taken() -> None:
    assert names(sample.zipped({"Screenshot at 5.00\u202fPM.png": sample.png()})) == ["Screenshot at 5.00\u202fPM.png"]


def test_names_that_differ_in_capital_letters_alone_and_doubles_are_refused() -> None:
    (fault,) = faults(sample.zipped({"cat.png": sample.png(), "Cat.PNG": sample.png()}))
    assert "capital letters" in fault
    with pytest.warns(UserWarning, match="Duplicate"):
        doubled = io.BytesIO()
        with zipfile.ZipFile(doubled, "w") as archive:
            archive.writestr("cat.png", sample.png())
            archive.writestr("cat.png", sample.wav())
    assert "there twice" in faults(doubled.getvalue())[0]


def test_a_file_and_a_folder_of_one_name_are_refused() -> None:
    (fault,) = faults(sample.zipped({"a/Cat.png": sample.png(), "a/cat.png/b/c.png": sample.png()}))
    assert fault == "a/Cat.png: has the name of a folder: rename one of them"


def _link(info: zipfile.ZipInfo) -> None:
    info.create_system, info.external_attr = 3, 0o120777 << 16


def test_a_picture_whose_size_is_not_found_or_is_that_of_its_first_image_is_refused() -> None:
    """The frame of the first stands behind more metadata than is read; the second says a screen of one pixel."""
    far = b"\xff\xd8" + (b"\xff\xe1\xff\xff" + bytes(65533)) * 9 + b"\xff\xc0\x00\x0b\x08\xff\xdc\xff\xdc" + bytes(9)
    wide = b"GIF89a\x01\x00\x01\x00\x00\x00\x00," + struct.pack("<4HB", 0, 0, 65535, 65535, 0) + b"\x02\x00;"
    found = faults(sample.zipped({"far.jpg": far, "wide.gif": wide}))
    assert "width and height do not stand in its beginning" in found[0]
    assert "65,535 × 65,535 pixels" in found[1]


def _lzma(info: zipfile.ZipInfo) -> None:
    info.compress_type = zipfile.ZIP_LZMA


@pytest.mark.parametrize(("change", "why"), [(_link, "link"), (_lzma, "compressed")])
def test_links_and_rare_compressions_are_refused(change: Callable[[zipfile.ZipInfo], None], why: str) -> None:
    assert why in faults(with_entry(change))[0]


def test_an_encrypted_file_is_refused() -> None:
    content = bytearray(with_entry(lambda info: None))
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + at] |= 1
    assert "password" in faults(bytes(content))[0]


def test_a_zip_in_a_zip_is_not_opened() -> None:
    assert "none of the files" in faults(sample.zipped({"cat.png": sample.zipped({"cat.png": sample.png()})}))[0]


def test_a_file_whose_bytes_are_broken_is_named() -> None:
    content = bytearray(sample.zipped({"cat.png": sample.png(), "bell.wav": sample.wav()}, zipfile.ZIP_STORED))
    content[content.index(b"IDAT") + 6] ^= 0xFF
    assert faults(bytes(content)) == ["cat.png: cannot be unpacked: Bad CRC-32 for file 'cat.png'"]


def test_a_file_that_states_less_than_it_holds_is_not_read_further() -> None:
    content = bytearray(sample.zipped({"bell.wav": sample.wav(2)}))
    for signature, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = content.index(signature) + at
        content[place : place + 4] = (100).to_bytes(4, "little")
    assert "cannot be unpacked" in faults(bytes(content))[0]


def test_a_bomb_is_refused_before_anything_of_it_is_unpacked() -> None:
    made = io.BytesIO()
    with (
        zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("a.wav", "w") as file,
    ):
        for _ in range(140):
            file.write(bytes(1 << 20))
    (fault,) = faults(made.getvalue())
    assert "times its size" in fault
    assert len(made.getvalue()) < 1_000_000


def test_the_bounds_of_number_size_and_pixels_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media_zip, "MOST_FILES", 2)
    assert "holds 3 files" in faults(sample.zipped({f"{n}.png": sample.png() for n in range(3)}))[0]
    monkeypatch.setattr(media_zip, "MOST_FILE_BYTES", 1000)
    assert "more than 0 MB" in faults(sample.zipped({"bell.wav": sample.wav(1)}))[0]
    monkeypatch.setattr(media_zip, "MOST_PIXELS", 100)
    assert "40 × 30 pixels" in faults(sample.zipped({"cat.png": sample.png(40, 30)}))[0]
    monkeypatch.setattr(media_zip, "MOST_UNPACKED_BYTES", 1000)
    assert "MB unpacked" in faults(sample.zipped({"a.wav": sample.wav(0.1), "b.wav": sample.wav(0.1)}))[0]


def test_a_list_of_far_too_many_files_is_not_even_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media_zip, "MOST_FILES", 2)
    content = sample.zipped({f"{n}.png": b"" for n in range(100)})
    monkeypatch.setattr(zipfile, "ZipFile", None)
    assert "far more than 2 files" in faults(content)[0]


@pytest.mark.parametrize("end", ["plain", "of 64 bits", "with the mark of an end inside"])
def test_a_list_of_300_000_files_takes_no_memory_however_the_archive_ends(end: str) -> None:
    content = listing(300_000, end)
    tracemalloc.start()
    (fault,) = faults(content)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "split it" in fault
    assert most < 5_000_000


def listing(count: int, end: str) -> bytes:
    """An archive whose list is true and whose end says otherwise."""
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\1\2", 20, 3, 20, 0, 0x800, 0, 0, 0, 0, 9, 9, 11, 0, 0, 0, 0, 0, 0)
    files = b"".join(entry + b"%07d.svg" % number for number in range(count))
    if end == "of 64 bits":
        record = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, len(files), 0)
        locator = struct.pack("<4sLQL", b"PK\6\7", 0, len(files), 1)
        return files + record + locator + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, 46, 0, 0)
    offset = int.from_bytes(b"PK\5\6", "little") if end == "with the mark of an end inside" else 0
    return files + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 65535, 65535, len(files), offset, 0)


def test_an_archive_with_a_comment_is_taken() -> None:
    made = io.BytesIO(sample.zipped({"cat.png": sample.png()}))
    with zipfile.ZipFile(made, "a") as archive:
        archive.comment = b"of the quay\0\0"
    assert names(made.getvalue()) == ["cat.png"]


@pytest.mark.parametrize(
    "content", [b"", b"PK\x05\x06", b"no zip at all", sample.zipped({"cat.png": sample.png()})[:-9]]
)
def test_what_is_no_zip_is_refused_with_a_sentence(content: bytes) -> None:
    assert "no zip archive" in faults(content)[0]


@pytest.mark.parametrize("sign", [b"\0", b"\1", b"/", b"\xff"])
def test_a_list_with_a_broken_name_is_refused_with_a_sentence(sign: bytes) -> None:
    content = bytearray(sample.zipped({"cat.png": sample.png()}))
    place = content.index(b"PK\x01\x02") + 46
    content[place : place + 1] = sign
    assert len(faults(bytes(content))) == 1


def test_whatever_bytes_of_an_archive_are_changed_it_is_taken_or_refused() -> None:
    chance = random.Random(4)
    for _ in range(1500):
        content = bytearray(sample.zipped({"images/cat.png": sample.png(), "a.svg": sample.SVG}))
        for _ in range(chance.randint(1, 6)):
            content[chance.randrange(len(content))] = chance.randrange(256)
        with suppress(FormatErrors), media_zip.read(io.BytesIO(content)):
            pass


def test_an_empty_zip_is_refused() -> None:
    assert faults(sample.zipped({})) == ["the archive holds no file"]


def test_files_that_are_no_zip_are_put_into_one_as_they_are() -> None:
    given = [("cat.png", io.BytesIO(sample.png())), ("bell.wav", io.BytesIO(sample.wav()))]
    with media_zip.as_zip(given) as stream, media_zip.read(stream) as found:
        assert [entry.name for entry in found.entries] == ["cat.png", "bell.wav"]
        with found.opened(found.entries[1]) as file:
            assert file.read() == sample.wav()


def test_a_zip_is_taken_as_it_is() -> None:
    stream = io.BytesIO(sample.zipped({"cat.png": sample.png()}))
    with media_zip.as_zip([("m.zip", stream)]) as taken:
        assert taken is stream
