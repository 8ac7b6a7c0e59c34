"""Makes mcscript-scenarios.txt and mcscript-key.jsonl of mcscript.txt, which is the text that people edit.

`python samples/build_mcscript.py`. In mcscript.txt a line that begins with `#` names a scenario, with a hint behind a
bar; the stories that may be told about it follow, one a paragraph.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT.parent))

from hits.text.language.targets import targets  # noqa: E402 (the line above makes it importable from anywhere)
from hits.text.language.words import words  # noqa: E402

# What the page takes, by its own settings.
WORDS = range(60, 401)
LEAST_STORIES = 3


class SampleError(ValueError):
    """A story that is not well made; the message names it and says what to change."""


def build(source: str) -> tuple[str, list[dict[str, Any]]]:
    """(the scenarios, the lines of their key). Raises SampleError."""
    blocks = [" ".join(block.split()) for block in re.split(r"\n\s*\n", source.strip())]
    stories: dict[str, list[str]] = {}
    heads = []
    for block in blocks:
        if block.startswith("#"):
            heads.append(block.removeprefix("#").strip())
            stories[_name(heads[-1])] = []
        elif not heads:
            raise SampleError(f"no scenario stands before {block[:40]!r}")
        else:
            stories[_name(heads[-1])].append(block)
    _refuse(heads, stories)
    return "\n".join(heads) + "\n", [{"scenario": name, "stories": told} for name, told in stories.items()]


def _name(head: str) -> str:
    return head.partition("|")[0].strip()


def _refuse(heads: list[str], stories: dict[str, list[str]]) -> None:
    if len(stories) != len(heads):
        raise SampleError("two scenarios have one name")
    for name, told in stories.items():
        if len(told) < LEAST_STORIES:
            raise SampleError(f"{name} has {len(told)} stories, fewer than {LEAST_STORIES}")
        for story in told:
            if len(words(story)) not in WORDS:
                raise SampleError(f"{story[:40]!r} has {len(words(story))} words")
            if not targets(story):
                raise SampleError(f"{story[:40]!r} has no target sentence: correct its fourth one")


def main() -> None:
    scenarios, key = build((ROOT / "mcscript.txt").read_text(encoding="utf-8"))
    (ROOT / "mcscript-scenarios.txt").write_text(scenarios, encoding="utf-8")
    lines = [json.dumps(entry, ensure_ascii=False) for entry in key]
    (ROOT / "mcscript-key.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(key)} scenarios, {sum(len(entry['stories']) for entry in key)} stories")


if __name__ == "__main__":
    main()
