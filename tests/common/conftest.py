"""What both projects share is tested with the settings of the requester's side."""

from tests.settings import use

use("tests.settings.annotate")

from tests.hits.conftest import django_db_use_migrations

__all__ = ["django_db_use_migrations"]
