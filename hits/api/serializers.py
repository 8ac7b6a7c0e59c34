"""What goes over the wire, field by field. Money is text with two decimals; times are ISO 8601 in UTC."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.core.validators import MaxLengthValidator
from django.db.models import TextChoices
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ParseError
from rest_framework.reverse import reverse

from hits.api import parsing
from hits.api.paging import PageQuery
from hits.flow.api_tokens import MOST_DAYS, USUAL_DAYS
from hits.flow.common import faults_of
from hits.formats.payments import LONGEST_REASON
from hits.models import (
    Action,
    ApiToken,
    Assignment,
    Bonus,
    Compensation,
    ComputationRun,
    Item,
    LedgerCheck,
    LedgerEntry,
    Project,
    Release,
    Stage,
)
from hits.models import BonusFile as BonusFileRow
from hits.models.differences import KINDS
from hits.mturk.calls import Window
from hits.protocols.optional import Setting
from hits.quality.intervals import wilson
from hits.recipes.source import Computation
from hits.recipes.spec import LONGEST_SECONDS

Shape = serializers.Serializer[Any]
LARGEST = Decimal("9999999999.99")
AT_ONCE = 1000


class MoneyField(serializers.DecimalField):
    """Dollars and cents, as text."""

    def __init__(self, **options: Any) -> None:
        bounds = {"min_value": Decimal(0), "max_value": LARGEST}
        super().__init__(**{"max_digits": 12, "decimal_places": 2, **bounds, **options})


class StateField(serializers.CharField):
    """A word of a list that may grow; the list stands in the description."""

    def __init__(self, choices: type[TextChoices], **options: Any) -> None:
        words = "; ".join(f"`{value}` {label}" for value, label in choices.choices if value)
        super().__init__(read_only=True, help_text=words, **options)


class UsernameField(serializers.CharField):
    def __init__(self, source: str) -> None:
        super().__init__(source=f"{source}.username", read_only=True, default=None, allow_null=True)


# Signing in


class Credentials(Shape):
    username = serializers.CharField(max_length=150)
    password = serializers.CharField(max_length=1000, trim_whitespace=False, style={"input_type": "password"})
    name = serializers.CharField(max_length=60, default="API", help_text="What uses it, to recognise it by.")
    scope = serializers.ChoiceField(
        choices=ApiToken.Scope.choices,
        default=ApiToken.Scope.WRITE.value,
        help_text="`write` changes what costs nothing; what spends money takes `pay`.",
    )
    days = serializers.IntegerField(
        min_value=1, max_value=MOST_DAYS, default=USUAL_DAYS, help_text="How long it signs in."
    )


class TokenShape(Shape):
    id = serializers.IntegerField()
    name = serializers.CharField()
    start = serializers.CharField(help_text="Its first characters. The whole token is shown once, when it is made.")
    scope = StateField(ApiToken.Scope)
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField(allow_null=True, help_text="Five minutes exact.")


class NewToken(TokenShape):
    token = serializers.CharField(help_text="Send it as `Authorization: Token <token>`. It is shown this once.")


# Projects


class RecipeStageShape(Shape):
    key = serializers.CharField()
    title = serializers.CharField()
    protocol = serializers.CharField()
    crowd = serializers.BooleanField(help_text="People are asked; else a program makes the items.")
    reward = MoneyField()
    answers = serializers.IntegerField()


class OptionShape(Shape):
    label = serializers.CharField()  # type: ignore[assignment]  # every field has an attribute of this name
    unit = serializers.CharField(help_text="What is counted.")
    help = serializers.CharField(help_text="What changes with it.")
    paper = serializers.CharField(help_text="The paper's value.")
    choices = serializers.DictField(help_text="Of a text that is one of these, each value with its words.")
    least = serializers.FloatField(allow_null=True)
    most = serializers.FloatField(allow_null=True)


class RecipeShape(Shape):
    name = serializers.CharField()
    title = serializers.CharField()
    version = serializers.CharField()
    description = serializers.CharField()
    options = serializers.DictField(help_text="Each with the value that a project gets unless it says otherwise.")
    described = serializers.DictField(child=OptionShape(), help_text="What the options mean, by name.")
    stages = RecipeStageShape(many=True)


class PluginFaults(Shape):
    faults = serializers.ListField(child=serializers.CharField(), help_text="A sentence each, which names the folder.")


class AccountShape(Shape):
    budget = MoneyField()
    reserved = MoneyField()
    paid = MoneyField()
    left = MoneyField()


class NewProject(Shape):
    name = serializers.CharField(max_length=120)
    recipe = serializers.CharField(max_length=60)
    budget = MoneyField()
    contact_email = serializers.EmailField(help_text="Workers see it on every task page.")
    options = serializers.DictField(required=False, default=dict, help_text="Replaces options of the recipe.")
    seed = serializers.IntegerField(
        required=False, min_value=0, max_value=2**31 - 1, help_text="Drawn at random when it is not given."
    )


class ProjectShape(Shape):
    id = serializers.IntegerField()
    slug = serializers.CharField(help_text="Names the project in addresses.")
    name = serializers.CharField()
    recipe = serializers.CharField()
    contact_email = serializers.EmailField()
    created_at = serializers.DateTimeField()
    account = AccountShape()


class OwnerShape(Shape):
    username = serializers.CharField(max_length=150)


class Budget(Shape):
    budget = MoneyField()
    confirm = MoneyField(
        required=False,
        help_text="The same amount once more: wanted for more than ten times the budget, or a change of over $1,000.",
    )


# Stages


class FiguresShape(Shape):
    """The figures that the pages show; `updated_at` says how old they are."""

    items = serializers.IntegerField()
    waiting = serializers.IntegerField(help_text="Imported, not published.")
    published = serializers.IntegerField()
    open = serializers.IntegerField(help_text="At the marketplace, no verdict yet.")
    again = serializers.IntegerField(help_text="Of the open ones: need another answer.")
    answered = serializers.IntegerField(help_text="Items with at least one answer that counts.")
    kept = serializers.IntegerField()
    dropped = serializers.IntegerField()
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
    updated_at = serializers.DateTimeField()


class StageShape(Shape):
    id = serializers.IntegerField()
    key = serializers.CharField(help_text="Names the stage in addresses.")
    title = serializers.CharField()
    position = serializers.IntegerField(help_text="From 1; 0 for the stage without a crowd before the first.")
    protocol = serializers.CharField()
    crowd = serializers.BooleanField(help_text="People are asked; else a program makes the items and nothing is paid.")
    state = StateField(Stage.State)
    reward = MoneyField()
    pay_frozen = serializers.SerializerMethodField(help_text="Workers see the reward already: it cannot change.")
    answers = serializers.IntegerField(help_text="Answers wanted an item.")
    approval = StateField(Stage.Approval)
    auto_approval_seconds = serializers.IntegerField()
    assignment_seconds = serializers.IntegerField()
    lifetime_seconds = serializers.IntegerField()
    expected_seconds = serializers.IntegerField(
        allow_null=True,
        help_text="Of one answer, for the wage until times are measured; null: as the description says.",
    )
    hit_title = serializers.CharField()
    hit_description = serializers.CharField()
    keywords = serializers.CharField()
    settings = serializers.DictField()
    requirements = serializers.ListField(child=serializers.DictField())
    rule = serializers.DictField()
    rule_edition = serializers.IntegerField(help_text="Counts the rules that the stage has had.")
    draws = serializers.IntegerField(help_text="Items that a draw brings by default; 0: none is drawn.")
    quality = serializers.DictField(help_text="The blocking policy; empty for none.")
    not_workers_of = serializers.ListField(child=serializers.CharField())
    auto_publish = serializers.BooleanField()
    auto_block = serializers.BooleanField()
    advance_approved = serializers.BooleanField(
        help_text="Where a lead approves answers: only approved ones go on to later stages."
    )
    hit_type_id = serializers.CharField()
    figures = FiguresShape(source="summary")

    def get_pay_frozen(self, stage: Stage) -> bool:
        return bool(stage.hit_type_id)


class StageChange(Shape):
    """What is not sent stays as it is."""

    reward = MoneyField(required=False, max_digits=8, min_value=Decimal("0.01"), max_value=Decimal("999999.99"))
    auto_publish = serializers.BooleanField(required=False)
    auto_block = serializers.BooleanField(required=False)
    advance_approved = serializers.BooleanField(required=False)
    expected_seconds = serializers.IntegerField(required=False, allow_null=True, min_value=1, max_value=86_400)


class SettingShape(Shape):
    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    kind = serializers.CharField(help_text="text, lines, bool, number or choice.")
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


class ProjectDetailShape(ProjectShape):
    seed = serializers.IntegerField()
    options = serializers.DictField()
    owners = serializers.SerializerMethodField()
    stages = serializers.SerializerMethodField()
    faults = serializers.SerializerMethodField(help_text="Why its recipe or a stage's task cannot be used now.")

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_faults(self, project: Project) -> list[str]:
        return faults_of(project, self._stages(project))

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_owners(self, project: Project) -> list[str]:
        return list(project.owners.order_by("username").values_list("username", flat=True))

    @extend_schema_field(StageShape(many=True))
    def get_stages(self, project: Project) -> list[dict[str, Any]]:
        return list(StageShape(self._stages(project), many=True).data)

    def _stages(self, project: Project) -> list[Stage]:
        """Read once for all fields."""
        if not hasattr(self, "_read"):
            self._read = list(project.stages.select_related("summary").order_by("position"))
        return self._read


# Files in


class NewUpload(Shape):
    file = serializers.FileField()
    origin = serializers.ChoiceField(["public", "crawled"], default="public")


class FaultShape(Shape):
    line = serializers.IntegerField(allow_null=True)
    place = serializers.CharField()
    message = serializers.CharField()


class UploadShape(Shape):
    id = serializers.IntegerField()
    name = serializers.CharField()
    origin = serializers.CharField()
    state = serializers.CharField(help_text="`queued`, `reading`, `storing`, `done`, `refused`, `stopped` or `failed`.")
    error = serializers.CharField(help_text="Why it failed; empty in every other state.")
    bytes = serializers.IntegerField(source="blob.size")
    done = serializers.IntegerField(help_text="Documents read so far.")
    total = serializers.IntegerField()
    items = serializers.IntegerField(help_text="Items that came in.")
    fault_count = serializers.IntegerField()
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class UploadDetailShape(UploadShape):
    faults = FaultShape(many=True, help_text="The first 1,000. With any, nothing was imported.")


# Publishing


class QuoteQuery(Shape):
    items = serializers.IntegerField(
        min_value=1, max_value=10_000_000, default=None, help_text="How many of the waiting items; all by default."
    )


class QuoteShape(Shape):
    """Send `items`, `total` and `confirmation` to publish/ to confirm it."""

    items = serializers.IntegerField()
    answers = serializers.IntegerField()
    reward = MoneyField()
    fee = MoneyField()
    unit_cost = MoneyField(help_text="Reward and fee of one answer.")
    total = MoneyField()
    hourly_wage = MoneyField(allow_null=True, help_text="Null where nobody knows how long an answer takes.")
    wage_assumed = serializers.BooleanField(help_text="Reckoned with the expected time: too few answers are measured.")
    median_seconds = serializers.FloatField(allow_null=True)
    budget_left = MoneyField()
    balance = MoneyField(allow_null=True, help_text="Of the marketplace account; null when it does not answer.")
    planned = MoneyField(help_text="Of the balance: reserved by this installation for calls on their way.")
    closes_at = serializers.DateTimeField()
    problems = serializers.ListField(child=serializers.CharField(), help_text="Sentences that stop it.")
    warnings = serializers.ListField(child=serializers.CharField(), help_text="Sentences that want a second look.")
    confirmation = serializers.CharField(help_text="A fresh key; any of your own does as well.")


class Confirmation(Shape):
    items = serializers.IntegerField(min_value=1, max_value=10_000_000)
    total = MoneyField(help_text="What the quote said.")
    confirmation = serializers.RegexField(
        r"\A[A-Za-z0-9_.:-]{8,40}\Z",
        help_text="8 to 40 letters, digits and _.:- of your choice. Sent again, it gives the same batch.",
    )


class BatchShape(Shape):
    id = serializers.IntegerField()
    kind = serializers.CharField(help_text="`first`, `again`, `expire`, `extend` or `delete`.")
    state = serializers.CharField(help_text="`publishing`, `paused`, `waiting` or `published`.")
    until = serializers.DateTimeField(allow_null=True, help_text="The new expiry, when this closes or extends HITs.")
    total = serializers.IntegerField(help_text="Calls to make.")
    done = serializers.IntegerField()
    refused = serializers.IntegerField()
    message = serializers.CharField(help_text="What the marketplace said last, when it was not yes.")
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class Extend(Shape):
    """Either of the two."""

    seconds = serializers.IntegerField(
        min_value=60,
        max_value=LONGEST_SECONDS,
        required=False,
        help_text="Added to the time at which the last open HIT closes now.",
    )
    until = serializers.DateTimeField(
        required=False, help_text="The new closing time; not before the present one. Sending it twice is harmless."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if len(attrs) != 1:
            raise serializers.ValidationError("Give either `seconds` or `until`.")
        return attrs


# Quality


class EvidenceShape(Shape):
    worker_id = serializers.CharField(source="worker")
    scored = serializers.IntegerField()
    correct = serializers.IntegerField()
    accuracy = serializers.FloatField()
    interval = serializers.ListField(child=serializers.FloatField(), help_text="95 %, low and high.")
    average = serializers.FloatField(help_text="Of all workers.")
    p_value = serializers.FloatField()
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


class BlockWorkers(Shape):
    worker_ids = serializers.ListField(
        child=serializers.CharField(max_length=64), allow_empty=False, validators=[MaxLengthValidator(AT_ONCE)]
    )
    cost = MoneyField(help_text="As `block-proposals/` gave it: refused when it would cost more by now.")


class ActionShape(Shape):
    """Who did what, when and from where."""

    verb = serializers.CharField(help_text="Such as `approved`, `rejected`, `rejection taken back`, `blocked`.")
    by = serializers.CharField(source="name", help_text="A lead, or the account a command ran in; empty: by itself.")
    origin = serializers.ChoiceField(Action.Origin.choices, help_text="`itself`: nobody asked for it.")
    at = serializers.DateTimeField()


class BlockShape(Shape):
    id = serializers.IntegerField()
    worker_id = serializers.CharField(source="worker.worker_id")
    stage = serializers.CharField(source="stage.key")
    state = serializers.CharField(help_text="`intended`, `granted`, `lifting` or `undone`.")
    evidence = serializers.DictField()
    error = serializers.CharField(help_text="Why the marketplace did not grant or revoke it.")
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField()
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
    median_seconds = serializers.FloatField(allow_null=True)
    earned = MoneyField(help_text="Approved rewards.")
    blocked = serializers.SerializerMethodField()

    def get_accuracy(self, row: Any) -> float | None:
        return row.correct / row.scored if row.scored else None

    def get_interval(self, row: Any) -> list[float] | None:
        return list(wilson(row.correct, row.scored)) if row.scored else None

    def get_blocked(self, row: Any) -> bool:
        return row.worker_id in self.context["blocked"]


# Items and answers


class ItemQuery(PageQuery):
    state = serializers.ChoiceField(Item.State.choices, required=False)
    conclusion = serializers.CharField(required=False, max_length=40, help_text="The rule's own word, such as valid.")


class VerdictShape(Shape):
    outcome = serializers.CharField()
    conclusion = serializers.CharField(help_text="The rule's own word, such as valid.")
    parts = serializers.DictField(help_text="A conclusion for each group, where the rule judges groups.")
    rule = serializers.CharField()
    rule_version = serializers.IntegerField()
    rule_edition = serializers.IntegerField(help_text="Counts the rules that the stage has had.")
    detail = serializers.DictField()
    decided_at = serializers.DateTimeField()
    superseded_at = serializers.DateTimeField(allow_null=True)


class ItemShape(Shape):
    id = serializers.IntegerField()
    key = serializers.CharField()
    document = serializers.CharField(source="document.key")
    origin = serializers.CharField(source="document.origin")
    purpose = serializers.CharField(source="document.purpose")
    state = StateField(Item.State)
    conclusion = serializers.CharField(help_text="The rule's own word, such as valid.")
    data = serializers.DictField(help_text="What the protocol asks.")  # type: ignore[assignment]
    verdict = serializers.SerializerMethodField(help_text="The one that stands.")

    @extend_schema_field(VerdictShape(allow_null=True))
    def get_verdict(self, item: Item) -> dict[str, Any] | None:
        standing = [verdict for verdict in item.verdicts.all() if verdict.superseded_at is None]
        return VerdictShape(standing[0]).data if standing else None


class HitShape(Shape):
    id = serializers.IntegerField()
    slot = serializers.IntegerField(help_text="Counts the HITs of one item, from 1.")
    hit_id = serializers.CharField(allow_null=True)
    state = serializers.CharField(help_text="`planned`, `sent`, `live`, `closed` or `refused`.")
    max_assignments = serializers.IntegerField()
    harvested = serializers.IntegerField()
    expires_at = serializers.DateTimeField(allow_null=True)
    closed_early = serializers.BooleanField(help_text="A lead closed it: it is not opened again by itself.")
    deleted_at = serializers.DateTimeField(allow_null=True, help_text="Deleted at the marketplace.")
    error = serializers.CharField()


class ItemDetailShape(ItemShape):
    verdicts = VerdictShape(many=True, help_text="Every one that it ever had.")
    hits = HitShape(many=True)


class AnswerQuery(PageQuery):
    show = serializers.ChoiceField(["to_review", "held", "invalid", "reported", "rejected", "adopted"], required=False)
    worker = serializers.CharField(required=False, max_length=64, help_text="A worker's id at the marketplace.")
    item = serializers.IntegerField(required=False, min_value=1, max_value=2**63 - 1)


class LabelShape(Shape):
    unit = serializers.CharField()
    value = serializers.JSONField()
    correct = serializers.BooleanField(allow_null=True, help_text="Against the reference; null where there is none.")
    void = serializers.BooleanField(help_text="It counts for nothing.")


class AnswerShape(Shape):
    id = serializers.IntegerField()
    item = serializers.IntegerField(source="hit.item_id")
    hit_id = serializers.CharField(source="hit.hit_id")
    assignment_id = serializers.CharField()
    worker_id = serializers.CharField(source="worker.worker_id")
    state = StateField(Assignment.State)
    decision = serializers.CharField(help_text="Decided, not yet confirmed by the marketplace.")
    not_before = serializers.DateTimeField(allow_null=True, help_text="The decision's call waits until then.")
    adopted = serializers.CharField(help_text="How its state came about when it was not your decision.")
    feedback = serializers.CharField()
    accepted_at = serializers.DateTimeField()
    submitted_at = serializers.DateTimeField()
    auto_approval_at = serializers.DateTimeField(allow_null=True)
    seconds = serializers.FloatField()
    answer = serializers.DictField(help_text="Form field to value, as the worker posted it.")
    problem = serializers.CharField(help_text="Why it is not valid; empty for a valid answer.")
    held = serializers.CharField(help_text="Why it counts only when you approve it; empty: it counts without that.")
    admitted = serializers.BooleanField(
        allow_null=True, help_text="Your decision on an answer with `held`: whether it counts; null: none yet."
    )
    remark = serializers.CharField(help_text="The worker's report or comment.")
    labels = LabelShape(many=True)
    actions = ActionShape(many=True, help_text="What was decided about it from here, oldest first.")


class AnswersChosen(Shape):
    answers = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**63 - 1),
        allow_empty=False,
        validators=[MaxLengthValidator(AT_ONCE)],
        help_text="Ids of answers of this stage.",
    )


class Rejection(AnswersChosen):
    feedback = serializers.CharField(max_length=1000, help_text="The reason. Workers read it.")


class Decided(Shape):
    decided = serializers.IntegerField(help_text="Answers that were undecided and are decided now.")
    see = serializers.CharField(help_text="The address that shows what still waits.")


# Money and files out


class LedgerQuery(PageQuery):
    kind = serializers.ChoiceField(LedgerEntry.Kind.choices, required=False)
    stage = serializers.CharField(required=False, max_length=60, help_text="A stage's key.")


class LedgerShape(Shape):
    id = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    kind = StateField(LedgerEntry.Kind)
    stage = serializers.CharField(source="stage.key", default=None, allow_null=True)
    reserved = MoneyField(min_value=-LARGEST, help_text="Change of what is reserved.")
    paid = MoneyField(min_value=-LARGEST, help_text="Change of what is paid, fee included.")
    fee = MoneyField(min_value=-LARGEST, help_text="Part of `paid` that is fee.")
    batch = serializers.IntegerField(source="batch_id", allow_null=True)
    hit_id = serializers.CharField(source="hit.hit_id", default=None, allow_null=True)
    assignment_id = serializers.CharField(source="assignment.assignment_id", default=None, allow_null=True)
    bonus = serializers.IntegerField(source="bonus_id", allow_null=True)
    compensation = serializers.IntegerField(source="compensation_id", allow_null=True)
    note = serializers.CharField()


class NewLedgerCheck(Shape):
    deep = serializers.BooleanField(
        required=False, default=False, help_text="Look at every answer and bonus: three calls a HIT."
    )


class LedgerCheckShape(Shape):
    id = serializers.IntegerField()
    state = StateField(LedgerCheck.State)
    deep = serializers.BooleanField()
    total = serializers.IntegerField(help_text="HITs to look at.")
    done = serializers.IntegerField()
    faults = serializers.SerializerMethodField(help_text="How many differences stay; 0 when the books agree.")
    in_flight = serializers.SerializerMethodField(help_text="How many pass by themselves.")
    message = serializers.CharField(help_text="Why the marketplace was not compared, when it was not.")
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)

    def get_faults(self, check: LedgerCheck) -> int:
        return len(check.faults)

    def get_in_flight(self, check: LedgerCheck) -> int:
        return len(check.in_flight)


class FigureShape(Shape):
    """Two sums that must be equal."""

    what = serializers.CharField(help_text="The sum, and its two sides.")
    one = MoneyField(min_value=-LARGEST)
    other = MoneyField(min_value=-LARGEST)


class DifferenceShape(Shape):
    kind = serializers.CharField(help_text="A stable word: " + ", ".join(f"`{key}`" for key in KINDS) + ".")
    title = serializers.SerializerMethodField()
    remedy = serializers.SerializerMethodField(help_text="What to do about it.")
    subject = serializers.CharField(help_text="The row.")
    books = serializers.CharField()
    marketplace = serializers.CharField()
    stage = serializers.CharField(help_text="The stage's key; empty where it belongs to none.")
    item = serializers.IntegerField(allow_null=True)
    passing = serializers.BooleanField(help_text="Normal while calls are under way.")

    def get_title(self, row: dict[str, Any]) -> str:
        return KINDS[row["kind"]].title

    def get_remedy(self, row: dict[str, Any]) -> str:
        return KINDS[row["kind"]].remedy


class LedgerCheckDetailShape(LedgerCheckShape):
    figures = serializers.SerializerMethodField()
    differences = DifferenceShape(many=True, help_text="At most 1,000; those that stay come first.")

    @extend_schema_field(FigureShape(many=True))
    def get_figures(self, check: LedgerCheck) -> list[dict[str, Any]]:
        return [{"what": what, "one": one, "other": other} for what, one, other in check.figures]


class AskedBonusShape(Shape):
    assignment_id = serializers.CharField(max_length=64)
    amount = serializers.CharField(max_length=20, help_text="Dollars and cents, such as 1.50.")
    reason = serializers.CharField(max_length=LONGEST_REASON, help_text="The worker reads it.")
    worker_id = serializers.CharField(
        required=False, default="", max_length=64, help_text="Compared with the answer's worker when it is given."
    )


class AskedBonuses(Shape):
    """Either `bonuses` in JSON, or a CSV file (assignment_id, amount, reason, perhaps worker_id) as a form."""

    bonuses = AskedBonusShape(many=True, allow_empty=False, validators=[MaxLengthValidator(AT_ONCE)])


class BonusFile(Shape):
    file = serializers.FileField(
        help_text="CSV in UTF-8 with a head, at most 10,000 lines and, outside bonus-files/, 262,144 bytes."
    )


class BonusFileRowShape(Shape):
    """A large file: once it is `ready`, send `total` and a `confirmation` to order/."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    state = StateField(BonusFileRow.State)
    error = serializers.CharField(help_text="Why it failed or was not ordered; empty otherwise.")
    fault_count = serializers.IntegerField()
    faults = FaultShape(many=True, help_text="The first 1,000. With any, nothing is paid.")
    count = serializers.IntegerField(source="quote.count", default=None, allow_null=True)
    total = MoneyField(source="quote.total", default=None, allow_null=True)
    warnings = serializers.ListField(child=serializers.CharField(), source="quote.warnings", default=list)
    order = serializers.IntegerField(source="order_id", allow_null=True)


class PaymentConfirmation(Shape):
    total = MoneyField(help_text="What the quote said.")
    confirmation = serializers.RegexField(
        r"\A[A-Za-z0-9_.:-]{8,40}\Z",
        help_text="8 to 40 letters, digits and _.:- of your choice. Sent again, it gives the same payment.",
    )


class BonusOrderRequest(AskedBonuses, PaymentConfirmation):
    pass


class BonusFileOrderRequest(BonusFile, PaymentConfirmation):
    pass


class ShareShape(Shape):
    worker_id = serializers.CharField()
    count = serializers.IntegerField()
    amount = MoneyField()


class PaymentQuoteShape(Shape):
    """Send what you asked for once more, with `total` and `confirmation`, to confirm it."""

    amount = MoneyField(help_text="To the workers.")
    fee = MoneyField()
    total = MoneyField()
    budget_left = MoneyField()
    balance = MoneyField(allow_null=True, help_text="Of the marketplace account; null when it does not answer.")
    problems = serializers.ListField(child=serializers.CharField(), help_text="Sentences that stop it.")
    warnings = serializers.ListField(child=serializers.CharField(), help_text="Sentences that want a second look.")
    confirmation = serializers.CharField(help_text="A fresh key; any of your own does as well.")


class BonusQuoteShape(PaymentQuoteShape):
    count = serializers.IntegerField()
    workers = serializers.IntegerField()
    highest = MoneyField(help_text="The highest single bonus.")
    shares = ShareShape(many=True, help_text="The workers who get most.")


class BonusOrderShape(Shape):
    id = serializers.IntegerField()
    filename = serializers.CharField()
    digest = serializers.CharField(help_text="SHA-256 of the file; empty without one.")
    total = serializers.IntegerField(help_text="Bonuses.")
    cost = MoneyField(help_text="With fees.")
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField()


class BonusOrderDetailShape(BonusOrderShape):
    counts = serializers.DictField(child=serializers.IntegerField(), help_text="Bonuses by state.")


class BonusQuery(PageQuery):
    state = serializers.ChoiceField(Bonus.State.choices, required=False)
    order = serializers.IntegerField(required=False, min_value=1, max_value=2**63 - 1)


class BonusShape(Shape):
    id = serializers.IntegerField()
    order = serializers.IntegerField(source="order_id")
    assignment_id = serializers.CharField(source="assignment.assignment_id")
    worker_id = serializers.CharField(source="worker.worker_id")
    amount = MoneyField()
    fee = MoneyField()
    reason = serializers.CharField()
    state = StateField(Bonus.State)
    paid_at = serializers.DateTimeField(allow_null=True)
    error = serializers.CharField(help_text="Why it waits or was refused.")


class AskedCompensation(Shape):
    worker_id = serializers.CharField(max_length=64, help_text="At the marketplace; needs no answer here.")
    amount = serializers.CharField(max_length=20, help_text="Dollars and cents, such as 1.50.")
    reason = serializers.CharField(max_length=LONGEST_REASON, help_text="The worker reads it.")


class CompensationRequest(AskedCompensation, PaymentConfirmation):
    pass


class CompensationQuoteShape(PaymentQuoteShape):
    worker_id = serializers.CharField()
    reason = serializers.CharField()
    open_until = serializers.DateTimeField()


class CompensationShape(Shape):
    id = serializers.IntegerField()
    worker_id = serializers.CharField()
    amount = MoneyField()
    fee = MoneyField()
    reason = serializers.CharField()
    state = StateField(Compensation.State)
    hit_id = serializers.CharField(allow_null=True)
    assignment_id = serializers.CharField()
    expires_at = serializers.DateTimeField(allow_null=True)
    paid_at = serializers.DateTimeField(allow_null=True)
    error = serializers.CharField(help_text="Why it waits or ended without a payment.")
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField()


class CompensationDetailShape(CompensationShape):
    address = serializers.CharField(help_text="Where the worker finds the HIT; empty before it is offered.")
    letter = serializers.CharField(help_text="A text to send to the worker; empty when there is nothing to take up.")


class PreviewShape(Shape):
    """What a release made now would hold."""

    why_empty = serializers.CharField(help_text="Why it would hold nothing and what to do; empty otherwise.")
    counts = serializers.DictField(child=serializers.IntegerField(), help_text="Items a split.")
    left_out = serializers.DictField(child=serializers.IntegerField(), help_text="Reason to items.")
    statistics = serializers.DictField()
    notes = serializers.ListField(child=serializers.CharField())
    scores = serializers.DictField()
    collection = serializers.ListField(
        child=serializers.DictField(),
        help_text="Of each stage what was asked, kept and dropped by reason, its answers, workers, blocked ones, "
        "median seconds and wage an hour in dollars.",
    )


class ReleaseShape(Shape):
    id = serializers.IntegerField()
    number = serializers.IntegerField()
    digest = serializers.CharField(help_text="SHA-256 of the manifest file's bytes.")
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField()


class ReleaseFileShape(Shape):
    name = serializers.CharField()
    bytes = serializers.IntegerField(source="blob.size")
    sha256 = serializers.CharField(source="blob.sha256")
    url = serializers.SerializerMethodField()

    @extend_schema_field(serializers.URLField())
    def get_url(self, file: Any) -> str:
        release = file.release
        return reverse(
            "api:release-file", [release.project.slug, release.number, file.name], request=self.context["request"]
        )


class ReleaseDetailShape(ReleaseShape):
    manifest = serializers.DictField()
    files = serializers.SerializerMethodField()

    @extend_schema_field(ReleaseFileShape(many=True))
    def get_files(self, release: Release) -> list[dict[str, Any]]:
        files = release.files.select_related("blob", "release__project")
        return list(ReleaseFileShape(files, many=True, context=self.context).data)


class NewPredictions(Shape):
    predictions = serializers.FileField(help_text="JSON {id: answer}, or CSV or JSON Lines with ids and labels.")
    file = serializers.CharField(
        default="", allow_blank=True, max_length=200, help_text="The file to compare with; empty: the key of test."
    )


class EvaluationShape(Shape):
    """`exact_match` and `f1` for ReCoRD, `accuracy` with its interval for the others."""

    release = serializers.IntegerField()
    file = serializers.CharField()
    n = serializers.IntegerField(help_text="Queries or questions.")
    exact_match = serializers.FloatField(required=False, help_text="Percent.")
    f1 = serializers.FloatField(required=False, help_text="Percent.")
    accuracy = serializers.FloatField(required=False, help_text="0 to 1.")
    low = serializers.FloatField(required=False, help_text="Of the 95 % interval of the accuracy.")
    high = serializers.FloatField(required=False)


# Calls of the marketplace


class CallsQuery(Shape):
    window = serializers.ChoiceField(
        choices=[window.value for window in Window], default=Window.HOUR.value, help_text="How far back."
    )


class CallFiguresShape(Shape):
    operation = serializers.CharField(help_text="The operation's name in the requester API; empty for all together.")
    calls = serializers.IntegerField(help_text="Attempts on the wire.")
    retries = serializers.IntegerField(help_text="Attempts that were not the first of their call.")
    throttled = serializers.IntegerField()
    refused = serializers.IntegerField()
    failed = serializers.IntegerField(help_text="Attempts without an answer, or with a passing fault.")
    milliseconds = serializers.IntegerField(help_text="Of all attempts together.")
    median_ms = serializers.FloatField(allow_null=True, help_text="Estimated; throttled attempts are left out.")
    p95_ms = serializers.FloatField(allow_null=True, help_text="95 % took no longer; estimated in the same way.")


class CallMomentShape(Shape):
    at = serializers.DateTimeField(help_text="Where the minute (window hour) or the hour begins.")
    calls = serializers.IntegerField()
    rate = serializers.FloatField(allow_null=True, help_text="Calls a second that were allowed then.")


class MarketplaceCallsShape(Shape):
    endpoint = serializers.CharField()
    rate = serializers.FloatField(help_text="Calls a second that the account may make now.")
    throttled_at = serializers.DateTimeField(allow_null=True, help_text="When the marketplace last slowed us.")
    shared = serializers.BooleanField(help_text="Whether Redis answers, so that all programs keep to one rate.")
    known = serializers.BooleanField(help_text="Whether the figures could be read.")
    since = serializers.DateTimeField()
    total = CallFiguresShape()
    operations = CallFiguresShape(many=True)
    timeline = CallMomentShape(many=True)


class BalanceShape(Shape):
    available = MoneyField()
    on_hold = MoneyField(allow_null=True, help_text="What the marketplace keeps back for HITs, where it says so.")


# Rules


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
    units = serializers.DictField(help_text="What answers speak of: each unit with its values, null where many.")
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
    unheard = RuleFaultShape(many=True, help_text="Units and values that no answer so far holds.")


# Computations, draws and options


class ComputationShape(Shape):
    key = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    stage = serializers.CharField(help_text="The key of the stage whose items it is about.")
    params = serializers.DictField(help_text="Each with the value that it has unless a run says otherwise.")
    options = serializers.DictField(child=OptionShape(), help_text="What the parameters mean, by name.")
    has_files = serializers.SerializerMethodField(help_text="Whether a model elsewhere can take part by files.")

    def get_has_files(self, of: Computation) -> bool:
        return of.outside is not None


class NewRun(Shape):
    computation = serializers.CharField(max_length=60)
    params = serializers.DictField(required=False, default=dict)


class JsonTextField(serializers.JSONField):
    """An object that is written as a text, where a form or an address has no objects."""

    def to_internal_value(self, data: Any) -> Any:
        try:
            value = super().to_internal_value(data)
            parsing.check(value)
        except RecursionError as error:
            raise serializers.ValidationError(parsing.too_deep()) from error
        except ParseError as error:
            raise serializers.ValidationError(str(error.detail)) from error
        if not isinstance(value, dict):
            raise serializers.ValidationError('Write an object, such as {"folds": 5}.')
        return value


class FilesQuery(serializers.Serializer[Any]):
    params = JsonTextField(binary=True, default=dict, help_text="Parameters as a JSON object, without the model.")


class NewAnswers(Shape):
    file = serializers.FileField()
    params = JsonTextField(binary=True, default=dict, help_text="The same as for the files.")


class RunShape(Shape):
    id = serializers.IntegerField()
    computation = serializers.CharField(source="key")
    params = serializers.DictField()
    seed = serializers.IntegerField()
    state = StateField(ComputationRun.State)
    done = serializers.IntegerField()
    total = serializers.IntegerField()
    items = serializers.IntegerField(help_text="Items that it concluded something about.")
    error = serializers.CharField()
    created_by = UsernameField("created_by")
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)


class RunDetailShape(RunShape):
    log = serializers.ListField(child=serializers.DictField())


class ResultShape(Shape):
    id = serializers.IntegerField()
    item = serializers.IntegerField(source="item_id")
    key = serializers.CharField(source="item.key")
    data = serializers.DictField()  # type: ignore[assignment]


class NewDraw(Shape):
    items = serializers.IntegerField(min_value=1, max_value=1_000_000)


class DrawQuote(Shape):
    there = serializers.IntegerField(help_text="Items to draw from.")
    here = serializers.IntegerField(help_text="Items that the stage has already.")
    told = serializers.DictField(help_text="What the recipe says before a draw: of queries, what a reader answered.")
    problems = serializers.ListField(child=serializers.CharField(), help_text="Sentences that stop it.")


class Drawn(Shape):
    items = serializers.IntegerField(help_text="New ones; what the stage has already is not drawn twice.")
    see = serializers.CharField()


class ChangedOptions(Shape):
    options = serializers.DictField()


class Options(ChangedOptions):
    described = serializers.DictField(child=OptionShape(), help_text="What the options mean, by name.")
