#!/usr/bin/env python
"""The requester side's command line. The marketplace has its own: python -m marketplace."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotate.settings")
    execute_from_command_line(sys.argv)
