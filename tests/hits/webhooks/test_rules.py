"""Signatures are those of Standard Webhooks, as the documentation shows them."""

from __future__ import annotations

import base64

from django.conf import settings

from hits.webhooks.rules import headers, new_secret, signature

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
# The example of that specification's own libraries.
VECTOR = (SECRET, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, '{"test": 2432232314}')
SIGNED = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_example_of_the_specification_is_signed_as_it_says() -> None:
    assert signature(*VECTOR) == SIGNED


def test_the_documentation_shows_that_example() -> None:
    text = (settings.ROOT / "docs" / "how-to" / "webhooks.md").read_text(encoding="utf-8")
    assert all(f"`{part}`" in text for part in (*map(str, VECTOR), SIGNED))


def test_each_secret_signs_and_the_number_of_the_attempt_is_said() -> None:
    other = new_secret()
    found = headers([SECRET, other], *VECTOR[1:], attempt=3)
    assert found["webhook-signature"] == f"{SIGNED} {signature(other, *VECTOR[1:])}"
    assert (found["webhook-id"], found["webhook-timestamp"], found["webhook-attempt"]) == (
        VECTOR[1],
        "1614265330",
        "3",
    )


def test_secrets_are_long_and_never_the_same() -> None:
    made = {new_secret() for _ in range(20)}
    assert len(made) == 20
    assert {len(base64.b64decode(secret.removeprefix("whsec_"))) for secret in made} == {32}
