"""Olive runs the marketplace; Alice publishes; Walter works."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from marketplace.verbs import accounts


@pytest.fixture
def operator(db: None) -> User:
    return accounts.create_operator("olive", "a-long-password")


@pytest.fixture
def desk(operator: User) -> Client:
    """Olive's browser."""
    client = Client()
    client.force_login(operator)
    return client


@pytest.fixture
def token_of(desk: Client) -> Callable[[str], str]:
    """The token in the form of a page."""

    def read(address: str) -> str:
        found = re.search(r'name="token" value="([\w-]+)"', desk.get(address).content.decode())
        assert found, f"no form with a token on {address}"
        return found[1]

    return read


def text_of(response: Any) -> str:
    """The words on a page, without markup and with single spaces."""
    if response.streaming:
        return b"".join(response.streaming_content).decode()
    main = response.content.decode().split("<main", 1)[-1]
    return " ".join(re.sub(r"<[^>]*>", " ", main).split())
