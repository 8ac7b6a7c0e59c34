"""README says that every verb of the API is a command as well: a new route fails here until it has one."""

from __future__ import annotations

from argparse import ArgumentParser

import pytest
from django.conf import settings
from django.core.management import get_commands, load_command_class

from tests.hits.api.test_guard import routes

# The command of each route that changes something, with the option or the action that does it where there are several.
COMMANDS = {
    "token post": "api_tokens", "token delete": "api_tokens", "one-token delete": "api_tokens",
    "projects post": "create_project", "budget put": "budget",
    "owners post": "owners --add", "owner delete": "owners --remove",
    "uploads post": "import_file", "stop-upload post": "stop_import",
    "undo-block post": "unblock", "block post": "quality --apply",
    "grants post": "grants add", "withdraw-grant post": "grants withdraw", "ledger-checks post": "check_ledger",
    "bonuses post": "bonus", "bonus-quote post": "bonus",
    "bonus-files post": "bonuses", "order-bonus-file post": "bonuses",
    "compensations post": "compensate", "compensation-quote post": "compensate",
    "withdraw-compensation post": "withdraw",
    "qualification-tests post": "qualification_tests make",
    "offer-qualification-test post": "qualification_tests offer",
    "withdraw-qualification-test post": "qualification_tests withdraw",
    "draw-qualification-test post": "qualification_tests --draw",
    "fetch-qualification-test-results post": "qualification_tests results",
    "qualification-test patch": "qualification_tests edit", "qualification-test delete": "qualification_tests delete",
    "required-test put": "qualification_tests require", "required-test delete": "qualification_tests free",
    "options patch": "options --set", "task patch": "task --set", "stage patch": "stage",
    "computation-runs post": "compute", "computation-answers post": "compute --answers",
    "resume-computation-run post": "compute --resume", "stop-computation-run post": "compute --stop",
    "releases post": "release", "evaluate-release post": "evaluate",
    "publish post": "publish", "pause post": "pause", "resume post": "resume",
    "expire post": "expire", "extend post": "extend", "delete-hits post": "delete_hits", "harvest post": "harvest",
    "rule put": "rule set", "rule-preview post": "rule try", "judge-again post": "rejudge", "draw post": "draw",
    "article put": "mentions --change", "drop-query post": "queries --take-out", "undo-article post": "queries --undo",
    "annotations post": "annotations --from", "generate-again post": "annotations --again",
    "confirm-change-set post": "annotations --yes", "undo-change-set post": "annotations --undo",
    "target put": "targets --add-phrase", "undo-target post": "targets --undo",
    "approve post": "approve", "reject post": "reject", "take-back post": "take_back",
    "undo-change post": "changes --undo", "redo-change post": "changes --redo",
}  # fmt: skip


def test_every_verb_has_a_command_and_the_readme_says_so() -> None:
    verbs = {f"{route.name} {method}" for route, method in routes() if method != "get"}
    assert verbs == set(COMMANDS)
    readme = " ".join((settings.ROOT / "README.md").read_text(encoding="utf-8").split())
    assert "Every verb of a project on the dashboard is a REST route and a command." in readme


@pytest.mark.parametrize("told", sorted(set(COMMANDS.values())))
def test_each_of_these_commands_is_there_with_its_option_or_action(told: str) -> None:
    name, *words = told.split()
    known = get_commands()
    assert known.get(name) == "hits"
    parser = load_command_class("hits", name).create_parser("manage.py", name)
    assert set(words) <= _words(parser)


def _words(parser: ArgumentParser) -> set[str]:
    """The options, and the actions that a positional argument takes."""
    options = set(parser._option_string_actions)
    return options.union(*(action.choices or () for action in parser._actions if not action.option_strings))
