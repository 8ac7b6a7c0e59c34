"""Strict readers of environment variables: a wrong value ends the start, with its name and a remedy."""

from __future__ import annotations

import os
from ipaddress import IPv4Network, IPv6Network, ip_network
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from common.configuration import token_fault


def text(name: str, default: str | None = None) -> str:
    value = os.environ.get(name, default)
    if value is None or value == "" != default:
        raise ImproperlyConfigured(f"Set {name} in the environment.")
    return value


def boolean(name: str, default: bool = False) -> bool:
    value = os.environ.get(name, str(default))
    if value not in ("True", "False"):
        raise ImproperlyConfigured(f"{name} must be True or False, not {value!r}.")
    return value == "True"


def integer(name: str, default: int, *, low: int, high: int) -> int:
    value = os.environ.get(name, str(default))
    if not value.isascii() or not value.isdigit() or not low <= int(value) <= high:
        raise ImproperlyConfigured(f"{name} must be a whole number from {low} to {high}, not {value!r}.")
    return int(value)


def choice(name: str, default: str, among: tuple[str, ...]) -> str:
    value = os.environ.get(name) or default
    if value not in among:
        raise ImproperlyConfigured(f"{name} must be {' or '.join(among)}, not {value!r}.")
    return value


def secret(name: str) -> str:
    """Empty where it is not set; one that can be guessed is refused."""
    value = os.environ.get(name, "")
    if fault := token_fault(name, value):
        raise ImproperlyConfigured(fault)
    return value


def words(name: str, default: str = "") -> list[str]:
    return [word.strip() for word in os.environ.get(name, default).split(",") if word.strip()]


def networks(name: str) -> list[IPv4Network | IPv6Network]:
    """Such as 10.0.0.0/8,::1/128; none by default."""
    try:
        return [ip_network(word) for word in words(name)]
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must be networks such as 10.0.0.0/8, with commas: {error}.") from None


def url(name: str, default: str, *, schemes: tuple[str, ...]) -> str:
    """An address without a trailing slash."""
    value = os.environ.get(name, default)
    parts = urlsplit(value)
    if parts.scheme not in schemes or not (parts.hostname or parts.scheme == "sqlite"):
        raise ImproperlyConfigured(f"{name} must be a URL that starts with {' or '.join(schemes)}, not {value!r}.")
    return value.rstrip("/")


def optional_url(name: str, *, schemes: tuple[str, ...]) -> str:
    """An address as it stands, or empty where none is set."""
    return url(name, "", schemes=schemes) if os.environ.get(name) else ""


def origin(address: str) -> str:
    """Scheme, host and port: what browsers compare."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"
