"""`make demo [RECIPE=record] [INPUT=path] [SEED=7]`: a recipe's main job from a file to a release, without a person.

Starts a whole stack on free ports, or on WEB_PORT, MARKETPLACE_PORT and BROKER_PORT, in the folder `demo-<recipe>`
of DATA_DIR (data/ by default), in place of an earlier one, and with DATABASE_URL and REDIS_URL where they are set.
It imports and publishes INPUT (for ReCoRD also a folder of articles), lets a simulated crowd work through the
marketplace's site, waits until beat and worker have led every item to its end, also those for the human score, releases
twice, checks the outcome from the marketplace's own records, and runs the baselines. Exit status 0 only when every
check holds; then it says where the release lies and how to look at the project. What belongs to one recipe stands in
`tests.demo.<recipe>`.
"""

from __future__ import annotations

import argparse
import fcntl
import importlib
import os
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from ops.stack import Stack
from ops.surroundings import ROOT, Ports, StackError
from tests.demo import checks, crowd

HERE = Path(__file__).resolve().parent
NOT_RECIPES = ("checks", "crowd", "__")
FAILED, STOPPED = 1, 130
PORTS = ("WEB_PORT", "MARKETPLACE_PORT", "BROKER_PORT")
DATABASES = ("DATABASE_URL", "MARKETPLACE_DATABASE_URL", "REDIS_URL")


def main() -> int:
    options = _options()
    recipe: ModuleType = importlib.import_module(f"tests.demo.{options.recipe}")
    file = (options.input or recipe.SAMPLE).resolve()
    if not file.is_file() and not (file.is_dir() and getattr(recipe, "TAKES_FOLDERS", False)):
        print(f"There is no file {file}. Name one, as in: make demo INPUT=my.jsonl", file=sys.stderr)
        return 2
    try:
        folder = _new_folder(Path(os.environ.get("DATA_DIR") or ROOT / "data") / f"demo-{options.recipe}")
        ports = Ports.chosen(os.environ) if any(map(os.environ.get, PORTS)) else None
    except StackError as error:
        print(error, file=sys.stderr)
        return 2
    settings = {name: os.environ[name] for name in DATABASES if os.environ.get(name)}
    status = FAILED
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    began = time.monotonic()
    try:
        with Stack(folder, ports, settings=settings) as stack:
            found = recipe.demonstrate(stack, file, options.seed, options.seconds)
            tell_outcome(recipe, found)
            crowd.baselines(stack, found.started["project"])
            shutil.move(found.releases[-1].folder, folder / "release")
            for key in folder.glob(f"{found.releases[-1].folder.name}-*"):
                shutil.move(key, folder / key.name.replace(found.releases[-1].folder.name, "release"))
        print(f"Done in {time.monotonic() - began:.0f} seconds.", flush=True)
        print(whereabouts(folder, found.started["slug"], os.environ), flush=True)
        status = 0
    except (StackError, checks.CheckFailedError) as error:
        print(f"FAILED: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        status = STOPPED
        print("\nStopped.", file=sys.stderr)
    finally:
        _put_away(folder, options.keep, status)
    return status


def _new_folder(folder: Path) -> Path:
    """Empty: what an earlier demonstration left there is deleted. Raises StackError where somebody uses it."""
    lock = folder / "run" / "lock"
    if lock.exists():
        with lock.open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise StackError(
                    f"Somebody uses {folder}: stop that, or choose another folder with DATA_DIR."
                ) from None
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def whereabouts(folder: Path, slug: str, environment: Mapping[str, str]) -> str:
    """Where the release lies, and where the project is in the folder's own database, how to look at it."""
    said = f"The release lies in {folder / 'release'}."
    if any(map(environment.get, DATABASES)):
        return said
    ports = [f"{name}={shlex.quote(environment[name])}" for name in PORTS if environment.get(name)]
    command = " ".join([*ports, f"DATA_DIR={shlex.quote(str(folder))}", "make run"])
    return f"{said}\nTo look at the project: {command}, and open /projects/{slug}/ at the address for leads."


def recipes() -> list[str]:
    """Those that have a demonstration."""
    return [file.stem for file in sorted(HERE.glob("*.py")) if not file.stem.startswith(NOT_RECIPES)]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.demo", description=__doc__)
    parser.add_argument("--recipe", default=os.environ.get("RECIPE") or "record", help=f"one of {', '.join(recipes())}")
    parser.add_argument("--input", type=Path, default=Path(os.environ["INPUT"]) if os.environ.get("INPUT") else None)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SEED") or 7))
    parser.add_argument("--seconds", type=float, default=600, help="give up when nothing moves for so long")
    parser.add_argument("--keep", type=Path, help="keep the release and the logs in this new folder")
    options = parser.parse_args()
    if options.recipe not in recipes():
        parser.error(f"there is no demonstration of {options.recipe!r}; there are: {', '.join(recipes())}")
    return options


def tell_outcome(recipe: ModuleType, found: checks.Demonstration) -> None:
    """Make and print the checks. Raises CheckFailedError."""
    print("Checked from outside:", flush=True)
    for name, seen in recipe.checks(found):
        print(f"  ok  {name}: {seen}", flush=True)
    for note in found.releases[-1].report["notes"]:
        print(f"      {note}")


def _put_away(folder: Path, keep: Path | None, status: int) -> None:
    if status == FAILED:
        print(f"Logs and databases are kept in {folder}", file=sys.stderr)
        return
    if keep and not status:
        shutil.copytree(folder / "release", keep / "release")
        for key in folder.glob("release-test-key.*"):
            shutil.copy(key, keep)
        shutil.copytree(folder / "logs", keep / "logs")
        print(f"Release and logs: {keep}")
    if status:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
