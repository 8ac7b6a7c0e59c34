"""The viewer's time zone: a script writes its name into a cookie, so that "today" is the viewer's day."""

from datetime import datetime
from urllib.parse import unquote
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.http import HttpRequest

UTC = ZoneInfo("UTC")


def viewer_zone(request: HttpRequest) -> ZoneInfo:
    """The zone in the cookie, or UTC when there is none or it names no zone."""
    try:
        return ZoneInfo(unquote(request.COOKIES.get("tz", "")) or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def midnight(now: datetime, zone: ZoneInfo) -> datetime:
    """When the viewer's day began."""
    return now.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
