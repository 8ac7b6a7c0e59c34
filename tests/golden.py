"""What others build on, written down line by line, so that a change of it shows in the diff: addresses, the API's
description and the sentences of the activity log.

`python -m tests.golden` writes the files of tests/golden_files anew; a test of each project compares them.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FILES = ROOT / "tests" / "golden_files"
_RECORDS = {"record": 2, "record_account": 2}


def of_requester() -> dict[str, str]:
    """The text of each file of the requester's project, by its name. Django is set up with that project."""
    return {"pages.txt": _routes(), "api.txt": _api(), "activity.txt": _lines(_sentences())}


def documents() -> dict[str, str]:
    """The text of each document whose tables follow from the code, by its name in docs/."""
    from hits.core.roles import table

    head, mark, _ = (ROOT / "docs" / "verbs.md").read_text().rpartition("|---|---|---|---|---|\n")
    roles = {verb.name: verb.least for verb in table()}
    row = re.compile(r"^\| (?!verb )([^|]+) (.*) [^|]+ \|$", re.MULTILINE)
    written = row.sub(lambda found: f"| {found[1]} {found[2]} {roles.get(found[1], '–')} |", head)
    api = (ROOT / "docs" / "api.md").read_text()
    head, start, rest = api.partition("| status | codes |\n|---|---|\n")
    _, end, rest = rest.partition("\n\n")
    return {
        "verbs.md": written + mark + "\n".join(_rows_of_verbs(roles)) + "\n",
        "api.md": head + start + "\n".join(_rows_of_refusals()) + end + rest,
    }


def _rows_of_refusals() -> Iterator[str]:
    """A row for each status, with the codes of the refusals that are answered with it."""
    codes: dict[int, set[str]] = {}
    for code, status in refusals():
        codes.setdefault(status, set()).add(f"`{code}`")
    for status in sorted(codes):
        yield f"| {status} | {', '.join(sorted(codes[status]))} |"


def refusals() -> Iterator[tuple[str, int]]:
    """(code, status) of each place that raises Refused, and of each class of refusals that has a code of its own."""
    from hits.refusals import Refusal, Refused

    classes = [Refusal]
    while classes:
        refusal = classes.pop()
        classes += refusal.__subclasses__()
        if refusal not in (Refusal, Refused):
            yield refusal.error_code, refusal.http_status
    for path in sorted((ROOT / "hits").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Refused"):
                status = {word.arg: word.value for word in node.keywords}.get("status", ast.Constant(409))
                yield ast.literal_eval(node.args[0]), ast.literal_eval(status)


def _rows_of_verbs(roles: Mapping[str, str]) -> Iterator[str]:
    from hits.core.verbs import REGISTRY

    for verb in REGISTRY.values():
        path = re.sub(r"<\w+:(\w+)>", r"{\1}", verb.path)
        command = verb.name.replace(".", " ").replace("_", "-")
        # Without a form of its own, the page that asks for its values.
        page = verb.name if verb.has_form else next(iter(verb.pages), verb.name)
        yield f"| {verb.label} | `{verb.method} …/{path}` | `{command}` | `{page}` | {roles[verb.label]} |"


def of_marketplace() -> dict[str, str]:
    return {"marketplace_pages.txt": _routes()}


def differences(texts: dict[str, str]) -> list[str]:
    """The lines that went (-) and those that came (+), of all files."""
    found = []
    for name, text in texts.items():
        now, before = text.splitlines(), (FILES / name).read_text().splitlines()
        found += [f"{name}: - {line}" for line in before if line not in set(now)]
        found += [f"{name}: + {line}" for line in now if line not in set(before)]
    return found


def _routes() -> str:
    from django.urls import get_resolver

    def walk(resolver: Any, before: str, spaces: str) -> Iterator[str]:
        for each in resolver.url_patterns:
            address = before + str(each.pattern)
            if hasattr(each, "url_patterns"):
                yield from walk(each, address, spaces + (f"{each.namespace}:" if each.namespace else ""))
            else:
                yield f"{address}  {spaces}{each.name}"

    return _lines(walk(get_resolver(), "", ""))


def _api() -> str:
    """A line for each operation and for each shape."""
    from drf_spectacular.generators import SchemaGenerator

    found = SchemaGenerator().get_schema(request=None, public=True)
    operations = {
        f"{verb.upper()} {path}": body for path, verbs in found["paths"].items() for verb, body in verbs.items()
    }
    parts = [*operations.items(), *found["components"]["schemas"].items()]
    return _lines(f"{name} {json.dumps(body, sort_keys=True, default=str)}" for name, body in parts)


def _sentences() -> Iterator[str]:
    """What the activity log says of each verb, or the expression that makes it."""
    from hits.core.verbs import REGISTRY

    for verb in REGISTRY.values():
        yield verb.words
    for path in sorted((ROOT / "hits").rglob("*.py")):
        tree = ast.parse(path.read_text())
        constants = {
            target.id: node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            name = getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(node, ast.Call) else ""
            if name in _RECORDS and isinstance(node, ast.Call) and len(node.args) > _RECORDS[name]:
                said = node.args[_RECORDS[name]]
                if isinstance(said, ast.Constant):
                    yield str(said.value)
                else:
                    yield str(constants.get(ast.unparse(said), ast.unparse(said)))


def _lines(found: Iterator[str]) -> str:
    return "\n".join(sorted(set(found))) + "\n"


def main() -> int:
    """Without arguments both projects, each in a process of its own."""
    if len(sys.argv) == 1:
        for project in ("annotate", "marketplace"):
            environment = os.environ | {"DJANGO_SETTINGS_MODULE": f"tests.settings.{project}"}
            subprocess.run([sys.executable, "-m", "tests.golden", project], cwd=ROOT, env=environment, check=True)
        return 0
    import django

    django.setup()
    FILES.mkdir(exist_ok=True)
    if sys.argv[1] == "annotate":
        for name, text in documents().items():
            (ROOT / "docs" / name).write_text(text)
    for name, text in (of_requester() if sys.argv[1] == "annotate" else of_marketplace()).items():
        (FILES / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
