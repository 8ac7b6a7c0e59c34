"""Lines of the log as JSON: ids are in them, and what nobody but one person may have is not."""

from __future__ import annotations

import io
import json
import logging.config
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from common import logs, request_id

pytestmark = pytest.mark.django_db


@pytest.fixture
def written(settings: Any) -> Iterator[io.StringIO]:
    """What is logged as JSON from here on."""
    settings.LOG_FORMAT = logs.JSON
    configured = logging.config.DictConfigurator(logs.settings(logs.JSON, {"format": "%(message)s"}, "INFO"))
    configured.configure()
    stream = io.StringIO()
    (handler,) = logging.getLogger().handlers[-1:]
    handler.setStream(stream)  # type: ignore[attr-defined]
    yield stream
    logging.getLogger().removeHandler(handler)


def _lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_token_in_an_address_is_in_no_line(written: io.StringIO, client: Client) -> None:
    given = {"X-Request-ID": "from-the-proxy"}
    assert client.get("/invitations/a-secret-token/?code=a-secret-code", headers=given).status_code == 404
    assert "secret" not in written.getvalue()
    request, refused = _lines(written)
    assert refused["message"] == "Not Found: /invitations/<str:token>/"
    assert (request["route"], request["status"], request["method"]) == ("/invitations/<str:token>/", 404, "GET")
    assert {line["request_id"] for line in (refused, request)} == {"from-the-proxy"}


def test_an_address_that_is_no_page_is_not_written(written: io.StringIO, client: Client) -> None:
    assert client.get("/no-page/a-secret-token").status_code == 404
    assert "secret" not in written.getvalue()
    request, refused = _lines(written)
    assert (request["view"], refused["message"]) == ("none", "Not Found: (no page)")


def test_the_id_of_a_line_that_names_another_one_stays(written: io.StringIO) -> None:
    with request_id.under("the-id-of-the-job"):
        logging.getLogger("hits").info("Recorded.", extra={"request_id": "the-id-of-the-page"})
        logging.getLogger("hits").info("Done.")
    assert [line["request_id"] for line in _lines(written)] == ["the-id-of-the-page", "the-id-of-the-job"]
