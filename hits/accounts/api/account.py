"""Tokens of programs, and the answer for addresses that are not there."""

from __future__ import annotations

from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, status
from rest_framework.parsers import FormParser
from rest_framework.permissions import AllowAny, BasePermission, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from common.second_factor import device_of
from hits.accounts.api import shapes
from hits.accounts.rules.lead_limits import room_of
from hits.accounts.verbs import api_tokens, second_factor, sessions, sign_in
from hits.api.base import LeadView, operation
from hits.api.paging import PageQuery, page, page_of, sent
from hits.api.parsing import JSONParser
from hits.models import AccountAction, ApiToken

TAG = "Signing in"


class TokenView(LeadView):
    parser_classes = [JSONParser, FormParser]

    def get_permissions(self) -> list[BasePermission]:
        # Any token may describe and revoke itself, whatever its scope.
        return [AllowAny() if self.request.method == "POST" else IsAuthenticated()]  # type: ignore[list-item]

    def get_throttles(self) -> list[BaseThrottle]:
        # Tries of a password are counted in the database, together with those on the page.
        return [] if self.request.method == "POST" else super().get_throttles()

    @operation(
        "token_create",
        "Exchange user name and password for a new token",
        tag=TAG,
        takes=shapes.Credentials,
        answer=shapes.NewToken,
        refuses=[403, 409],
    )
    def post(self, request: Request) -> Response:
        wanted = sent(request, shapes.Credentials)
        username, password, code = (wanted.pop(name) for name in ("username", "password", "code"))
        tries = sign_in.tries(request, username)
        if wait := sign_in.seconds_to_wait(tries):
            raise exceptions.Throttled(wait)
        user = authenticate(request, username=username, password=password)
        if user is None:
            raise exceptions.AuthenticationFailed("User name and password do not belong together.")
        sign_in.succeeded(tries)
        self._check_code(user, code)
        row, token = api_tokens.make_token(user, **wanted)
        return Response({**shapes.TokenShape(row).data, "token": token})

    def _check_code(self, user: User, code: str) -> None:
        """Raises Refused (second_factor)."""
        tries = sign_in.code_tries(user) if code else {}
        if wait := sign_in.seconds_to_wait(tries):
            raise exceptions.Throttled(wait)
        second_factor.check_for_token(user, code)
        sign_in.succeeded(tries)

    @operation("token_show", "The token that signs this call", tag=TAG, answer=shapes.TokenShape, refuses=[404])
    def get(self, request: Request) -> Response:
        return Response(shapes.TokenShape(self._own(request)).data)

    @operation("token_revoke", "Revoke the token that signs this call", tag=TAG, code=204, refuses=[404])
    def delete(self, request: Request) -> Response:
        api_tokens.revoke_token(self.user, self._own(request).pk)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _own(self, request: Request) -> ApiToken:
        if not isinstance(request.auth, ApiToken):
            raise exceptions.NotFound("This call is signed by a session, not by a token.")
        return request.auth


class Tokens(LeadView):
    @operation("tokens_list", "Your tokens, the newest first", tag=TAG, answer=shapes.TokenShape(many=True))
    def get(self, request: Request) -> Response:
        rows = ApiToken.objects.living().filter(user=self.user).order_by("-id")
        return Response(shapes.TokenShape(rows, many=True).data)


class OneToken(LeadView):
    @operation("tokens_revoke", "Revoke one of your tokens", tag=TAG, code=204, refuses=[404])
    def delete(self, request: Request, pk: int) -> Response:
        if not api_tokens.revoke_token(self.user, pk):
            raise Http404
        return Response(status=status.HTTP_204_NO_CONTENT)


class Account(LeadView):
    @operation("account_show", "Your account", tag=TAG, answer=shapes.OwnAccountShape)
    def get(self, request: Request) -> Response:
        described = {
            "username": self.user.get_username(),
            "email": self.user.email,
            "second_factor": device_of(self.user) is not None,
            "recovery_codes": second_factor.codes_left(self.user),
            "budget_limit": room_of(self.user),
        }
        return Response(shapes.OwnAccountShape(described).data)


class Sessions(LeadView):
    @operation(
        "sessions_list",
        "The browsers in which you are signed in, the one last seen first",
        tag=TAG,
        answer=shapes.SessionShape(many=True),
    )
    def get(self, request: Request) -> Response:
        rows = sessions.open_sessions(self.user)
        return Response(shapes.SessionShape(rows, many=True, context={"key": _session_key(request)}).data)

    @operation(
        "sessions_end_others",
        "End all your sessions but the one that signs this call",
        tag=TAG,
        answer=shapes.EndedSessions,
    )
    def delete(self, request: Request) -> Response:
        return Response({"ended": sessions.end_others(self.user, _session_key(request), self.user)})


class OneSession(LeadView):
    @operation("sessions_end", "End one of your sessions", tag=TAG, code=204, refuses=[404])
    def delete(self, request: Request, pk: int) -> Response:
        if not sessions.end_session(self.user, pk, self.user):
            raise Http404
        return Response(status=status.HTTP_204_NO_CONTENT)


class AccountChanges(LeadView):
    @operation(
        "account_changes",
        "What was changed of your account",
        tag=TAG,
        query=PageQuery,
        answer=page_of(shapes.AccountChangeShape),
    )
    def get(self, request: Request) -> Response:
        return page(request, AccountAction.objects.filter(account=self.user), shapes.AccountChangeShape)


def _session_key(request: Request) -> str | None:
    """Of the session that signs this call; None where a token does."""
    return None if isinstance(request.auth, ApiToken) else request._request.session.session_key


@extend_schema(exclude=True)
class NowhereView(LeadView):
    """Any other address under the API, so that this refusal too has the one shape."""

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        super().initial(request, *args, **kwargs)
        raise Http404
