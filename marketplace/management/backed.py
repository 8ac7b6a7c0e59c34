"""What a backup of the marketplace is of."""

from common import __version__
from common.backups import Backed
from marketplace.models.fields import MoneyField

MARKETPLACE = Backed("marketplace", __version__, MoneyField)
