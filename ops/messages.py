"""`make messages`: the catalogues of the words on pages, brought up to date with templates, code and scripts.

New texts get an empty entry in each language's `.po` file, texts that are gone leave it, and what is translated is
compiled. `faults` says what is missing; a test calls it. GNU gettext's programs do the work.
"""

from __future__ import annotations

import gettext
import io
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.utils.translation.template import templatize

from ops.surroundings import ROOT, StackError

LANGUAGES = ("de", "es")
# Each with the place of the singular, the plural and the context among its arguments.
KEYWORDS = (
    "Sentence", "counted:1,2",
    "gettext_noop", "gettext_lazy", "ngettext_lazy:1,2", "pgettext:1c,2", "npgettext:1c,2,3", "pgettext_lazy:1c,2",
    "npgettext_lazy:1c,2,3",
)  # fmt: skip
_CREATED = re.compile(r'^"(POT-Creation-Date|X-Generator): .*\n', re.MULTILINE)


@dataclass(frozen=True)
class Catalogue:
    """The words of one project's pages (`domain` is "django") or scripts ("djangojs"). `sources` are patterns of files
    below the repository's folder.
    """

    package: str
    domain: str
    sources: Sequence[str]
    without: Sequence[str] = ()

    def files(self) -> list[Path]:
        found = {file for pattern in self.sources for file in ROOT.glob(pattern) if file.is_file()}
        return sorted(file for file in found if not any(file.match(pattern) for pattern in self.without))

    def po(self, language: str) -> Path:
        return ROOT / self.package / "locale" / language / "LC_MESSAGES" / f"{self.domain}.po"


CATALOGUES: Sequence[Catalogue] = (
    Catalogue(
        "hits",
        "django",
        (
            "templates/answers/task/*.html",
            "hits/protocols/**/*.html",
            "hits/protocols/**/*.py",
            "hits/text/questions/question_rules.py",
            "hits/pools/pages.py",
            "hits/publishing/rules/hit_types.py",
            "hits/answers/rules/item_answers.py",
            "hits/people/rules/inbox.py",
            "hits/people/rules/terms.py",
            "hits/people/verbs/inbox.py",
            "hits/stages/verbs/custom_stages.py",
            "hits/answers/verbs/serving.py",
            "hits/people/pages/replies.py",
            "hits/answers/pages/task.py",
        ),
        # Pages of leads, and attributes alone.
        without=("phrase_questions/*target*.html", "form/_labels.html"),
    ),
    Catalogue("hits", "djangojs", ("static/task/*.js", "hits/protocols/*/static/*.js")),
    Catalogue(
        "marketplace",
        "django",
        (
            "templates/marketplace/*.html",
            "templates/marketplace/frames/*.html",
            "marketplace/rules/**/*.py",
            "marketplace/models/*.py",
            "marketplace/verbs/*.py",
            "marketplace/templatetags/*.py",
            "marketplace/site/*.py",
            "marketplace/site/views/*.py",
        ),
    ),
    Catalogue("marketplace", "djangojs", ("static/marketplace/*.js",)),
)


def update() -> None:
    """Raises StackError where a program of GNU gettext is missing or refuses a file."""
    for catalogue in CATALOGUES:
        template = extracted(catalogue)
        for language in LANGUAGES:
            file = catalogue.po(language)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(_merged(template, file, language), encoding="utf-8")
            file.with_suffix(".mo").write_bytes(_run(["msgfmt", "-o", "-", str(file)]))


def faults(catalogue: Catalogue, language: str) -> list[str]:
    """What of a catalogue is missing or out of date, as sentences. Raises StackError."""
    file = catalogue.po(language)
    name = file.relative_to(ROOT)
    if not file.exists():
        return [f"{name} is missing. Run make messages."]
    wanted, kept = _ids(extracted(catalogue)), _ids(file.read_text(encoding="utf-8"))
    found = [f"{name}: “{text}” is missing. Run make messages." for text in sorted(wanted - kept)]
    found += [f"{name}: “{text}” is on no page. Run make messages." for text in sorted(kept - wanted)]
    for option, what in (("--untranslated", "has no translation"), ("--only-fuzzy", "has a translation in doubt")):
        text = _run(["msgattrib", "--no-obsolete", "--no-wrap", option, str(file)]).decode()
        found += [f"{name}: “{one}” {what}." for one in sorted(_ids(text))]
    compiled = file.with_suffix(".mo")
    if not compiled.exists() or _meaning(compiled.read_bytes()) != _meaning(_run(["msgfmt", "-o", "-", str(file)])):
        found.append(f"{compiled.relative_to(ROOT)} is older than {file.name}. Run make messages.")
    return found


def extracted(catalogue: Catalogue) -> str:
    """All texts of the catalogue's sources, as a template for catalogues. Raises StackError."""
    with tempfile.TemporaryDirectory() as folder:
        names = list(_written_out(catalogue, Path(folder)))
        language = "JavaScript" if catalogue.domain == "djangojs" else "Python"
        command = ["xgettext", f"--language={language}", "--from-code=UTF-8", "--no-location", "--no-wrap", "-o", "-"]
        command += ["--add-comments=Translators", *(f"--keyword={keyword}" for keyword in KEYWORDS), *names]
        return _run(command, Path(folder)).decode().replace("charset=CHARSET", "charset=UTF-8")


def _written_out(catalogue: Catalogue, folder: Path) -> Iterator[str]:
    """The sources as xgettext reads them, in `folder`: Django's own reading of a template is Python to it."""
    for file in catalogue.files():
        name = str(file.relative_to(ROOT))
        text = file.read_text(encoding="utf-8")
        copy = folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(templatize(text, origin=name) if file.suffix == ".html" else text, encoding="utf-8")
        yield name


def _merged(template: str, file: Path, language: str) -> str:
    """The catalogue with the template's texts, and the translations that it has."""
    with tempfile.TemporaryDirectory() as folder:
        pot = Path(folder) / "new.pot"
        pot.write_text(template, encoding="utf-8")
        if file.exists():
            # A text that is only alike needs a translation of its own.
            merging = ["msgmerge", "--no-fuzzy-matching", "--no-wrap", "--quiet", "-o", "-", str(file), str(pot)]
            merged = _run(merging)
        else:
            making = ["msginit", "--no-translator", "--no-wrap", f"--locale={language}", "-o", "-", "-i", str(pot)]
            merged = _run(making)
        kept = Path(folder) / "kept.po"
        kept.write_bytes(merged)
        text = _run(["msgattrib", "--no-obsolete", "--no-wrap", str(kept)]).decode()
    return _CREATED.sub("", text.replace("charset=ASCII", "charset=UTF-8"))


def _ids(catalogue: str) -> set[str]:
    """Its texts: singulars, one line each."""
    found = re.findall(r'^msgid ((?:".*"\n?)+)', catalogue, re.MULTILINE)
    return {"".join(re.findall(r'"(.*)"', one)) for one in found} - {""}


def _meaning(compiled: bytes) -> dict[object, str]:
    """The translations of a compiled catalogue; its heading says when it was made."""
    catalogue: dict[object, str] = gettext.GNUTranslations(io.BytesIO(compiled))._catalog  # type: ignore[attr-defined]
    return {text: translated for text, translated in catalogue.items() if text}


def _run(command: Sequence[str], folder: Path = ROOT) -> bytes:
    if shutil.which(command[0]) is None:
        raise StackError(f"{command[0]} is missing: install GNU gettext.")
    done = subprocess.run(command, cwd=folder, capture_output=True)
    if done.returncode:
        raise StackError(f"{command[0]}: {done.stderr.decode(errors='replace')}".strip())
    return done.stdout


if __name__ == "__main__":
    try:
        update()
    except StackError as error:
        sys.exit(str(error))
