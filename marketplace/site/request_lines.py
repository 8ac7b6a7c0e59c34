"""Keeps what stands behind the question mark of an address out of the log: it may be a worker's answer."""

import logging
import re

_QUERY = re.compile(r"\?\S*")


class WithoutQuery(logging.Filter):
    """For the log of Django's development server, whose records hold the whole request line."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(_QUERY.sub("", part) if isinstance(part, str) else part for part in record.args)
        return True
