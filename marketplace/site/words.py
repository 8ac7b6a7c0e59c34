"""Amounts of time and of money as a worker reads them."""

from datetime import timedelta
from decimal import Decimal

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext


def about(seconds: float) -> str:
    """A measured time, rounded to what an estimate can carry: 39 s, 3 min, 2 h."""
    if seconds < 90:
        return _("%(number)s s") % {"number": max(1, round(seconds))}
    if seconds < 90 * 60:
        return _("%(number)s min") % {"number": round(seconds / 60)}
    return _("%(number)s h") % {"number": round(seconds / 3600)}


def span(seconds: int) -> str:
    """A time that somebody has set: 30 seconds, 1 hour, 2 days."""
    for size in (86400, 3600, 60):
        if seconds >= size and (seconds % size == 0 or seconds >= 2 * size):
            return _counted(size, round(seconds / size))
    return _counted(1, seconds)


def _counted(size: int, number: int) -> str:
    if size == 86400:
        said = ngettext("%(number)s day", "%(number)s days", number)
    elif size == 3600:
        said = ngettext("%(number)s hour", "%(number)s hours", number)
    elif size == 60:
        said = ngettext("%(number)s minute", "%(number)s minutes", number)
    else:
        said = ngettext("%(number)s second", "%(number)s seconds", number)
    return said % {"number": number}


def worked(time: timedelta) -> str:
    """A sum of times: 0 min, 12 min, 1 h 12 min."""
    hours, minutes = divmod(round(time.total_seconds() / 60), 60)
    if hours:
        return _("%(hours)s h %(minutes)s min") % {"hours": grouped(hours), "minutes": minutes}
    return _("%(number)s min") % {"number": minutes}


# Warn when this much of the time allowed is left, but never sooner than five minutes before the end.
_WARN_SHARE = 0.2
_WARN_AT_MOST_SECONDS = 300


def warn_at(allowed_seconds: int) -> int:
    """Seconds before the end from which a worker is warned."""
    return min(_WARN_AT_MOST_SECONDS, int(allowed_seconds * _WARN_SHARE))


def left(seconds: int) -> str:
    """Time left, as a clock shows it: 1:05:09, 09:59."""
    minutes, rest = divmod(max(0, seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"


def grouped(number: int) -> str:
    """A whole number in the reader's language: 1,234 or 1.234."""
    return number_format(number, use_l10n=True, force_grouping=True)


def dollars(amount: Decimal) -> str:
    """Always dollars, as the reader's language writes them: $1,234.50, 1.234,50 $; −$0.50 for what was taken back."""
    number = number_format(abs(amount), 2, use_l10n=True, force_grouping=True)
    return ("−" if amount < 0 else "") + _("$%(amount)s") % {"amount": number}
