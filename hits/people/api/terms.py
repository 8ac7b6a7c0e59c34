"""Terms that workers agree to, in versions."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from common.cutting import cut
from hits.api.base import ProjectView, operation
from hits.api.paging import LARGEST_ID, asked, sent
from hits.api.shapes import Shape, UsernameField
from hits.models import Terms
from hits.people.models import LONGEST
from hits.people.rules.terms import answers_by_version, not_asked_in
from hits.people.verbs import terms as flow

TAG = "Projects"
# Characters of a version that no longer stands, in a list.
LISTED = 1000


class TermsShape(Shape):
    version = serializers.IntegerField()
    text = serializers.CharField(
        source="shown", help_text=f"In Markdown; of earlier versions in a list at most {LISTED:,} characters."
    )
    made_at = serializers.DateTimeField()
    made_by = UsernameField("made_by")
    ended_at = serializers.DateTimeField(allow_null=True, help_text="Null: workers are asked to agree to it now.")
    answers = serializers.IntegerField(source="answers_given", help_text="Recorded answers whose workers agreed to it.")


class TermsQuery(serializers.Serializer[Any]):
    version = serializers.IntegerField(
        required=False, min_value=1, max_value=LARGEST_ID, help_text="That version alone, with all of its text."
    )


class TermsList(Shape):
    results = TermsShape(many=True, help_text="Every version, newest first.")
    not_asked_in = serializers.ListField(
        child=serializers.SlugField(), help_text="Stages that show a page of a lead's own, which cannot ask."
    )


class NewTerms(Shape):
    text = serializers.CharField(
        max_length=2 * LONGEST, trim_whitespace=False, help_text=f"In Markdown, at most {LONGEST:,} characters."
    )


class TermsOfProject(ProjectView):
    @operation(
        "terms_show",
        "The terms that workers agree to, in all versions",
        tag=TAG,
        query=TermsQuery,
        answer=TermsList,
        refuses=[404],
    )
    def get(self, request: Request, **address: str) -> Response:
        return Response(self._listed(**asked(request, TermsQuery)))

    @operation(
        "terms_save",
        "Make the next version of the terms; the text that stands, once more, makes none",
        tag=TAG,
        takes=NewTerms,
        answer=TermsList,
        refuses=[404, 409],
    )
    def put(self, request: Request, **address: str) -> Response:
        flow.save(self.project, sent(request, NewTerms)["text"], self.user)
        return Response(self._listed())

    @operation(
        "terms_withdraw",
        "Ask no worker to agree any more; every version stays readable",
        tag=TAG,
        code=204,
        refuses=[404, 409],
    )
    def delete(self, request: Request, **address: str) -> Response:
        flow.withdraw(self.project, self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _listed(self, **chosen: int) -> Any:
        counts = {row.pk: answers for row, answers in answers_by_version(self.project)}
        rows: list[Terms] = list(self.project.terms.filter(**chosen).select_related("made_by"))
        for row in rows:
            is_whole = bool(chosen) or row.ended_at is None
            row.shown = row.text if is_whole else cut(row.text, LISTED)  # type: ignore[attr-defined]
            row.answers_given = counts.get(row.pk, 0)  # type: ignore[attr-defined]
        stages = [stage.key for stage in not_asked_in(self.project)]
        return TermsList({"results": rows, "not_asked_in": stages}).data
