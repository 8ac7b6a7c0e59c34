"""Settings for tests/marketplace: a database of its own per test process, a fast password hasher."""

import os
import tempfile
from pathlib import Path

os.environ.setdefault("MARKETPLACE_SECRET_KEY", "only-for-tests-only-for-tests-only-for-tests")
os.environ.setdefault("MARKETPLACE_ACCEPT_ANY_KEY", "True")
os.environ.setdefault("MARKETPLACE_SANDBOX", "True")
os.environ.setdefault("MARKETPLACE_DATABASE_URL", f"sqlite:///{Path(tempfile.gettempdir()) / 'marketplace.sqlite3'}")

from marketplace.settings import *  # noqa: E402, F403
from marketplace.settings import DATABASES  # noqa: E402
from tests.settings import database_file  # noqa: E402

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Each test client would look through all static files before its first request.
WHITENOISE_AUTOREFRESH = True
# A file and not memory, so that threads and processes have connections of their own, as they have in earnest.
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["TEST"] = {"NAME": database_file("marketplace")}
else:
    DATABASES["default"]["TEST"] = {"NAME": f"test_marketplace_{os.getpid()}"}
DATABASES["default"]["CONN_MAX_AGE"] = 0
