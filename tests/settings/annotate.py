"""The requester's settings under test: fast password hashing and a cache that needs no server."""

import os

os.environ.setdefault("SECRET_KEY", "a-key-for-tests-only-0123456789abcdef")
os.environ.setdefault("AWS_ACCESS_KEY_ID", "TESTKEY")
os.environ.setdefault("AWS_SECRET_ACCESS_KEY", "test-secret")

from annotate.settings import *  # noqa: E402, F403
from annotate.settings import DATABASES  # noqa: E402
from tests.settings import database_file  # noqa: E402

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Each test client would look through all static files before its first request.
WHITENOISE_AUTOREFRESH = True
# A file and not memory, so that the live server's threads have connections of their own, as they have in earnest: what
# a page saves by itself does not end up inside a transaction of the test.
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["TEST"] = {"NAME": database_file("annotate")}
    DATABASES["default"]["OPTIONS"]["init_command"] = "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"
DATABASES["default"]["CONN_MAX_AGE"] = 0
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
# Jobs wait in this process, where a test can look at them.
CELERY_BROKER_URL = "memory://"
# The marketplace of the tests has no limit of calls; tests of the limit bring their own rates.
# A HIT that expired closes at the first look: tests of reads that lag behind set a time of their own.
MTURK_SETTLE_SECONDS = 0
# As of a marketplace on another machine.
HARVEST_SWEEP_SECONDS = 300
# A busy machine lets the tests' marketplace answer late; what does not answer at all is tried as long as in earnest.
MTURK_DEADLINE_SECONDS, MTURK_TIMEOUT_SECONDS = 160, 120
MTURK_CALLS_A_SECOND = MTURK_MOST_CALLS_A_SECOND = 5000
