"""Licences that data sets are usually given away under: their SPDX ids, and what the Hugging Face Hub calls them.

The Hub's names are those of its list of licences (huggingface.co/docs/hub/repositories-licenses). Terms of one's own
are `other` there, with a name and a file beside the card.
"""

from __future__ import annotations

from dataclasses import dataclass

# What a lead chooses who has terms of their own, and the file in which a release has them.
OWN, OWN_FILE = "own", "LICENSE"


@dataclass(frozen=True)
class Licence:
    """`spdx` is the id at spdx.org/licenses, `hub` the one that a card's `license:` has."""

    spdx: str
    hub: str
    title: str
    url: str


def _creative(kind: str, title: str) -> Licence:
    page = f"https://creativecommons.org/licenses/{kind}/4.0/"
    return Licence(f"CC-{kind.upper()}-4.0", f"cc-{kind}-4.0", f"Creative Commons {title} 4.0 International", page)


LICENCES: dict[str, Licence] = {
    one.spdx: one
    for one in (
        _creative("by", "Attribution"),
        _creative("by-sa", "Attribution-ShareAlike"),
        _creative("by-nc", "Attribution-NonCommercial"),
        _creative("by-nc-sa", "Attribution-NonCommercial-ShareAlike"),
        _creative("by-nd", "Attribution-NoDerivatives"),
        _creative("by-nc-nd", "Attribution-NonCommercial-NoDerivatives"),
        Licence(
            "CC0-1.0",
            "cc0-1.0",
            "Creative Commons Zero 1.0 Universal",
            "https://creativecommons.org/publicdomain/zero/1.0/",
        ),
        Licence(
            "ODC-By-1.0",
            "odc-by",
            "Open Data Commons Attribution License 1.0",
            "https://opendatacommons.org/licenses/by/1-0/",
        ),
        Licence(
            "ODbL-1.0",
            "odbl",
            "Open Data Commons Open Database License 1.0",
            "https://opendatacommons.org/licenses/odbl/1-0/",
        ),
        Licence(
            "PDDL-1.0",
            "pddl",
            "Open Data Commons Public Domain Dedication and License 1.0",
            "https://opendatacommons.org/licenses/pddl/1-0/",
        ),
        Licence(
            "CDLA-Permissive-2.0",
            "cdla-permissive-2.0",
            "Community Data License Agreement Permissive 2.0",
            "https://cdla.dev/permissive-2-0/",
        ),
        Licence("MIT", "mit", "MIT License", "https://opensource.org/license/mit"),
        Licence("Apache-2.0", "apache-2.0", "Apache License 2.0", "https://www.apache.org/licenses/LICENSE-2.0"),
    )
}
