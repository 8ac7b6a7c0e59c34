"""The address for the marketplace's webhook: open to who knows the secret, and to nobody else."""

from __future__ import annotations

import hmac
import json
import time
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from hits.models import Hit
from tests.hits import factories as make

pytestmark = pytest.mark.django_db
SECRET = "a-secret-of-the-marketplace"


@pytest.fixture
def post(settings: Any) -> Any:
    """Signs as the marketplace does, from a client that is refused wherever CSRF is checked."""
    settings.MTURK_WEBHOOK_SECRET = SECRET

    def go(body: str, *, secret: str = SECRET, age: int = 0, **headers: str) -> Any:
        timestamp = str(int(time.time()) - age)
        signed = {
            "X-Marketplace-Timestamp": timestamp,
            "X-Marketplace-Signature": _signature(secret, timestamp, body),
            **headers,
        }
        client = Client(enforce_csrf_checks=True)
        return client.post("/events/", body, content_type="application/json", headers=signed)

    return go


def _signature(secret: str, timestamp: str, body: str) -> str:
    return "sha256=" + hmac.new(secret.encode(), f"{timestamp}.{body}".encode(), "sha256").hexdigest()


def _document(*hit_ids: str) -> str:
    return json.dumps({"Events": [{"EventType": "HITReviewable", "HITId": found} for found in hit_ids]})


def test_signed_events_mark_their_hits_and_unknown_ones_are_passed_over(post: Any) -> None:
    hit, other = make.hit(), make.hit()
    assert post(_document(hit.hit_id, "3UNKNOWN")).status_code == 204
    assert list(Hit.objects.exclude(due_at=None)) == [hit]
    assert Hit.objects.get(pk=hit.pk).due_at > timezone.now()
    assert other.due_at is None


def test_it_costs_few_queries(post: Any, django_assert_max_num_queries: Any) -> None:
    body = _document(*[make.hit().hit_id for _ in range(30)])
    with django_assert_max_num_queries(3):
        post(body)


@pytest.mark.parametrize("wrong", [{"secret": "another-one"}, {"age": 301}, {"X-Marketplace-Signature": "x"}])
def test_without_a_fresh_signature_nothing_happens(post: Any, wrong: dict[str, Any]) -> None:
    hit = make.hit()
    assert post(_document(hit.hit_id), **wrong).status_code == 403
    assert Hit.objects.get().due_at is None


@pytest.mark.parametrize("body", ["no JSON", '{"Events": [7]}'])
def test_a_signed_document_that_is_none_is_refused(post: Any, body: str) -> None:
    assert post(body).status_code == 400


def test_too_much_is_not_read(post: Any) -> None:
    assert post(" " * (256 * 1024 + 1)).status_code == 413


def test_only_posts_are_taken(post: Any) -> None:
    assert Client().get("/events/").status_code == 405


def test_without_a_secret_the_address_does_not_exist() -> None:
    assert Client().post("/events/", "{}", content_type="application/json").status_code == 404
