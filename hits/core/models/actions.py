"""The action log: who did what, when and from where. `hits.core.action_log.record` is its one writer."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from hits.answers.models import Assignment, Label
from hits.projects.models import Project
from hits.stages.models import Stage
from hits.workers.models import Block

LONGEST_NAME = 150
# Of a detail, what names the thing that something was done to.
NAMES = (
    *("answers", "owner", "member", "role", "test", "item", "computation", "settings", "project", "pool", "worker"),
    *("workers", "webhook", "template"),
)


class ActionQuerySet(models.QuerySet["Action"]):
    def of_project(self) -> ActionQuerySet:
        """What was done to the project, its stages and its workers; single answers have theirs on their own pages."""
        rows = self.filter(assignment=None, label=None)
        return rows.select_related("stage", "block__worker", "block__stage")

    def of_stage(self, stage: Stage) -> ActionQuerySet:
        """What was done in the stage: to itself, and to workers who were blocked in it. Each part goes by an index."""
        rows = self.order_by().values("pk")
        in_it = rows.filter(stage=stage).union(rows.filter(block__stage=stage))
        return self.filter(pk__in=in_it).select_related("block__worker")


class Origin(models.TextChoices):
    PAGE = "page", "a page"
    API = "api", "the API"
    COMMAND = "command", "the command line"
    ITSELF = "itself", "by itself"


class Action(models.Model):
    """Something that a lead, a program or the installation itself changed. Rows are written once and stay."""

    Origin = Origin

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="actions")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+", help_text="Null: no lead."
    )
    name = models.CharField(
        max_length=LONGEST_NAME,
        blank=True,
        help_text="The lead's name then, or of a command the account of the machine; empty: by itself.",
    )
    origin = models.CharField(max_length=7, choices=Origin.choices)
    verb = models.CharField(max_length=60, help_text="What was done, as pages show it: “approved”.")
    at = models.DateTimeField(auto_now_add=True)
    detail = models.JSONField(default=dict, help_text="Such as an amount before and after.")
    # What it was done to; all empty where it was the project.
    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, null=True, related_name="actions")
    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, null=True, related_name="actions")
    label = models.ForeignKey(Label, on_delete=models.CASCADE, null=True, related_name="actions")
    block = models.ForeignKey(Block, on_delete=models.CASCADE, null=True, related_name="actions")

    objects = ActionQuerySet.as_manager()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.verb} {self.by}"

    @property
    def about(self) -> str:
        """What `detail` or the block names: an amount before and after, an owner, a test, an item, a worker ..."""
        if self.block:
            return self.block.worker.worker_id
        if "price" in self.detail:
            items = self.detail["items"]
            return f"{items:,} {'item' if items == 1 else 'items'} for ${self.detail['price']}"
        if "release" in self.detail:
            return f"{self.detail['release']}"
        if "version" in self.detail:
            return f"version {self.detail['version']}"
        if "from" in self.detail:
            return f"from ${self.detail['from']} to ${self.detail['to']}"
        return ", ".join(str(self.detail[name]) for name in NAMES if name in self.detail)

    @property
    def where(self) -> Stage | None:
        """The stage that it was done in; None: in the project."""
        return self.block.stage if self.block else self.stage

    @property
    def by(self) -> str:
        """Such as "by anna", "by anna through the API", "on the command line by root", "automatically"."""
        return _by(self.origin, self.name)


class AccountAction(models.Model):
    """Something that was changed of an account, such as its password. Rows are written once and go with the account."""

    account = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="account_actions")
    name = models.CharField(
        max_length=LONGEST_NAME,
        blank=True,
        help_text="Whose session or token it was, or of a command the account of the machine; empty: by itself.",
    )
    origin = models.CharField(max_length=7, choices=Origin.choices)
    verb = models.CharField(max_length=60, help_text="What was done, as pages show it: “changed the password”.")
    about = models.CharField(max_length=100, blank=True, help_text="Such as the browser whose session was ended.")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.verb} {self.by}"

    @property
    def by(self) -> str:
        """As of an `Action`."""
        return _by(self.origin, self.name)


def _by(origin: str, name: str) -> str:
    if origin == Origin.COMMAND:
        return f"on the command line by {name}"
    if not name:
        return "automatically"
    return f"by {name} through the API" if origin == Origin.API else f"by {name}"
