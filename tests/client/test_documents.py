"""Commands of the documents are commands of the program: each is there and takes the options that are written."""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import pytest

from annotate_client.cli import Program, annotate
from annotate_client.cli.description import Description
from annotate_client.cli.session import Session
from ops.surroundings import ROOT

DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "client" / "README.md"]
FENCED = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
# Up to a comment, a pipe, or the end of what is put into another command.
COMMAND = re.compile(r"(?:^|[|(]) *(?=annotate ((?:'[^']*'|\"(?:\$\([^)]*\)|[^\"$])*\"|[^'\"#|)\n])+))", re.MULTILINE)
INLINE = re.compile(r"`(annotate [^`]+)`")
FILE = re.compile(r"@?[\w./-]+\.(?:csv|json|jsonl|xlsx|zip|md|txt|bib|toml)")


def _commands() -> Iterator[tuple[str, str]]:
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        name = str(document.relative_to(ROOT))
        blocks = [re.sub(r"\\\n *", "", block) for block in FENCED.findall(text)]
        inline = [" ".join(words.split()) for words in INLINE.findall(FENCED.sub("", text))]
        yield from ((name, line.strip()) for code in [*blocks, *inline] for line in COMMAND.findall(code))


@pytest.fixture(scope="module")
def program(document: Mapping[str, Any]) -> Program:
    session = Session()
    session.description = Description(document)
    return Program(session, "annotate", commands=annotate.commands)


@pytest.mark.parametrize(("document_name", "line"), sorted(set(_commands())))
def test_a_command_of_the_documents_is_taken(
    program: Program, document_name: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`annotate webhooks` names a group, and `annotate projects clone` a command whose options are not the matter."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO("[]"))
    words = [_value(word) for word in shlex.split(line)]
    command: click.Command = program
    context = click.Context(program, info_name="annotate")
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name, command, words = command.resolve_command(context, words)  # type: ignore[assignment]
        context = click.Context(command, info_name=name, parent=context)
    if words and words != ["--help"]:
        assert not isinstance(command, click.Group)
        command.make_context(context.info_name, words, parent=context.parent)


def _value(word: str) -> str:
    """A word as it is typed, where a file is named with that file, and where a number stands for another with one."""
    if FILE.fullmatch(word):
        file = Path(word.removeprefix("@"))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("[]")
    return {"RELEASE": "1", "RUN": "1", "MODEL": "1", "PREDICTIONS": __file__, "NUMBER": "1"}.get(word, word)
