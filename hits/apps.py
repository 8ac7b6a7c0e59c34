from importlib import import_module
from pathlib import Path

from django.apps import AppConfig


class HitsConfig(AppConfig):
    name = "hits"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from django.contrib.auth.signals import user_logged_in
        from django.core.checks import Tags, register

        from common.migrations import check_age
        from hits.accounts.rules import sessions

        # A capability declares what it does by being there.
        for file in sorted([*Path(self.path).glob("*/verbs.py"), *Path(self.path).glob("*/verbs/*.py")]):
            import_module(".".join(["hits", *file.relative_to(self.path).with_suffix("").parts]))
        import_module("hits.core.checks")
        register(check_age, Tags.database)
        user_logged_in.connect(sessions.begin)
