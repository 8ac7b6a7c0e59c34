"""What `make demo` says before it starts anything, and what it reads from a crowd."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ops.surroundings import StackError
from tests.demo import __main__ as demo
from tests.demo import cosmos
from tests.demo.crowd import people


def test_each_recipe_with_a_demonstration_is_found() -> None:
    assert {"cosmos", "mcscript", "record"} <= set(demo.recipes())
    assert not {"checks", "crowd"} & set(demo.recipes())


def test_an_unknown_recipe_is_refused_with_those_that_there_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["demo", "--recipe", "squad"])
    with pytest.raises(SystemExit):
        demo.main()
    assert "there is no demonstration of 'squad'; there are: cosmos, mcscript, record" in capsys.readouterr().err


def test_stories_without_a_key_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StackError, match="our-key.jsonl"):
        cosmos.key_of(tmp_path / "our-stories.txt")
    assert cosmos.key_of(cosmos.SAMPLE).name == "cosmos-key.jsonl"


def test_the_kinds_of_workers_are_read_from_the_crowds_table() -> None:
    table = (
        "worker id        kind     answers\nAAAA             careless       18\n(not there)      careful         0\n"
    )
    assert people(table) == {"AAAA": "careless"}


def test_the_last_words_name_the_folder_and_the_ports_that_were_chosen() -> None:
    said = demo.whereabouts(Path("/data/my demo"), "demonstration-7", {"WEB_PORT": "8470", "BROKER_PORT": ""})
    assert "The release lies in /data/my demo/release." in said
    assert "WEB_PORT=8470 DATA_DIR='/data/my demo' make run, and open /projects/demonstration-7/" in said


def test_where_the_project_is_in_another_database_no_folder_opens_it() -> None:
    said = demo.whereabouts(Path("/data/demo"), "demonstration-7", {"DATABASE_URL": "postgres://host/annotate"})
    assert said == "The release lies in /data/demo/release."
