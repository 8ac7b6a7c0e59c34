from django.apps import AppConfig


class AnnotateConfig(AppConfig):
    name = "annotate"

    def ready(self) -> None:
        from annotate import checks, jobs  # noqa: F401  (registers the system checks, and what listens to Celery)
