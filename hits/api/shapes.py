"""Fields and limits that many shapes share. Money is text with two decimals; times are ISO 8601 in UTC."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.db.models import TextChoices
from rest_framework import serializers
from rest_framework.exceptions import ParseError

from hits.api import parsing

Shape = serializers.Serializer[Any]
LARGEST = Decimal("9999999999.99")
# Rows that one request may name.
AT_ONCE = 1000


class MoneyField(serializers.DecimalField):
    """Dollars and cents, as text."""

    def __init__(self, **options: Any) -> None:
        bounds = {"min_value": Decimal(0), "max_value": LARGEST}
        super().__init__(**{"max_digits": 12, "decimal_places": 2, **bounds, **options})


class StateField(serializers.CharField):
    """A word of a list that may grow; the list stands in the description."""

    def __init__(self, choices: type[TextChoices], **options: Any) -> None:
        words = "; ".join(f"`{value}` {label}" for value, label in choices.choices if value)
        super().__init__(read_only=True, help_text=words, **options)


class UsernameField(serializers.CharField):
    def __init__(self, source: str) -> None:
        super().__init__(source=f"{source}.username", read_only=True, default=None, allow_null=True)


class JsonTextField(serializers.JSONField):
    """An object that is written as a text, where a form or an address has no objects."""

    def to_internal_value(self, data: Any) -> Any:
        try:
            value = super().to_internal_value(data)
            parsing.check(value)
        except RecursionError as error:
            raise serializers.ValidationError(parsing.too_deep()) from error
        except ParseError as error:
            raise serializers.ValidationError(str(error.detail)) from error
        if not isinstance(value, dict):
            raise serializers.ValidationError('Write an object, such as {"folds": 5}.')
        return value


class FaultShape(Shape):
    line = serializers.IntegerField(allow_null=True)
    place = serializers.CharField()
    message = serializers.CharField()
