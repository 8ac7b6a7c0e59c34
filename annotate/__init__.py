"""The requester's Django project: wiring only. `hits` holds the domain."""

from annotate.celery import app as celery_app
from common import __version__

__all__ = ["__version__", "celery_app"]
