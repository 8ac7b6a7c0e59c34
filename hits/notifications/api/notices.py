"""The caller's own notices: listed, marked as seen, and which of them are wanted where."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from hits.accounts.verbs.sign_in import confirm_owner
from hits.api.base import LeadView, Started, operation
from hits.api.paging import PageQuery, asked, page, page_of, sent
from hits.api.shapes import Shape, StateField
from hits.models import Notice
from hits.notifications.rules import notices
from hits.notifications.verbs import notice_addresses, writing_notices

TAG = "Notices"


class NoticesQuery(PageQuery):
    project = serializers.SlugField(required=False, default="", help_text="Of this project only.")
    new = serializers.BooleanField(required=False, default=False, help_text="Only what is neither seen nor over.")


class NoticeShape(Shape):
    id = serializers.IntegerField(read_only=True)
    project = serializers.CharField(source="project.slug", read_only=True)
    kind = StateField(Notice.Kind)
    words = serializers.CharField(read_only=True)
    more = serializers.CharField(read_only=True)
    link = serializers.SerializerMethodField(help_text="The page of its rows.")
    told_at = serializers.DateTimeField(read_only=True)
    ended_at = serializers.DateTimeField(read_only=True, allow_null=True, help_text="When the state was over.")
    is_new = serializers.BooleanField(read_only=True, help_text="Neither seen nor over.")

    def get_link(self, row: Any) -> str:
        return f"{settings.PUBLIC_URL}{row.address}"


class SeenUntil(Shape):
    until = serializers.DateTimeField(help_text="The `told_at` of the newest notice that was seen.")
    project = serializers.SlugField(required=False, default="", help_text="Of this project only.")


class ChoiceShape(Shape):
    kind = serializers.ChoiceField(choices=Notice.Kind.choices)
    on_page = serializers.BooleanField()
    by_email = serializers.BooleanField()


class ChoicesShape(Shape):
    choices = ChoiceShape(many=True)


class AddressShape(Shape):
    email = serializers.EmailField(allow_blank=True, help_text="Empty: no notices are sent by e-mail.")
    why_no_email = serializers.CharField(read_only=True, help_text="Why none are sent, as a sentence; empty: they are.")


class NewAddress(Shape):
    email = serializers.EmailField(
        allow_blank=True, max_length=254, help_text="A link is sent there first. Empty: no notices by e-mail."
    )
    password = serializers.CharField(max_length=1000, trim_whitespace=False, help_text="Your present password.")
    code = serializers.CharField(
        max_length=40, required=False, default="", allow_blank=True, help_text="Where you have a second factor."
    )


class Notices(LeadView):
    @operation(
        "notices_list",
        "What the members of your projects were told",
        tag=TAG,
        query=NoticesQuery,
        answer=page_of(NoticeShape),
    )
    def get(self, request: Request) -> Response:
        wanted = asked(request, NoticesQuery)
        rows = notices.seen_by(self.user, wanted["project"]).select_related("project")
        return page(request, rows.filter(notices.NEW) if wanted["new"] else rows, NoticeShape)


class Seen(LeadView):
    @operation("notices_seen", "Mark the notices up to a moment as seen", tag=TAG, takes=SeenUntil, code=204)
    def post(self, request: Request) -> Response:
        given = sent(request, SeenUntil)
        writing_notices.mark_seen(self.user, given["until"], given["project"])
        return Response(status=status.HTTP_204_NO_CONTENT)


class Choices(LeadView):
    @operation("notices_choices", "Which notices you want where", tag=TAG, answer=ChoicesShape)
    def get(self, request: Request) -> Response:
        return Response(self._choices())

    @operation(
        "notices_choose",
        "Change which notices you want where; kinds that are not named stay as they are",
        tag=TAG,
        takes=ChoicesShape,
        answer=ChoicesShape,
    )
    def patch(self, request: Request) -> Response:
        given = sent(request, ChoicesShape)
        wanted = {one["kind"]: (one["on_page"], one["by_email"]) for one in given["choices"]}
        writing_notices.choose(self.user, wanted)
        return Response(self._choices())

    def _choices(self) -> dict[str, Any]:
        return dict(ChoicesShape({"choices": notices.choices_of(self.user)}).data)


class Address(LeadView):
    heavy = frozenset({"POST"})

    @operation("notices_address", "Where your notices are sent", tag=TAG, answer=AddressShape)
    def get(self, request: Request) -> Response:
        told = {"email": self.user.email, "why_no_email": notices.why_no_email(self.user)}
        return Response(AddressShape(told).data)

    @operation(
        "notices_ask_address",
        "Have a link sent to an address, which makes it yours once you open it; or get no e-mail any more",
        tag=TAG,
        takes=NewAddress,
        answer=Started,
        refuses=[403, 409, 429],
    )
    def post(self, request: Request) -> Response:
        given = sent(request, NewAddress)
        confirm_owner(self.user, given["password"], given["code"])
        address = given["email"]
        if not address:
            notice_addresses.remove(self.user)
            return Response({"message": "Your address is removed."})
        notice_addresses.ask(self.user, address)
        return Response({"message": f"A link was sent to {address}. Open it to confirm the address."})
