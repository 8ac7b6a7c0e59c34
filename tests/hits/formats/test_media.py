"""What is taken as media is found in the bytes of a file, and an SVG can do nothing but be seen."""

from __future__ import annotations

import struct

import pytest

from hits.formats.files import svg
from hits.formats.files.media import media_type
from hits.formats.files.picture_size import picture_size
from tests.hits import samples_of_media as sample

MP3 = b"\xff\xfb\x90\x64" + bytes(400)
VP8X = b"RIFF\x20\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + (1279).to_bytes(3, "little") + (719).to_bytes(3, "little")
VP8 = b"RIFF\x20\0\0\0WEBPVP8 \x20\0\0\0\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 1280, 720)
JPEG = (
    b"\xff\xd8\xff\xe1\x00\x08Exif\0\0\xff\xdb\x00\x03\0\xff\xc0\x00\x0b\x08"
    + struct.pack(">HH", 720, 1280)
    + b"\x01" * 9
)


def gif(screen: tuple[int, int], image: tuple[int, int], extensions: bytes = b"") -> bytes:
    """With a table of two colours."""
    head = b"GIF89a" + struct.pack("<HHBBB", *screen, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff" + extensions
    return head + b"," + struct.pack("<4HB", 0, 0, *image, 0) + b"\x02\x02\x44\x01\x00;"


@pytest.mark.parametrize(
    ("head", "content_type"),
    [
        (sample.png(), "image/png"),
        (JPEG, "image/jpeg"),
        (b"GIF89a\x05\0\x04\0", "image/gif"),
        (VP8X, "image/webp"),
        (sample.SVG, "image/svg+xml"),
        (b'\xef\xbb\xbf<?xml version="1.0"?>\n<svg/>', "image/svg+xml"),
        (sample.wav(), "audio/wav"),
        (b"ID3\x04" + bytes(20), "audio/mpeg"),
        (MP3, "audio/mpeg"),
        (b"OggS" + bytes(24) + b"OpusHead", "audio/ogg"),
        (b"\0\0\0\x20ftypM4A \0\0\0\0", "audio/mp4"),
        (b"\0\0\0\x20ftypisom\0\0\0\0", "video/mp4"),
        (b"\x1aE\xdf\xa3\x9fB\x86\x81\x01\x42\x82\x84webm", "video/webm"),
    ],
)
def test_the_type_is_found_in_the_content(head: bytes, content_type: str) -> None:
    assert media_type(head, "whatever.txt") == content_type


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"<html><svg></svg></html>",
        b"<!DOCTYPE html><svg/>",
        b"PK\x03\x04 an archive",
        b"%PDF-1.7",
        b"\0\0\0\x20ftypavif\0\0\0\0",
        b"\0\0\0\x20ftypheic\0\0\0\0",
        b"\x1aE\xdf\xa3\xa3B\x86\x81\x01\x42\x82\x88matroska",
        b"OggS" + bytes(24) + b"\x80theora",
        b"RIFF\0\0\0\0AVI LIST",
        b"BM\x36\0",
        b"\xff\xf1\x50\x80 AAC in ADTS",
        b"MZ\x90\0",
        b"GIF87",
    ],
)
def test_whatever_else_is_none_of_them_also_under_the_name_of_a_picture(head: bytes) -> None:
    assert media_type(head, "cat.png") == ""


def test_an_mp4_is_a_sound_by_its_name_where_its_content_leaves_that_open() -> None:
    head = b"\0\0\0\x20ftypmp42\0\0\0\0"
    assert [media_type(head, name) for name in ("a.M4A", "a.mp4")] == ["audio/mp4", "video/mp4"]


@pytest.mark.parametrize(
    ("head", "content_type"),
    [
        (sample.png(1280, 720), "image/png"),
        (JPEG, "image/jpeg"),
        (gif((1280, 720), (4, 3)), "image/gif"),
        (gif((1, 1), (1280, 720)), "image/gif"),
        (gif((1280, 720), (4, 3), b"\x21\xf9\x04\x00\x05\x00\x00\x00" + b"\x21\xfe\x02hi\x01!\x00"), "image/gif"),
        (VP8X, "image/webp"),
        (VP8, "image/webp"),
        (b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + (1279 | 719 << 14).to_bytes(4, "little"), "image/webp"),
    ],
)
def test_the_size_of_a_picture_stands_in_its_beginning(head: bytes, content_type: str) -> None:
    assert picture_size(head, content_type) == (1280, 720)


@pytest.mark.parametrize("cut", [0, 1, 5, 12, 20])
@pytest.mark.parametrize("content_type", ["image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"])
def test_a_broken_picture_has_no_size(content_type: str, cut: int) -> None:
    assert picture_size(b"\xff" * cut, content_type) is None or cut >= 10


@pytest.mark.parametrize(
    ("head", "content_type"),
    [
        (b"\xff\xd8\xff\x00\x00\x02" + JPEG[2:], "image/jpeg"),
        (b"\xff\xd8" + b"\xff\xe1\xff\xff" + bytes(65533), "image/jpeg"),
        (gif((4, 3), (4, 3))[:-20], "image/gif"),
        (gif((4, 3), (4, 3), b"\0"), "image/gif"),
    ],
)
def test_a_picture_whose_size_could_be_read_in_two_ways_or_stands_far_behind_has_none(
    head: bytes, content_type: str
) -> None:
    assert picture_size(head, content_type) is None


def drawing(inside: str, attributes: str = "") -> bytes:
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f"{attributes}>{inside}</svg>"
    ).encode()


@pytest.mark.parametrize(
    "content",
    [
        sample.SVG,
        drawing('<defs><path id="p" d="M0 0"/></defs><use xlink:href="#p"/>'),
        drawing('<style>.a { fill: url(#g); }</style><rect class="a" fill="url(#g)"/>'),
        drawing('<image href="data:image/png;base64,AAAA"/>'),
        drawing("<text>on the quay, javascript of a kind</text>"),
        b'<?xml version="1.0" encoding="iso-8859-1"?>' + sample.SVG,
        ('<?xml version="1.0" encoding="UTF-16"?>' + sample.SVG.decode()).encode("utf-16"),
        drawing('<text aria-label="left (or C:right)">one</text><g transform="rotate(3)"/>'),
        b'<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" '
        b'"http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">' + sample.SVG,
    ],
)
def test_a_still_drawing_is_taken(content: bytes) -> None:
    svg.check(content)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (drawing("<script>alert(1)</script>"), "<script>"),
        (drawing('<x:script xmlns:x="http://www.w3.org/2000/svg">1</x:script>'), "<script>"),
        (drawing("<SCRIPT/>"), "<SCRIPT>"),
        (drawing("", 'onload="alert(1)"'), "event handler onload"),
        (drawing('<rect OnClick="x()"/>'), "event handler onclick"),
        (drawing("<foreignObject/>"), "<foreignObject>"),
        (drawing('<b xmlns="http://www.w3.org/1999/xhtml"/>'), "<b>"),
        (drawing('<image href="https://tracker.example.org/a.png"/>'), "refers to"),
        (drawing('<use xlink:href="other.svg#a"/>'), "refers to"),
        (drawing('<a href="java&#10;script:alert(1)"/>'), "refers to"),
        (drawing('<image href="data:image/svg+xml;base64,AAAA"/>'), "refers to"),
        (drawing('<set attributeName="xlink:href" to="#b"/>'), "animation"),
        (drawing('<animate values="javascript:alert(1)"/>'), "script"),
        (drawing("<style>@import 'https://a.example.org/x.css';</style>"), "styles"),
        (drawing('<rect style="fill: url(https://a.example.org/x)"/>'), "styles"),
        (drawing('<rect fill="url( &quot;//a.example.org/x&quot;)"/>'), "styles"),
        (drawing(r'<rect style="fill: \75rl(//a.example.org/x)"/>'), "styles"),
        (drawing(r'<rect mask="\75rl(//a.example.org/x#m)"/>'), "styles"),
        (drawing(r'<set attributeName="style" to="fill: \75rl(//a.example.org/x)"/>'), "styles"),
        (drawing("<rect style=\"background: image-set('//a.example.org/x' 1x)\"/>"), "styles"),
        (drawing('<style>svg { background: -webkit-image-set("//a.example.org/x" 1x) }</style>'), "styles"),
        (drawing("<style>@font-face { src: src('//a.example.org/x') }</style>"), "styles"),
        (drawing("<style>@import '//a.example.org/x';<style/></style>"), "inside <style>"),
        (drawing('<g xml:base="https://a.example.org/"/>'), "attribute base"),
        (drawing('<a href="#a" ping="https://a.example.org/"/>'), "attribute ping"),
        (b'<?xml version="1.0" encoding="foo"?>' + sample.SVG, "encoding foo"),
        (b'<?xml version="1.0" encoding="rot13"?>' + sample.SVG, "encoding rot13"),
        (b'<?xml version="1.0" encoding="shift_jis"?>' + sample.SVG, "save it in UTF-8"),
        (b'<?xml-stylesheet href="x.css"?>' + sample.SVG, "style sheet"),
        (b'<!DOCTYPE svg [<!ENTITY a "b">]>' + sample.SVG, "DOCTYPE"),
        (drawing("<g>" * 300 + "</g>" * 300), "deep"),
        (b"<svg>", "first element"),
        (b'<html xmlns="http://www.w3.org/1999/xhtml"/>', "first element"),
        (drawing("<g>"), "can be read"),
        (drawing("") + b" " * svg.MOST_BYTES, "bytes"),
    ],
)
def test_an_svg_that_does_more_than_being_seen_is_refused_with_the_reason(content: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        svg.check(content)


def test_entities_that_multiply_are_not_expanded() -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "ha"}">' for n in range(9))
    with pytest.raises(ValueError, match="DOCTYPE"):
        svg.check(f"<!DOCTYPE svg [{laughs}]><svg xmlns='{svg.NAMESPACE}'>&l8;</svg>".encode())
