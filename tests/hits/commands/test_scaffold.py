"""New folders of protocols and recipes, and the check of plug-ins."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from hits import protocols, recipes
from ops.surroundings import ROOT


def run(*words: object) -> str:
    said = io.StringIO()
    call_command(*map(str, words), stdout=said)
    return said.getvalue()


@pytest.fixture
def plugins(tmp_path: Path) -> Path:
    """A folder with a new protocol and a new recipe for it."""
    run("new_protocol", "spot_error", "--into", tmp_path)
    run("new_recipe", "my_set", "--protocol", "spot_error", "--into", tmp_path)
    return tmp_path


def test_new_folders_can_be_used_at_once(plugins: Path) -> None:
    assert protocols.get("spot_error", [protocols.HOME, plugins]).title == "Answer yes or no"
    assert "spot_error" in protocols.simulated([protocols.HOME, plugins])
    (stage,) = recipes.load("my_set", [plugins / "recipes"]).stages
    assert stage.protocol == "spot_error"


def test_new_folders_pass_the_check_of_plug_ins(plugins: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert "does what every protocol and recipe must do" in run("check_plugin", plugins)
    assert " passed" in capfd.readouterr().out


def test_a_protocol_that_takes_anything_does_not_pass(plugins: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = plugins / "protocols" / "spot_error" / "protocol.py"
    file.write_text(file.read_text().replace('if answer not in ("yes", "no"):', "if not answer:"))
    with pytest.raises(CommandError, match="What failed is named above"):
        run("check_plugin", plugins)
    assert "test_it_refuses_garbage_in_every_field_with_sentences" in capfd.readouterr().out


def test_a_folder_that_cannot_be_used_is_named_before_anything_is_run(plugins: Path) -> None:
    (plugins / "recipes" / "my_set" / "stages.toml").write_text("title = 1\n")
    with pytest.raises(CommandError, match="my_set.*title must be a text"):
        run("check_plugin", plugins)


def test_a_folder_without_plug_ins_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="holds neither"):
        run("check_plugin", tmp_path)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("new_protocol", "Spot-Error"), "lower-case words"),
        (("new_protocol", "../elsewhere"), "lower-case words"),
        (("new_protocol", "multiple_choice"), "There is a protocol multiple_choice already"),
        (("new_recipe", "cosmos"), "There is a recipe cosmos already"),
        (("new_recipe", "mine", "--protocol", "no_such"), "There is no protocol 'no_such'"),
        (("new_protocol", "json"), "conflicts with the name of an existing Python module"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused_and_leaves_no_folder(
    tmp_path: Path, words: tuple[str, ...], why: str
) -> None:
    with pytest.raises(CommandError, match=why):
        run(*words, "--into", tmp_path)
    assert [found for found in tmp_path.rglob("*") if found.is_file()] == []


def test_a_fresh_checkout_needs_no_setting_to_make_a_folder(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "manage.py"), "new_protocol", "spot_error", "--into", str(tmp_path)]
    bare = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME")}
    made = subprocess.run(command, env=bare, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "protocols" / "spot_error" / "protocol.py").is_file()
