"""Shapes of stages, their tasks and their rules."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from hits.api.shapes import MoneyField, Shape, StateField, UsernameField
from hits.models import Action, Stage
from hits.protocols.optional import Setting
from hits.recipes.stage_settings import SETTINGS, StageSettings
from hits.stages.rules.stage_tables import column_of


class FiguresShape(Shape):
    """The figures that the pages show; `updated_at` says how old they are."""

    items = serializers.IntegerField()
    waiting = serializers.IntegerField(help_text="Imported, not published.")
    published = serializers.IntegerField()
    open = serializers.IntegerField(help_text="At the marketplace, no verdict yet.")
    again = serializers.IntegerField(help_text="Of the open ones: need another answer.")
    answered = serializers.IntegerField(help_text="Items with at least one answer that counts.")
    decided_by_models = serializers.IntegerField(
        help_text="Items whose standing verdict is that of models: neither published nor answered."
    )
    kept = serializers.IntegerField()
    kept_by_models = serializers.IntegerField(help_text="Of the kept ones: models decided them.")
    dropped = serializers.IntegerField()
    check_questions = serializers.IntegerField(help_text="Published or not; not among the items.")
    answers = serializers.IntegerField()
    to_review = serializers.IntegerField()
    invalid = serializers.IntegerField()
    rejected = serializers.IntegerField()
    held = serializers.IntegerField(
        help_text="Answers that count only when you approve them: not eligible, or too fast."
    )
    reported = serializers.IntegerField()
    scored = serializers.IntegerField()
    correct = serializers.IntegerField()
    median_seconds = serializers.FloatField(allow_null=True)
    next_auto_approval = serializers.DateTimeField(allow_null=True)
    answers_an_hour = serializers.FloatField()
    timeline = serializers.ListField(help_text="[[hour, answers], ...], oldest first.")
    histogram = serializers.ListField(
        child=serializers.IntegerField(), help_text="20 counts of workers by accuracy, in steps of 5 %."
    )
    scores = serializers.DictField(help_text="Such as em and f1, where the protocol measures them.")
    conclusions = serializers.ListField(help_text="[[outcome, the rule's own word, items], ...], most first.")
    made = serializers.DictField(help_text="Where a program makes the items: sums of their figures by name.")
    updated_at = serializers.DateTimeField(help_text="When they were counted.")
    is_old = serializers.BooleanField(
        help_text="Items or answers have changed since. Figures of a large stage are not counted at every change."
    )


AnyField = serializers.Field[Any, Any, Any, Any]


def _field_of(name: str, **options: Any) -> AnyField:
    """Of a setting of `StageSettings`, by what its value is."""
    setting = StageSettings.model_fields[name]
    options |= {"help_text": SETTINGS[name].help}
    if name == "reward":
        return MoneyField(**options)
    if name == "quality":
        return serializers.DictField(**options)
    if name == "requirements":
        return serializers.ListField(child=serializers.DictField(), **options)
    if name == "asks_other_workers_than":
        return serializers.ListField(child=serializers.CharField(), **options)
    if setting.annotation is bool:
        return serializers.BooleanField(**options)
    if setting.annotation is float:
        return serializers.FloatField(**options)
    if setting.annotation in (int, int | None):
        return serializers.IntegerField(allow_null=setting.annotation is not int, **options)
    return serializers.CharField(allow_blank=setting.default == "", **options)


class StageShape(Shape):
    """With the value of each setting, by the column that holds it."""

    id = serializers.IntegerField()
    key = serializers.CharField(help_text="Names the stage in addresses.")
    position = serializers.IntegerField(help_text="From 1; 0 for the stage without a crowd before the first.")
    protocol = serializers.CharField()
    crowd = serializers.BooleanField(help_text="People are asked; else a program makes the items and nothing is paid.")
    state = StateField(Stage.State)
    approval = StateField(Stage.Approval)
    published = serializers.SerializerMethodField(
        help_text="Workers have seen it: what `settings/` calls fixed cannot change any more."
    )
    settings = serializers.DictField()
    rule = serializers.DictField()
    rule_edition = serializers.IntegerField(help_text="Counts the rules that the stage has had.")
    auto_publish = serializers.BooleanField()
    auto_block = serializers.BooleanField()
    advance_approved = serializers.BooleanField(
        help_text="Where a lead approves answers: only approved ones go on to later stages."
    )
    hit_type_id = serializers.CharField()
    figures = FiguresShape(source="summary")

    def get_fields(self) -> dict[str, AnyField]:
        fields = super().get_fields()
        return fields | {column_of(name): _field_of(name) for name in SETTINGS if column_of(name) not in fields}

    def get_published(self, stage: Stage) -> bool:
        return bool(stage.hit_types)


class StageSettingShape(Shape):
    """A setting as the recipe's file writes it."""

    name = serializers.CharField()
    value = serializers.JSONField()
    recipe = serializers.JSONField(help_text="The recipe's own value; null where the recipe has no such stage.")
    when = serializers.CharField(
        help_text="When it can change: `any time`; `next HITs`: those that are published keep theirs; `fixed`."
    )
    why = serializers.CharField(help_text="Why it is fixed.")


def _setting(field: type[AnyField], **options: Any) -> Any:
    """Its limits are those of a recipe's file; whoever writes the row knows them."""
    return field(required=False, **options)


class StageValues(Shape):
    """Limits and spelling are those of a recipe's file."""

    def get_fields(self) -> dict[str, AnyField]:
        return {name: _field_of(name, required=False) for name in SETTINGS} | super().get_fields()


class StageChange(StageValues):
    """What is not sent stays as it is."""

    recipe_values = _setting(
        serializers.ListField, child=serializers.CharField(), help_text="Names of settings that get the recipe's value."
    )
    confirm = _setting(
        serializers.DictField,
        help_text="The same values once more, by name, such as {reward: 1.50}: wanted for a raise of reward or answers "
        "to ten times as much or more, or by which the items that wait cost over $1,000 more.",
    )
    auto_publish = serializers.BooleanField(required=False)
    auto_block = serializers.BooleanField(required=False)
    advance_approved = serializers.BooleanField(required=False)


class StageInputShape(Shape):
    """Where the items of an added stage come from."""

    stage = serializers.CharField(
        allow_blank=True, default="", help_text="The key of an earlier stage; empty: the rows of the imported file."
    )
    each = serializers.ChoiceField(
        choices=["item", "answer", "known"],
        default="item",
        help_text="An item of each kept item, or of each answer to it; known: its items with a gold answer, a test.",
    )


class NewStage(StageValues):
    """What is not sent has a default."""

    title = serializers.CharField()
    key = _setting(serializers.CharField, help_text="Lower-case words joined by hyphens; the title's by default.")
    protocol = _setting(
        serializers.CharField, help_text="One that asks about rows, such as form; of a test, that of the tested stage."
    )
    settings = _setting(serializers.DictField, help_text="Those of the protocol, as `task/` takes them.")
    ready = _setting(
        serializers.CharField,
        help_text="Instead of settings: a ready-made task to begin with, such as sentiment of form.",
    )
    input = StageInputShape(required=False)


class ActionShape(Shape):
    """Who did what, when and from where."""

    verb = serializers.CharField(help_text="Such as `approved`, `rejected`, `rejection taken back`, `blocked`.")
    by = serializers.CharField(source="name", help_text="A lead, or the account a command ran in; empty: by itself.")
    origin = serializers.ChoiceField(Action.Origin.choices, help_text="`itself`: nobody asked for it.")
    at = serializers.DateTimeField()


class ProjectActionShape(ActionShape):
    """The same, with what it was done to."""

    about = serializers.CharField(help_text="Such as a worker, an owner, a test or an item; empty: the whole.")
    stage = serializers.CharField(source="where.key", default=None, help_text="The stage's key; null: the project.")


class RuleText(Shape):
    text = serializers.CharField(max_length=5000, trim_whitespace=False, help_text="The rule in lines.")


class NewRule(RuleText):
    note = serializers.CharField(max_length=200, required=False, default="", allow_blank=True, help_text="Why.")
    seen = serializers.IntegerField(min_value=1, help_text="The edition that you looked at; another one is refused.")


class SavedRule(Shape):
    edition = serializers.IntegerField()
    see = serializers.CharField(help_text="The address that shows how many items are left to judge.")


class RuleEditionShape(Shape):
    number = serializers.IntegerField()
    rule = serializers.DictField()
    note = serializers.CharField()
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField(allow_null=True, help_text="Null for the recipe's rule.")


class RuleShape(Shape):
    edition = serializers.IntegerField()
    rule = serializers.DictField(help_text="name, version, params.")
    text = serializers.CharField(help_text="Empty where the rule is not written in lines.")
    left_to_judge = serializers.IntegerField(help_text="Items that wait for a verdict by this rule.")
    units = serializers.DictField(help_text="What a rule can name: each unit with its values, null where many.")
    texts = serializers.DictField(
        help_text="Of each unit the values that are keys of choices, with their texts; without those that differ from "
        "item to item."
    )
    editions = RuleEditionShape(many=True, help_text="Newest first.")


class RuleFaultShape(Shape):
    line = serializers.IntegerField()
    column = serializers.IntegerField()
    message = serializers.CharField()


class EndingShape(Shape):
    outcome = serializers.CharField(help_text="`kept`, `dropped` or `open`.")
    word = serializers.CharField(help_text="The rule's own; may be empty.")


class RuleCountShape(Shape):
    conclusion = EndingShape(source="*")
    now = serializers.IntegerField()
    then = serializers.IntegerField()

    def to_representation(self, count: Any) -> dict[str, Any]:
        ending, now, then = count
        return {"conclusion": ending._asdict(), "now": now, "then": then}


class RulePartShape(Shape):
    word = serializers.CharField()
    now = serializers.IntegerField()
    then = serializers.IntegerField()

    def to_representation(self, count: Any) -> dict[str, Any]:
        return dict(zip(("word", "now", "then"), count, strict=True))


class RuleMoveShape(Shape):
    before = EndingShape()
    after = EndingShape()
    items = serializers.IntegerField()
    examples = serializers.SerializerMethodField(help_text="Ids of a few of them.")

    @extend_schema_field(serializers.ListField(child=serializers.IntegerField()))
    def get_examples(self, move: Any) -> list[int]:
        return [pk for pk, _ in move.examples]


class RulePreviewShape(Shape):
    items = serializers.IntegerField()
    moved = serializers.IntegerField(help_text="Items that another conclusion would hold for.")
    counts = RuleCountShape(many=True)
    moves = RuleMoveShape(many=True)
    parts = RulePartShape(many=True, help_text="Of groups, where the rule judges groups.")
    unread = serializers.IntegerField(help_text="Judged too long ago to be previewed: they stand as they are.")
    uncomputed = serializers.IntegerField(
        help_text="The rule looks at values that are not computed for their answers: they stand as they are."
    )
    unheard = RuleFaultShape(many=True, help_text="Units and values that no answer so far holds.")


class SettingShape(Shape):
    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    kind = serializers.CharField(help_text="text, html, lines, bool, number, choice or parts (an object of lists).")
    help = serializers.CharField()
    options = serializers.SerializerMethodField(help_text="What a choice can be.")

    def get_options(self, setting: Setting) -> list[str]:
        return [value for value, _ in setting.options]


class TaskShape(Shape):
    protocol = serializers.CharField()
    hit_title = serializers.CharField()
    hit_description = serializers.CharField()
    settings = serializers.DictField()
    frozen = serializers.BooleanField(help_text="Something is published: the task cannot change any more.")
    form = SettingShape(many=True, help_text="The settings that the page shows; empty where it shows none.")


class TaskChange(Shape):
    """What is not sent stays as it is."""

    hit_title = serializers.CharField(required=False, max_length=128)
    hit_description = serializers.CharField(required=False, max_length=2000)
    settings = serializers.DictField(required=False)
