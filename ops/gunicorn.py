"""Gunicorn on a server: `gunicorn PROJECT.wsgi --config ops/gunicorn.py`. GUNICORN_WORKERS sets the processes.

With GUNICORN_RELOAD=True, as under `make run`, a process starts anew when a file of Python or a template was edited.
"""

import gc
import os
import shutil
import socket
import struct
import sys
from pathlib import Path
from typing import Any

# Gunicorn's own program does not look where it was started.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from common import logs, metrics_folder  # noqa: E402
from common.env import Shared  # noqa: E402

_environment = Shared.read()
workers = _environment.GUNICORN_WORKERS
# gthread, but a request has come whole before it holds a thread.
worker_class = "ops.slow_clients.Worker"
threads = 4
# A connection at rest costs no thread. It stays longer than a proxy keeps its own (60 seconds is usual) and than people
# think between two requests: a request that meets the closing of its connection is reset, and a form is not sent again.
keepalive = 75
# A container's /tmp may be a disk, and a slow disk would look like a dead worker.
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None
# Renewed now and then, so that a slow leak never becomes an outage. Seldom: a start takes seconds of the processor, and
# 500 people send 5,000 requests to a process in a minute.
max_requests = 50_000
max_requests_jitter = 5000
control_socket_disable = True
# A reader who takes nothing for so long is cut off, for each one who waits holds a thread. Slow ones are for a proxy,
# which has to take whole responses from here at once.
SEND_SECONDS = 20


def when_ready(server: Any) -> None:
    """Connections take over what is set for the socket that they come by."""
    for listener in server.LISTENERS:
        listener.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", SEND_SECONDS, 0))


# Each process counts its requests in a file of this folder; the counts begin anew with the server.
_named = os.environ.get(metrics_folder.FOLDER)


def on_starting(server: Any) -> None:
    if _named:
        metrics_folder.clean(Path(_named))
    else:
        os.environ[metrics_folder.FOLDER] = str(metrics_folder.make_folder())


def on_exit(server: Any) -> None:
    if not _named:
        shutil.rmtree(os.environ[metrics_folder.FOLDER], ignore_errors=True)


if _environment.LOG_FORMAT == logs.JSON:
    logconfig_dict = logs.of_gunicorn()


def post_worker_init(worker: Any) -> None:
    """A process whose database is behind or beyond its code says so and serves nothing: see docs/operating.md."""
    # The search for garbage passes over what was loaded at the start, and comes less often: as Python sets it, it takes
    # about a tenth of the processor's time of a page.
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)
    if "django.db" not in sys.modules:
        return
    from common.migrations import fault

    if said := fault():
        worker.log.error(said)
        # What gunicorn takes for a process that cannot start, so that it ends too.
        sys.exit(3)


# A task page may send its answer in the address. It may be as long as gunicorn lets it be, and no log may hold it:
# the path alone, and no referrer.
limit_request_line = 8190
access_log_format = '%(h)s %(t)s "%(m)s %(U)s %(H)s" %(s)s %(b)s %(M)sms "%(a)s"'
reload = os.environ.get("GUNICORN_RELOAD") == "True"
if reload:
    _root = Path(__file__).resolve().parent.parent
    _folders = [_root / "templates", *_root.glob("*/protocols/*/templates"), *_root.glob("*/templates")]
    reload_extra_files = [str(file) for folder in _folders for file in folder.rglob("*.html")]
