"""Signing in as a model: `Authorization: Model model_…`, which opens the API for models and nothing else."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import authentication, exceptions
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from hits.accounts.models import token_digest
from hits.models import ModelAnnotator

KEYWORD = "Model"
# When it was last used is written this often at most, not at every call.
USE_NOTED_EVERY = timedelta(minutes=5)


class ModelAuthentication(authentication.BaseAuthentication):
    """The row is `request.auth`; nobody is signed in, so no lead's page or route takes it."""

    def authenticate(self, request: Request) -> tuple[Any, ModelAnnotator] | None:
        keyword, _, token = str(request.META.get("HTTP_AUTHORIZATION", "")).partition(" ")
        if keyword.lower() != KEYWORD.lower():
            return None
        rows = ModelAnnotator.objects.living().select_related("project")
        row = rows.filter(digest=token_digest(token.strip())).first()
        if row is None:
            raise exceptions.AuthenticationFailed(
                "This token is no model's: it is wrong, or the model has ended. A manager or an owner registers models."
            )
        now = timezone.now()
        # Of one row in one statement: another process may have noted it meanwhile.
        old = Q(last_used_at=None) | Q(last_used_at__lt=now - USE_NOTED_EVERY)
        if row.last_used_at is None or row.last_used_at < now - USE_NOTED_EVERY:
            ModelAnnotator.objects.filter(old, pk=row.pk).update(last_used_at=now)
        return AnonymousUser(), row

    def authenticate_header(self, request: Request) -> str:
        return KEYWORD


class IsModel(BasePermission):
    def has_permission(self, request: Request, view: Any) -> bool:
        return isinstance(request.auth, ModelAnnotator)


class ModelThrottle(SimpleRateThrottle):
    """Per model and web process."""

    scope = "model"
    rate = "600/min"

    def get_cache_key(self, request: Request, view: Any) -> str | None:
        if not isinstance(request.auth, ModelAnnotator):
            return None
        return self.cache_format % {"scope": self.scope, "ident": request.auth.pk}


class ModelScheme(OpenApiAuthenticationExtension):
    """How the description names it."""

    target_class = ModelAuthentication
    name = "modelAuth"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "`Model ` and then the token that registering a model answers.",
        }
