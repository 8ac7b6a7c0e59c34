"""`python -m ops.settings_reference` writes what is made from the classes of variables: a part of docs/settings.md, and
the examples of the two files that docker-compose.yml hands to the programs of each side.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import Any

import yaml
from annotated_types import Unit

from common.env import Shared
from hits.environment import Requester
from marketplace.environment import Marketplace
from ops.surroundings import ROOT

DOCUMENT = ROOT / "docs" / "settings.md"
MARKER = "<!-- From here on made by `python -m ops.settings_reference`. -->\n"
# The image sets the first; the others are for tests and laptops.
NOT_ON_A_SERVER = {"DATA_DIR", "DEBUG", "ANNOTATE_TEST_SETTINGS", "MARKETPLACE_SANDBOX"}
NOT_ON_A_SERVER |= {"MARKETPLACE_ACCEPT_ANY_KEY", "MARKETPLACE_TEST_CONTROLS"}
# The marketplace's has a default, for laptops.
NEEDED = {"SECRET_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "MARKETPLACE_SECRET_KEY"}
TYPES = {"array": "list, commas between", "boolean": "`True` or `False`", "number": "amount in", "string": "text"}


def made() -> dict[Path, str]:
    """Each file with what has to stand in it."""
    titles = {"Both sides": Shared, "The requester's side": Requester, "The marketplace": Marketplace}
    document = DOCUMENT.read_text(encoding="utf-8").partition(MARKER)[0] + MARKER
    document += "".join(f"\n## {title}\n\n{_table(side)}" for title, side in titles.items())
    sides = {"requester": Requester, "marketplace": Marketplace}
    return {DOCUMENT: document, **{ROOT / f"{name}.env.example": _example(name, side) for name, side in sides.items()}}


def _table(side: type[Shared]) -> str:
    text = "| variable | meaning | type | default |\n|---|---|---|---|\n"
    for name in side.__annotations__:
        if name in side.model_fields:
            text += f"| `{name}` | {_meaning(side, name)} | {_type(side, name)} | {_default(side, name)} |\n"
    return text


def _meaning(side: type[Shared], name: str) -> str:
    return " ".join(str(side.model_fields[name].description).split())


def _type(side: type[Shared], name: str) -> str:
    shape: dict[str, Any] = side.model_json_schema()["properties"][name]
    if "enum" in shape:
        return " or ".join(f"`{word}`" for word in shape["enum"] if word)
    units = [f" {each.unit}" for each in side.model_fields[name].metadata if isinstance(each, Unit)]
    bounds = f"{shape['minimum']} to {shape['maximum']}" if "maximum" in shape else ""
    return (bounds or shape.get("format") or TYPES[shape.get("type", "number")]) + "".join(units)


def _default(side: type[Shared], name: str) -> str:
    value = side.model_fields[name].default
    return "needed" if name in NEEDED else "none" if value in ("", -1, [], {}) else f"`{value}`"


def _example(name: str, side: type[Shared]) -> str:
    composed = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
    left_out = NOT_ON_A_SERVER | set(composed[f"x-{name}"]["environment"])
    text = f"# Copy to {name}.env: docker-compose.yml hands it to the {name}'s programs alone. Never commit the copy.\n"
    wanted = [variable for variable in side.model_fields if variable not in left_out]
    for variable in sorted(wanted, key=lambda each: (each not in NEEDED, each in Shared.model_fields)):
        said = f"{_meaning(side, variable)} ({_type(side, variable)})".replace("`", "")
        text += "".join(f"{line}\n" for line in wrap(said, 119, initial_indent="# ", subsequent_indent="# "))
        default = _default(side, variable).strip("`")
        text += f"{variable}=\n" if default == "needed" else f"# {variable}={default.replace('none', '')}\n"
    return text


def main() -> None:
    for file, text in made().items():
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
