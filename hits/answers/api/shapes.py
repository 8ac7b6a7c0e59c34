"""Items, HITs, answers and decisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.validators import MaxLengthValidator
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from hits.answers.rules import answer_lists, text_evidence
from hits.api.paging import LARGEST_ID, ListQuery
from hits.api.shapes import AT_ONCE, Shape, StateField
from hits.items.rules import item_lists
from hits.items.rules.item_texts import LONGEST_SEARCH
from hits.model_assist.api.shapes import SuggestionShape
from hits.models import Assignment, Item, TextEvidence
from hits.publishing.rules.hit_items import hits_of
from hits.recipes.source import UNUSED
from hits.stages.api.shapes import ActionShape


class ItemQuery(ListQuery):
    orders = item_lists.ORDERS
    state = serializers.ChoiceField(Item.State.choices, default="")
    conclusion = serializers.CharField(default="", max_length=40, help_text="The rule's own word, such as valid.")
    find = serializers.CharField(
        default="",
        max_length=LONGEST_SEARCH,
        help_text="Words of its text, of its own fields or columns, or of its key or its document's.",
    )
    sort = serializers.ChoiceField(
        item_lists.SORTS,
        default=item_lists.FIRST,
        help_text="`-disagreement`: most disputed first. In an order by a figure, items without it are left out.",
    )


class VerdictShape(Shape):
    outcome = serializers.CharField()
    conclusion = serializers.CharField(help_text="The rule's own word, such as valid.")
    parts = serializers.DictField(help_text="A conclusion for each group, where the rule judges groups.")
    rule = serializers.CharField()
    rule_version = serializers.IntegerField()
    rule_edition = serializers.IntegerField(help_text="Counts the rules that the stage has had.")
    detail = serializers.DictField()
    routing = serializers.IntegerField(
        source="routing_id",
        allow_null=True,
        help_text="By which models decided it, without an answer of people; null: people did.",
    )
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
    disagreement = serializers.FloatField(
        allow_null=True, help_text="How far its answers differ, 0..1; null: nothing was answered twice."
    )
    confidence = serializers.SerializerMethodField(
        help_text="0..1, of the value that is least sure by the newest aggregation; null without any."
    )
    priority = serializers.FloatField(allow_null=True, help_text="A higher one is published first; null: none.")
    data = serializers.DictField(help_text="What the protocol asks.")  # type: ignore[assignment]
    verdict = serializers.SerializerMethodField(help_text="The one that stands.")

    def get_confidence(self, item: Item) -> float | None:
        sure: Mapping[int, float] = self.context["confidences"]
        return sure.get(item.pk)

    @extend_schema_field(VerdictShape(allow_null=True))
    def get_verdict(self, item: Item) -> dict[str, Any] | None:
        standing = [verdict for verdict in item.verdicts.all() if verdict.superseded_at is None]
        return VerdictShape(standing[0]).data if standing else None


class HitShape(Shape):
    id = serializers.IntegerField()
    item_count = serializers.IntegerField(help_text="Items that it asks about.")
    slot = serializers.IntegerField(help_text="Counts the HITs of its items, from 1.")
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
    hits = serializers.SerializerMethodField()
    suggestions = SuggestionShape(many=True, help_text="Of a model.")
    columns = serializers.SerializerMethodField(help_text="Cells of its file's columns that the task does not use.")

    @extend_schema_field(HitShape(many=True))
    def get_hits(self, item: Item) -> list[dict[str, Any]]:
        return list(HitShape(hits_of([item.pk]).order_by("slot"), many=True).data)

    def get_columns(self, item: Item) -> dict[str, str]:
        return item.document.data.get(UNUSED) or {}


class AnswerQuery(ListQuery):
    orders = answer_lists.ORDERS
    show = serializers.ChoiceField(sorted({*answer_lists.SHOWN} - {"review"}), default="")
    conclusion = serializers.CharField(
        default="", max_length=40, help_text="Answers to items that the rule concluded so, by its own word."
    )
    worker = serializers.CharField(default="", max_length=64, help_text="A worker's id at the marketplace.")
    compared = serializers.ChoiceField(
        [answer_lists.RIGHT, answer_lists.WRONG],
        default="",
        help_text="Beside gold answers: `right` where nothing of it was wrong, `wrong` where something was.",
    )
    find = serializers.CharField(
        default="",
        max_length=LONGEST_SEARCH,
        help_text="Words of what was posted, of the remark, the feedback or why it is not valid.",
    )
    item = serializers.IntegerField(default=None, min_value=1, max_value=LARGEST_ID)
    sort = serializers.ChoiceField(
        answer_lists.SORTS,
        default="id",
        help_text="`seconds`: fastest first, without those of which no time is known. `-signs`: most signs first, "
        "without those of which no text evidence is collected.",
    )


class LabelShape(Shape):
    item = serializers.IntegerField(source="item_id")
    unit = serializers.CharField()
    value = serializers.JSONField()
    correct = serializers.BooleanField(
        allow_null=True, help_text="Whether it matches gold; null where the item has none."
    )
    void = serializers.BooleanField(help_text="It counts for nothing.")


class CountsShape(Shape):
    typed = serializers.IntegerField(help_text="Characters that came one at a time.")
    pasted = serializers.IntegerField(help_text="Characters that were pasted or dropped.")
    pastes = serializers.IntegerField()
    deletions = serializers.IntegerField()
    pauses = serializers.IntegerField(help_text="Of more than two seconds between two changes.")
    seconds = serializers.IntegerField(help_text="Between changes, without the pauses.")


class SharedWordingShape(Shape):
    answer = serializers.IntegerField(help_text="Of another worker of the stage.")
    share = serializers.FloatField(
        help_text="Of the passages of both texts, those that both have, 0 to 1: an estimate."
    )


class EvidenceSentenceShape(Shape):
    kind = serializers.CharField()
    text = serializers.CharField()
    is_sign = serializers.BooleanField(help_text="Unusual enough to be read first. It proves nothing.")


class TextEvidenceShape(Shape):
    """For people to look at: nothing is decided by it."""

    noted = serializers.ChoiceField(
        TextEvidence.Noted.choices, help_text="Whether the page counted; `unreadable`: not what a page posts."
    )
    counts = serializers.DictField(child=CountsShape(), help_text="By form field.")
    characters = serializers.IntegerField()
    words = serializers.IntegerField()
    copied_from_item = serializers.FloatField(
        allow_null=True, help_text="Share of its passages that stand in the item's own text; null without words."
    )
    near_duplicate = SharedWordingShape(allow_null=True)
    signs = serializers.IntegerField(help_text="How many of the sentences are signs.")
    sentences = EvidenceSentenceShape(many=True, help_text="Signs first.")
    beside = serializers.IntegerField(
        help_text="Answers of the stage that it is beside; 0 before the first comparison."
    )


class AnswerShape(Shape):
    id = serializers.IntegerField()
    item = serializers.IntegerField(source="about.pk", help_text="The first of `items`.")
    items = serializers.SerializerMethodField(help_text="What its HIT asks about, in their order.")
    hit_id = serializers.CharField(source="hit.hit_id", default=None, allow_null=True, help_text="Null: imported.")
    imported_from = serializers.IntegerField(
        source="imported_from_id",
        allow_null=True,
        help_text="The upload of results that it came with; null: it was given here.",
    )
    assignment_id = serializers.CharField()
    worker_id = serializers.CharField(source="worker.worker_id")
    worker_blocked = serializers.SerializerMethodField(
        help_text="Whether a block keeps its worker out: the answer counts for nothing, and approving pays it."
    )
    state = StateField(Assignment.State)
    decision = serializers.CharField(help_text="Decided, not yet confirmed by the marketplace.")
    not_before = serializers.DateTimeField(allow_null=True, help_text="The decision's call waits until then.")
    adopted = serializers.CharField(help_text="How its state came about when it was not your decision.")
    feedback = serializers.CharField()
    accepted_at = serializers.DateTimeField()
    submitted_at = serializers.DateTimeField()
    auto_approval_at = serializers.DateTimeField(
        allow_null=True, help_text="When the marketplace approves it by itself."
    )
    approve_at = serializers.DateTimeField(
        allow_null=True,
        help_text="It did not pass the check, and is approved then unless you decide; null: not by time.",
    )
    seconds = serializers.FloatField(allow_null=True, help_text="Null where a file of results does not say.")
    answer = serializers.DictField(help_text="Form field to value, as the worker posted it.")
    problem = serializers.CharField(help_text="Why it is not valid; empty for a valid answer.")
    held = serializers.CharField(help_text="Why it counts only when you approve it; empty: it counts without that.")
    admitted = serializers.BooleanField(
        allow_null=True, help_text="Your decision on an answer with `held`: whether it counts; null: none yet."
    )
    terms_version = serializers.IntegerField(
        source="terms.version",
        default=None,
        allow_null=True,
        help_text="Of the project's terms, the version that its worker agreed to; null: none.",
    )
    remark = serializers.CharField(help_text="The worker's report or comment.")
    labels = LabelShape(many=True)
    text_evidence = serializers.SerializerMethodField(
        help_text="How its text came about; null where the stage does not collect it."
    )
    actions = ActionShape(many=True, help_text="What was decided about it from here, oldest first.")

    @extend_schema_field(TextEvidenceShape(allow_null=True))
    def get_text_evidence(self, answer: Assignment) -> dict[str, Any] | None:
        found = self.context["evidence"].get(answer.pk)
        return text_evidence.as_json(found) if found else None

    def get_worker_blocked(self, answer: Assignment) -> bool:
        return answer.worker_id in self.context["blocked"]

    def get_items(self, answer: Assignment) -> list[int]:
        if answer.hit is None:
            return [answer.about.pk]
        further = sorted(answer.hit.further.all(), key=lambda row: row.number)
        return [answer.hit.item_id, *(row.item_id for row in further)]


def _ids(**options: Any) -> serializers.ListField:
    return serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**63 - 1),
        required=False,
        validators=[MaxLengthValidator(AT_ONCE)],
        **options,
    )


class AnswersChosen(Shape):
    """Either `answers` or `show`, which takes the first 1,000 answers that match; `more` says whether others do."""

    answers = _ids(allow_empty=False, help_text="Ids of answers of this stage.")
    worker = serializers.CharField(
        required=False, max_length=64, help_text="With `show`: only the answers of this worker."
    )
    but = _ids(help_text="With `show`: ids of answers that are left out.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("answers" in attrs) == ("show" in attrs):
            raise serializers.ValidationError("Give either `answers` or `show`.")
        if "answers" in attrs and {"worker", "but"} & attrs.keys():
            raise serializers.ValidationError("`worker` and `but` go with `show`.")
        return attrs


class DecisionsChosen(AnswersChosen):
    show = serializers.ChoiceField(
        [("decided", "decided")],
        required=False,
        help_text="Every answer whose decision is not carried out yet; one that is sent already refuses all.",
    )


class RejectionsChosen(AnswersChosen):
    show = serializers.ChoiceField(
        [("rejected", "rejected")],
        required=False,
        help_text="Every rejected answer; one that can no longer be approved refuses all.",
    )


class Decision(AnswersChosen):
    show = serializers.ChoiceField(
        ["waiting", "held"],
        required=False,
        help_text="`waiting`: every answer that waits for review and counts already; `held`: every one that does not "
        "count yet.",
    )
    undoable = serializers.BooleanField(
        default=False, help_text="Wait half a minute with telling the marketplace, so that it can be undone."
    )


class Approval(Decision):
    of_blocked_workers = serializers.IntegerField(
        default=0, min_value=0, help_text="So many of them may be from blocked workers; with more nothing is approved."
    )


class Rejection(Decision):
    feedback = serializers.CharField(max_length=1000, help_text="The reason. Workers read it.")


class Undone(Shape):
    undone = serializers.IntegerField(help_text="Answers that wait again.")
    more = serializers.BooleanField(help_text="With `show`: others match and were left for another call.")


class Decided(Shape):
    decided = serializers.IntegerField(help_text="Answers that were undecided and are decided now.")
    more = serializers.BooleanField(help_text="With `show`: others match and were left for another call.")
    see = serializers.CharField(help_text="The address that shows what still waits.")
