"""Settings of the marketplace. Everything comes from the environment; a wrong value stops the start."""

from pathlib import Path
from urllib.parse import urlsplit

import dj_database_url

from common import __version__, error_reports, logs
from common.addresses import LOOPBACK_NAMES
from common.configuration import is_home
from common.database_limits import SQLITE_OPTIONS, wait_for_connection
from common.icon import ROOT_FILES, keep_for_a_day
from common.mail import mail_settings
from marketplace.environment import Marketplace
from marketplace.rules.throttling import parse as parse_rate

env = Marketplace.read()
BASE_DIR = Path(__file__).resolve().parent.parent

DEBUG = env.DEBUG
SECRET_KEY = env.MARKETPLACE_SECRET_KEY
MARKETPLACE_PUBLIC_URL = env.MARKETPLACE_PUBLIC_URL
env.refuse_unsafe("MARKETPLACE_SECRET_KEY", MARKETPLACE_PUBLIC_URL)
# Pages of requesters are served under a host of their own. On loopback the other name of this machine serves.
MARKETPLACE_FRAMES_URL = env.MARKETPLACE_FRAMES_URL
MARKETPLACE_ACCEPT_ANY_KEY = env.MARKETPLACE_ACCEPT_ANY_KEY
MARKETPLACE_SANDBOX = env.MARKETPLACE_SANDBOX
MARKETPLACE_TEST_CONTROLS = env.MARKETPLACE_TEST_CONTROLS
MARKETPLACE_THROTTLE = parse_rate(env.MARKETPLACE_THROTTLE)
MARKETPLACE_SQS_ENDPOINT_URL = env.MARKETPLACE_SQS_ENDPOINT_URL
MARKETPLACE_SNS_ENDPOINT_URL = env.MARKETPLACE_SNS_ENDPOINT_URL
MARKETPLACE_AWS_ACCESS_KEY_ID = env.MARKETPLACE_AWS_ACCESS_KEY_ID
MARKETPLACE_AWS_SECRET_ACCESS_KEY = env.MARKETPLACE_AWS_SECRET_ACCESS_KEY
MARKETPLACE_AWS_REGION = env.MARKETPLACE_AWS_REGION
MARKETPLACE_STARTING_BALANCE = env.MARKETPLACE_STARTING_BALANCE
# How many HITs one worker may have in hand at a time, so that nobody keeps the work from the others.
MARKETPLACE_QUEUE_LIMIT = 25

_public = urlsplit(MARKETPLACE_PUBLIC_URL)
_laptop = is_home(MARKETPLACE_PUBLIC_URL)
_own_names = [f"[{name}]" if ":" in name else name for name in LOOPBACK_NAMES]
# Plain http is refused for task pages, except on these hosts: a laptop has no certificate. On a server, an address of
# loopback would lead into each worker's own machine.
MARKETPLACE_HTTP_QUESTION_HOSTS = _own_names if _laptop else []
globals().update(env.ANNOTATE_TEST_SETTINGS)
MARKETPLACE_SIGN_UP = env.MARKETPLACE_SIGN_UP or ("open" if _laptop else "invitation")
MARKETPLACE_POOL_LINKS = env.MARKETPLACE_POOL_LINKS
MARKETPLACE_PROXIES = env.proxies(MARKETPLACE_PUBLIC_URL)
# With a mail server, e-mail addresses are asked for and confirmed, and a lost password can be set anew.
_mail = mail_settings(env.EMAIL_URL)
MARKETPLACE_MAIL = bool(_mail)
globals().update(_mail)
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.EMAIL_FROM or f"commons@{_public.hostname}"
MARKETPLACE_CONTACT = env.MARKETPLACE_CONTACT
ALLOWED_HOSTS = [str(_public.hostname), *_own_names, *env.MARKETPLACE_ALLOWED_HOSTS]
if MARKETPLACE_FRAMES_URL:
    ALLOWED_HOSTS.append(str(urlsplit(MARKETPLACE_FRAMES_URL).hostname))
CSRF_TRUSTED_ORIGINS = [MARKETPLACE_PUBLIC_URL]
# An answer may be about many items, with a box for each choice. Address and form together hold no more.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000

DATA_DIR = Path(env.DATA_DIR or BASE_DIR / "data")
DATABASES = {
    "default": dj_database_url.parse(
        env.MARKETPLACE_DATABASE_URL or f"sqlite:///{DATA_DIR.absolute() / 'marketplace.sqlite3'}",
        conn_max_age=60,
        conn_health_checks=True,
    )
}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    Path(DATABASES["default"]["NAME"]).parent.mkdir(parents=True, exist_ok=True)
    DATABASES["default"]["OPTIONS"] = SQLITE_OPTIONS
wait_for_connection(DATABASES["default"])
# A statement of `tick` ends after ten minutes: the next round is due long before.
DATABASE_JOB_SECONDS = 600
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "marketplace.apps.MarketplaceConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_htmx",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "csp",
]
MIDDLEWARE = [
    "common.watching.WatchingMiddleware",
    # Around all that reads or writes, such as the saving of a session after the view.
    "marketplace.site.middleware.UnavailableMiddleware",
    "django.middleware.security.SecurityMiddleware",
    # A request to the frames' host meets nothing of the site.
    "marketplace.site.middleware.FrameHostMiddleware",
    # Programs, not browsers: the wire needs no session, no CSRF token and no policy header.
    "marketplace.wire.middleware.WireMiddleware",
    "common.compressed_files.CompressedFilesMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    # After the wire, which is always in English, and before whatever says a word to a worker.
    "marketplace.site.language.LanguageMiddleware",
    # Before the one that leads to an address with its last slash: this answer has a policy too.
    "csp.middleware.CSPMiddleware",
    "django.middleware.common.CommonMiddleware",
    # Before the one that looks for a token in the form, and reads all of it.
    "marketplace.site.large_forms.LargeFormMiddleware",
    "marketplace.site.middleware.UnreadableTextMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_otp.middleware.OTPMiddleware",
    "marketplace.site.operator.sessions.OperatorSessionsMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "common.error_pages.ErrorPagesMiddleware",
]
DEFAULT_EXCEPTION_REPORTER = "common.error_pages.PlainReporter"
ROOT_URLCONF = "marketplace.urls"
WSGI_APPLICATION = "marketplace.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
AUTHENTICATION_BACKENDS = ["marketplace.site.sign_in.Backend"]
MARKETPLACE_REQUIRE_SECOND_FACTOR = env.REQUIRE_SECOND_FACTOR
OTP_TOTP_ISSUER = f"Commons {_public.hostname}"
# Tries are counted as those of passwords are (marketplace/site/throttle.py), so that nobody is kept out for ever.
OTP_TOTP_THROTTLE_FACTOR = 0
PASSWORD_RESET_TIMEOUT = 24 * 3600
LOGIN_URL = "/accounts/login/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/"

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_ROOT = ROOT_FILES
WHITENOISE_ADD_HEADERS_FUNCTION = keep_for_a_day

# Of the workers' pages. The API, the operator's pages, logs and rows are in English.
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "German"), ("es", "Spanish")]
LOCALE_PATHS = [BASE_DIR / "marketplace" / "locale"]
USE_I18N = True
TIME_ZONE = "UTC"
USE_TZ = True

# Cookies do not know ports: the requester's site on the same host has its own names.
SESSION_ENGINE = "common.session_store"
SESSION_COOKIE_NAME = "marketplace_session"
CSRF_COOKIE_NAME = "marketplace_csrf"
LANGUAGE_COOKIE_NAME = "marketplace_language"
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = _public.scheme == "https"
CSRF_FAILURE_VIEW = "marketplace.site.views.errors.csrf_failure"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "strict-origin-when-cross-origin"
if _public.scheme == "https":
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    # A year, the least that browsers' lists of such sites take.
    SECURE_HSTS_SECONDS = 365 * 24 * 3600
# Programs of one network call the API, and ask for the health of a process, without a proxy in between.
SECURE_REDIRECT_EXEMPT = ["^$", "^health/", "^ready/", "^metrics"]
# Other host names of the domain are not ours to decide about, and a list of browsers is not left in a day.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
        # A task page lives on its requester's own origin, any of them.
        # A content security policy has no form for IPv6 addresses.
        "frame-src": [
            "https:",
            *(f"http://{host}:*" for host in MARKETPLACE_HTTP_QUESTION_HOSTS if ":" not in host),
            # The frames of a laptop, where no other host is configured, are the machine's other name.
            *(f"http://{host}:*" for host in LOOPBACK_NAMES if _laptop and ":" not in host),
            *([MARKETPLACE_FRAMES_URL] if MARKETPLACE_FRAMES_URL else []),
        ],
    }
}

# What is watched from outside: common/probes.py.
READINESS_CHECKS = "marketplace.readiness.CHECKS"
METRICS_PARTS = "marketplace.figures.PARTS"
METRICS_TOKEN = env.METRICS_TOKEN
error_reports.begin(env.SENTRY_DSN, f"marketplace@{__version__}")
LOG_FORMAT = env.LOG_FORMAT
# Gunicorn's form of the lines of requests is in ops/gunicorn.py.
LOGGING = logs.settings(
    LOG_FORMAT, {"format": "%(message)s"}, env.LOG_LEVEL, {"django.server": {"filters": ["without_query"]}}
)
LOGGING["filters"]["without_query"] = {"()": "marketplace.site.request_lines.WithoutQuery"}
