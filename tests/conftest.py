"""What all tests share: no test runs with the settings or the proxy of the shell that started it."""

from __future__ import annotations

import os

# Tests speak to this machine alone; a proxy would be asked for loopback addresses too.
for _name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
    os.environ.pop(_name, None)
    os.environ.pop(_name.lower(), None)
