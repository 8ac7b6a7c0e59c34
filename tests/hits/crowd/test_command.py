"""`manage.py crowd`: what it refuses before it sends anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

SAMPLE = Path(__file__).resolve().parents[3] / "samples" / "record.jsonl"


def test_it_stays_on_this_machine_unless_told_otherwise() -> None:
    with pytest.raises(CommandError, match="--allow-remote"):
        call_command("crowd", key=SAMPLE, marketplace="https://market.example.org")


@pytest.mark.parametrize("host", ["market.example.org", "localhost.example.org", "127.0.0.1.example.org"])
def test_on_other_machines_it_wants_a_password_of_its_own(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CROWD_PASSWORD", raising=False)
    with pytest.raises(CommandError, match="CROWD_PASSWORD"):
        call_command("crowd", key=SAMPLE, marketplace=f"https://{host}", allow_remote=True)


def test_it_refuses_a_key_that_could_not_be_imported(tmp_path: Path) -> None:
    file = tmp_path / "key.jsonl"
    file.write_text('{"id": "d"}\n')
    with pytest.raises(CommandError, match="no ReCoRD file"):
        call_command("crowd", key=file, marketplace="http://127.0.0.1:1")


def test_it_names_every_fault_of_a_key_of_written_questions(tmp_path: Path) -> None:
    file = tmp_path / "key.jsonl"
    file.write_text('{"opening": "It rained."}\n{"opening": "It snowed.", "questions": []}\n{\n')
    with pytest.raises(CommandError, match=r"line 1: KeyError: 'questions'; line 3: JSONDecodeError"):
        call_command("crowd", key=file, marketplace="http://127.0.0.1:1")


@pytest.mark.parametrize("wrong", [{"spammers": 13}, {"careless": 11}, {"accuracy": 1.5}, {"time_scale": -1.0}])
def test_it_refuses_impossible_numbers(wrong: dict[str, float]) -> None:
    with pytest.raises(CommandError):
        call_command("crowd", key=SAMPLE, marketplace="http://127.0.0.1:1", **wrong)


def test_its_help_shows_the_format_of_a_key_and_where_it_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        call_command("crowd", "--help")
    said = " ".join(capsys.readouterr().out.split())
    assert '{"opening": "words of the text", "questions": [' in said and "docs/commands.md, “An answer key”" in said
    commands = (SAMPLE.parents[1] / "docs" / "commands.md").read_text(encoding="utf-8")
    assert "### An answer key" in commands
    key = commands.partition("### An answer key")[2]
    assert all(f"`{name}`" in key for name in ("category", "needs", "kinds"))
