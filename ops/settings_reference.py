"""`python -m ops.settings_reference` writes what is made from the classes of variables: a part of docs/settings.md, and
the examples of the two files that docker-compose.yml hands to the programs of each side.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap

import yaml

from common.env import Shared
from hits.environment import Requester
from marketplace.environment import Marketplace
from ops.surroundings import ROOT

DOCUMENT = ROOT / "docs" / "settings.md"
MARKER = "<!-- From here on made by `python -m ops.settings_reference`. -->\n"
HEAD = "| variable | meaning | type | default |\n|---|---|---|---|\n"
# The image sets the first; the others are for tests and laptops.
NOT_ON_A_SERVER = {"DATA_DIR", "DEBUG", "ANNOTATE_TEST_SETTINGS", "MARKETPLACE_SANDBOX"}
NOT_ON_A_SERVER |= {"MARKETPLACE_ACCEPT_ANY_KEY", "MARKETPLACE_TEST_CONTROLS"}
NEEDED = {"SECRET_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "MARKETPLACE_SECRET_KEY"}
TYPES = {"array": "list, commas between", "boolean": "`True` or `False`", "string": "text"}


def made() -> dict[Path, str]:
    """Each file with what has to stand in it."""
    sides = ("Both sides", Shared), ("The requester's side", Requester), ("The marketplace", Marketplace)
    tables = "".join(
        f"\n## {title}\n\n{HEAD}" + "".join(f"| `{name}` | {' | '.join(rest)} |\n" for name, *rest in described(side))
        for title, side in sides
    )
    return {
        DOCUMENT: DOCUMENT.read_text(encoding="utf-8").partition(MARKER)[0] + MARKER + tables,
        ROOT / "requester.env.example": _example("requester", Requester),
        ROOT / "marketplace.env.example": _example("marketplace", Marketplace),
    }


def described(side: type[Shared]) -> Iterator[tuple[str, str, str, str]]:
    """Name, meaning, type and default of each variable that this class declares."""
    shapes = side.model_json_schema()["properties"]
    for name in (name for name in side.model_fields if name in side.__annotations__):
        field, shape = side.model_fields[name], shapes[name]
        kind = shape.get("format") or TYPES.get(shape.get("type"), "number")
        if "enum" in shape:
            kind = " or ".join(f"`{word}`" for word in shape["enum"] if word)
        if "maximum" in shape:
            kind = f"{shape['minimum']} to {shape['maximum']}"
        kind += f" {shape['unit']}" if "unit" in shape else ""
        default = "none" if field.default in ("", -1, [], {}) else f"`{field.default}`"
        yield name, " ".join(str(field.description).split()), kind, "needed" if name in NEEDED else default


def _example(name: str, side: type[Shared]) -> str:
    composed = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
    left_out = NOT_ON_A_SERVER | set(composed[f"x-{name}"]["environment"])
    text = f"# Copy to {name}.env: docker-compose.yml hands it to the {name}'s programs alone. Never commit the copy.\n"
    found = [each for each in (*described(side), *described(Shared)) if each[0] not in left_out]
    for variable, meaning, kind, default in sorted(found, key=lambda each: each[0] not in NEEDED):
        said = f"{meaning} ({kind})".replace("`", "")
        text += "".join(f"{line}\n" for line in wrap(said, 119, initial_indent="# ", subsequent_indent="# "))
        text += f"{variable}=\n" if default == "needed" else f"# {variable}={default.strip('`').replace('none', '')}\n"
    return text


if __name__ == "__main__":
    for file, text in made().items():
        file.write_text(text, encoding="utf-8")
