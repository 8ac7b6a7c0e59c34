from common.backup_commands import RestoreCommand
from common.backups import Manifest
from hits.management.backed import REQUESTER
from hits.publishing.rules import restorations


class Command(RestoreCommand):
    what = REQUESTER

    def after(self, manifest: Manifest) -> None:
        restorations.begin(manifest.moment)
        self.stdout.write(
            "No call is made to the marketplace until both sides agree. Next: manage.py reconcile --dry-run shows what "
            "is missing here, manage.py reconcile adopts it."
        )
