"""Verbs that spend: the price is shown first, confirmed then, and spent once for each confirmation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rest_framework import serializers

from hits.api.shapes import MoneyField, Shape
from hits.models import Project


class PaymentConfirmation(Shape):
    total = MoneyField(help_text="What the quote said.")
    confirmation = serializers.RegexField(
        r"\A[A-Za-z0-9_.:-]{8,40}\Z",
        help_text="8 to 40 letters, digits and _.:- of your choice. Sent again, it gives the same payment.",
    )


@dataclass(frozen=True, kw_only=True)
class Quote:
    """How a verb is priced.

    `name` and `summary` are of its operation in the API, whose address is the verb's with `quote/` behind it. `ask`
    checks what is asked for: it takes the row and the values, and what it returns `price` takes, and the verb with its
    other values. `price` gives an object with `total` in dollars, `problems` (sentences that stop it) and `warnings`.
    `gives` is the shape of that object with a fresh `confirmation`. A page shows it by `template`, as `quote`; `button`
    stands before the total. `made` gives what was made in the project by a confirmation, or None.
    """

    name: str
    summary: str
    ask: Callable[..., Mapping[str, Any]]
    price: Callable[..., Any]
    gives: type[Shape]
    template: str
    button: str
    made: Callable[[Project, str], Any]


def kept_as(project: Project, confirmation: str) -> str:
    """The key as rows keep it: whoever calls chooses it, so that it counts within the project."""
    return f"api:{project.pk}:{confirmation}"
