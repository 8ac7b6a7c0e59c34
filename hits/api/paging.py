"""Pages by key: the next page starts after the last id, so page 500 costs what page 1 costs.

Ids grow, so a program that keeps the last id it saw gets only what is new. A page ends before its limit where its rows
have long texts: what is sent, and what it takes of memory, is bounded by MOST_BYTES, whatever the texts are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, ClassVar

from django.db.models import QuerySet
from drf_spectacular.utils import inline_serializer
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from hits.core.keyset import LARGEST_ID, Order, Page

# Of the JSON of a page; a single row may have more.
MOST_BYTES = 1_000_000
# Rows that are loaded together, at first and then at most: what they take of memory is bounded, whatever their texts.
FIRST, AT_ONCE = 50, 100
NEXT = "The next page; null at the end. A page before it may have fewer results than `limit`: those with long texts."


class PageQuery(serializers.Serializer[Any]):
    after = serializers.IntegerField(
        min_value=0, max_value=LARGEST_ID, default=0, help_text="Rows with larger ids only."
    )
    limit = serializers.IntegerField(min_value=1, max_value=500, default=100, help_text="Rows a page, at most.")


def asked(request: Request, query: type[serializers.Serializer]) -> dict[str, Any]:
    """The checked query string. Raises ValidationError."""
    read = query(data=request.query_params)
    read.is_valid(raise_exception=True)
    return dict(read.validated_data)


def sent(request: Request, shape: type[serializers.Serializer], /, **context: Any) -> dict[str, Any]:
    """The checked body. Raises ValidationError."""
    read = shape(data=request.data, context=context)
    read.is_valid(raise_exception=True)
    return dict(read.validated_data)


class ListQuery(serializers.Serializer[Any]):
    """Of lists in several orders, of which `sort` names one."""

    orders: ClassVar[Mapping[str, Order]]
    after = serializers.CharField(
        max_length=80,
        default="",
        help_text="What `next` names. In the order of ids it is an id: rows with larger ids only.",
    )
    limit = serializers.IntegerField(min_value=1, max_value=500, default=100, help_text="Rows a page, at most.")

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        if given["after"] and self.orders[given["sort"].removeprefix("-")].placed(given["after"]) is None:
            raise serializers.ValidationError({"after": f"It is no place in the order {given['sort']!r}."})
        return given


# Loads the rows behind a place, at most so many, and what their shape needs besides.
Load = Callable[[Any, int], tuple[Page[Any], dict[str, Any]]]


def listed(
    request: Request, shape: type[serializers.Serializer], load: Load, *, after: str | None, limit: int
) -> Response:
    """A page of such a list, and how many rows were looked through where more are left to be looked through."""
    body, found = _within_bytes(request, shape, load, after, limit)
    return Response({"results": body, "next": _following(request, found), "looked_through": found.looked})


def _within_bytes(
    request: Request, shape: type[serializers.Serializer], load: Load, after: Any, limit: int
) -> tuple[list[Any], Page[Any]]:
    """(what is told of the rows, the page that they end with): at most `limit` rows, and fewer where they would have
    more than MOST_BYTES together; one at least.
    """
    told: list[Any] = []
    found, left, size = Page[Any]([], after=after), MOST_BYTES, min(limit, FIRST)
    while True:
        more, context = load(found.after, size)
        shown = shape(more.rows, many=True, context={"request": request, **context}).data
        length = len(JSONRenderer().render(shown))
        if length > left and told:
            break
        if length > left and size > 1:
            size = limit = max(1, size * left // length)
            continue
        told, found, left = [*told, *shown], more, left - length
        if len(told) >= limit or not more.after or more.looked is not None:
            break
        # As many as fit if they are as long as these.
        size = max(1, min(limit - len(told), AT_ONCE, left * size // length))
    return told, found


def _following(request: Request, found: Page[Any]) -> str | None:
    return replace_query_param(request.build_absolute_uri(), "after", found.after) if found.after else None


@cache
def list_of(shape: type[serializers.Serializer]) -> serializers.Serializer:
    """How the schema describes a page of such a list."""
    return inline_serializer(
        f"{shape.__name__}List",
        {
            "results": shape(many=True),
            "next": serializers.URLField(
                allow_null=True, help_text=f"{NEXT} With a filter or a search, it may have no results."
            ),
            "looked_through": serializers.IntegerField(
                allow_null=True,
                help_text="Of filters and searches that no index answers: rows that were looked through for this page, "
                "where more are left for the next one; null: nothing was left out.",
            ),
        },
    )


def page(request: Request, rows: QuerySet[Any], shape: type[serializers.Serializer], **context: Any) -> Response:
    """The rows after `?after=`, at most `?limit=`, and the address of the next page (null at the end)."""
    wanted = asked(request, PageQuery)

    def load(after: Any, size: int) -> tuple[Page[Any], dict[str, Any]]:
        found = list(rows.filter(id__gt=after).order_by("id")[: size + 1])
        shown = found[:size]
        return Page(shown, after=shown[-1].pk if len(found) > len(shown) else None), context

    body, found = _within_bytes(request, shape, load, wanted["after"], wanted["limit"])
    return Response({"results": body, "next": _following(request, found)})


@cache
def page_of(shape: type[serializers.Serializer]) -> serializers.Serializer:
    """How the schema describes a page of these."""
    return inline_serializer(
        f"{shape.__name__}Page",
        {
            "results": shape(many=True),
            "next": serializers.URLField(allow_null=True, help_text=NEXT),
        },
    )
