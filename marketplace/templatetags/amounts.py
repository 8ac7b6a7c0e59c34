"""Amounts of money on the pages."""

from django import template

from marketplace.site.words import dollars

register = template.Library()
register.filter("dollars", dollars)
