"""Queries that were made of articles: read, corrected, annotated from outside, and made again."""

from __future__ import annotations

from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from hits.api.base import StageView, operation
from hits.api.paging import PageQuery, page, page_of, sent
from hits.api.shapes import Shape, StateField, UsernameField
from hits.items.api.uploads import FORM_BYTES
from hits.items.rules.item_changes import fingerprint
from hits.items.verbs import annotating
from hits.judging.rules.recipe_rows import newest_run
from hits.models import ChangeSet, Item, ItemChange
from hits.refusals import Refused
from hits.text.questions.passage_queries import queries

TAG = "Queries"


class ArticleRow(Shape):
    """An article without its texts."""

    id = serializers.IntegerField()
    key = serializers.CharField()
    figures = serializers.DictField(help_text="Sentences, how many each condition dropped, kept, queries, mentions.")
    corrected = serializers.BooleanField()
    sent = serializers.BooleanField(help_text="Queries of it went on to the next stage: it can no longer change.")


class QueryShape(Shape):
    id = serializers.CharField(help_text="Unique within the article.")
    query = serializers.CharField()
    entity = serializers.IntegerField()
    answers = serializers.ListField(child=serializers.CharField(), help_text="The words of the references.")
    removed = serializers.BooleanField(help_text="A lead took it out.")


class ArticleShape(ArticleRow):
    """Offsets count characters; ends are exclusive."""

    text = serializers.CharField(source="data.text", help_text="The passage.")
    mentions = serializers.ListField(source="data.mentions", help_text="[{start, end, type, entity}] of the passage.")
    sentences = serializers.ListField(
        source="data.sentences", help_text="[{text, dropped, mentions}] of the rest; `entity` may be null."
    )
    removed = serializers.ListField(source="data.removed", help_text="Ids of queries that were taken out.")
    queries = serializers.SerializerMethodField()
    fingerprint = serializers.SerializerMethodField(help_text="Send it with a correction of what was read here.")

    def get_queries(self, item: Item) -> list[dict[str, Any]]:
        text, removed = item.data["text"], set(item.data["removed"])
        return [
            {
                "id": one.id,
                "query": one.query,
                "entity": one.entity,
                "answers": [text[start:end] for start, end in one.answers],
                "removed": one.id in removed,
            }
            for one in queries(item.data, with_removed=True)
        ]

    def get_fingerprint(self, item: Item) -> str:
        return fingerprint(item)


class NewAnnotations(Shape):
    """All of them: what is left out is removed."""

    fingerprint = serializers.CharField(max_length=64)
    mentions = serializers.ListField(child=serializers.DictField())
    sentences = serializers.ListField(child=serializers.DictField(), help_text="[{mentions: [...]}], one each.")
    removed = serializers.ListField(child=serializers.CharField(), required=False)


class QueryToDrop(Shape):
    fingerprint = serializers.CharField(max_length=64)
    query = serializers.CharField(max_length=100)
    back = serializers.BooleanField(default=False, help_text="Put it back instead.")


class ChangeSetShape(Shape):
    id = serializers.IntegerField()
    state = StateField(ChangeSet.State)
    name = serializers.CharField(help_text="Of the file; empty where a run made the changes.")
    effect = serializers.DictField(
        help_text="items, left_out by reason, before and after: sums of figures; fingerprint of it all."
    )
    created_at = serializers.DateTimeField()
    created_by = UsernameField("created_by")
    done_at = serializers.DateTimeField(allow_null=True)
    undone_at = serializers.DateTimeField(allow_null=True)


class AnnotationsFile(Shape):
    file = serializers.FileField(help_text="JSON Lines, as downloaded: one article a line.")


# Stages of articles have these addresses, and no other one.
class ArticlesView(StageView):
    crowd = False

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        annotating.protocol_for(self.stage)

    def articles(self) -> QuerySet[Item]:
        changes = ItemChange.objects.filter(item=OuterRef("pk"), undone_at=None)
        children = Item.objects.filter(parent=OuterRef("pk"))
        return self.stage.items.annotate(corrected=Exists(changes), sent=Exists(children))

    def article(self, pk: int) -> Item:
        found = get_object_or_404(self.articles().select_related("document"), pk=pk)
        found.stage = self.stage
        return found

    def changed(self, pk: int) -> Response:
        return Response(ArticleShape(self.article(pk)).data)

    def change_set(self, pk: int) -> ChangeSet:
        return get_object_or_404(self.stage.change_sets.select_related("created_by"), pk=pk)


class Articles(ArticlesView):
    @operation(
        "articles_list",
        "The articles of a stage with their figures",
        tag=TAG,
        query=PageQuery,
        answer=page_of(ArticleRow),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        return page(request, self.articles().defer("data"), ArticleRow)


class Article(ArticlesView):
    @operation("articles_show", "An article with its mentions and queries", tag=TAG, answer=ArticleShape, refuses=[404])
    def get(self, request: Request, pk: int, **address: str) -> Response:
        return self.changed(pk)

    @operation(
        "articles_annotate",
        "Replace the annotations of an article; what drops its sentences is computed anew",
        tag=TAG,
        takes=NewAnnotations,
        answer=ArticleShape,
        refuses=[404, 409],
    )
    def put(self, request: Request, pk: int, **address: str) -> Response:
        wanted = sent(request, NewAnnotations)
        annotating.annotate(self.article(pk), wanted, wanted.pop("fingerprint"), self.user)
        return self.changed(pk)


class DropQuery(ArticlesView):
    @operation(
        "articles_drop_query",
        "Take a query out, or put it back",
        tag=TAG,
        takes=QueryToDrop,
        answer=ArticleShape,
        refuses=[404, 409],
    )
    def post(self, request: Request, pk: int, **address: str) -> Response:
        wanted = sent(request, QueryToDrop)
        annotating.drop(self.article(pk), wanted["query"], wanted["fingerprint"], self.user, back=wanted["back"])
        return self.changed(pk)


class UndoArticle(ArticlesView):
    @operation(
        "articles_undo",
        "Take back the newest change of an article that stands",
        tag=TAG,
        answer=ArticleShape,
        refuses=[404, 409],
    )
    def post(self, request: Request, pk: int, **address: str) -> Response:
        annotating.undo(self.article(pk), self.user)
        return self.changed(pk)


class Annotations(ArticlesView):
    parser_classes = [MultiPartParser]
    heavy = frozenset({"GET", "POST"})

    @operation(
        "annotations_show",
        "The annotations of all articles as JSON Lines",
        tag=TAG,
        code=(200, "application/x-ndjson"),
        answer=OpenApiTypes.BINARY,
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> StreamingHttpResponse:
        return StreamingHttpResponse(annotating.export(self.stage), content_type="application/x-ndjson")

    @operation(
        "annotations_send",
        "Send a file of annotations: it is checked as a whole, and what it would change is told; nothing changes yet",
        tag=TAG,
        takes={"multipart/form-data": AnnotationsFile},
        answer=ChangeSetShape,
        code=201,
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        file = sent(request, AnnotationsFile)["file"]
        found = annotating.propose_file(self.stage, file.name, file, self.user)
        return Response(ChangeSetShape(found).data, status=status.HTTP_201_CREATED)

    def refuse_large_body(self, length: int) -> None:
        if length > annotating.MOST_BYTES + FORM_BYTES:
            raise Refused("upload_refused", f"At most {annotating.MOST_BYTES:,} bytes are taken at once.", status=400)


class GenerateAgain(ArticlesView):
    heavy = frozenset({"POST"})

    @operation(
        "articles_generate_again",
        "What the newest finished run of the computation `generate-again` would change; nothing changes yet",
        tag=TAG,
        answer=ChangeSetShape,
        code=201,
        refuses=[404, 409],
    )
    def post(self, request: Request, **address: str) -> Response:
        run = newest_run(self.project, annotating.AGAIN)
        if run is None:
            raise Refused("nothing_to_change", "Start the computation generate-again first, and wait for its end.")
        found = annotating.propose_run(self.stage, run, self.user)
        return Response(ChangeSetShape(found).data, status=status.HTTP_201_CREATED)


class ChangeSets(ArticlesView):
    @operation(
        "change_sets_list",
        "Files and runs that changed many articles, or would",
        tag=TAG,
        query=PageQuery,
        answer=page_of(ChangeSetShape),
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        return page(request, self.stage.change_sets.select_related("created_by"), ChangeSetShape)


class OneChangeSet(ArticlesView):
    @operation("change_sets_show", "One of them with its effect", tag=TAG, answer=ChangeSetShape, refuses=[404])
    def get(self, request: Request, pk: int, **address: str) -> Response:
        return Response(ChangeSetShape(self.change_set(pk)).data)


class ConfirmChangeSet(ArticlesView):
    @operation(
        "change_sets_confirm",
        "Carry out what was shown; a second time changes nothing",
        tag=TAG,
        answer=ChangeSetShape,
        refuses=[404, 409],
    )
    def post(self, request: Request, pk: int, **address: str) -> Response:
        found = self.change_set(pk)
        annotating.confirm(found, self.user)
        return Response(ChangeSetShape(found).data)


class UndoChangeSet(ArticlesView):
    @operation(
        "change_sets_undo",
        "Take back all changes of one that is done",
        tag=TAG,
        answer=ChangeSetShape,
        refuses=[404, 409],
    )
    def post(self, request: Request, pk: int, **address: str) -> Response:
        found = self.change_set(pk)
        annotating.undo_together(found, self.user)
        return Response(ChangeSetShape(found).data)
