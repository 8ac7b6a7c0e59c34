"""The documents hold: links lead somewhere, files that they name are there, and settings are told as they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ops import settings_reference
from ops.surroundings import ROOT

DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "client/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
FENCED = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
FOLDERS = "annotate|client|common|docs|hits|marketplace|ops|samples|static|templates|tests"
FILE = re.compile(rf"(?:{FOLDERS})/[\w./-]*\w/?")
# With arguments or without: `hits.text.language.words.placed(text)`.
DOTTED = re.compile(r"((?:annotate|common|hits|ops|tests)(?:\.\w+)+)(?:\(.*\))?")
each_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: str(file.relative_to(ROOT)))


@each_document
def test_links_lead_to_a_file_and_a_heading_that_are_there(document: Path) -> None:
    links = LINK.findall(FENCED.sub("", document.read_text(encoding="utf-8")))
    assert [link for link in links if "://" not in link and not _leads_somewhere(document, link)] == []


def _leads_somewhere(document: Path, link: str) -> bool:
    name, _, heading = link.partition("#")
    file = document.parent / name if name else document
    return file.exists() and (not heading or heading in _headings(file))


def _headings(file: Path) -> set[str]:
    """As addresses: lower case, without signs, hyphens for spaces."""
    text = FENCED.sub("", file.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@each_document
def test_files_that_are_named_are_there(document: Path) -> None:
    code = re.findall(r"`([^`\n]+)`", FENCED.sub("", document.read_text(encoding="utf-8")))
    files = [word for words in code for word in words.split() if FILE.fullmatch(word)]
    assert [file for file in files if not (ROOT / file).exists()] == []


@each_document
def test_modules_that_are_named_are_there_with_what_is_named_in_them(document: Path) -> None:
    code = re.findall(r"`([^`\n]+)`", FENCED.sub("", document.read_text(encoding="utf-8")))
    named = [found[1] for word in code if (found := DOTTED.fullmatch(word))]
    assert [name for name in named if not _is_there(*name.split("."))] == []


def _is_there(*names: str) -> bool:
    whole, outer = ROOT.joinpath(*names), ROOT.joinpath(*names[:-1])
    if whole.is_dir() or whole.with_suffix(".py").exists():
        return True
    holds = [file for file in (outer.with_suffix(".py"), outer / "__init__.py") if file.exists()]
    return any(re.search(rf"^(def|class) {names[-1]}\b", file.read_text("utf-8"), re.MULTILINE) for file in holds)


def test_a_function_that_is_named_after_its_file_is_in_it() -> None:
    """As in the life of one answer: `hits/judging/rules/counting.py` (`recount`)."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:hits|marketplace)/[\w/]+\.py)`,?\s+\(`(\w+)`", text)
    assert len(named) > 20
    texts = {file: (ROOT / file).read_text(encoding="utf-8") for file, _ in named}
    assert [(file, name) for file, name in named if f"\ndef {name}(" not in texts[file]] == []


def _table_of_folders() -> list[tuple[str, str]]:
    """What CONTRIBUTING.md says of each folder, or of each module beside them."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.+?`) \| (.+) \|$", text, re.MULTILINE)
    return [(folder, said) for folders, said in rows for folder in re.findall(r"`([^`]+)`", folders)]


def test_the_table_of_folders_names_each_folder_of_the_requesters_side() -> None:
    found = {f"hits/{file.name}" for file in (ROOT / "hits").iterdir() if file.is_dir() and file.name != "__pycache__"}
    told = [folder for folder, _ in _table_of_folders()]
    assert len(told) == len(set(told))
    assert {folder for folder in told if folder.startswith("hits/") and not folder.endswith(".py")} == found


def test_files_that_the_table_of_folders_names_are_in_their_folder() -> None:
    named = [(folder, name) for folder, said in _table_of_folders() for name in re.findall(r"`([\w/]+\.py)`", said)]
    assert len(named) > 30
    assert [
        (folder, name) for folder, name in named if not (name.startswith("hits/") or (ROOT / folder / name).exists())
    ] == []


def test_the_list_of_documents_names_each_of_them() -> None:
    listed = LINK.findall((ROOT / "docs" / "README.md").read_text(encoding="utf-8"))
    found = [file for ending in ("md", "ipynb") for file in (ROOT / "docs").rglob(f"*.{ending}")]
    files = {str(file.relative_to(ROOT / "docs")) for file in found}
    assert files - {"README.md"} == {link for link in listed if "://" not in link}


def test_what_is_made_from_the_variables_is_up_to_date() -> None:
    stale = [file.name for file, text in settings_reference.made().items() if file.read_text(encoding="utf-8") != text]
    assert stale == [], "python -m ops.settings_reference"
