"""Run a command that dies with the process that started it: `python tied.py PIDFILE command ...`.

Writes its process id to PIDFILE, then becomes the command. On Linux the kernel sends it SIGTERM when its parent ends,
however the parent ends; elsewhere only an orderly stop reaches it.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path

PR_SET_PDEATHSIG = 1


def tie_to_parent() -> None:
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def main(pid_file: str, *command: str) -> None:
    parent = os.getppid()
    tie_to_parent()
    if os.getppid() != parent:  # it died before the tie was made
        sys.exit(1)
    # Whoever reads it meanwhile finds the old one or the new one, never half of it.
    new = Path(f"{pid_file}.new")
    try:
        new.write_text(str(os.getpid()))
        new.replace(pid_file)
    except OSError as error:
        sys.exit(f"{pid_file} could not be written ({error.strerror}): nothing was started.")
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
