"""Pages by key: the next page starts after the last id, so page 500 costs what page 1 costs.

Ids grow, so a program that keeps the last id it saw gets only what is new.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar

from django.db.models import QuerySet
from drf_spectacular.utils import inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from hits.domain.keyset import LARGEST_ID, Order, Page


class PageQuery(serializers.Serializer[Any]):
    after = serializers.IntegerField(
        min_value=0, max_value=LARGEST_ID, default=0, help_text="Rows with larger ids only."
    )
    limit = serializers.IntegerField(min_value=1, max_value=500, default=100, help_text="Rows a page.")


def asked(request: Request, query: type[serializers.Serializer]) -> dict[str, Any]:
    """The checked query string. Raises ValidationError."""
    read = query(data=request.query_params)
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
    limit = serializers.IntegerField(min_value=1, max_value=500, default=100, help_text="Rows a page.")

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        if given["after"] and self.orders[given["sort"].removeprefix("-")].placed(given["after"]) is None:
            raise serializers.ValidationError({"after": f"It is no place in the order {given['sort']!r}."})
        return given


def listed(request: Request, found: Page[Any], shape: type[serializers.Serializer], **context: Any) -> Response:
    """A page of such a list, and how many rows were looked through where more are left to be looked through."""
    following = replace_query_param(request.build_absolute_uri(), "after", found.after) if found.after else None
    body = shape(found.rows, many=True, context={"request": request, **context}).data
    return Response({"results": body, "next": following, "looked_through": found.looked})


@cache
def list_of(shape: type[serializers.Serializer]) -> serializers.Serializer:
    """How the schema describes a page of such a list."""
    return inline_serializer(
        f"{shape.__name__}List",
        {
            "results": shape(many=True),
            "next": serializers.URLField(
                allow_null=True, help_text="The next page; null at the end. A page before it may have no results."
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
    found = list(rows.filter(id__gt=wanted["after"]).order_by("id")[: wanted["limit"] + 1])
    shown = found[: wanted["limit"]]
    more = len(found) > len(shown)
    following = replace_query_param(request.build_absolute_uri(), "after", shown[-1].pk) if more else None
    body = shape(shown, many=True, context={"request": request, **context}).data
    return Response({"results": body, "next": following})


@cache
def page_of(shape: type[serializers.Serializer]) -> serializers.Serializer:
    """How the schema describes a page of these."""
    return inline_serializer(
        f"{shape.__name__}Page",
        {
            "results": shape(many=True),
            "next": serializers.URLField(allow_null=True, help_text="The next page; null at the end."),
        },
    )
