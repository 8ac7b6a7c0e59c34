"""What all tests share: no test runs with the settings or the proxy of the shell that started it."""

from __future__ import annotations

import os

from hypothesis import settings

# Tests speak to this machine alone; a proxy would be asked for loopback addresses too.
for _name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
    os.environ.pop(_name, None)
    os.environ.pop(_name.lower(), None)

# Enough to break when a property breaks. HYPOTHESIS_PROFILE=thorough looks longer.
_usual = settings.get_profile("ci" if os.environ.get("CI") else "default")
settings.register_profile("quick", parent=_usual, max_examples=25)
settings.register_profile("thorough", parent=_usual, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
