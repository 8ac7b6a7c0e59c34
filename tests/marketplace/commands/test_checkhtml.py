"""`checkhtml` lists what is wrong with a page and writes a corrected copy."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from common.html_correcting import look_at
from tests.marketplace.rules.questions.test_correcting import LINES, TEMPLATES, text_of


def said(file: Path, **options: object) -> tuple[str, str]:
    """What it prints, and what it ends with."""
    out = StringIO()
    try:
        call_command("checkhtml", str(file), stdout=out, **options)
    except CommandError as error:
        return out.getvalue(), str(error)
    return out.getvalue(), ""


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_each_fault_is_a_line_and_the_copy_passes(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text(text_of(name), encoding="utf-8")
    printed, ended = said(file)
    found = [line.split(":")[1] for line in printed.splitlines() if line.startswith(f"{file}:")]
    assert [int(line) for line in found] == LINES[name]
    copy = tmp_path / name.replace(".html", ".corrected.html")
    assert str(copy) in ended and copy.read_text(encoding="utf-8") == look_at(text_of(name)).corrected
    assert said(copy) == (f"{copy.stat().st_size:,} bytes of 65,535 that are allowed.\nThe page can be used.\n", "")
    assert file.read_text(encoding="utf-8") == text_of(name)


def test_a_copy_is_never_written_over_a_file(tmp_path: Path) -> None:
    file, other = tmp_path / "page.html", tmp_path / "other.html"
    file.write_text("<b><p>x</b>", encoding="utf-8")
    said(file, corrected=other)
    written = other.read_text(encoding="utf-8")
    assert "was not written" in said(file, corrected=other)[1] and "was not written" in said(file, corrected=file)[1]
    assert (file.read_text(encoding="utf-8"), other.read_text(encoding="utf-8")) == ("<b><p>x</b>", written)


def test_what_cannot_be_corrected_or_read_is_told(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    assert "cannot be read" in said(file)[1]
    file.write_bytes(b"\xff\xfe")
    assert "cannot be read" in said(file)[1]
    file.write_text("<style>${a}</style>", encoding="utf-8")
    printed, ended = said(file)
    assert f"{file}:1:7: The placeholder a stands in a style sheet" in printed
    assert ended.startswith("No corrected copy can be offered.") and list(tmp_path.iterdir()) == [file]
    assert said(file, raw=True)[1] == ""
    file.write_text(f"<p>{'word ' * 14_000}</p>", encoding="utf-8")
    printed, ended = said(file)
    assert "70,007 bytes of 65,535 that are allowed." in printed and "texts and tags" in printed
    assert "It would have 70,046 bytes" in ended
