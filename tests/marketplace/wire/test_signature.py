"""With MARKETPLACE_ACCEPT_ANY_KEY off, only a true signature of a known key opens the door."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError
from django.test import Client

from marketplace.models import AccessKey, Requester
from marketplace.rules.errors import WireError
from marketplace.wire import signature


@pytest.fixture(autouse=True)
def strict(settings: Any) -> None:
    settings.MARKETPLACE_ACCEPT_ANY_KEY = False


def code_of(client: Any) -> str:
    with pytest.raises(ClientError) as caught:
        client.get_account_balance()
    return caught.value.response["Error"]["Code"]


def test_a_true_signature_opens(connect: Any, requester: Requester) -> None:
    assert connect().get_account_balance()["AvailableBalance"] == "10000.00"


def test_each_key_is_its_own_requester(connect: Any, requester: Requester) -> None:
    AccessKey.objects.create(requester=Requester.objects.create(name="Bob"), access_key_id="bob", secret="s")
    assert connect("bob", "s").get_account_balance()["AvailableBalance"] == "0.00"


def test_a_wrong_secret_is_refused(connect: Any, requester: Requester) -> None:
    assert code_of(connect(secret="guess")) == "InvalidSignatureException"


def test_an_unknown_key_is_refused_and_makes_nobody(connect: Any, requester: Requester) -> None:
    assert code_of(connect("mallory")) == "UnrecognizedClientException"
    assert Requester.objects.count() == 1


def test_a_key_that_was_switched_off_is_refused(connect: Any, requester: Requester) -> None:
    requester.access_keys.update(active=False)
    assert code_of(connect()) == "UnrecognizedClientException"


def test_a_clock_that_is_wrong_is_refused(connect: Any, requester: Requester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signature, "CLOCK_SKEW", timedelta(seconds=-1))
    assert code_of(connect()) == "InvalidSignatureException"


def test_a_changed_body_is_refused(connect: Any, requester: Requester) -> None:
    client = connect()

    def tamper(request: Any, **kwargs: Any) -> None:
        request.body = b"{ }"
        request.headers["Content-Length"] = "3"

    client.meta.events.register("before-send.mturk", tamper)
    assert code_of(client) == "InvalidSignatureException"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("", "MissingAuthenticationTokenException"),
        ("Bearer token", "InvalidSignatureException"),
        ("AWS4-HMAC-SHA256 Credential=a/b", "InvalidSignatureException"),
    ],
)
def test_a_header_that_signs_nothing_is_refused(client: Client, header: str, code: str) -> None:
    headers = {"X-Amz-Target": "MTurkRequesterServiceV20170117.GetAccountBalance"}
    if header:
        headers["Authorization"] = header
    response = client.post("/", "{}", content_type="application/x-amz-json-1.1", headers=headers)
    assert (response.status_code, json.loads(response.content)["__type"]) == (403, code)


def test_any_key_is_welcome_only_when_the_setting_says_so(connect: Any, requester: Requester, settings: Any) -> None:
    settings.MARKETPLACE_ACCEPT_ANY_KEY = True
    assert connect("new", "x").get_account_balance()["AvailableBalance"] == "10000.00"
    assert connect("new", "other").get_account_balance()["AvailableBalance"] == "10000.00"
    assert Requester.objects.count() == 2


def test_workers_read_the_name_of_the_requester_whom_the_key_of_make_run_made(
    connect: Any, db: None, settings: Any
) -> None:
    settings.MARKETPLACE_ACCEPT_ANY_KEY = True
    for key in ("LOCALREQUESTER", "NAMELESS"):
        connect(key, "x").get_account_balance()
    assert set(Requester.objects.values_list("name", flat=True)) == {"Sample reading lab", "Requester NAMELESS"}


def test_two_first_calls_of_a_key_at_once_are_of_one_requester(requester: Requester, now: datetime) -> None:
    """Neither has found the key when both make it."""
    assert signature._welcome("new", now) == signature._welcome("new", now) != requester


def test_the_clock_may_be_fifteen_minutes_wrong() -> None:
    now = datetime(2026, 1, 1, 12, tzinfo=UTC)
    signature._check_clock("20260101T114500Z", now)
    with pytest.raises(WireError, match="Signature expired"):
        signature._check_clock("20260101T114459Z", now)
