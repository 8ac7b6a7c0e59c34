"""Money in the database: whole cents, so that both databases add exactly; Decimal in Python."""

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.db import models

if TYPE_CHECKING:
    from django.db.models.expressions import Combinable

    _Base = models.BigIntegerField[Decimal | Combinable, Decimal]
else:
    _Base = models.BigIntegerField

CENT = Decimal("0.01")


class MoneyField(_Base):
    """A Decimal with two places, kept as an integer number of cents.

    SQLite would keep a DecimalField as a binary fraction, and a sum of cents would drift away from
    the CHECK that guards it. Raises ValueError for a part of a cent.
    """

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Decimal | None:
        return None if value is None else (Decimal(int(value)) / 100).quantize(CENT)

    def to_python(self, value: Any) -> Decimal | None:
        return None if value is None else Decimal(value).quantize(CENT)

    def get_prep_value(self, value: Any) -> Any:
        if value is None or hasattr(value, "resolve_expression"):
            return value
        cents = Decimal(value) * 100
        if cents != int(cents):
            raise ValueError(f"{value} is not a whole number of cents")
        return int(cents)


def money(amount: Decimal) -> models.Value:
    """An amount for use inside a database expression, next to F()."""
    return models.Value(amount, output_field=MoneyField())
