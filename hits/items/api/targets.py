"""Targets: the sentences and phrases that items ask about, corrected before they go out."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from hits.api.base import StageView, operation
from hits.api.paging import PageQuery, page, page_of, sent
from hits.api.shapes import Shape, StateField
from hits.items.rules.item_changes import fingerprint
from hits.items.verbs import correcting
from hits.models import Item
from hits.protocols.optional import MarkedSentence

TAG = "Targets"


class PhraseShape(Shape):
    start = serializers.IntegerField()
    end = serializers.IntegerField(help_text="Exclusive, in characters of the text.")


class SentenceShape(PhraseShape):
    phrases = PhraseShape(many=True)


class TargetsShape(Shape):
    """A text's sentences and phrases in one of its parts."""

    id = serializers.IntegerField()
    key = serializers.CharField()
    state = StateField(Item.State)
    text = serializers.CharField(source="document.data.text")
    sentences = serializers.SerializerMethodField()
    fingerprint = serializers.SerializerMethodField(help_text="Send it with a correction of what was read here.")

    def get_sentences(self, item: Item) -> list[dict[str, Any]]:
        found = correcting.marked_protocol_for(item.stage).marked(item.data)
        return [
            {"start": one.start, "end": one.end, "phrases": [{"start": a, "end": b} for a, b in one.phrases]}
            for one in found
        ]

    def get_fingerprint(self, item: Item) -> str:
        return fingerprint(item)


class Correction(Shape):
    fingerprint = serializers.CharField(max_length=64)
    sentences = SentenceShape(many=True)


# The items of a stage whose protocol has sentences to correct; any other stage has none of these addresses.
class TargetsView(StageView):
    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        correcting.marked_protocol_for(self.stage)

    def items(self) -> QuerySet[Item]:
        return self.stage.items.select_related("document", "stage")


class Targets(TargetsView):
    @operation(
        "targets_list",
        "The texts of a stage with the sentences and phrases that are asked about",
        tag=TAG,
        query=PageQuery,
        answer=page_of(TargetsShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        return page(request, self.items(), TargetsShape)


class Target(TargetsView):
    @operation("targets_show", "One text with its sentences and phrases", tag=TAG, answer=TargetsShape, refuses=[404])
    def get(self, request: Request, pk: int, **address: str) -> Response:
        return Response(TargetsShape(get_object_or_404(self.items(), pk=pk)).data)

    @operation(
        "targets_correct",
        "Ask about these sentences and phrases instead; a sentence that comes or goes does so in the other part too",
        tag=TAG,
        takes=Correction,
        answer=TargetsShape,
        refuses=[404, 409],
    )
    def put(self, request: Request, pk: int, **address: str) -> Response:
        given = sent(request, Correction)
        item = get_object_or_404(self.items(), pk=pk)
        wanted = [
            MarkedSentence(one["start"], one["end"], tuple((each["start"], each["end"]) for each in one["phrases"]))
            for one in given["sentences"]
        ]
        correcting.correct(item, wanted, given["fingerprint"], self.user)
        return Response(TargetsShape(item).data)


class UndoTarget(TargetsView):
    @operation(
        "targets_undo",
        "Take back the newest correction of a text, in the other part too where it changed with it",
        tag=TAG,
        answer=TargetsShape,
        refuses=[404, 409],
    )
    def post(self, request: Request, pk: int, **address: str) -> Response:
        item = get_object_or_404(self.items(), pk=pk)
        correcting.undo(item, self.user)
        return Response(TargetsShape(item).data)
