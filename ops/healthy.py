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


def http_answers(port: str, name: str) -> bool:
    public = urlsplit(os.environ[name])
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=5)
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


if __name__ == "__main__":
    question = {"http": http_answers, "fresh": is_fresh}[sys.argv[1]]
    sys.exit(0 if question(*sys.argv[2:]) else 1)
