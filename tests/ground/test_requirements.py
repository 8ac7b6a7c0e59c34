"""The same versions everywhere, and nothing imported that is not installed."""

from __future__ import annotations

import ast
import re
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from ops.surroundings import ROOT

FILES = [
    "requirements.txt",
    "requirements-local.txt",
    "requirements-dev.txt",
    "constraints.txt",
    "requirements-audit.txt",
]
OURS = {"annotate", "common", "hits", "marketplace", "ops", "tests", "samples"}
RUNTIME = ("annotate", "common", "hits", "marketplace", "ops")
# What `make run` starts on one machine: no server runs it.
LOCAL = {"ops/programs.py"}
# A server neither photographs pages nor writes documents.
TOOLS = {"ops/pictures.py", "ops/screenshots.py", "ops/settings_reference.py"}


def _lines(name: str) -> list[str]:
    text = (ROOT / name).read_text().splitlines()
    return [line.split("#")[0].strip() for line in text if line.split("#")[0].strip()]


def _required(name: str) -> set[str]:
    pinned = [line for line in _lines(name) if not line.startswith("-")]
    return {_normal(re.split(r"[\[=]", line)[0]) for line in pinned}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("name", FILES)
def test_every_version_is_pinned(name: str) -> None:
    loose = [line for line in _lines(name) if not re.fullmatch(r"[\w.-]+(\[[\w,]+\])?==[\w.]+", line)]
    assert set(loose) <= {"-c constraints.txt", "-r requirements.txt", "-r requirements-local.txt"}


@pytest.mark.parametrize("name", FILES)
def test_no_address_of_a_registry_is_written_down(name: str) -> None:
    assert not re.search(r"https?://|--(extra-)?index-url", (ROOT / name).read_text())


def _imported(files: list[Path]) -> dict[str, str]:
    """Top-level packages of others, each with a file that imports it."""
    found = {}
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            found |= {name.split(".")[0]: str(file.relative_to(ROOT)) for name in names}
    return {name: file for name, file in found.items() if name not in OURS | sys.stdlib_module_names}


def _missing(imported: dict[str, str], required: set[str]) -> dict[str, str]:
    brought = packages_distributions()
    return {
        name: file
        for name, file in imported.items()
        if not {_normal(each) for each in brought.get(name, [])} & required
    }


def test_what_the_service_imports_is_in_requirements_txt() -> None:
    files = [file for folder in RUNTIME for file in sorted((ROOT / folder).rglob("*.py"))]
    files = [file for file in files if str(file.relative_to(ROOT)) not in TOOLS | LOCAL]
    # These come with boto3 and celery[redis], and have to be of the versions that those want.
    assert _missing(_imported(files), _required("requirements.txt") | {"botocore", "kombu"}) == {}


def test_what_the_tests_import_is_in_requirements_dev_txt() -> None:
    # These come with boto3, celery[redis] and requests.
    required = set().union(*map(_required, FILES[:3])) | {"botocore", "kombu", "urllib3"}
    files = [file for file in sorted((ROOT / "tests").rglob("*.py")) if "__pycache__" not in file.parts]
    # The benchmark beside Turkle runs this file with Python of its own, where it installs Turkle.
    beside = ROOT / "tests" / "benchmarks" / "turkle_side"
    imported = _imported([file for file in files if file.parent != beside])
    # It lies in client/, where pytest looks for it.
    imported.pop("annotate_client")
    assert _missing(imported, required) == {}


def test_the_client_imports_what_it_says_that_it_needs_and_nothing_of_the_service() -> None:
    imported = _imported(sorted((ROOT / "client").rglob("*.py"))).keys() - {"annotate_client"}
    # The last one is read by type checkers alone.
    assert imported == {"click", "httpx", "pandas", "typing_extensions"}
    assert not imported & OURS


def test_the_image_gets_these_versions_with_hashes_and_nothing_of_a_laptop() -> None:
    """`make lock` writes the file anew."""
    entries = re.findall(r"^([\w.-]+)==([\w.]+) ((?:\\\n +--hash=sha256:[0-9a-f]{64} ?)+)$", _lock(), re.MULTILINE)
    locked = {_normal(name): version for name, version, _ in entries}
    assert len(locked) == _lock().count("==")
    pinned = dict(line.split("==") for name in ("requirements.txt", "constraints.txt") for line in _pins(name))
    assert {name: pinned.get(name) for name in locked} == locked
    assert _required("requirements.txt") <= set(locked)
    assert not _required("requirements-local.txt") & set(locked)


def _lock() -> str:
    return (ROOT / "requirements.lock").read_text()


def _pins(name: str) -> list[str]:
    """Each as name==version, without extras."""
    return [
        re.sub(r"^([^=\[]+)(\[.*\])?==", lambda found: f"{_normal(found[1])}==", line)
        for line in _lines(name)
        if "==" in line
    ]
