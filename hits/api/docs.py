"""The API's description, for programs and for people. Everybody may read it: it says nothing of any project."""

from __future__ import annotations

from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.throttling import AnonRateThrottle

from hits.api.base import LeadThrottle


class StrangerThrottle(AnonRateThrottle):
    """Making the description takes a good part of a second."""

    scope = "stranger"
    rate = "60/min"


class Schema(SpectacularAPIView):
    throttle_classes = [StrangerThrottle, LeadThrottle]


class Docs(SpectacularSwaggerSplitView):
    """Swagger UI with its start script as a file of its own."""

    url_name = "api:schema"
    template_name = "api/docs.html"
