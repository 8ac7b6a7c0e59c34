"""Forms that no page sends: both sites answer each without a status from 500 on and without a traceback in the log."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.db import transaction
from django.test import Client
from lxml import html

URLENCODED = "application/x-www-form-urlencoded"
PART = b'--x\r\nContent-Disposition: form-data; name="a"'
# What a head or a part of it says wrongly: content type and body.
MALFORMED = {
    "no boundary": ("multipart/form-data", b"a=1"),
    "an empty boundary": ("multipart/form-data; boundary=", b"----\r\n"),
    "a boundary of 300 characters": (f"multipart/form-data; boundary={'x' * 300}", b"a=1"),
    "a boundary that is not ASCII": ("multipart/form-data; boundary=\u00e9", b"a=1"),
    "no body": ("multipart/form-data; boundary=x", b""),
    "base64 that is none": (
        "multipart/form-data; boundary=x",
        PART + b"\r\nContent-Transfer-Encoding: base64\r\n\r\n!\r\n--x--\r\n",
    ),
    "a part without an end": ("multipart/form-data; boundary=x", PART + b"\r\n\r\nvalue"),
    "percent signs without digits": (URLENCODED, b"a=%&b=%zz&%=1&c=%f"),
    "bytes that are no UTF-8": (URLENCODED, b"a=%ff&%ff=1&b=\xff\xfe"),
    "half of a surrogate pair": (URLENCODED, b"a=%ED%A0%80&%ED%A0%80=1"),
}
# The part of them that a view can get wrong; the rest fails while the body is read, before a view has any of it.
OF_EVERY_ADDRESS = ("no boundary",)
# What stands in the place of one field of a form, as it goes over the wire.
ODD = {
    "100,000 characters": b"x" * 100_000,
    "30 digits": b"9" * 30,
    "30 digits below zero": b"-" + b"9" * 30,
    "half of a surrogate pair in JSON": b"%7B%22a%22%3A%22%5Cud800%22%7D",
    "NUL in JSON": b"%5B%22%5Cu0000%22%5D",
    "NUL": b"a%00b",
}
# Of what is chosen or is a number, the rest is refused in the same way: it is not on the list, or no number.
ENOUGH = {
    **dict.fromkeys(("select", "radio", "checkbox"), ("30 digits", "NUL")),
    "number": ("30 digits", "30 digits below zero"),
}
# What is replaced or kept while the body is decoded: every view is given the same text.
DECODED = {
    "half of a surrogate pair": b"%ED%A0%80",
    "percent signs without digits": b"%zz%",
    "a byte that is no UTF-8": b"%ff",
}


@dataclass(frozen=True)
class Form:
    """One that a page shows, as a browser would send it; `kinds` are those of its controls, by name."""

    action: str
    fields: tuple[tuple[str, str], ...]
    kinds: Mapping[str, str] = field(default_factory=dict)


def forms_of(page: str, content: bytes) -> Iterator[Form]:
    """The forms of a page that are sent by POST; a file's field is left out."""
    if not content.strip():
        return
    for form in html.fromstring(content).iter("form"):
        if form.get("method", "get").lower() != "post":
            continue
        fields = [pair for control in form.inputs if control.get("name") for pair in _sent(control)]
        buttons = form.xpath(".//button[@name]")
        fields += [(button.get("name"), button.get("value", "")) for button in buttons[:1]]
        kinds = {one.get("name"): "select" if one.tag == "select" else one.get("type", "") for one in form.inputs}
        yield Form(form.get("action") or page, tuple(fields), kinds)


def _sent(control: Any) -> Iterator[tuple[str, str]]:
    """What a control sends; one that is not chosen sends what it would if it were."""
    kind = control.get("type", "")
    if kind == "file" or control.get("name") == "csrfmiddlewaretoken":
        return
    if control.tag == "select":
        yield control.get("name"), next((value for value in control.value_options if value), "")
    elif control.tag == "textarea":
        yield control.get("name"), control.text or "text"
    elif kind in ("checkbox", "radio"):
        yield control.get("name"), control.get("value", "on")
    else:
        yield control.get("name"), control.get("value") or ("1" if kind == "number" else "text")


def bodies(form: Form, odd: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """The form with one of its fields after the other replaced; what was done wrong, and the body.

    Of fields that differ by a number alone, such as those of the rows of a table, the first stands for all.
    """
    kinds = {re.sub(r"\d+", "", name): name for name, _ in reversed(form.fields)}
    for name in kinds.values():
        others = urlencode([pair for pair in form.fields if pair[0] != name]).encode()
        for what, value in odd.items():
            if what in ENOUGH.get(form.kinds.get(name, ""), odd):
                yield f"{what} in {name}", b"&".join((others, urlencode({name: ""}).encode() + value))


class Sweep:
    """Sends what is odd and takes back what it changed; `faults` are the answers that should not have been."""

    def __init__(self, caplog: Any) -> None:
        self.caplog = caplog
        self.faults: list[str] = []
        self.sent = 0

    def malformed(self, client: Client, path: str, whats: Iterable[str] = MALFORMED) -> None:
        for what in whats:
            kind, body = MALFORMED[what]
            answer = self.post(client, path, what, body, kind)
            if what == "no boundary" and not 400 <= answer.status_code < 500:
                self.faults.append(f"{path} with {what}: status {answer.status_code}")

    def odd(self, client: Client, path: str, form: Form, odd: Mapping[str, bytes] = ODD) -> None:
        for what, body in bodies(form, odd):
            self.post(client, path, what, body, URLENCODED)

    def post(self, client: Client, path: str, what: str, body: bytes, kind: str) -> Any:
        self.caplog.clear()
        self.sent += 1
        with transaction.atomic():
            answer = client.generic("POST", path, body, kind)
            transaction.set_rollback(True)
        if answer.status_code >= 500:
            self.faults.append(f"{path} with {what}: status {answer.status_code}")
        for record in self.caplog.records:
            if record.exc_info or record.levelno >= logging.ERROR:
                self.faults.append(f"{path} with {what}: logged {record.name}: {record.getMessage()[:200]}")
        return answer


def by_path(forms: Iterable[Form]) -> Mapping[str, list[Form]]:
    """Each form once, by the path it is sent to."""
    found: dict[str, dict[tuple[str, ...], Form]] = {}
    for form in forms:
        names = tuple(name for name, _ in form.fields)
        found.setdefault(urlsplit(form.action).path, {}).setdefault(names, form)
    return {path: list(several.values()) for path, several in found.items()}
