"""Settings of the requester side, for a laptop and a server alike; the environment tells them apart."""

import os
from datetime import timedelta
from pathlib import Path

import dj_database_url
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from annotate import __version__, env
from common.configuration import debug_fault, secret_fault
from common.mail import env_mail

CODE_VERSION = __version__
ROOT = Path(__file__).resolve().parent.parent
DATA_DIR = Path(env.text("DATA_DIR", str(ROOT / "data")))
DATA_DIR.mkdir(parents=True, exist_ok=True)

DEBUG = env.boolean("DEBUG", False)
SECRET_KEY = env.text("SECRET_KEY")

# Addresses. The marketplace is known by its wire endpoint and by the origins that its frames submit to.
PUBLIC_URL = env.url("PUBLIC_URL", "http://localhost:8000", schemes=("http", "https"))
# Here and not in a system check: no process of any kind starts with these faults.
_fault = secret_fault("SECRET_KEY", SECRET_KEY, PUBLIC_URL) or debug_fault("DEBUG", DEBUG, PUBLIC_URL)
if _fault:
    raise ImproperlyConfigured(_fault)
MTURK_ENDPOINT_URL = env.url("MTURK_ENDPOINT_URL", "http://127.0.0.1:8001", schemes=("http", "https"))
MTURK_SUBMIT_ORIGINS = [env.origin(o) for o in env.words("MTURK_SUBMIT_ORIGINS", env.origin(MTURK_ENDPOINT_URL))]
MTURK_REGION = env.text("MTURK_REGION", "us-east-1")
MTURK_CONNECTIONS = env.integer("MTURK_CONNECTIONS", 8, low=1, high=64)
MTURK_TIMEOUT_SECONDS = env.integer("MTURK_TIMEOUT_SECONDS", 20, low=1, high=300)
# A call with its wait for a turn and all its attempts; then the row waits and is sent again later.
MTURK_DEADLINE_SECONDS = env.integer("MTURK_DEADLINE_SECONDS", 60, low=2, high=600)
# Of the whole account, however many processes: where the rate starts, and the most that it may grow to.
MTURK_CALLS_A_SECOND = env.integer("MTURK_CALLS_A_SECOND", 10, low=1, high=5000)
MTURK_MOST_CALLS_A_SECOND = env.integer("MTURK_MOST_CALLS_A_SECOND", 200, low=1, high=5000)
HARVEST_SECONDS = env.integer("HARVEST_SECONDS", 30, low=1, high=86_400)
# The list of reviewable HITs is read a page every so often: what pages and events did not tell of shows there.
HARVEST_SWEEP_SECONDS = env.integer("HARVEST_SWEEP_SECONDS", 300, low=1, high=86_400)
# How long the marketplace's reads may lag behind: two looks so far apart must agree that a HIT stays short of answers.
MTURK_SETTLE_SECONDS = env.integer("MTURK_SETTLE_SECONDS", 900, low=0, high=86_400)
# Events of HITs come by a queue (SQS, or a server that speaks its API), by the marketplace's signed webhook, or not.
MTURK_EVENTS_QUEUE_URL = env.optional_url("MTURK_EVENTS_QUEUE_URL", schemes=("http", "https"))
MTURK_EVENTS_QUEUE_ENDPOINT_URL = env.optional_url("MTURK_EVENTS_QUEUE_ENDPOINT_URL", schemes=("http", "https"))
# The queue's own key pair; empty: the marketplace's.
MTURK_EVENTS_ACCESS_KEY_ID = os.environ.get("MTURK_EVENTS_ACCESS_KEY_ID", "")
MTURK_EVENTS_SECRET_ACCESS_KEY = os.environ.get("MTURK_EVENTS_SECRET_ACCESS_KEY", "")
MTURK_WEBHOOK_SECRET = os.environ.get("MTURK_WEBHOOK_SECRET", "")
EVENTS_SECONDS = 5
# How soon what a crash left is taken up again.
RESUME_SECONDS = env.integer("RESUME_SECONDS", 15, low=1, high=3600)
MAX_IMPORT_BYTES = env.integer("MAX_IMPORT_MB", 64, low=1, high=1024) * 1024 * 1024
# Pictures, sounds and videos that come at once.
MAX_MEDIA_BYTES = env.integer("MAX_MEDIA_MB", 512, low=1, high=4096) * 1024 * 1024
# The most that reading and storing one file may take.
IMPORT_SECONDS = env.integer("IMPORT_SECONDS", 1800, low=60, high=86_400)
# Plug-ins outside the package: each folder holds protocols/ or recipes/ as hits/ does.
PLUGIN_DIRS = [Path(folder) for folder in env.words("PLUGIN_DIRS")]

_https = PUBLIC_URL.startswith("https://")
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", PUBLIC_URL.split("//")[1].split(":")[0])
if DEBUG:
    ALLOWED_HOSTS += ["localhost", "127.0.0.1"]
CSRF_TRUSTED_ORIGINS = [env.origin(PUBLIC_URL)]
CSRF_COOKIE_SECURE = SESSION_COOKIE_SECURE = _https
# How many proxies of ours add to X-Forwarded-For: tries of signing in are counted by the address behind them.
PROXIES = env.integer("PROXIES", 1 if env.boolean("BEHIND_PROXY") else 0, low=0, high=10)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env.boolean("BEHIND_PROXY") else None
SECURE_REFERRER_POLICY = "same-origin"
# Both sides may run on one host name, where cookies ignore the port: the names keep them apart.
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
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "annotate.apps.AnnotateConfig",
    "hits",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    # Before the one that leads to an address with its last slash: this answer has a policy too.
    "csp.middleware.CSPMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "hits.views.unreadable.UnreadableTextMiddleware",
    "common.error_pages.PageNotFoundMiddleware",
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
STATIC_ROOT = env.text("STATIC_ROOT", str(ROOT / ".collected" / "annotate"))
STATICFILES_DIRS = [ROOT / "static"] + [
    (found.parent.name, found) for root in PLUGIN_ROOTS for found in sorted(root.glob("protocols/*/static"))
]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

DATABASES = {
    "default": dj_database_url.parse(
        env.url(
            "DATABASE_URL", f"sqlite:///{DATA_DIR / 'annotate.sqlite3'}", schemes=("sqlite", "postgres", "postgresql")
        ),
        conn_max_age=60,
        conn_health_checks=True,
    )
}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # Without IMMEDIATE, a transaction that reads before it writes fails under concurrency however long it waits.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.url("REDIS_URL", "redis://127.0.0.1:6390/0", schemes=("redis", "rediss"))
CELERY_BROKER_URL = REDIS_URL
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# Kombu looks for the messages of dead workers every 100 s by default; a lead would wait that long after a crash.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 3600,
    "unacked_restore_interval": 5,
    "unacked_restore_throttle": 1,
    "socket_timeout": 10,
}
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
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "annotate",
        # A page does not wait longer for a counter.
        "OPTIONS": {"socket_timeout": 2, "socket_connect_timeout": 2},
    }
}

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "hits.flow.setup.api_tokens.TokensEndWithThePassword"},
]
AUTHENTICATION_BACKENDS = ["common.sign_in.NameBackend"]
# With a mail server, invitations into a project are sent by e-mail; without one an owner hands the link over.
_mail = env_mail("EMAIL_URL")
MAIL = bool(_mail)
globals().update(_mail)
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = os.environ.get("EMAIL_FROM") or f"annotate@{PUBLIC_URL.split('//')[1].split(':')[0]}"
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "login"

LANGUAGE_CODE = "en-us"
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
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated", "hits.api.tokens.TokenScope"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "EXCEPTION_HANDLER": "hits.api.errors.handle",
}
SPECTACULAR_SETTINGS = {
    # Two shapes have it, and an upload has an origin of another kind.
    "ENUM_NAME_OVERRIDES": {"ActionOriginEnum": "hits.models.actions.Action.Origin"},
    "TITLE": "Annotate",
    "DESCRIPTION": "Collect a reading-comprehension data set from a crowd: import, publish, review, block, release.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.text("LOG_LEVEL", "INFO")},
    "loggers": {"botocore": {"level": "WARNING"}},
}
os.environ.setdefault("AWS_EC2_METADATA_DISABLED", "true")
