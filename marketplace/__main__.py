"""Management entry of the marketplace: `python -m marketplace <command>`."""

import os
import sys

from common import __version__


def main() -> None:
    if sys.argv[1:] == ["--version"]:
        print(f"marketplace {__version__}")
        return
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "marketplace.settings")
    from django.core.management import ManagementUtility
    from django.core.management.commands.runserver import Command as RunServer

    RunServer.default_port = "8001"
    ManagementUtility(["python -m marketplace", *sys.argv[1:]]).execute()


if __name__ == "__main__":
    main()
