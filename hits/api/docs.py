"""The page on which the API can be read and tried."""

from __future__ import annotations

from drf_spectacular.views import SpectacularSwaggerSplitView


class Docs(SpectacularSwaggerSplitView):
    """Swagger UI with its start script as a file of its own."""

    url_name = "api:schema"
    template_name = "api/docs.html"
