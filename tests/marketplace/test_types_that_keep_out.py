"""The migration that takes qualifications off the offer of which HITs only ask that they are not held."""

from collections.abc import Callable
from datetime import datetime
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps

from marketplace.models import HitType, QualificationType, Requester
from marketplace.verbs import qualifications
from tests.marketplace.site.conftest import requirement

pytestmark = pytest.mark.on_postgresql


def test_types_that_work_asks_for_or_nobody_asks_about_stay_on_offer(
    requester: Requester, make_hit_type: Callable[..., HitType], now: datetime
) -> None:
    asked: dict[str, list[tuple[str, dict[str, Any]]]] = {
        "kept out": [("DoesNotExist", {})],
        "both": [("DoesNotExist", {}), ("GreaterThan", {"IntegerValues": [5]})],
        "unused": [],
    }
    for name, uses in asked.items():
        kind = qualifications.create_type(requester, name=name, description="x", status="Active", now=now)
        for comparator, values in uses:
            need = requirement(type_id=kind.qualification_type_id, comparator=comparator, **values)
            make_hit_type(title=f"{name} {comparator}", requirements=[need])
    QualificationType.objects.filter(requester=requester).update(is_requestable=True)
    for _ in range(2):
        import_module("marketplace.migrations.0008_types_that_keep_out").take_off_the_offer(apps, None)
        offered = QualificationType.objects.requestable().values_list("name", flat=True)
        assert sorted(offered) == ["both", "unused"]
