"""Settings of the requester side, for a laptop and a server alike; the environment tells them apart."""

import os
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import dj_database_url
from csp.constants import NONE, SELF
from kombu import Queue

from annotate import __version__
from common import error_reports, logs, sizes
from common.configuration import is_home
from common.database_limits import SQLITE_OPTIONS, wait_for_connection
from common.env import origin
from common.icon import ROOT_FILES, keep_for_a_day
from common.mail import mail_settings
from hits.environment import Requester

env = Requester.read()
CODE_VERSION = __version__
ROOT = Path(__file__).resolve().parent.parent
DATA_DIR = Path(env.DATA_DIR or ROOT / "data")
DATA_DIR.mkdir(parents=True, exist_ok=True)

DEBUG = env.DEBUG
SECRET_KEY = env.SECRET_KEY

# Addresses. The marketplace is known by its wire endpoint and by the origins that its frames submit to.
PUBLIC_URL = env.PUBLIC_URL
env.refuse_unsafe("SECRET_KEY", PUBLIC_URL)
MTURK_ENDPOINT_URL = env.MTURK_ENDPOINT_URL
MTURK_SUBMIT_ORIGINS = [origin(address) for address in env.MTURK_SUBMIT_ORIGINS or [MTURK_ENDPOINT_URL]]
# Events of HITs come by a queue (SQS, or a server that speaks its API), by the marketplace's signed webhook, or not.
MTURK_EVENTS_QUEUE_URL = env.MTURK_EVENTS_QUEUE_URL
MTURK_EVENTS_ACCESS_KEY_ID = env.MTURK_EVENTS_ACCESS_KEY_ID
MTURK_EVENTS_SECRET_ACCESS_KEY = env.MTURK_EVENTS_SECRET_ACCESS_KEY
MTURK_WEBHOOK_SECRET = env.MTURK_WEBHOOK_SECRET
WEBHOOK_HTTP = env.WEBHOOK_HTTP
WEBHOOK_NETWORKS = env.WEBHOOK_NETWORKS
# Plug-ins outside the package: each folder holds protocols/ or recipes/ as hits/ does.
PLUGIN_DIRS = [Path(folder) for folder in env.PLUGIN_DIRS]

# Calls of a marketplace on this machine cost nothing, it takes as many as it can answer, and its reads do not lag.
_near = is_home(MTURK_ENDPOINT_URL)
# How often due HITs are fetched: an answer is here soon, and a page of them costs one call.
HARVEST_SECONDS = 5 if _near else 30
# The list of reviewable HITs is read a page every so often: what pages and events did not tell of shows there.
HARVEST_SWEEP_SECONDS = 10 if _near else 300
# How long the marketplace's reads may lag behind: two looks so far apart must agree that a HIT stays short of answers.
MTURK_SETTLE_SECONDS = 2 if _near else 900
# Of the whole account, however many processes: where the rate starts, and the most that it may grow to. In between it
# finds by itself what the marketplace lets through, and doubles each second while more is needed.
MTURK_CALLS_A_SECOND, MTURK_MOST_CALLS_A_SECOND = (50 if _near else 10), 200
# The wait for one answer; a call with its wait for a turn and all its attempts, before the row is sent again later.
MTURK_TIMEOUT_SECONDS, MTURK_DEADLINE_SECONDS = 20, 60
# How soon what a crash left is taken up again: sooner than a lead asks, and without much to ask the database.
RESUME_SECONDS = 15
# The most that one call of a webhook may take; the first wait after one in vain, which doubles up to an hour.
WEBHOOK_TIMEOUT_SECONDS, WEBHOOK_RETRY_SECONDS = 10, 5
globals().update(env.ANNOTATE_TEST_SETTINGS)
EVENTS_SECONDS = 5
# How soon members are told of what is new in their projects.
NOTICES_SECONDS = 60
# The most that a job may take that is neither an import nor a computation: those have limits in hits/tasks.py. A minute
# later a worker that has not come back is killed.
JOB_SECONDS = 3600
MAX_IMPORT_BYTES = sizes.IMPORT_MB * sizes.MB
MAX_MEDIA_BYTES = sizes.MEDIA_MB * sizes.MB
# What reviewers send in (corrections), and readers and people outside of a project (predictions, recipes).
MAX_REVIEWER_UPLOAD_BYTES, MAX_READER_UPLOAD_BYTES = 16 * sizes.MB, 8 * sizes.MB

_https = PUBLIC_URL.startswith("https://")
_host = str(urlsplit(PUBLIC_URL).hostname)
ALLOWED_HOSTS = [_host, *(["localhost", "127.0.0.1"] if is_home(PUBLIC_URL) else [])]
CSRF_TRUSTED_ORIGINS = [origin(PUBLIC_URL)]
CSRF_COOKIE_SECURE = SESSION_COOKIE_SECURE = _https
PROXIES = env.proxies(PUBLIC_URL)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if PROXIES else None
# Where a proxy says what came by TLS; whoever asks for the health of a process asks it directly.
SECURE_SSL_REDIRECT = _https and PROXIES > 0
SECURE_REDIRECT_EXEMPT = ["^health/", "^ready/", "^metrics"]
# A year, the least that browsers' lists of such sites take.
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if _https else 0
# Other host names of the domain are not ours to decide about, and a list of browsers is not left in a day.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SECURE_REFERRER_POLICY = "same-origin"
# Both sides may run on one host name, where cookies ignore the port: the names keep them apart.
SESSION_ENGINE = "common.session_store"
SESSION_COOKIE_NAME = "annotate_session"
CSRF_COOKIE_NAME = "annotate_csrf"

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "csp",
    "django_htmx",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "annotate.apps.AnnotateConfig",
    "hits",
]

MIDDLEWARE = [
    "common.watching.WatchingMiddleware",
    # Around all that reads or writes, such as the saving of a session after the view.
    "hits.views.unavailable.UnavailableMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "common.compressed_files.CompressedFilesMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    # Before the one that leads to an address with its last slash: this answer has a policy too.
    "csp.middleware.CSPMiddleware",
    "django.middleware.common.CommonMiddleware",
    # Before the one that looks for a token in the form, and reads all of it.
    "hits.views.uploads.UploadLimitMiddleware",
    "hits.views.unreadable.UnreadableTextMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_otp.middleware.OTPMiddleware",
    "hits.accounts.rules.sessions.LeadSessionsMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "common.error_pages.ErrorPagesMiddleware",
]
DEFAULT_EXCEPTION_REPORTER = "common.error_pages.PlainReporter"

ROOT_URLCONF = "annotate.urls"
WSGI_APPLICATION = "annotate.wsgi.application"

PLUGIN_ROOTS = [ROOT / "hits", *PLUGIN_DIRS]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"]
        + [found for root in PLUGIN_ROOTS for found in sorted(root.glob("protocols/*/templates"))],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            # `may` is asked beside nearly every button.
            "builtins": ["hits.templatetags.roles"],
        },
    }
]

STATIC_URL = "static/"
# Nothing has to be collected: web processes serve static files from the source tree.
STATIC_ROOT = ROOT / ".collected" / "annotate"
STATICFILES_DIRS = [ROOT / "static"] + [
    (found.parent.name, found) for root in PLUGIN_ROOTS for found in sorted(root.glob("protocols/*/static"))
]
WHITENOISE_USE_FINDERS = True
WHITENOISE_ROOT = ROOT_FILES
WHITENOISE_ADD_HEADERS_FUNCTION = keep_for_a_day
WHITENOISE_AUTOREFRESH = DEBUG

DATABASES = {
    "default": dj_database_url.parse(
        env.DATABASE_URL or f"sqlite:///{DATA_DIR / 'annotate.sqlite3'}", conn_max_age=60, conn_health_checks=True
    )
}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["OPTIONS"] = SQLITE_OPTIONS
wait_for_connection(DATABASES["default"])
# A job's statement ends after the longest step that a large project has: common/database_limits.py has those of pages.
DATABASE_JOB_SECONDS = 3600
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.REDIS_URL
CELERY_BROKER_URL = REDIS_URL
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_SOFT_TIME_LIMIT, CELERY_TASK_TIME_LIMIT = JOB_SECONDS, JOB_SECONDS + 60
# In kB. A process that holds more after a job makes room for a new one: four of these have 2 GB in docker-compose.yml.
CELERY_WORKER_MAX_MEMORY_PER_CHILD = 400 * 1024
# A connection that was good before the broker was restarted is made anew, once: pages do not wait for a broker.
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0, "interval_step": 0, "interval_max": 0}
# Kombu looks for the messages of dead workers every 100 s by default; a lead would wait that long after a crash.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    # A process that takes jobs from several queues empties the first one first.
    "queue_order_strategy": "priority",
    "visibility_timeout": 3600,
    "unacked_restore_interval": 5,
    "unacked_restore_throttle": 1,
    "socket_timeout": 10,
}
# The urgent first; which job goes where stands at the job. Without -Q a process takes from all of them.
CELERY_TASK_QUEUES = [Queue(name) for name in ("hints", "celery", "long")]
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE_FILENAME = str(DATA_DIR / "celerybeat-schedule")
CELERY_BEAT_SCHEDULE = {
    "harvest": {
        "task": "hits.tasks.harvest_all",
        "schedule": timedelta(seconds=HARVEST_SECONDS),
        "options": {"expires": HARVEST_SECONDS},
    },
    "resume": {
        "task": "hits.tasks.resume_all",
        "schedule": timedelta(seconds=RESUME_SECONDS),
        "options": {"expires": RESUME_SECONDS},
    },
    "notices": {
        "task": "hits.tasks.tell_members",
        "schedule": timedelta(seconds=NOTICES_SECONDS),
        "options": {"expires": NOTICES_SECONDS},
    },
    "tries": {
        "task": "hits.tasks.forget_tries",
        "schedule": timedelta(hours=6),
        "options": {"expires": 3600},
    },
    "drafts": {
        "task": "hits.tasks.forget_drafts",
        "schedule": timedelta(minutes=10),
        "options": {"expires": 600},
    },
    "text-evidence": {
        "task": "hits.tasks.forget_text_evidence",
        "schedule": timedelta(hours=6),
        "options": {"expires": 3600},
    },
}
if MTURK_EVENTS_QUEUE_URL:
    CELERY_BEAT_SCHEDULE["events"] = {
        "task": "hits.tasks.receive_events",
        "schedule": timedelta(seconds=EVENTS_SECONDS),
        "options": {"expires": EVENTS_SECONDS},
    }

# Counters of failed log-ins and of API calls hold for all web processes together.
CACHES = {
    "default": {
        # While Redis is away, each process counts for itself.
        "BACKEND": "annotate.cache.PatientRedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "annotate",
    }
}

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "hits.accounts.verbs.api_tokens.TokensEndWithThePassword"},
    {"NAME": "hits.accounts.verbs.sessions.SessionsEndWithThePassword"},
]
# Links with which a password is set, of a new account and of one that was forgotten: they outlast a weekend.
PASSWORD_RESET_TIMEOUT = 72 * 3600
TEXT_EVIDENCE_DAYS = env.TEXT_EVIDENCE_DAYS
REQUIRE_SECOND_FACTOR = env.REQUIRE_SECOND_FACTOR
OTP_TOTP_ISSUER = f"Annotate {_host}"
# Tries are counted as those of passwords are (hits/accounts/verbs/sign_in.py), so that nobody is kept out for ever.
OTP_TOTP_THROTTLE_FACTOR = 0
AUTHENTICATION_BACKENDS = ["common.sign_in.NameBackend"]
# With a mail server, notices and invitations are sent by e-mail; without one they are on pages alone, and an owner
# hands links over.
_mail = mail_settings(env.EMAIL_URL)
MAIL = bool(_mail)
globals().update(_mail)
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = env.EMAIL_FROM or f"annotate@{_host}"
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "login"

LANGUAGE_CODE = "en-us"
# Of the pages on which workers answer; the dashboard and the API are in English.
LANGUAGES = [("en", "English"), ("de", "Deutsch"), ("es", "Español")]
LOCALE_PATHS = [folder / "locale" for folder in PLUGIN_DIRS]
TIME_ZONE = "UTC"
USE_TZ = True
USE_THOUSAND_SEPARATOR = True

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "frame-ancestors": [NONE],
        "form-action": [SELF],
        "base-uri": [NONE],
        "object-src": [NONE],
        "img-src": [SELF, "data:"],
    }
}

# No less than the marketplace takes of an answer (2,621,440 bytes): a page checks it, and keeps it as a draft, before.
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_700_000
# A HIT may ask about twenty items with a form of many boxes each.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "hits.api.tokens.TokenAuthentication",
        "hits.api.tokens.VerifiedSession",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated", "hits.api.tokens.TokenScope"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "EXCEPTION_HANDLER": "hits.api.errors.handle",
}
SPECTACULAR_SETTINGS = {
    # Several shapes have them, and others have a field of that name with other values.
    "ENUM_NAME_OVERRIDES": {
        "ActionOriginEnum": "hits.core.models.actions.Action.Origin",
        "UndecidedShowEnum": ["waiting", "held"],
    },
    "TITLE": "Annotate",
    "DESCRIPTION": "Collect a reading-comprehension data set from a crowd: import, publish, review, block, release.",
    "VERSION": "1",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "hits.api.docs.describe_tags",
        "hits.api.docs.drop_empty_defaults",
    ],
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}

# What is watched from outside: common/probes.py.
READINESS_CHECKS = "annotate.readiness.CHECKS"
METRICS_PARTS = "annotate.figures.PARTS"
METRICS_TOKEN = env.METRICS_TOKEN
error_reports.begin(env.SENTRY_DSN, f"annotate@{CODE_VERSION}")
LOG_FORMAT = env.LOG_FORMAT
LOGGING = logs.settings(
    LOG_FORMAT,
    {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"},
    env.LOG_LEVEL,
    {"botocore": {"level": "WARNING"}},
)
os.environ.setdefault("AWS_EC2_METADATA_DISABLED", "true")
