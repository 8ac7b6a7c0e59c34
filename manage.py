#!/usr/bin/env python
"""The requester side's command line. The marketplace has its own: python -m marketplace."""

import contextlib
import os
import sys
from secrets import token_hex

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

from common import __version__, full_disk

# They make and check folders and sign nothing, so that a fresh checkout needs no secret for them.
WITHOUT_SECRETS = {"new_protocol", "new_recipe", "check_plugin"}

ENVIRONMENT = (
    "Commands read the environment of the server. Beside a running `make run`, take it first: "
    "set -a; . data/local.env; set +a (the file is in DATA_DIR)"
)

if __name__ == "__main__":
    if sys.argv[1:] == ["--version"]:
        print(f"annotate {__version__}")
        sys.exit()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotate.settings")
    if WITHOUT_SECRETS.intersection(sys.argv[1:2]):
        os.environ.setdefault("SECRET_KEY", token_hex())
    try:
        execute_from_command_line(sys.argv)
        sys.stdout.flush()
    except ImproperlyConfigured as error:
        sys.exit(f"{error} {ENVIRONMENT}")
    except BrokenPipeError:
        # Whoever read the output, such as `head`, wants no more of it. What is left must not be written at the exit.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        if not full_disk.is_full(error):
            raise
        sys.exit(full_disk.SENTENCE)
