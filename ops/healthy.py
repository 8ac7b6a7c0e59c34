"""Health checks inside containers; exit status 0 when all is well, 1 when it is not.

`python -m ops.healthy http PORT NAME`: /health/ answers 200 under the host name of the address in the variable NAME.
`python -m ops.healthy fresh FILE SECONDS`: the file, or one that begins like it, was written within so many seconds.
"""

from __future__ import annotations

import http.client
import os
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit


def answers(port: int, public_url: str, seconds: float = 15) -> bool:
    """Whether it does within so many seconds. Asks on loopback, under the site's own name: it answers to no other."""
    public = urlsplit(public_url)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request("GET", "/health/", headers={"Host": public.netloc, "X-Forwarded-Proto": public.scheme})
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def is_fresh(file: str, seconds: str) -> bool:
    """Database libraries add an ending of their own to the name that they are given."""
    path = Path(file)
    newest = max((found.stat().st_mtime for found in path.parent.glob(f"{path.name}*")), default=0)
    return time.time() - newest < float(seconds)


def main(question: str, *arguments: str) -> int:
    if question == "http":
        port, name = arguments
        return 0 if answers(int(port), os.environ[name]) else 1
    return 0 if is_fresh(*arguments) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
