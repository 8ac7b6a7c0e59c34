"""Management entry of the marketplace: `python -m marketplace <command>`."""

import os
import sys

from common import __version__, full_disk


def main() -> None:
    if sys.argv[1:] == ["--version"]:
        print(f"marketplace {__version__}")
        return
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "marketplace.settings")
    from django.core.management import ManagementUtility
    from django.core.management.commands.runserver import Command as RunServer

    RunServer.default_port = "8001"
    try:
        ManagementUtility(["python -m marketplace", *sys.argv[1:]]).execute()
    except Exception as error:
        if not full_disk.is_full(error):
            raise
        sys.exit(full_disk.SENTENCE)


if __name__ == "__main__":
    main()
