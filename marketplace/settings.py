"""Settings of the marketplace. Everything comes from the environment; a wrong value stops the start."""

import os
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent


def env_bool(name: str, default: bool) -> bool:
    """Read True or False; any other word is refused, because a typing error must not open a door."""
    raw = os.environ.get(name, str(default))
    if raw not in ("True", "False"):
        raise ImproperlyConfigured(f"{name} is {raw!r}: write True or False.")
    return raw == "True"


def env_list(name: str, default: str) -> list[str]:
    return [part.strip() for part in os.environ.get(name, default).split(",") if part.strip()]


def env_money(name: str, default: str) -> Decimal:
    raw = os.environ.get(name, default)
    try:
        amount = Decimal(raw)
    except InvalidOperation as error:
        raise ImproperlyConfigured(f"{name} is {raw!r}: write an amount such as 10000.00.") from error
    if not amount.is_finite() or amount < 0 or amount != amount.quantize(Decimal("0.01")):
        raise ImproperlyConfigured(f"{name} is {raw!r}: write an amount of at least 0 with at most two decimals.")
    return amount


def env_origin(name: str, default: str) -> str:
    """Read an origin (scheme, host, port; no path), without its trailing slash."""
    raw = os.environ.get(name, default).rstrip("/")
    parts = urlsplit(raw)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path or parts.query:
        raise ImproperlyConfigured(f"{name} is {raw!r}: write an origin such as https://crowd.example.org.")
    return raw


def database(url: str) -> dict[str, Any]:
    config: dict[str, Any] = dict(dj_database_url.parse(url, conn_max_age=60, conn_health_checks=True))
    if config["ENGINE"] == "django.db.backends.sqlite3":
        Path(config["NAME"]).parent.mkdir(parents=True, exist_ok=True)
        # IMMEDIATE: under WAL a transaction that starts as a reader and then writes fails whatever the timeout.
        config["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        }
    elif config["ENGINE"] != "django.db.backends.postgresql":
        raise ImproperlyConfigured("MARKETPLACE_DATABASE_URL: use sqlite:// or postgres://.")
    return config


DEBUG = env_bool("MARKETPLACE_DEBUG", False)
SECRET_KEY = os.environ.get("MARKETPLACE_SECRET_KEY", "")
if not SECRET_KEY:
    if not DEBUG:
        raise ImproperlyConfigured(
            "MARKETPLACE_SECRET_KEY is not set: give 50 random characters, or MARKETPLACE_DEBUG=True on a laptop."
        )
    SECRET_KEY = "for-debugging-on-one-machine-only-not-secret"

MARKETPLACE_PUBLIC_URL = env_origin("MARKETPLACE_PUBLIC_URL", "http://127.0.0.1:8001")
MARKETPLACE_ACCEPT_ANY_KEY = env_bool("MARKETPLACE_ACCEPT_ANY_KEY", False)
MARKETPLACE_SANDBOX = env_bool("MARKETPLACE_SANDBOX", False)
MARKETPLACE_STARTING_BALANCE = env_money("MARKETPLACE_STARTING_BALANCE", "10000.00")
# Plain http is refused for task pages, except on these hosts: a laptop has no certificate.
MARKETPLACE_HTTP_QUESTION_HOSTS = env_list("MARKETPLACE_HTTP_QUESTION_HOSTS", "127.0.0.1,localhost,[::1]")
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")

_public = urlsplit(MARKETPLACE_PUBLIC_URL)
ALLOWED_HOSTS = env_list("MARKETPLACE_ALLOWED_HOSTS", f"{_public.hostname},127.0.0.1,localhost,[::1]")
CSRF_TRUSTED_ORIGINS = [MARKETPLACE_PUBLIC_URL]

_data_dir = Path(os.environ.get("MARKETPLACE_DATA_DIR", BASE_DIR / "data"))
DATABASES = {
    "default": database(
        os.environ.get("MARKETPLACE_DATABASE_URL", f"sqlite:///{_data_dir.absolute() / 'marketplace.sqlite3'}")
    )
}
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
    "csp",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    # Programs, not browsers: the wire needs no session, no CSRF token and no policy header.
    "marketplace.wire.middleware.WireMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
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
LOGIN_URL = "/accounts/login/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/"

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True

# Cookies do not know ports: the requester's site on the same host has its own names.
SESSION_COOKIE_NAME = "marketplace_session"
CSRF_COOKIE_NAME = "marketplace_csrf"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _public.scheme == "https"
CSRF_FAILURE_VIEW = "marketplace.site.views.errors.csrf_failure"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "strict-origin-when-cross-origin"
if _public.scheme == "https":
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

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
        "frame-src": ["https:", *(f"http://{host}:*" for host in MARKETPLACE_HTTP_QUESTION_HOSTS if ":" not in host)],
    }
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"console": {"class": "logging.StreamHandler"}},
    "root": {"handlers": ["console"], "level": "INFO"},
}
