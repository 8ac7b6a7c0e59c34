"""Where the marketplace's webhook posts what happened. Its signature is the only key; it is told nothing."""

from __future__ import annotations

import logging

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from hits.answers.verbs import marketplace_events
from hits.mturk import events

log = logging.getLogger(__name__)
MOST_BYTES = 256 * 1024


@csrf_exempt
@require_POST
def receive(request: HttpRequest) -> HttpResponse:
    """204 when the events are noted; 403 without a fresh signature, 400 for what is no document, 413 for too much."""
    if not settings.MTURK_WEBHOOK_SECRET:
        raise Http404
    if _size(request) > MOST_BYTES:
        return HttpResponse(status=413)
    try:
        body = request.body
        events.check_signature(
            settings.MTURK_WEBHOOK_SECRET,
            request.headers.get("X-Marketplace-Timestamp", ""),
            request.headers.get("X-Marketplace-Signature", ""),
            body,
            timezone.now(),
        )
        marketplace_events.note(events.read_document(body))
    except RequestDataTooBig:
        return HttpResponse(status=413)
    except events.BadSignatureError as error:
        log.warning("A post to the address for events was refused. %s", error)
        return HttpResponse(status=403)
    except ValueError as error:
        log.warning("A signed document of events cannot be read. %s", error)
        return HttpResponse(status=400)
    return HttpResponse(status=204)


def _size(request: HttpRequest) -> int:
    length = request.headers.get("Content-Length", "")
    return int(length) if length.isascii() and length.isdigit() and len(length) < 12 else MOST_BYTES + 1
