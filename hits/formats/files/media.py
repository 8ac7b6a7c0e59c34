"""What a file of media is, by its first bytes. Its name decides nothing, and whatever is not in the list is refused."""

from __future__ import annotations

HEAD_BYTES = 4096
TAKEN = "pictures (JPEG, PNG, GIF, WebP, SVG), sounds (MP3, Ogg, WAV, M4A) and videos (MP4, WebM)"
SVG = "image/svg+xml"
_SOUND_BRANDS = frozenset({b"M4A ", b"M4B ", b"F4A "})
_VIDEO_BRANDS = frozenset(
    {b"isom", b"mp41", b"mp42", b"avc1", b"M4V ", b"M4VP", b"MSNV", b"dash", b"F4V ", b"3gp4", b"3gp5", b"3gp6"}
    | {b"iso%d" % number for number in range(2, 10)}
)
_SOUNDS_IN_OGG = (b"OpusHead", b"\x01vorbis", b"\x7fFLAC", b"Speex   ")
_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


def media_type(head: bytes, name: str = "") -> str:
    """Such as image/png, of a file that begins with these bytes, HEAD_BYTES of them where it has as many; empty for a
    file of another kind.

    The container of MP4 says in its beginning whether it holds sound alone only where it is called M4A: `name` says it
    for the others.
    """
    return _picture(head) or _sound(head) or _film(head, name)


def _picture(head: bytes) -> str:
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if _riff(head) == b"WEBP":
        return "image/webp"
    return SVG if _looks_like_svg(head) else ""


def _sound(head: bytes) -> str:
    if _riff(head) == b"WAVE":
        return "audio/wav"
    if head.startswith(b"ID3") or _is_mp3_frame(head):
        return "audio/mpeg"
    # The first page of an Ogg file names its codec.
    if head.startswith(b"OggS") and any(sound in head[:128] for sound in _SOUNDS_IN_OGG):
        return "audio/ogg"
    return ""


def _film(head: bytes, name: str) -> str:
    brand = head[8:12] if head[4:8] == b"ftyp" else b""
    if brand in _SOUND_BRANDS:
        return "audio/mp4"
    if brand in _VIDEO_BRANDS:
        return "audio/mp4" if name.lower().endswith((".m4a", ".m4b")) else "video/mp4"
    if head.startswith(b"\x1aE\xdf\xa3") and b"\x42\x82\x84webm" in head[:128]:
        return "video/webm"
    return ""


def _riff(head: bytes) -> bytes:
    return head[8:12] if head.startswith(b"RIFF") else b""


def _is_mp3_frame(head: bytes) -> bool:
    """The eleven bits of a frame's beginning, and no reserved version, layer, bit rate or sample rate."""
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return False
    version, layer = head[1] >> 3 & 3, head[1] >> 1 & 3
    return version != 1 and layer == 1 and head[2] >> 4 not in (0, 15) and head[2] >> 2 & 3 != 3


def _looks_like_svg(head: bytes) -> bool:
    """XML in UTF-8 or UTF-16; whether it is SVG, and harmless, is for `hits.formats.files.svg` to say."""
    begin = head.replace(b"\0", b"") if head.startswith(_BOMS[1:]) else head
    for bom in _BOMS:
        begin = begin.removeprefix(bom)
    return begin.lstrip().startswith((b"<?xml", b"<svg", b"<!--", b"<!DOCTYPE svg")) and b"<html" not in begin.lower()
