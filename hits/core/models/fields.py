"""Dollars in Python, whole cents in the database.

SQLite keeps a DecimalField as a binary fraction: sums made inside the database would drift by parts of a cent
and slip past the constraint that is the budget.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import models

if TYPE_CHECKING:
    from django.db.models.expressions import Combinable

    _Integer = models.BigIntegerField[Decimal | str | Combinable, Decimal]
    _Nullable = models.BigIntegerField[Decimal | str | Combinable | None, Decimal | None]
else:
    _Integer = _Nullable = models.BigIntegerField

CENT, MICRO = Decimal("0.01"), Decimal("0.000001")


class DollarField(_Integer):
    """A Decimal with two places. A part of a cent is refused with a ValidationError."""

    description = "An amount in dollars and cents"
    # The limits of the integer column are cents; the validators of the base class would compare dollars with them.
    validators: list = []

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Decimal | None:
        return None if value is None else Decimal(int(value)).scaleb(-2)

    def to_python(self, value: Any) -> Decimal | None:
        if value is None or value == "":
            return None
        try:
            amount = Decimal(str(value))
            exact = amount.quantize(CENT)
        except ArithmeticError as error:
            raise ValidationError(f"{value!r} is no amount of money.") from error
        if exact != amount:
            raise ValidationError(f"{value} has a part of a cent.")
        return exact

    def get_prep_value(self, value: Any) -> Any:
        if value is None or hasattr(value, "resolve_expression"):
            return value
        amount = self.to_python(value)
        return None if amount is None else int(amount.scaleb(2))

    def value_to_string(self, obj: models.Model) -> str:
        return str(self.value_from_object(obj))

    def formfield(self, **options: Any) -> Any:
        return forms.DecimalField(**{"max_digits": 12, "decimal_places": 2, "label": self.verbose_name, **options})


def dollars(amount: Decimal) -> models.Value:
    """An amount inside a database expression, beside F()."""
    return models.Value(amount, output_field=DollarField())


class MicroDollarField(_Nullable):
    """A Decimal with six places, kept in whole millionths: an answer of a model may cost less than a cent."""

    description = "An amount in dollars and millionths"
    validators: list = []

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Decimal | None:
        return None if value is None else Decimal(int(value)).scaleb(-6)

    def to_python(self, value: Any) -> Decimal | None:
        if value is None or value == "":
            return None
        try:
            amount = Decimal(str(value))
            exact = amount.quantize(MICRO)
        except ArithmeticError as error:
            raise ValidationError(f"{value!r} is no amount of money.") from error
        if exact != amount:
            raise ValidationError(f"{value} has a part of a millionth of a dollar.")
        return exact

    def get_prep_value(self, value: Any) -> Any:
        if value is None or hasattr(value, "resolve_expression"):
            return value
        amount = self.to_python(value)
        return None if amount is None else int(amount.scaleb(6))

    def value_to_string(self, obj: models.Model) -> str:
        return str(self.value_from_object(obj))
