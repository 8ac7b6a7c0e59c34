"""A page that a lead wrote, shown to leads as workers will see it at the marketplace.

Security behavior: the page runs scripts that somebody wrote for another origin. It gets no origin at all (`sandbox`
without `allow-same-origin`, as a header: it holds in a tab of its own too), so it meets no cookie and nothing of the
dashboard; it sends no form and calls no address, and only the dashboard may frame it.
"""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from common.html_pages import Surroundings, fit_into_frame
from hits.answers.verbs.serving import PREVIEW

# Forms of the page lead there; the policy lets none be sent.
_NOWHERE = "https://preview.invalid/mturk/externalSubmit"


def previewed(request: HttpRequest, html: str) -> HttpResponse:
    here = f"{request.scheme}://{request.get_host()}"
    # Of ours the two scripts that the marketplace puts in the place of Amazon's; and nothing else.
    scripts = f"{here}{settings.STATIC_URL}frames/"
    files = f"https: data: blob: {scripts}"
    response = HttpResponse(fit_into_frame(html, Surroundings(_NOWHERE, PREVIEW, scripts)))
    response["Content-Security-Policy"] = "; ".join(
        (
            "default-src 'none'",
            f"script-src {files} 'unsafe-inline' 'unsafe-eval'",
            f"style-src {files} 'unsafe-inline'",
            f"img-src {files}",
            f"media-src {files}",
            f"font-src {files}",
            "frame-src https:",
            "base-uri https:",
            "form-action 'none'",
            f"frame-ancestors {here}",
            "sandbox allow-scripts",
        )
    )
    response["Referrer-Policy"] = "no-referrer"
    return response
