"""What both projects share is tested with the settings of the requester's side."""

from tests.settings import use

use("tests.settings.annotate")
