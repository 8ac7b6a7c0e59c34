"""The package as somebody installs it, away from this source tree, and the example of its README."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas
import pytest

from ops.surroundings import ROOT
from tests.client.conftest import frame, run_script

PACKAGE = ROOT / "client"
README = PACKAGE / "README.md"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package alone; what it needs is installed already."""
    source, target = tmp_path_factory.mktemp("source") / "client", tmp_path_factory.mktemp("installed")
    shutil.copytree(PACKAGE, source)
    options = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target", str(target)]
    command = [sys.executable, "-m", "pip", "install", *options, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return target


def test_it_has_its_types_and_names_what_it_needs(installed: Path) -> None:
    assert (installed / "annotate_client" / "py.typed").exists()
    (metadata,) = installed.glob("annotate_client-*.dist-info/METADATA")
    text = metadata.read_text()
    assert re.findall(r"^Requires-Dist: (\S+)", text, re.MULTILINE) == ["click<9,>=8.2", "httpx<1,>=0.27", "pandas>=2;"]
    assert "Requires-Python: >=3.10" in text
    folder = installed / "annotate_client"
    modules = {file.relative_to(folder) for file in folder.rglob("*.py")}
    source = PACKAGE / "annotate_client"
    assert modules == {file.relative_to(source) for file in source.rglob("*.py")}
    assert (installed / "bin" / "annotate").exists()


def test_it_says_the_same_version_everywhere(installed: Path) -> None:
    (metadata,) = installed.glob("annotate_client-*.dist-info/METADATA")
    version = re.search(r"^Version: (\S+)", metadata.read_text(), re.MULTILINE)
    assert version
    assert f"annotate-client/{version[1]}" in (installed / "annotate_client" / "api.py").read_text()


def test_the_example_of_its_readme_collects_labels(
    installed: Path, environment: dict[str, str], crowd: None, tmp_path: Path
) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len(example.splitlines()) <= 20
    (tmp_path / "collect.py").write_text(example, encoding="utf-8")
    frame()[:4].rename(columns={"text": "passage"}).to_csv(tmp_path / "rows.csv", index=False)
    settings = environment | {"PYTHONPATH": str(installed)}
    said = run_script(["collect.py"], settings, tmp_path, said="0.72\n")
    assert "4 items, 12 answers, at most $0.72" in said
    assert len(pandas.read_csv(tmp_path / "labels.csv")) == 12
    assert (tmp_path / "release-1" / "manifest.json").exists()


def test_it_needs_no_pandas_until_a_frame_is_wanted(installed: Path, environment: dict[str, str]) -> None:
    script = (
        "import sys; sys.modules['pandas'] = None\n"
        "from annotate_client import Client, tables\n"
        "Client.from_environment()\n"
        "with tables.as_file([{'id': 1}], None) as (name, file): print(file.read())\n"
        "try: tables.frame_of([])\n"
        "except ImportError as error: print(error)\n"
    )
    said = run_script(["-c", script], environment | {"PYTHONPATH": str(installed)}, installed)
    assert said.splitlines() == [
        "b'{\"id\": 1}\\n'",
        "A DataFrame takes pandas: pip install 'annotate-client[pandas]'",
    ]
