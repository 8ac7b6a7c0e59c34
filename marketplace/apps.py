from importlib import import_module
from typing import Any

from django.apps import AppConfig
from django.apps import apps as current_apps
from django.apps.registry import Apps
from django.contrib.auth.signals import user_logged_in
from django.core.checks import Tags, register
from django.db.models.signals import post_migrate
from django.http import HttpRequest


class MarketplaceConfig(AppConfig):
    name = "marketplace"
    label = "marketplace"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        import_module("marketplace.checks")
        from common.migrations import check_age

        register(check_age, Tags.database)
        post_migrate.connect(_fill_tables, sender=self)
        user_logged_in.connect(_begin_session)


def _begin_session(sender: Any, request: HttpRequest | None, user: Any, **more: Any) -> None:
    """An operator signed in, on whichever page."""
    from marketplace.models import OperatorSession

    if request is not None and user.is_staff:
        OperatorSession.objects.all().begin(request, user)


def _fill_tables(sender: AppConfig, apps: Apps = current_apps, **kwargs: Any) -> None:
    """What every database holds from the start, and what newer tables say about older rows."""
    from marketplace.verbs.qualifications import install_system_types, note_all_requirements

    if "qualificationtype" not in apps.all_models["marketplace"]:
        # Somebody took the first migration back by hand: there are no tables.
        return
    install_system_types()
    note_all_requirements()
