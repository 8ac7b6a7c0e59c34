"""Projects, their recipes and budget."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.http import HttpResponse
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from hits import tasks
from hits.api.base import LeadView, ProjectView, Started, operation, started
from hits.api.paging import PageQuery, asked, page, page_of, sent
from hits.core.jobs import queue
from hits.models import Project
from hits.payments.api.shapes import BudgetRequestShape
from hits.payments.rules.budget_requests import AboveLimitError
from hits.payments.verbs import requesting_budget
from hits.projects.api import shapes
from hits.projects.jobs import sample_crowd
from hits.projects.rules.plugins import offered
from hits.projects.verbs import archiving, invitations, project_files
from hits.projects.verbs import projects as flow
from hits.stages.api.shapes import ProjectActionShape

TAG = "Projects"


class Recipes(LeadView):
    @operation(
        "recipes_list", "The recipes that a project can start from", tag=TAG, answer=shapes.RecipeShape(many=True)
    )
    def get(self, request: Request) -> Response:
        return Response(shapes.RecipeShape(offered().recipes, many=True).data)


class PluginFaults(LeadView):
    @operation(
        "plugin_faults",
        "Folders of plug-ins that cannot be used, and why; empty when all can",
        tag=TAG,
        answer=shapes.PluginFaults,
    )
    def get(self, request: Request) -> Response:
        return Response(shapes.PluginFaults({"faults": offered().faults}).data)


class Projects(LeadView):
    pays = frozenset({"POST"})

    @operation(
        "projects_list",
        "Your projects",
        tag=TAG,
        query=shapes.ProjectQuery,
        answer=page_of(shapes.ProjectShape),
    )
    def get(self, request: Request) -> Response:
        wanted = asked(request, shapes.ProjectQuery)
        mine = Project.objects.visible_to(self.user)
        rows = mine.matching(wanted["find"], wanted["state"]).select_related("account")
        return page(request, rows, shapes.ProjectShape)

    @operation(
        "projects_create",
        "Start a project from a recipe, or from the file of one; nothing is published",
        tag=TAG,
        takes=shapes.NewProject,
        answer=shapes.ProjectDetailShape,
        code=201,
        refuses=[403, 409],
    )
    def post(self, request: Request) -> Response:
        values = sent(request, shapes.NewProject)
        if (text := values.pop("recipe_file", None)) is not None:
            project = project_files.create_from(project_files.read(text.encode()), owner=self.user, **values)
        else:
            project = flow.create_project(owner=self.user, **values)
        return _started(project, self.user)


def _started(made: Project, user: User) -> Response:
    project = Project.objects.visible_to(user).select_related("account").get(pk=made.pk)
    if project.qualification_tests.exists():
        queue.start(tasks.finish_tests, project.pk)
    return Response(shapes.ProjectDetailShape(project).data, status=status.HTTP_201_CREATED)


class RecipeFile(ProjectView):
    @operation(
        "projects_recipe_file",
        "The project's recipe as one TOML file, with its settings, tasks, rules and tests; without items",
        tag=TAG,
        code=(200, "application/toml"),
        answer=OpenApiTypes.BINARY,
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> HttpResponse:
        name = f"{self.project.slug}.toml"
        headers = {"Content-Disposition": content_disposition_header(True, name) or "attachment"}
        return HttpResponse(project_files.written(self.project), content_type="application/toml", headers=headers)


class Clone(ProjectView):
    pays = frozenset({"POST"})

    @operation(
        "projects_clone",
        "Start a project with the settings of this one; you own it, and nothing is published",
        tag=TAG,
        takes=shapes.NewClone,
        answer=shapes.ProjectDetailShape,
        code=201,
        refuses=[400, 403, 404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        given = sent(request, shapes.NewClone)
        return _started(project_files.clone(self.project, owner=self.user, **given), self.user)


class Archive(ProjectView):
    @operation(
        "projects_archive",
        "Archive a project: it leaves the list, and nothing in it changes until it is restored",
        tag=TAG,
        answer=shapes.ProjectDetailShape,
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        archiving.archive(self.project, self.user)
        return Response(shapes.ProjectDetailShape(self.project).data)


class Restore(ProjectView):
    # What waited for money goes on.
    pays = frozenset({"POST"})

    @operation(
        "projects_restore",
        "Take an archived project into use again",
        tag=TAG,
        answer=shapes.ProjectDetailShape,
        refuses=[404],
    )
    def post(self, request: Request, **address: str) -> Response:
        archiving.restore(self.project, self.user)
        return Response(shapes.ProjectDetailShape(self.project).data)


class Tags(ProjectView):
    @operation(
        "projects_tags",
        "Replace the words that a project is found by",
        tag=TAG,
        takes=shapes.Tags,
        answer=shapes.ProjectDetailShape,
        refuses=[404, 409],
    )
    def put(self, request: Request, **address: str) -> Response:
        given = sent(request, shapes.Tags)
        archiving.change_tags(self.project, " ".join(given["tags"]), self.user)
        return Response(shapes.ProjectDetailShape(self.project).data)


class SimulatedCrowd(ProjectView):
    # Each answer is paid.
    pays = frozenset({"POST"})

    @operation(
        "projects_simulated_crowd",
        "Let a simulated crowd answer a sample project, on one's own machine",
        tag=TAG,
        code=202,
        answer=Started,
        refuses=[404, 409, 503],
    )
    def post(self, request: Request, **address: str) -> Response:
        if sample_crowd.ask(self.project, self.user):
            queue.start(tasks.let_crowd_answer, self.project.pk)
        return started("A simulated crowd answers.", self.address("project"))


class ProjectDetail(ProjectView):
    @operation(
        "projects_show",
        "A project with its money and the figures of its stages",
        tag=TAG,
        answer=shapes.ProjectDetailShape,
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        return Response(shapes.ProjectDetailShape(self.project).data)


class Actions(ProjectView):
    @operation(
        "projects_actions",
        "What was done in a project, its stages and to its workers: who did what, when and from where",
        tag=TAG,
        query=PageQuery,
        answer=page_of(ProjectActionShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        return page(request, self.project.actions.of_project(), ProjectActionShape)


class Budget(ProjectView):
    pays = frozenset({"PUT"})

    @operation(
        "budget_change",
        "Change the budget, a large change with `confirm`; never below what is reserved and paid. Above what the "
        "caller may set it becomes a request, which waits for an owner (202); above what an owner may budget in all "
        "it is refused (`above_lead_limit`)",
        tag=TAG,
        takes=shapes.Budget,
        answer=shapes.AccountShape,
        refuses=[404, 409],
        more={202: BudgetRequestShape},
    )
    def put(self, request: Request, **address: str) -> Response:
        wanted = sent(request, shapes.Budget)
        try:
            flow.change_budget(self.project, wanted["budget"], self.user, confirmed=wanted.get("confirm"))
        except AboveLimitError:
            row = requesting_budget.ask_for_budget(self.project, self.user, wanted["budget"], wanted["why"])
            return Response(BudgetRequestShape(row).data, status=status.HTTP_202_ACCEPTED)
        self.project.account.refresh_from_db()
        return Response(shapes.AccountShape(self.project.account).data)


class AcceptInvitation(LeadView):
    pays = frozenset({"POST"})
    heavy = frozenset({"POST"})

    @operation(
        "invitations_accept",
        "Become a member of the project that an invitation is for",
        tag="Members",
        takes=shapes.InvitationToken,
        answer=shapes.Accepted,
        refuses=[404, 409],
    )
    def post(self, request: Request) -> Response:
        given = sent(request, shapes.InvitationToken)
        return Response({"project": invitations.accept(given["token"], self.user).slug})
