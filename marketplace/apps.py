from django.apps import AppConfig
from django.core.checks import register
from django.db.models.signals import post_migrate


class MarketplaceConfig(AppConfig):
    name = "marketplace"
    label = "marketplace"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from marketplace.checks import accept_any_key_stays_at_home
        from marketplace.verbs.qualifications import install_system_types

        register(accept_any_key_stays_at_home)
        post_migrate.connect(install_system_types, sender=self)
