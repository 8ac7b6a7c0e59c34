from common.backup_commands import RestoreCommand
from common.backups import Manifest
from marketplace.management.backed import MARKETPLACE


class Command(RestoreCommand):
    what = MARKETPLACE

    def after(self, manifest: Manifest) -> None:
        self.stdout.write(
            "The requester's side must not know more than the marketplace: if its database is newer than this backup, "
            "restore the newest of its backups that is older, and reconcile."
        )
