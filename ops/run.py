"""`make run`: the whole of Annotate on this machine, until Ctrl-C."""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import sys
from pathlib import Path
from types import FrameType

from ops.stack import Stack
from ops.surroundings import ROOT, Ports, StackError, ours


def _ask_stop(number: int, frame: FrameType | None) -> None:
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)  # one is enough: a second one would cut the orderly stop short
    raise KeyboardInterrupt


def _listen_for_stop() -> None:
    signal.signal(signal.SIGINT, _ask_stop)
    signal.signal(signal.SIGTERM, _ask_stop)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup stays respected
        signal.signal(signal.SIGHUP, _ask_stop)


def _report(stack: Stack, with_sample: bool) -> str:
    lines = ["", f"  Leads:    {stack.web_url}"]
    if with_sample:
        own = "that you set" if os.environ.get("SAMPLE_LEAD_PASSWORD") else "lead-sample-password"
        lines.append(f"            log in as lead with the password {own}")
        # As it is typed in this folder; the sample has left a token for it.
        elsewhere = "" if stack.data_dir == Path.cwd() / "data" else f"DATA_DIR={shlex.quote(str(stack.data_dir))} "
        program = Path(sys.executable).parent / "annotate"
        lines.append(f"            or on the command line: {elsewhere}{program} projects list")
    lines.append(f"  Workers:  {stack.marketplace_url}")
    if stack.settings["MARKETPLACE_SANDBOX"] == "True":
        lines.append("            log in as worker1, worker2 or worker3 with the password worker")
        lines.append(f"  Operator: {stack.marketplace_url}/operator/")
        lines.append("            log in as operator with the password operator")
    lines += [f"  Wire:     {stack.settings['MTURK_ENDPOINT_URL']}  (the Mechanical Turk requester API)"]
    lines += [f"  Logs:     {stack.data_dir / 'logs'}", "", "Ctrl-C ends everything.", ""]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m ops.run", description=__doc__)
    parser.add_argument("--no-sample", action="store_true", help="do not load the sample projects")
    options = parser.parse_args()
    settings = ours(os.environ)
    # A name that another program set for its own Django project.
    settings.pop("DJANGO_SETTINGS_MODULE", None)
    settings.setdefault("GUNICORN_RELOAD", "True")
    stack = None
    try:
        _listen_for_stop()
        data_dir = Path(settings.pop("DATA_DIR", str(ROOT / "data")))
        stack = Stack(data_dir, Ports.chosen(settings), settings)
        print("Preparing the databases ...", flush=True)
        stack.prepare()
        print("Starting ...", flush=True)
        stack.start()
        stack.wait_ready()
        # The sample's passwords are known to everybody: without DEBUG, the database may be a real one.
        with_sample = not options.no_sample and stack.settings["DEBUG"] == "True"
        if with_sample:
            print(stack.manage("load_sample", "--finished"), end="")
        print(_report(stack, with_sample), flush=True)
        stack.wait()
        print(f"The process manager has ended. {stack.log_tail('supervisord')}", file=sys.stderr)
        return 1
    except StackError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopping ...", flush=True)
        return 0
    finally:
        if stack is not None:
            stack.stop()


if __name__ == "__main__":
    sys.exit(main())
