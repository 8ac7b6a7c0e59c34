"""Who may do what in a project: one table, asked by the one guard of pages and that of the API.

Each verb has the least role that may do it, and names every page (`hits.urls`) and route (`hits.api.urls`, with its
method) that does it. What the table does not name is refused to everybody. docs/verbs.md shows the table; tests hold
it and the addresses together.
"""

from __future__ import annotations

from dataclasses import dataclass

from hits.projects.models import Membership, Project
from hits.projects.rules.archived import ArchivedError
from hits.refusals import Refusal

Role = Membership.Role
OWNER, MANAGER, REVIEWER, READER = Role.OWNER, Role.MANAGER, Role.REVIEWER, Role.READER
# From the one that may least to the one that may everything.
RANKS = (READER, REVIEWER, MANAGER, OWNER)
LOOKING = ("GET", "HEAD")
OWNERS_NAMED = 5


class RoleRefusedError(Refusal):
    """The role of a member does not allow this. Nothing was changed."""

    error_code = "role"
    http_status = 403

    def __init__(self, project: Project, role: str, least: str | None) -> None:
        self.slug, self.role, self.least = project.slug, role, least
        needs = "No role may do this."
        if least is not None:
            needs = f"This takes the role {' or '.join(RANKS[RANKS.index(Role(least)) :])}."
        owners = list(project.owners.values_list("username", flat=True)[: OWNERS_NAMED + 1])
        more = " and others" if len(owners) > OWNERS_NAMED else ""
        super().__init__(
            f"{needs} You are {named(role)} of {project.name}. "
            f"Its owner{'s' if len(owners) > 1 else ''}: {', '.join(owners[:OWNERS_NAMED])}{more}."
        )

    def details(self) -> dict[str, str]:
        return {"role": self.role, "needed": self.least or ""}


def named(role: str) -> str:
    """'owner' -> 'an owner'."""
    return f"an {role}" if role == OWNER else f"a {role}"


@dataclass(frozen=True)
class Verb:
    """`pages` are names of pages, which answer to GET and POST alike; `routes` such as "POST publish".

    `while_archived`: it is done in an archived project too: it changes nothing there, or takes a person's access away.
    """

    name: str
    least: str
    pages: frozenset[str]
    routes: frozenset[str]
    while_archived: bool = False


def _verb(
    name: str, least: str, *, pages: str = "", routes: tuple[str, ...] = (), while_archived: bool = False
) -> Verb:
    return Verb(name, least, frozenset(pages.split()), frozenset(routes), while_archived)


def _get(names: str) -> tuple[str, ...]:
    return tuple(f"GET {name}" for name in names.split())


# Of these pages, GET alone: where one takes a form too, the verb of the form says who may send it.
LOOK = _verb(
    "Look at everything",
    READER,
    pages="""
        project project-card project-done simulated-crowd-progress upload upload-progress sample-file media members
        ledger ledger-checks ledger-check ledger-check-progress payments payments-progress compensations compensation
        budget-requests
        computations computation computation-progress computation-results computation-outside
        options options-split releases release-preview release worker
        qualification-tests qualification-test preview-qualification-test qualification-test-results
        grants grants-of grants-progress pools pool pool-progress best-for-pool terms terms-version webhooks webhook
        messages message-templates message-template inbox
        stage stage-done stage-progress workers stage-settings stage-wage task-settings preview-task rule rule-progress
        items item hits answers review changes protocol-page protocol-page-item queries article annotations change-set
        results project-results agreement screening models people-and-models suggestions priorities
    """,
    routes=_get("""
        project actions terms uploads sample-file upload media
        blocks undo-block messages inbox
        budget-requests ledger ledger-checks ledger-check
        options computations computation-runs computation-run computation-run-results
        release-preview releases release release-card
        stages stage stage-settings stage-actions task quote batches batch rule draw
        workers worker-confusion worker-texts block-proposals block message-workers
        items item agreement targets target articles article change-sets change-set answers changes left-out screening
        people-and-models routings suggestions
    """),
    while_archived=True,
)
EXPORT = _verb(
    "Download what is there: releases, results, answers, the ledger, the recipe",
    READER,
    pages="""
        recipe-file ledger-csv computation-files release-file release-archive answers-csv items-csv
        workers-csv annotations-file changes-csv agreement-csv suggestions-csv results-file project-results-file
        people-and-models-csv
    """,
    routes=_get("recipe-file computation-files release-file release-archive annotations results project-results"),
    while_archived=True,
)
TABLE = (
    LOOK,
    EXPORT,
    _verb("Change the budget, or ask for more", MANAGER, pages="change-budget", routes=("PUT budget",)),
    _verb("Withdraw a request for money", MANAGER, pages="withdraw-request", routes=("POST withdraw-request",)),
    _verb("Approve a request for money", OWNER, pages="approve-request", routes=("POST approve-request",)),
    _verb("Decline a request for money", OWNER, pages="decline-request", routes=("POST decline-request",)),
    _verb("Archive a project", OWNER, pages="archive-project", routes=("POST archive",)),
    _verb("Restore an archived project", OWNER, pages="restore-project", routes=("POST restore",), while_archived=True),
    _verb("Change the tags", MANAGER, pages="change-tags", routes=("PUT tags",)),
    _verb("Clone a project", MANAGER, pages="clone-project", routes=("POST clone",), while_archived=True),
    _verb("Import a file", MANAGER, pages="import", routes=("POST uploads",)),
    _verb(
        "See the columns of a table, and choose them", MANAGER, pages="upload-columns", routes=("POST upload-columns",)
    ),
    _verb(
        "Let a simulated crowd answer a sample project",
        MANAGER,
        pages="simulated-crowd",
        routes=("POST simulated-crowd",),
    ),
    _verb("Stop an import", MANAGER, pages="stop-import", routes=("POST stop-upload",)),
    _verb(
        "Import results",
        MANAGER,
        pages="import-results results-columns",
        routes=("POST results", "POST results-columns"),
    ),
    _verb("Make a questionnaire of a file of results", MANAGER, pages="results-form", routes=("POST results-form",)),
    _verb("Remove imported results", MANAGER, pages="remove-results", routes=("DELETE result-file",)),
    _verb("Add media", MANAGER, pages="add-media", routes=("POST media",)),
    _verb("Delete media that no published item shows", MANAGER, pages="delete-media", routes=("DELETE media-file",)),
    _verb("Change the recipe's options", MANAGER, pages="options", routes=("PATCH options",)),
    _verb("Add a stage", MANAGER, pages="add-stage screening", routes=("POST stages",)),
    _verb("Remove a stage that was never published", MANAGER, pages="remove-stage", routes=("DELETE stage",)),
    _verb(
        "Change the settings and what goes on by itself",
        MANAGER,
        pages="stage-settings arrivals auto-block advance-approved",
        routes=("PATCH stage",),
    ),
    _verb("Change the text and settings of the task", MANAGER, pages="task-settings try-task", routes=("PATCH task",)),
    _verb("Change the aggregation rule", MANAGER, pages="confirm-rule save-rule", routes=("PUT rule",)),
    _verb("Try an aggregation rule", READER, pages="rule-preview", routes=("POST rule-preview",), while_archived=True),
    _verb("Re-run the rule", MANAGER, pages="judge-again", routes=("POST judge-again",)),
    _verb(
        "See what models would decide",
        READER,
        routes=("POST routing-preview",),
        while_archived=True,
    ),
    _verb("Let models decide items", MANAGER, pages="route-items", routes=("POST routings",)),
    _verb("Send items that models decided to people", MANAGER, pages="undo-routing", routes=("POST undo-routing",)),
    _verb("Add suggestions of a model", MANAGER, pages="suggestions", routes=("POST suggestions",)),
    _verb("Change what is published first", MANAGER, pages="priorities", routes=("PATCH items",)),
    _verb("Take a sample", MANAGER, pages="draw", routes=("POST draw",)),
    _verb("Require a qualification test", MANAGER, pages="required-test", routes=("PUT required-test",)),
    _verb("Require it no longer", MANAGER, pages="required-test", routes=("DELETE required-test",)),
    _verb("Publish", MANAGER, pages="publish", routes=("POST publish",)),
    _verb("Pause publishing", MANAGER, pages="pause", routes=("POST pause",)),
    _verb("Resume publishing", MANAGER, pages="resume", routes=("POST resume",)),
    _verb("Close HITs early", MANAGER, pages="expire", routes=("POST expire",)),
    _verb("Keep HITs open longer", MANAGER, pages="extend", routes=("POST extend",)),
    _verb("Delete finished HITs", MANAGER, pages="delete-hits", routes=("POST delete-hits",)),
    _verb("Collect answers now", REVIEWER, pages="harvest", routes=("POST harvest",)),
    _verb("Approve", REVIEWER, pages="approve approve-others review-approve review-rest", routes=("POST approve",)),
    _verb("Reject", REVIEWER, pages="reject review-reject", routes=("POST reject",)),
    _verb("Undo a decision before it is sent", REVIEWER, pages="review-undo", routes=("POST undo-decision",)),
    _verb("Take back a rejection", REVIEWER, pages="take-back", routes=("POST take-back",)),
    _verb("Undo a worker's change", REVIEWER, pages="undo-change", routes=("POST undo-change",)),
    _verb("Take up an undone change again", REVIEWER, pages="redo-change", routes=("POST redo-change",)),
    _verb("Block", MANAGER, pages="block block-chosen", routes=("POST block",)),
    _verb(
        "Write to workers",
        MANAGER,
        pages="message-workers message-stage reply-to-worker",
        routes=("POST message-workers", "POST message-stage", "POST reply-to-worker"),
    ),
    _verb("Mark what a worker wrote as answered", REVIEWER, pages="mark-answered", routes=("POST mark-answered",)),
    _verb("Open it again", REVIEWER, pages="open-again", routes=("POST open-again",)),
    _verb("Pause workers", MANAGER, pages="pause-workers", routes=("POST pause-workers",)),
    _verb("Undo a block", MANAGER, pages="undo-block", routes=("POST undo-block",)),
    _verb("Change the terms for workers", MANAGER, pages="terms", routes=("PUT terms",)),
    _verb("Withdraw the terms for workers", MANAGER, pages="withdraw-terms", routes=("DELETE terms",)),
    _verb("Put the questions of a file into a test", MANAGER, pages="fill-qualification-test"),
    _verb("Check the ledger", MANAGER, pages="check-ledger", routes=("POST ledger-checks",)),
    _verb("Start a computation", MANAGER, pages="start-computation", routes=("POST computation-runs",)),
    _verb("Stop a computation", MANAGER, pages="stop-computation", routes=("POST stop-computation-run",)),
    _verb("Resume a computation", MANAGER, pages="resume-computation", routes=("POST resume-computation-run",)),
    _verb(
        "Bring in what was computed elsewhere",
        MANAGER,
        pages="import-computation",
        routes=("POST computation-answers",),
    ),
    _verb("Change the mentions of an article", REVIEWER, pages="change-mention", routes=("PUT article",)),
    _verb("Take a query out", REVIEWER, pages="drop-query", routes=("POST drop-query",)),
    _verb("Undo the last change of an article", REVIEWER, pages="undo-article", routes=("POST undo-article",)),
    _verb("Make the queries again", MANAGER, pages="generate-again", routes=("POST generate-again",)),
    _verb("Bring in corrected annotations", REVIEWER, pages="annotations", routes=("POST annotations",)),
    _verb("Confirm brought-in annotations", REVIEWER, pages="confirm-change-set", routes=("POST confirm-change-set",)),
    _verb("Undo brought-in annotations", REVIEWER, pages="undo-change-set", routes=("POST undo-change-set",)),
    _verb("Change the targets of a text", REVIEWER, pages="protocol-page-item", routes=("PUT target",)),
    _verb("Undo the last change of the targets", REVIEWER, pages="undo-on-page", routes=("POST undo-target",)),
    _verb(
        "State licence, citation and description",
        MANAGER,
        pages="change-release-card",
        routes=("PATCH release-card",),
    ),
    _verb("Make a release", MANAGER, pages="make-release", routes=("POST releases",)),
    _verb("Run the baselines of a release", MANAGER, pages="run-baselines", routes=("POST run-baselines",)),
    _verb("Keep a system's scores with a release", MANAGER, pages="keep-system", routes=("POST keep-system",)),
    _verb(
        "Score predictions against a release",
        READER,
        pages="evaluate-release",
        routes=("POST evaluate-release",),
        while_archived=True,
    ),
)

_SEEN = LOOK.pages | EXPORT.pages
_OF_PAGE = {page: verb for verb in TABLE if verb not in (LOOK, EXPORT) for page in verb.pages}
_OF_ROUTE = {route: verb for verb in TABLE for route in verb.routes}


_DECLARED: dict[str, Verb] = {}


def declare(verb: Verb, name: str) -> None:
    """Who may do what is declared under this name (`hits.core`), which its page has too."""
    _DECLARED[name] = verb


def declared(name: str) -> Verb:
    """Raises KeyError."""
    return _DECLARED[name]


def table() -> tuple[Verb, ...]:
    """Every verb: those of TABLE, then the declared ones."""
    return tuple(dict.fromkeys([*TABLE, *_DECLARED.values()]))


def page_verb(page: str, method: str) -> Verb | None:
    """The verb that a page does with this method; None: the table does not name it."""
    if method in LOOKING and page in _SEEN:
        return EXPORT if page in EXPORT.pages else LOOK
    return _DECLARED.get(page) or _OF_PAGE.get(page)


def route_verb(route: str, method: str) -> Verb | None:
    """The verb that a route does with this method; None: the table does not name it."""
    return _OF_ROUTE.get(f"{'GET' if method in LOOKING else method} {route}")


def may(role: str, verb: Verb | None) -> bool:
    return verb is not None and RANKS.index(Role(role)) >= RANKS.index(Role(verb.least))


def may_in(project: Project, verb: Verb | None) -> bool:
    """Whether the role that this project was asked for with may do this, in the state that the project has."""
    return may(project.role, verb) and (not project.is_archived or (verb is not None and verb.while_archived))


def refuse_unless_allowed(project: Project, verb: Verb | None) -> None:
    """Raises RoleRefusedError unless the role that this project was asked for with may do this, and ArchivedError."""
    if not may(project.role, verb):
        raise RoleRefusedError(project, project.role, verb.least if verb else None)
    if not may_in(project, verb):
        raise ArchivedError(project)


def gained() -> list[tuple[str, list[str]]]:
    """Each role, from the one that may least, with the verbs that it may do and the role before may not."""
    return [(role.value, [verb.name for verb in table() if verb.least == role]) for role in RANKS]


# What each role is for, in a sentence.
IN_SHORT = {
    READER: "Looks at everything, and changes nothing.",
    REVIEWER: "Also approves and rejects answers, and corrects texts.",
    MANAGER: "Also imports, publishes, pays, blocks, and changes tasks, settings and releases; asks for money.",
    OWNER: "Also decides about the budget and the members, and archives the project.",
}
