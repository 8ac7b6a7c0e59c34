"""Amounts of time as a worker reads them."""

from datetime import timedelta


def about(seconds: float) -> str:
    """A measured time, rounded to what an estimate can carry: 39 s, 3 min, 2 h."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    return f"{round(seconds / 3600)} h"


def span(seconds: int) -> str:
    """A time that somebody has set: 30 seconds, 1 hour, 2 days."""
    for size, word in ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= size and (seconds % size == 0 or seconds >= 2 * size):
            count = round(seconds / size)
            return f"{count} {word}" if count == 1 else f"{count} {word}s"
    return "0 seconds"


def worked(time: timedelta) -> str:
    """A sum of times: 0 min, 12 min, 1 h 12 min."""
    hours, minutes = divmod(round(time.total_seconds() / 60), 60)
    return f"{hours:,} h {minutes} min" if hours else f"{minutes} min"


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
