from common.backup_commands import BackupCommand
from marketplace.management.backed import MARKETPLACE


class Command(BackupCommand):
    what = MARKETPLACE
