"""README says which verbs of the API are commands as well; a new verb has to be added here, and there if it is none."""

from __future__ import annotations

from django.conf import settings
from django.core.management import get_commands

from tests.hits.api.test_guard import routes

# The command of each route that changes something, or in quotes how README names a verb without one.
COMMANDS = {
    "token post": "api_tokens", "token delete": "api_tokens", "one-token delete": "api_tokens",
    "projects post": "create_project", "budget put": "budget",
    "owners post": "“adding and removing owners”", "owner delete": "“adding and removing owners”",
    "uploads post": "import_file", "stop-upload post": "stop_import",
    "undo-block post": "unblock", "block post": "quality",
    "grants post": "grants", "withdraw-grant post": "grants", "ledger-checks post": "check_ledger",
    "bonuses post": "bonuses", "bonus-quote post": "bonuses",
    "bonus-files post": "bonuses", "order-bonus-file post": "bonuses",
    "compensations post": "compensate", "compensation-quote post": "compensate",
    "withdraw-compensation post": "withdraw",
    "qualification-tests post": "qualification_tests", "offer-qualification-test post": "qualification_tests",
    "withdraw-qualification-test post": "qualification_tests", "draw-qualification-test post": "qualification_tests",
    "fetch-qualification-test-results post": "qualification_tests",
    "qualification-test patch": "“editing, deleting and requiring a qualification test”",
    "qualification-test delete": "“editing, deleting and requiring a qualification test”",
    "required-test put": "“editing, deleting and requiring a qualification test”",
    "required-test delete": "“editing, deleting and requiring a qualification test”",
    "options patch": "options", "task patch": "“task”",
    "stage patch": "stage",
    "computation-runs post": "compute", "computation-answers post": "compute",
    "resume-computation-run post": "compute", "stop-computation-run post": "“stopping a computation”",
    "releases post": "release", "evaluate-release post": "evaluate",
    "publish post": "publish", "pause post": "pause", "resume post": "resume",
    "expire post": "expire", "extend post": "extend", "delete-hits post": "delete_hits", "harvest post": "harvest",
    "rule put": "rule", "rule-preview post": "rule", "judge-again post": "rejudge", "draw post": "draw",
    "article put": "“correcting mentions of articles”", "drop-query post": "queries", "undo-article post": "queries",
    "annotations post": "annotations", "generate-again post": "annotations", "confirm-change-set post": "annotations",
    "undo-change-set post": "annotations",
    "target put": "“correcting targets”", "undo-target post": "“correcting targets”",
    "approve post": "approve", "reject post": "reject", "take-back post": "take_back",
    "undo-change post": "“undoing and redoing changes of items”",
    "redo-change post": "“undoing and redoing changes of items”",
}  # fmt: skip


def test_every_verb_is_a_command_or_named_in_the_readme_as_none() -> None:
    verbs = {f"{route.name} {method}" for route, method in routes() if method != "get"}
    assert verbs == set(COMMANDS)
    named = {name for name in COMMANDS.values() if name.startswith("“")}
    assert set(COMMANDS.values()) - named <= set(get_commands())
    readme = " ".join((settings.ROOT / "README.md").read_text(encoding="utf-8").split())
    sentence = readme.partition("These have no command yet:")[2].partition(".")[0]
    assert {part.strip() for part in sentence.split(";")} == {name.strip("“”") for name in named}
