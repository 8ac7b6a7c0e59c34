"""What a signature has to cover, checked with a signer written from the algorithm's description, not from botocore."""

import hashlib
import hmac
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from marketplace.models import Requester

TARGET = "MTurkRequesterServiceV20170117.GetAccountBalance"


@pytest.fixture(autouse=True)
def strict(settings: Any, requester: Requester) -> None:
    settings.MARKETPLACE_ACCEPT_ANY_KEY = False


def digest(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def authorization(
    headers: dict[str, str],
    body: str,
    path: str = "/",
    query: str = "",
    region: str = "us-east-1",
    date: str = "",
    service: str = "mturk-requester",
) -> str:
    stamp = headers["x-amz-date"]
    names = ";".join(sorted(headers))
    lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
    body_hash = headers.get("x-amz-content-sha256", hashlib.sha256(body.encode()).hexdigest())
    canonical = f"POST\n{path}\n{query}\n{lines}\n{names}\n{body_hash}"
    scope = f"{date or stamp[:8]}/{region}/{service}/aws4_request"
    text = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    key = b"AWS4secret-of-alice"
    for part in scope.split("/"):
        key = digest(key, part)
    signature = digest(key, text).hex()
    return f"AWS4-HMAC-SHA256 Credential=alice/{scope}, SignedHeaders={names}, Signature={signature}"


def fresh(**more: str) -> dict[str, str]:
    stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    return {"host": "testserver", "x-amz-date": stamp, "x-amz-target": TARGET} | {
        name.replace("_", "-"): value for name, value in more.items()
    }


def post(
    client: Client, headers: dict[str, str], signed: str, body: str = "{}", query: str = ""
) -> tuple[int, dict[str, Any]]:
    response = client.post(
        f"/?{query}" if query else "/",
        body,
        content_type="application/x-amz-json-1.1",
        headers=headers | {"Authorization": signed},
    )
    assert len(response["x-amzn-RequestId"]) == 36
    assert response["Content-Length"] == str(len(response.content))
    return response.status_code, json.loads(response.content)


def test_another_library_that_signs_other_headers_is_understood(client: Client) -> None:
    headers = fresh(user_agent="java/1", content_type="application/x-amz-json-1.1", content_length="2")
    assert post(client, headers, authorization(headers, "{}"))[0] == 200


def test_the_query_is_under_the_signature(client: Client) -> None:
    headers = fresh()
    assert post(client, headers, authorization(headers, "{}", query="a=1"), query="a=1")[0] == 200
    assert post(client, headers, authorization(headers, "{}", query="a=1"), query="a=2")[0] == 403


def test_a_hash_in_a_header_does_not_stand_in_for_the_body(client: Client) -> None:
    """Whoever reads a signed call on its way must not be able to send it with another body."""
    headers = fresh(x_amz_content_sha256=hashlib.sha256(b"{}").hexdigest())
    signed = authorization(headers, "{}")
    assert post(client, headers, signed)[0] == 200
    status, answer = post(client, headers, signed, body='{"MaxResults": 1}')
    assert (status, answer["__type"]) == (403, "InvalidSignatureException")
    unsigned = fresh(x_amz_content_sha256="UNSIGNED-PAYLOAD")
    assert post(client, unsigned, authorization(unsigned, "{}"))[0] == 403


@pytest.mark.parametrize("left_out", ["host", "x-amz-date", "x-amz-target", "x-amz-meta-more"])
def test_a_header_that_decides_something_must_be_signed(client: Client, left_out: str) -> None:
    headers = fresh(x_amz_meta_more="1")
    covered = {name: value for name, value in headers.items() if name != left_out} | {
        "x-amz-date": headers["x-amz-date"]
    }
    signed = authorization(covered, "{}")
    if left_out == "x-amz-date":
        signed = signed.replace(";x-amz-date", "")
    status, answer = post(client, headers, signed)
    assert (status, answer["__type"]) == (403, "InvalidSignatureException")


@pytest.mark.parametrize("any_key", [False, True])
@pytest.mark.parametrize(
    ("scope", "reason"),
    [({"region": "eu-west-1"}, "use 'us-east-1'"), ({"service": "s3"}, "correct service: 'mturk-requester'")],
)
def test_another_scope_is_refused_with_a_reason_also_where_any_key_is_taken(
    client: Client, settings: Any, any_key: bool, scope: dict[str, str], reason: str
) -> None:
    settings.MARKETPLACE_ACCEPT_ANY_KEY = any_key
    headers = fresh()
    status, answer = post(client, headers, authorization(headers, "{}", **scope))
    assert (status, reason in answer["Message"]) == (403, True)


def test_another_date_is_refused_with_a_reason(client: Client) -> None:
    headers = fresh()
    status, answer = post(client, headers, authorization(headers, "{}", date="20200101"))
    assert (status, "date" in answer["Message"]) == (403, True)


def test_a_signature_for_another_server_is_not_good_here(client: Client, settings: Any) -> None:
    headers = fresh(host="mturk.example.com")
    status, answer = post(client, headers, authorization(headers, "{}"))
    assert (status, answer["__type"]) == (403, "InvalidSignatureException")


def test_two_equal_calls_in_one_second_both_work(client: Client) -> None:
    """Their signatures are the same, so that a copy within the quarter of an hour cannot be told apart."""
    headers = fresh()
    signed = authorization(headers, "{}")
    assert [post(client, headers, signed)[0] for _ in range(2)] == [200, 200]


def test_a_key_that_is_revoked_between_two_calls_is_refused(client: Client, requester: Requester) -> None:
    headers = fresh()
    signed = authorization(headers, "{}")
    assert post(client, headers, signed)[0] == 200
    requester.access_keys.update(active=False)
    assert post(client, headers, signed)[1]["__type"] == "UnrecognizedClientException"


def test_a_request_that_is_too_large_is_refused_before_its_signature_is_looked_at(client: Client) -> None:
    headers = fresh()
    body = " " * 3_000_000
    status, answer = post(client, headers, authorization(headers, body), body=body)
    assert (status, answer["__type"]) == (400, "SerializationException")
