"""What a lead states about a collection for the card and the manifest of its releases: licence, citation, description.

It is stored as `Project.card`, a dictionary with some of `FIELDS`, checked whenever it is written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from hits.formats.outputs.licences import LICENCES, OWN, Licence
from hits.refusals import Refused


@dataclass(frozen=True)
class Question:
    """A text that a lead states: at most `longest` characters, asked for under `label`."""

    label: str
    help: str
    longest: int = 4_000


# From "description" on, as the card's sections have them: the questions of "Datasheets for Datasets" (Gebru et al.,
# 2021) that nothing in the project answers.
TEXTS = {
    "citation": Question("Citation", "How the data shall be cited: BibTeX, or a sentence.", 5_000),
    "language": Question("Language", "Codes of the texts' languages, such as en, or en, de.", 80),
    "description": Question(
        "Description of the collection",
        "What was collected and what for. A blank line begins another paragraph; it is shown as text.",
    ),
    "purpose": Question("Who made it, and why?", "Which group, for which purpose, and who paid for it."),
    "personal_data": Question(
        "Does it have personal or sensitive data?", "Such as names, opinions or health, and what was done about them."
    ),
    "uses": Question("What should it not be used for?", "And what it was used for already."),
    "maintenance": Question("Who maintains it?", "Whom to write to about faults, and whether there will be updates."),
}
DATASHEET = ("purpose", "personal_data", "uses", "maintenance")
RELEASED = "released"
LONGEST = {
    "licence": 40,
    "terms": 20_000,
    "single_answers": 20,
    **{name: asked.longest for name, asked in TEXTS.items()},
}
FIELDS = tuple(LONGEST)
_LANGUAGES = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*(\s*,\s*[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*)*")
# Control characters, halves of surrogate pairs, and what some readers take for the end of a line.
_UNSHOWN = frozenset({"Cc", "Cs", "Zl", "Zp"})


@dataclass(frozen=True)
class Stated:
    """Texts, each empty where nothing is stated. `licence` is an SPDX id of `hits.formats.outputs.licences` or `OWN`,
    whose text `terms` has; `single_answers` is `RELEASED` where releases tell every answer to what they tell labels of.
    """

    licence: str = ""
    terms: str = ""
    citation: str = ""
    language: str = ""
    description: str = ""
    purpose: str = ""
    personal_data: str = ""
    uses: str = ""
    maintenance: str = ""
    single_answers: str = ""

    @property
    def known(self) -> Licence | None:
        """The licence, where it is one of the usual ones."""
        return LICENCES.get(self.licence)


def stated(card: Mapping[str, str]) -> Stated:
    """What a project states, by `Project.card`."""
    return Stated(**{name: card[name] for name in FIELDS if name in card})


def checked(before: Mapping[str, str], given: Mapping[str, Any]) -> dict[str, str]:
    """The card with what is given in the place of what was there; what is not given stays.

    A licence that is not `OWN` has no terms: they go with it. Raises Refused (release_card_refused) with every fault.
    """
    faults = [f"{name} is unknown: there are {', '.join(FIELDS)}." for name in sorted(map(str, given.keys() - LONGEST))]
    wanted = asdict(stated(before))
    for name in (name for name in FIELDS if name in given):
        wanted[name] = _text(name, given[name], faults)
    if wanted["language"] and not _LANGUAGES.fullmatch(wanted["language"]):
        faults.append("language must hold codes such as en, with commas between them.")
    if wanted["single_answers"] not in ("", RELEASED):
        faults.append(f"single_answers must be “{RELEASED}” or empty.")
    known = ("", OWN, *LICENCES)
    if wanted["licence"] not in known:
        faults.append(
            f"licence must be one of {', '.join(LICENCES)}, or {OWN} with the terms, not “{wanted['licence'][:40]}”."
        )
    if wanted["licence"] == OWN and not wanted["terms"]:
        faults.append("terms must hold the text of the licence, as it is your own.")
    if wanted["licence"] in known and wanted["licence"] != OWN and given.get("terms"):
        faults.append(f"terms are stated with the licence {OWN} only: take them away, or choose {OWN}.")
    if faults:
        raise Refused("release_card_refused", " ".join(faults), status=400, faults=faults)
    if wanted["licence"] != OWN:
        wanted["terms"] = ""
    return {name: text for name, text in wanted.items() if text}


def _text(name: str, given: object, faults: list[str]) -> str:
    """With line ends of one kind, without blanks around it."""
    if not isinstance(given, str):
        faults.append(f"{name} must be a text.")
        return ""
    text = given.replace("\r\n", "\n").replace("\r", "\n").strip()
    if len(text) > LONGEST[name]:
        faults.append(f"{name} has {len(text):,} characters; at most {LONGEST[name]:,} are taken.")
    if any(sign not in "\n\t" and unicodedata.category(sign) in _UNSHOWN for sign in text):
        faults.append(f"{name} has a character that cannot be shown: write it as plain text.")
    return text
