"""What a backup of the requester's side is of."""

from common import __version__
from common.backups import Backed
from hits.core.models.fields import DollarField

REQUESTER = Backed("annotate", __version__, DollarField)
