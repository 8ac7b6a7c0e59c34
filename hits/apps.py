from django.apps import AppConfig


class HitsConfig(AppConfig):
    name = "hits"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from django.contrib.auth.signals import user_logged_in

        from hits import sessions

        user_logged_in.connect(sessions.begin)
