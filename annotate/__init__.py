"""The requester's Django project: wiring only. `hits` holds the domain."""

from annotate.celery import app as celery_app

__all__ = ["celery_app"]
__version__ = "0.1.0"
