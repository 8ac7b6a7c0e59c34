"""What a backup of the marketplace is of."""

from common import __version__
from common.backups import Backed
from marketplace.models import QualificationType
from marketplace.models.fields import MoneyField

# Migrating writes the types of qualifications that the system has.
_FILLED = frozenset({QualificationType._meta.db_table})
MARKETPLACE = Backed("marketplace", __version__, MoneyField, _FILLED)
