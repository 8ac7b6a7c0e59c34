"""The requester's Django project: wiring only. `hits` holds the domain."""

__version__ = "0.1.0"

from annotate.celery import app as celery_app

__all__ = ["__version__", "celery_app"]
