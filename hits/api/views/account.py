"""Tokens of programs, and the answer for addresses that are not there."""

from __future__ import annotations

from django.contrib.auth import authenticate
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, status
from rest_framework.parsers import FormParser
from rest_framework.permissions import AllowAny, BasePermission, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from hits import sign_in
from hits.api.base import LeadView, operation
from hits.api.parsing import JSONParser
from hits.api.shapes import account as shapes
from hits.flow.setup import api_tokens
from hits.models import ApiToken

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
        refuses=[409],
    )
    def post(self, request: Request) -> Response:
        given = shapes.Credentials(data=request.data)
        given.is_valid(raise_exception=True)
        wanted = dict(given.validated_data)
        username, password = wanted.pop("username"), wanted.pop("password")
        tries = sign_in.tries(request, username)
        if wait := sign_in.seconds_to_wait(tries):
            raise exceptions.Throttled(wait)
        user = authenticate(request, username=username, password=password)
        if user is None:
            raise exceptions.AuthenticationFailed("User name and password do not belong together.")
        sign_in.succeeded(tries)
        row, token = api_tokens.make_token(user, **wanted)
        return Response({**shapes.TokenShape(row).data, "token": token})

    @operation("token_describe", "The token that signs this call", tag=TAG, answer=shapes.TokenShape, refuses=[404])
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


@extend_schema(exclude=True)
class NowhereView(LeadView):
    """Any other address under the API, so that this refusal too has the one shape."""

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        super().initial(request, *args, **kwargs)
        raise Http404
