"""`python -m ops.settings_reference` writes what is made from the classes of variables: a part of docs/settings.md, and
the examples of the two files that docker-compose.yml hands to the programs of each side.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any

import yaml

from common.env import REQUIRED, Shared, Variable, variables
from hits.environment import Requester
from marketplace.environment import Marketplace
from ops.surroundings import ROOT

DOCUMENT = ROOT / "docs" / "settings.md"
MARKER = "<!-- From here on made by `python -m ops.settings_reference`. -->\n"
# The image sets the first; the others are for tests and laptops.
NOT_ON_A_SERVER = {"DATA_DIR", "DEBUG", "ANNOTATE_TEST_SETTINGS", "MARKETPLACE_SANDBOX"}
NOT_ON_A_SERVER |= {"MARKETPLACE_ACCEPT_ANY_KEY", "MARKETPLACE_TEST_CONTROLS"}
SIDES = {"requester": Requester, "marketplace": Marketplace}


def made() -> dict[Path, str]:
    """Each file with what has to stand in it."""
    titles = {"Both sides": Shared, "The requester's side": Requester, "The marketplace": Marketplace}
    parts = [f"\n## {title}\n\n{_table(variables(side, inherited=False))}" for title, side in titles.items()]
    document = DOCUMENT.read_text(encoding="utf-8").partition(MARKER)[0] + MARKER + "".join(parts)
    return {DOCUMENT: document, **{ROOT / f"{side}.env.example": _example(side) for side in SIDES}}


def _table(found: Mapping[str, Variable[Any]]) -> str:
    rows = [f"| `{name}` | {one.meaning} | {_kind(one)} | {_default(one)} |\n" for name, one in found.items()]
    return "".join(["| variable | meaning | type | default |\n|---|---|---|---|\n", *rows])


def _kind(one: Variable[Any]) -> str:
    return f"{one.kind} {one.unit}".strip()


def _default(one: Variable[Any]) -> str:
    return one.shown or (one.default if one.default in ("", REQUIRED) else f"`{one.default}`") or "none"


def _example(side: str) -> str:
    composed = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
    left_out = NOT_ON_A_SERVER | set(composed[f"x-{side}"]["environment"])
    parts = [
        f"# Copy to {side}.env: docker-compose.yml hands it to the {side}'s programs alone. Never commit the copy.\n"
        "# What has a default is set by taking the sign away before its name.\n"
    ]
    for name, one in variables(SIDES[side]).items():
        if name not in left_out:
            said = f"{one.meaning} ({_kind(one)}; {_default(one)})".replace("`", "")
            needed = REQUIRED in (one.default, one.shown)
            parts += [f"\n{line}" for line in wrap(said, 119, initial_indent="# ", subsequent_indent="# ")]
            parts.append(f"\n{'' if needed else '# '}{name}={'' if needed else one.default}\n")
    return "".join(parts)


def main() -> None:
    for file, text in made().items():
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
