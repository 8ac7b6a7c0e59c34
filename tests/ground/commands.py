"""Starts Python programs of the project in an environment that a test states in full."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping
from importlib import import_module
from typing import NoReturn

from ops.surroundings import ROOT

GOOD = {
    "SECRET_KEY": "a-key-for-tests-only-0123456789abcdefgh",
    "AWS_ACCESS_KEY_ID": "TESTKEY",
    "AWS_SECRET_ACCESS_KEY": "test-secret",
    "MARKETPLACE_SECRET_KEY": "another-key-for-tests-only-0123456789ab",
}


def python(*arguments: str, data_dir: object, **changes: str | None) -> subprocess.CompletedProcess[str]:
    """Run with settings that are good but for `changes`; None takes a variable away."""
    return subprocess.run(
        [sys.executable, *arguments],
        env=_environment(data_dir, changes),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )


# Big, and they can be read before there are settings.
LIBRARIES = ("boto3", "celery.app.base", "django.core.management", "django.forms", "docutils", "jinja2", "pygments")
LIBRARIES += ("redis", "requests", "rest_framework.compat", "yaml")


def forked(*arguments: str, data_dir: object, **changes: str | None) -> subprocess.CompletedProcess[str]:
    """As `python`, in a copy of this process that has the libraries in memory: to read them is most of a start."""
    for library in LIBRARIES:
        import_module(library)
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        pid = os.fork()
        if not pid:
            _become(arguments, _environment(data_dir, changes), out.fileno(), err.fileno())
        _, status = os.waitpid(pid, 0)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(arguments, os.waitstatus_to_exitcode(status), out.read(), err.read())


def _become(arguments: tuple[str, ...], environment: dict[str, str], out: int, err: int) -> NoReturn:
    """End this process as a fresh interpreter with these arguments would."""
    status = 1
    try:
        os.dup2(out, 1)
        os.dup2(err, 2)
        sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(ROOT)
        _run(arguments)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _run(arguments: tuple[str, ...]) -> None:
    """`FILE ...` or `-m MODULE ...`."""
    if arguments[0] == "-m":
        sys.argv = [*arguments[1:]]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = [*arguments]
        runpy.run_path(arguments[0], run_name="__main__")


def _environment(data_dir: object, changes: Mapping[str, str | None]) -> dict[str, str]:
    settings = GOOD | {"DATA_DIR": str(data_dir)} | changes
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return kept | {name: value for name, value in settings.items() if value is not None}
