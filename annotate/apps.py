from django.apps import AppConfig


class AnnotateConfig(AppConfig):
    name = "annotate"

    def ready(self) -> None:
        from annotate import checks  # noqa: F401  (registers the system checks)
