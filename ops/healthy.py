"""Health checks inside containers and by hand; exit status 0 when all is well, 1 when it is not.

`python -m ops.healthy http PORT`: the process at this port answers.
`python -m ops.healthy ready PORT`: so does all that it depends on; prints what does not.
`python -m ops.healthy fresh FILE SECONDS`: the file, or one that begins like it, was written within so many seconds.
"""

from __future__ import annotations

import http.client
import json
import sys
import time
from pathlib import Path


def ask(port: int, path: str, seconds: float = 15) -> tuple[int, str]:
    """Status and text of an answer on loopback; (0, "") where none comes within so many seconds."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read().decode(errors="replace")
    except (OSError, http.client.HTTPException):
        return 0, ""
    finally:
        connection.close()


def answers(port: int, seconds: float = 15) -> bool:
    """Whether the process does, by itself, within so many seconds."""
    return ask(port, "/health/", seconds)[0] == 200


def not_ready(port: int) -> dict[str, str]:
    """What of all that the process depends on is off, by name, and how; empty when it is ready."""
    status, text = ask(port, "/ready/")
    if status == 200:
        return {}
    try:
        said: dict[str, str] = json.loads(text)
    except ValueError:
        return {"process": "does not answer"}
    return {name: words for name, words in said.items() if name != "status" and words != "ok"}


def is_fresh(file: str, seconds: str) -> bool:
    """Database libraries add an ending of their own to the name that they are given."""
    path = Path(file)
    newest = max((found.stat().st_mtime for found in path.parent.glob(f"{path.name}*")), default=0)
    return time.time() - newest < float(seconds)


def main(question: str, *arguments: str) -> int:
    if question == "fresh":
        return 0 if is_fresh(*arguments) else 1
    (port,) = map(int, arguments)
    if question == "http":
        return 0 if answers(port) else 1
    off = not_ready(port)
    for name, words in off.items():
        print(f"{name}: {words}")
    return 1 if off else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
