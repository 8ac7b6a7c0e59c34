"""The caller's own notices: listed, marked as seen, and which of them are wanted where."""

from __future__ import annotations

from typing import Any

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from hits.accounts.verbs.sign_in import confirm_owner
from hits.api.base import LeadView, Started, operation
from hits.api.paging import asked, page, page_of, sent
from hits.notifications.api import shapes
from hits.notifications.rules import notices
from hits.notifications.verbs import notice_addresses, writing_notices

TAG = "Notices"


class Notices(LeadView):
    @operation(
        "notices_list",
        "What the members of your projects were told",
        tag=TAG,
        query=shapes.NoticesQuery,
        answer=page_of(shapes.NoticeShape),
    )
    def get(self, request: Request) -> Response:
        wanted = asked(request, shapes.NoticesQuery)
        rows = notices.seen_by(self.user, wanted["project"]).select_related("project")
        return page(request, rows.filter(notices.NEW) if wanted["new"] else rows, shapes.NoticeShape)


class Seen(LeadView):
    @operation("notices_seen", "Mark the notices up to a moment as seen", tag=TAG, takes=shapes.SeenUntil, code=204)
    def post(self, request: Request) -> Response:
        given = sent(request, shapes.SeenUntil)
        writing_notices.mark_seen(self.user, given["until"], given["project"])
        return Response(status=status.HTTP_204_NO_CONTENT)


class Choices(LeadView):
    @operation("notices_choices", "Which notices you want where", tag=TAG, answer=shapes.ChoicesShape)
    def get(self, request: Request) -> Response:
        return Response(self._choices())

    @operation(
        "notices_choose",
        "Change which notices you want where; kinds that are not named stay as they are",
        tag=TAG,
        takes=shapes.ChoicesShape,
        answer=shapes.ChoicesShape,
    )
    def patch(self, request: Request) -> Response:
        given = sent(request, shapes.ChoicesShape)
        wanted = {one["kind"]: (one["on_page"], one["by_email"]) for one in given["choices"]}
        writing_notices.choose(self.user, wanted)
        return Response(self._choices())

    def _choices(self) -> dict[str, Any]:
        return dict(shapes.ChoicesShape({"choices": notices.choices_of(self.user)}).data)


class Address(LeadView):
    heavy = frozenset({"POST"})

    @operation("notices_address", "Where your notices are sent", tag=TAG, answer=shapes.AddressShape)
    def get(self, request: Request) -> Response:
        told = {"email": self.user.email, "why_no_email": notices.why_no_email(self.user)}
        return Response(shapes.AddressShape(told).data)

    @operation(
        "notices_ask_address",
        "Have a link sent to an address, which makes it yours once you open it; or get no e-mail any more",
        tag=TAG,
        takes=shapes.NewAddress,
        answer=Started,
        refuses=[403, 409, 429],
    )
    def post(self, request: Request) -> Response:
        given = sent(request, shapes.NewAddress)
        confirm_owner(self.user, given["password"], given["code"])
        address = given["email"]
        if not address:
            notice_addresses.remove(self.user)
            return Response({"message": "Your address is removed."})
        notice_addresses.ask(self.user, address)
        return Response({"message": f"A link was sent to {address}. Open it to confirm the address."})
