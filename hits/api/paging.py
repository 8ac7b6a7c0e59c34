"""Pages by key: the next page starts after the last id, so page 500 costs what page 1 costs.

Ids grow, so a program that keeps the last id it saw gets only what is new.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

LARGEST_ID = 2**63 - 1


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
