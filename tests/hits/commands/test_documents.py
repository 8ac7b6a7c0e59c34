"""The documents name commands that are there, with options and places that they take."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.core.management import get_commands, load_command_class

DOCUMENTS = [*settings.ROOT.glob("*.md"), *(settings.ROOT / "docs").rglob("*.md")]
FENCED = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"manage\.py ([a-z_]+)(?: ([^\n]*))?$", re.MULTILINE)


def _commands_in_blocks() -> Iterator[tuple[str, str]]:
    for document in DOCUMENTS:
        for block in FENCED.findall(document.read_text(encoding="utf-8")):
            # A backslash at the end of a line goes on in the next one.
            yield from COMMAND.findall(re.sub(r"\\\n *", "", block))


@pytest.mark.parametrize(("name", "arguments"), sorted(set(_commands_in_blocks())))
def test_a_command_of_the_documents_is_taken(name: str, arguments: str) -> None:
    assert get_commands().get(name) == "hits"
    parser = load_command_class("hits", name).create_parser("manage.py", name)
    parser.parse_args(shlex.split(arguments, comments=True))


def test_each_command_has_its_line_in_the_list() -> None:
    listed = set(re.findall(r"`([a-z_]+)`", (settings.ROOT / "docs" / "commands.md").read_text(encoding="utf-8")))
    commands = {name for name, application in get_commands().items() if application == "hits"}
    folder = settings.ROOT / "marketplace" / "management" / "commands"
    commands |= {file.stem for file in folder.glob("[a-z]*.py")}
    assert commands - listed == set()
