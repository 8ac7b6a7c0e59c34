"""What both projects and gunicorn write to the log: lines for people, or one JSON object a line for programs."""

from __future__ import annotations

import logging
from typing import Any

LINES, JSON = "lines", "json"
FORMATS = (LINES, JSON)
# A request itself is written as an object's name, which has the whole address.
_LEFT_OUT = ("request", "color_message", "taskName")


class RouteForPath(logging.Filter):
    """Writes the route in the place of a path: paths hold tokens of invitations, of passwords and of tasks."""

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)
        path = getattr(request, "path", None)
        if path and isinstance(record.args, tuple):
            route = route_of(request)
            record.args = tuple(route if part == path else part for part in record.args)
        return True


def route_of(request: object) -> str:
    """The pattern that the address of a request fits, as /task/<str:token>/."""
    match = getattr(request, "resolver_match", None)
    return f"/{match.route}" if match else "(no page)"


def settings(form: str, line: dict[str, str], level: str, loggers: dict[str, Any] | None = None) -> dict[str, Any]:
    """A project's LOGGING. `line` is the formatter of lines for people."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": line, "json": _json()},
        "filters": _filters(),
        "handlers": {"console": _console("json" if form == JSON else "line")},
        "root": {"handlers": ["console"], "level": level},
        "loggers": loggers or {},
    }


def of_gunicorn() -> dict[str, Any]:
    """The lines of gunicorn's own processes as JSON; the access log is `common.watching`'s line of each request."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": _json()},
        "filters": _filters(),
        "handlers": {"console": _console("json")},
        "root": {"handlers": ["console"], "level": "INFO"},
        "loggers": {"gunicorn.error": {"level": "INFO", "propagate": True, "handlers": []}},
    }


def _console(formatter: str) -> dict[str, Any]:
    return {"class": "logging.StreamHandler", "formatter": formatter, "filters": ["request_id", "route"]}


def _filters() -> dict[str, Any]:
    return {"request_id": {"()": "common.request_id.AddRequestId"}, "route": {"()": f"{__name__}.RouteForPath"}}


def _json() -> dict[str, Any]:
    from pythonjsonlogger.core import RESERVED_ATTRS

    return {
        "()": "pythonjsonlogger.json.JsonFormatter",
        "fmt": ["levelname", "name", "message"],
        "style": ",",
        "rename_fields": {"levelname": "level", "name": "logger"},
        "timestamp": "time",
        "reserved_attrs": [*RESERVED_ATTRS, *_LEFT_OUT],
    }
