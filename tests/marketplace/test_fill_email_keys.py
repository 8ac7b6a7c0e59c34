"""The migration that gives addresses of an older database to one account each."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps

from marketplace.models import Worker

pytestmark = pytest.mark.on_postgresql


def test_the_oldest_account_keeps_an_address_that_several_have(make_worker: Callable[..., Worker]) -> None:
    emails = {"first": "Nina@example.org", "second": "nina@example.org", "third": "", "fourth": "olga@example.org"}
    for name, email in emails.items():
        worker: Any = make_worker(name)
        worker.user.email = email
        worker.user.save()
    for _ in range(2):
        import_module("marketplace.migrations.0004_fill_email_keys").fill_email_keys(apps, None)
        keys = dict(Worker.objects.values_list("user__username", "email_key"))
        assert keys == {"first": "nina@example.org", "second": None, "third": None, "fourth": "olga@example.org"}
