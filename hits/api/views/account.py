"""Signing in by token, and the answer for addresses that are not there."""

from __future__ import annotations

from django.contrib.auth import authenticate
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, status
from rest_framework.authtoken.models import Token
from rest_framework.parsers import FormParser
from rest_framework.permissions import AllowAny, BasePermission, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle, SimpleRateThrottle
from rest_framework.views import APIView

from hits.api import serializers
from hits.api.base import LeadView, operation
from hits.api.parsing import JSONParser

TAG = "Signing in"


class AttemptThrottle(SimpleRateThrottle):
    """By account and not by address: behind a proxy all leads share one address."""

    scope = "token"
    rate = "10/min"

    def get_cache_key(self, request: Request, view: APIView) -> str:
        data = request.data if isinstance(request.data, dict) else {}
        return self.cache_format % {"scope": self.scope, "ident": str(data.get("username", "")).strip().lower()[:150]}


class TokenView(LeadView):
    parser_classes = [JSONParser, FormParser]

    def get_permissions(self) -> list[BasePermission]:
        return [AllowAny() if self.request.method == "POST" else IsAuthenticated()]  # type: ignore[list-item]

    def get_throttles(self) -> list[BaseThrottle]:
        return [AttemptThrottle()] if self.request.method == "POST" else super().get_throttles()

    @operation(
        "token_create",
        "Exchange user name and password for a token",
        tag=TAG,
        takes=serializers.Credentials,
        answer=serializers.Token,
    )
    def post(self, request: Request) -> Response:
        given = serializers.Credentials(data=request.data)
        given.is_valid(raise_exception=True)
        user = authenticate(request, **given.validated_data)
        if user is None:
            raise exceptions.AuthenticationFailed("User name and password do not belong together.")
        token, _ = Token.objects.get_or_create(user=user)
        return Response({"token": token.key})

    @operation("token_revoke", "Revoke your token; the next one is another", tag=TAG, code=204)
    def delete(self, request: Request) -> Response:
        Token.objects.filter(user=self.user).delete()
        return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema(exclude=True)
class NowhereView(LeadView):
    """Any other address under the API, so that this refusal too has the one shape."""

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        super().initial(request, *args, **kwargs)
        raise Http404
