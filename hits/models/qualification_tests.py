"""Qualification tests that leads build, the scores that workers got, and what a stage still lacks of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import models

from hits.models.projects import Project, Stage
from hits.refusals import Refusal


class QualificationTest(models.Model):
    """Offered at the marketplace as a qualification that it grades by itself. It is edited only while it is a draft.

    The row is the intent of the calls: "offering" and "withdrawing" are written before the marketplace is asked.
    """

    class State(models.TextChoices):
        DRAFT = "draft", "Draft"
        OFFERING = "offering", "Being offered"
        OFFERED = "offered", "Offered"
        WITHDRAWING = "withdrawing", "Being withdrawn"
        WITHDRAWN = "withdrawn", "Withdrawn"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="qualification_tests")
    key = models.SlugField(max_length=60, help_text="Names the test in stages and recipes, such as reading-test.")
    title = models.CharField(max_length=80)
    description = models.TextField(help_text="Workers read it before they begin.")
    questions = models.JSONField(default=list, help_text="[{text, question, choices, right}, ...], right from 0.")
    pass_mark = models.PositiveSmallIntegerField(default=80, help_text="Percent of the questions.")
    minutes = models.PositiveSmallIntegerField(default=15)
    retry_days = models.PositiveSmallIntegerField(null=True, help_text="Days until another attempt; empty: never.")
    state = models.CharField(max_length=12, choices=State.choices, default=State.DRAFT)
    qualification_type_id = models.CharField(max_length=64, blank=True)
    error = models.TextField(blank=True, help_text="What the marketplace said last, when it was not yes.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    offered_at = models.DateTimeField(null=True)
    withdrawn_at = models.DateTimeField(null=True)
    scores_at = models.DateTimeField(null=True, help_text="As of when the scores were fetched.")

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint("project", "key", name="test_key_once_a_project")]

    def __str__(self) -> str:
        return f"{self.key} of {self.project}"

    @property
    def remote_name(self) -> str:
        """The qualification's name at the marketplace: of this row alone, so that it is found again by it."""
        return f"{f'{self.title}: {self.project.name}'[:170]} ({self.project.namespace[:6]}-{self.pk})"

    @property
    def fingerprint(self) -> str:
        """Of everything that workers see and that grades them."""
        seen = [self.title, self.description, self.questions, self.pass_mark, self.minutes, self.retry_days]
        return hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()[:16]


class QualificationScore(models.Model):
    """A worker's value, as the marketplace held it when it was last asked."""

    test = models.ForeignKey(QualificationTest, on_delete=models.CASCADE, related_name="scores", db_index=False)
    worker_id = models.CharField(max_length=64, help_text="The marketplace's id; the worker may have no answer here.")
    value = models.IntegerField(help_text="Percent of the questions that were right.")
    granted_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint("test", "worker_id", name="one_score_a_test_and_worker")]
        indexes = [models.Index(fields=["test", "-id"], name="score_by_test")]

    def __str__(self) -> str:
        return f"{self.worker_id}: {self.value}"


class NotOfferedError(Refusal):
    """A stage requires a qualification test that workers cannot take. Offer it, or take the requirement away."""

    error_code = "test_not_offered"

    def __init__(self, missing: Sequence[Unoffered]) -> None:
        self.missing = tuple(missing)
        super().__init__(" ".join(one.sentence for one in missing))

    def details(self) -> dict[str, Any]:
        return {"qualification_tests": [one.key for one in self.missing]}


@dataclass(frozen=True)
class Unoffered:
    """A test that a stage requires and that is not on offer; `state` is empty when the project has no such test.

    `can_be_given` says that it need not be a test: whoever is given it passes.
    """

    key: str
    state: str
    can_be_given: bool = False

    @property
    def sentence(self) -> str:
        if self.can_be_given and not self.state:
            return (
                f"Only workers who have “{self.key}” can answer in this stage, and nobody has it: give it to workers "
                "under “Qualifications held” first."
            )
        begin = f"This stage requires the qualification test “{self.key}”, which"
        state = QualificationTest.State
        if self.state == state.DRAFT:
            return f"{begin} is still a draft: offer it to workers first."
        if self.state == state.OFFERING:
            return f"{begin} is just being offered: wait until the marketplace has it."
        if self.state in (state.WITHDRAWING, state.WITHDRAWN):
            return f"{begin} is withdrawn: offer it again."
        return f"{begin} this project does not have: build it and offer it to workers first."


def unoffered(stage: Stage) -> list[Unoffered]:
    """The tests that would keep every worker out of the stage.

    A hyphen makes a qualification the project's own. Whoever holds none of it passes with DoesNotExist alone.
    """
    wanted = {one["qualification"]: one["comparator"] for one in stage.requirements if "-" in one["qualification"]}
    if not wanted:
        return []
    tests = QualificationTest.objects.filter(project=stage.project_id, key__in=wanted)
    states = dict(tests.values_list("key", "state"))
    needed = [key for key, comparator in wanted.items() if key in states or comparator != "DoesNotExist"]
    lacking = [key for key in needed if states.get(key) != QualificationTest.State.OFFERED]
    if not lacking:
        return []
    granted = set(stage.project.qualifications.filter(key__in=lacking).values_list("key", flat=True))
    missing = [key for key in lacking if key in states or key not in granted]
    return [Unoffered(key, states.get(key, ""), can_be_given=wanted[key] == "Exists") for key in missing]


def refuse_unoffered(stage: Stage) -> None:
    """Raises NotOfferedError when the stage requires a test that is not on offer."""
    missing = unoffered(stage)
    if missing:
        raise NotOfferedError(missing)
