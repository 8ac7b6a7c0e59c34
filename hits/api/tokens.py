"""Signing in by token, and what a token may do."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import authentication, exceptions
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from hits.accounts.models import token_digest
from hits.accounts.verbs.sign_in import lacks_second_factor
from hits.models import ApiToken
from hits.refusals import Refused

# When it was last used is written this often at most, not at every call.
USE_NOTED_EVERY = timedelta(minutes=5)


class TokenAuthentication(authentication.TokenAuthentication):
    """`Authorization: Token annotate_…`; the row is `request.auth`."""

    def authenticate_credentials(self, key: str) -> tuple[Any, ApiToken]:
        row = ApiToken.objects.living().select_related("user").filter(digest=token_digest(key)).first()
        if row is None:
            raise exceptions.AuthenticationFailed(
                "This token signs nobody in: it is wrong, has expired, or was revoked. Make a new one at /account/."
            )
        now = timezone.now()
        if row.last_used_at is None or row.last_used_at < now - USE_NOTED_EVERY:
            ApiToken.objects.filter(pk=row.pk).update(last_used_at=now)
        return row.user, row


class VerifiedSession(authentication.SessionAuthentication):
    """By the cookie of the pages; where they would ask for a second factor first, so does the API."""

    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        found = super().authenticate(request)
        if found is not None and lacks_second_factor(request._request):
            said = "Sign in on the page first, with your second factor, or set one up there."
            raise Refused("second_factor", said, status=403)
        return found


class SessionScheme(OpenApiAuthenticationExtension):
    """How the description names it."""

    target_class = VerifiedSession
    name = "cookieAuth"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME}


class TokenScope(BasePermission):
    """Reading takes any token, changing one of `write` or `pay`, what a view names in `pays` one of `pay`.

    Whoever signed in by session may do what the person may do.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        token = request.auth
        if not isinstance(token, ApiToken) or request.method in SAFE_METHODS:
            return True
        needed = {ApiToken.Scope.PAY} if request.method in view.pays else {ApiToken.Scope.PAY, ApiToken.Scope.WRITE}
        if token.scope in needed:
            return True
        word = "pay" if request.method in view.pays else "write"
        self.message = f"This token has the scope “{token.scope}”, and this takes “{word}”. Make one at /account/."
        return False


class TokenScheme(OpenApiAuthenticationExtension):
    """How the description names it."""

    target_class = TokenAuthentication
    name = "tokenAuth"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "`Token ` and then a token of POST /api/token/ or of the page /account/.",
        }
