"""Workers, their figures, blocks and tests of workers, as the API tells them."""

from __future__ import annotations

from typing import Any

from django.core.validators import MaxLengthValidator
from rest_framework import serializers

from hits.answers.api.shapes import EvidenceSentenceShape
from hits.api.paging import ListQuery
from hits.api.shapes import AT_ONCE, MoneyField, Shape, UsernameField
from hits.stages.api.shapes import ActionShape
from hits.stats.blocking import MEASURES
from hits.workers.rules import worker_table
from hits.workers.rules.block_proposals import LONGEST_WHY
from hits.workers.rules.worker_table import WorkerRow
from hits.workers.verbs.blocking import LONGEST_REASON, MOST_HOURS


class EvidenceShape(Shape):
    worker_id = serializers.CharField(source="worker")
    measure = serializers.CharField(
        help_text=f"What answers were held against: one of {', '.join(f'`{name}`' for name in MEASURES)}."
    )
    scored = serializers.IntegerField()
    correct = serializers.FloatField(help_text="Of `scored`; with `agreement` and `competence` a sum of shares.")
    accuracy = serializers.FloatField()
    interval = serializers.ListField(child=serializers.FloatField(), help_text="95 %, low and high.")
    average = serializers.FloatField(help_text="Of all workers.")
    p_value = serializers.FloatField()
    chance = serializers.FloatField(allow_null=True, help_text="Where the floor is relative.")
    share = serializers.FloatField(allow_null=True, help_text="Of the way from chance to the average; null: fixed.")
    floor = serializers.FloatField()
    alpha = serializers.FloatField()


class ProposalShape(EvidenceShape):
    answers = serializers.IntegerField(help_text="Answers of this worker that count now, and would not.")


class BlockQuery(Shape):
    worker_id = serializers.ListField(
        child=serializers.CharField(max_length=64),
        required=False,
        validators=[MaxLengthValidator(AT_ONCE)],
        help_text="Count what follows for these alone; all proposed ones by default.",
    )


class WorkersQuery(ListQuery):
    orders = worker_table.KEYED
    # A worker's id may be longer than any other place.
    after = serializers.CharField(
        max_length=200, default="", help_text="What `next` names. In the order of ids it is an id."
    )
    sort = serializers.ChoiceField(
        worker_table.SORTS,
        default="id",
        help_text="With `-` from the highest on; `known`: the share of gold answers that were right, `why`: how much "
        "stands out. Workers of whom the figure is not known come last.",
    )


class WorkerQuery(Shape):
    worker_id = serializers.CharField(max_length=64)


class WorkerConfusionShape(Shape):
    unit = serializers.CharField()
    labels = serializers.ListField(child=serializers.JSONField(), help_text="Of rows and columns alike.")
    table = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField()),
        help_text="A row for each value of an item: how often the worker said each label of such items.",
    )
    same = serializers.IntegerField(help_text="Answers that are the item's value.")
    items = serializers.IntegerField(
        help_text="Items with a value that the worker answered, of the newest 5,000 labels."
    )
    left_out = serializers.IntegerField(help_text="Answers with labels that are too rare for the table.")
    texts = serializers.DictField(
        child=serializers.CharField(),
        help_text="Of labels that are keys of choices, the texts; without those that differ from item to item.",
    )


class WorkerConfusions(Shape):
    units = WorkerConfusionShape(many=True, help_text="Empty until the agreement of the stage was computed.")


class WorkerTextsShape(Shape):
    """Of a worker's newest 1,000 answers with text evidence. For people to look at: nothing is decided by it."""

    answers = serializers.IntegerField(source="written.answers")
    counted = serializers.IntegerField(source="written.counted", help_text="Of these, those whose page counted.")
    mostly_pasted = serializers.IntegerField(source="written.pasted", help_text="Of these, half or more was pasted.")
    near_duplicates = serializers.IntegerField(
        source="written.near", help_text="Answers that share their wording with an earlier one of another worker."
    )
    with_signs = serializers.IntegerField()
    sentences = EvidenceSentenceShape(many=True, help_text="Signs first.")


class UndoPreview(Shape):
    answers = serializers.IntegerField(help_text="Answers that count again.")
    hits = serializers.IntegerField(help_text="HITs that are closed, since no answer of theirs is wanted any more.")
    places = serializers.IntegerField(help_text="Answers that may still come to these HITs.")
    released = MoneyField(help_text="What that gives back to the budget at most, once the marketplace confirms it.")


class Proposals(Shape):
    """What follows when those chosen are blocked; `cost` is what `block/` wants as its confirmation."""

    results = ProposalShape(many=True)
    chosen = serializers.ListField(child=serializers.CharField())
    answers = serializers.IntegerField(help_text="Answers that stop counting, in every stage of the project.")
    replacements = serializers.IntegerField(help_text="Answers that are bought again at most.")
    cost = MoneyField(help_text="Of the replacements at most, fees included.")
    budget_left = MoneyField(min_value=None)


class ByHandQuery(Shape):
    worker_id = serializers.ListField(
        child=serializers.CharField(max_length=64), default=list, validators=[MaxLengthValidator(AT_ONCE)]
    )


class ByHandShape(Shape):
    """What follows when these are blocked by hand; `cost` is what `block/` wants as its confirmation."""

    workers = serializers.ListField(child=serializers.DictField(), help_text="Their figures, as `workers/` has them.")
    answers = serializers.IntegerField(help_text="Answers that stop counting, in every stage of the project.")
    replacements = serializers.IntegerField(help_text="Answers that are bought again at most.")
    cost = MoneyField(help_text="Of the replacements at most, fees included.")
    budget_left = MoneyField(min_value=None)


class BlockWorkers(Shape):
    worker_ids = serializers.ListField(
        child=serializers.CharField(max_length=64), allow_empty=False, validators=[MaxLengthValidator(AT_ONCE)]
    )
    cost = MoneyField(help_text="As the preview gave it: refused when it would cost more by now.")
    reason = serializers.CharField(
        required=False,
        max_length=LONGEST_REASON,
        help_text="Blocks them by hand, whatever the policy says. Without it, only those of `block-proposals/`.",
    )
    tell = serializers.BooleanField(
        default=False, help_text="Write to each worker why, and what happens to their answers; once a block."
    )
    told = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=LONGEST_WHY,
        help_text="With `reason` and `tell`: why, as the workers read it. By the policy they read its figures.",
    )


class PauseWorkers(Shape):
    worker_ids = serializers.ListField(
        child=serializers.CharField(max_length=64), allow_empty=False, validators=[MaxLengthValidator(AT_ONCE)]
    )
    hours = serializers.IntegerField(min_value=1, max_value=MOST_HOURS)
    reason = serializers.CharField(default="", allow_blank=True, max_length=LONGEST_REASON)


class WrongItemShape(Shape):
    key = serializers.CharField()
    answers = serializers.IntegerField()
    wrong = serializers.IntegerField(help_text="Of these. Where most are, perhaps the gold answer is wrong.")


class ScreeningShape(Shape):
    """Workers of a test by what became of them."""

    began = serializers.IntegerField(help_text="Those who answered, and those whose page kept something.")
    passed = serializers.IntegerField()
    failed = serializers.IntegerField()
    again = serializers.IntegerField(help_text="Failed, may try again, and have not.")
    waiting = serializers.IntegerField(help_text="Answers that count for nothing until a lead approves them.")
    median = serializers.FloatField(allow_null=True, help_text="Of the results, in percent; null before the first.")
    practice = serializers.IntegerField(help_text="Items that are kept for practice.")
    items = WrongItemShape(many=True, help_text="Of the test, those most often wrong, first; ten at most.")


class BlockShape(Shape):
    id = serializers.IntegerField()
    worker_id = serializers.CharField(source="worker.worker_id")
    stage = serializers.CharField(source="stage.key")
    state = serializers.CharField(help_text="`intended`, `granted`, `lifting` or `undone`.")
    evidence = serializers.DictField()
    error = serializers.CharField(help_text="Why the marketplace did not grant or revoke it.")
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField()
    until = serializers.DateTimeField(allow_null=True, help_text="When a pause ends; null: a block.")
    undone_at = serializers.DateTimeField(allow_null=True)
    actions = ActionShape(many=True, help_text="Who blocked and who undid it, oldest first.")


class WorkerShape(Shape):
    """A worker's figures in this stage."""

    id = serializers.IntegerField()
    worker_id = serializers.CharField(source="worker.worker_id")
    answers = serializers.IntegerField()
    scored = serializers.IntegerField()
    correct = serializers.IntegerField()
    accuracy = serializers.SerializerMethodField(help_text="Null before anything was scored.")
    interval = serializers.SerializerMethodField(help_text="95 % Wilson interval of the accuracy, low and high.")
    compared = serializers.IntegerField(help_text="Answers beside which another worker's counts.")
    agreement = serializers.SerializerMethodField(help_text="Mean share of the others' answers that say the same.")
    agreement_interval = serializers.SerializerMethodField(help_text="95 %, low and high.")
    beyond_chance = serializers.SerializerMethodField(help_text="1: perfect agreement, 0: what chance gives.")
    repeats = serializers.SerializerMethodField(help_text="Share of answers that say what the one before said.")
    longest_run = serializers.IntegerField(help_text="Of equal answers one after another.")
    competence = serializers.SerializerMethodField(help_text="0 to 1 by the newest aggregation; null: see the reason.")
    competence_method = serializers.SerializerMethodField(help_text="Dawid-Skene or MACE; empty without one.")
    competence_at = serializers.SerializerMethodField(help_text="When that aggregation ended; null without one.")
    competence_missing = serializers.SerializerMethodField(help_text="Why there is none; empty where there is one.")
    median_seconds = serializers.FloatField(allow_null=True)
    earned = MoneyField(help_text="Approved rewards.")
    why = serializers.SerializerMethodField(help_text="What stands out, else why the worker is blocked; mostly empty.")
    would_be_blocked = serializers.SerializerMethodField(help_text="Whether a policy of the project names the worker.")
    blocked = serializers.SerializerMethodField()

    def get_accuracy(self, row: Any) -> float | None:
        return WorkerRow(row).known

    def get_interval(self, row: Any) -> list[float] | None:
        return list(WorkerRow(row).known_interval) if row.scored else None

    def get_agreement(self, row: Any) -> float | None:
        return WorkerRow(row).agreement

    def get_agreement_interval(self, row: Any) -> list[float] | None:
        return list(WorkerRow(row).agreement_interval) if row.compared else None

    def get_beyond_chance(self, row: Any) -> float | None:
        return WorkerRow(row).beyond_chance

    def get_repeats(self, row: Any) -> float | None:
        return WorkerRow(row).repeats

    def get_competence(self, row: Any) -> float | None:
        return self._estimated(row).competence

    def get_competence_method(self, row: Any) -> str:
        found = self._estimated(row)
        return "" if found.competence is None else found.estimates.method

    def get_competence_at(self, row: Any) -> str | None:
        found = self._estimated(row)
        return None if found.competence is None or found.estimates.at is None else found.estimates.at.isoformat()

    def get_competence_missing(self, row: Any) -> str:
        return self._estimated(row).competence_missing

    def _estimated(self, row: Any) -> WorkerRow:
        return WorkerRow(row, estimates=self.context["estimates"])

    def get_why(self, row: Any) -> str:
        return self._named(row).why

    def get_would_be_blocked(self, row: Any) -> bool:
        return self._named(row).named is not None

    def _named(self, row: Any) -> WorkerRow:
        named = self.context["named"].get(row.worker.worker_id)
        return WorkerRow(row, self.context["standing"].get(row.worker_id), named=named)

    def get_blocked(self, row: Any) -> bool:
        block = self.context["standing"].get(row.worker_id)
        return block is not None and block.until is None
