from common.backup_commands import BackupCommand
from hits.management.backed import REQUESTER


class Command(BackupCommand):
    what = REQUESTER
