"""Amounts of money that may be negative."""

from decimal import Decimal

from django import template

register = template.Library()


@register.filter
def dollars(amount: Decimal) -> str:
    """$1,234.50, and −$0.50 for what was taken back."""
    return f"{'−' if amount < 0 else ''}${abs(amount):,.2f}"
