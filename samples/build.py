"""Makes record.jsonl of record.txt, which is the text that people edit: `python samples/build.py`.

In record.txt an example begins with `# id | origin | source`. Entities stand in [brackets], `*` begins a bullet,
`?` a query and `=` the names under which its answer stands in the passage. Every mention of these names becomes
a reference answer. What a reader of the finished file could not tell any more is checked here: that no mention
went unmarked, and that no query copies three words in a row from its passage.
"""

from __future__ import annotations

import io
import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT.parent))

from hits.formats.inputs import record  # noqa: E402 (the line above makes it importable from anywhere)

WORDS = range(90, 151)
BULLETS = range(3, 5)
_MARK = re.compile(r"\[([^\]]+)\]")
_WORD = re.compile(r"[\w'-]+|@placeholder")


class SampleError(ValueError):
    """An example that is not well made; the message names it and says what to change."""


def build(source: str) -> list[dict[str, Any]]:
    """The examples in the layout of ReCoRD. Raises SampleError."""
    return [example(block) for block in re.split(r"\n\s*\n", source.strip())]


def example(block: str) -> dict[str, Any]:
    head, lead, *rest = block.splitlines()
    key, origin, newspaper = (part.strip() for part in head.removeprefix("#").split("|"))
    bullets = [line[1:].strip() for line in rest if line.startswith("*")]
    text, spans = unmarked("".join([lead, *(f"\n@highlight\n{bullet}" for bullet in bullets)]))
    pairs = [(line[1:].strip(), answer[1:].strip()) for line, answer in asked(rest)]
    refuse_if(len(lead.split()) not in WORDS, key, f"the lead has {len(lead.split())} words")
    refuse_if(len(bullets) not in BULLETS, key, f"there are {len(bullets)} bullets")
    refuse_unmarked(key, text, spans)
    return {
        "id": key,
        "source": newspaper,
        "origin": origin,
        "passage": {"text": text, "entities": [{"start": start, "end": end} for start, end in spans]},
        "qas": [
            {"id": f"{key}-{number}", "query": query, "answers": answers(key, text, spans, names)}
            for number, (query, names) in enumerate(checked(key, text, pairs), start=1)
        ],
    }


def asked(lines: list[str]) -> list[tuple[str, str]]:
    """Each query line with the answer line below it."""
    return [(line, lines[at + 1]) for at, line in enumerate(lines) if line.startswith("?")]


def unmarked(marked: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without brackets, and where the bracketed mentions stand: (start, inclusive end)."""
    text, spans, at = "", [], 0
    for found in _MARK.finditer(marked):
        text += marked[at : found.start()]
        spans.append((len(text), len(text) + len(found[1]) - 1))
        text += found[1]
        at = found.end()
    return text + marked[at:], spans


def refuse_unmarked(key: str, text: str, spans: list[tuple[int, int]]) -> None:
    inside = {at for start, end in spans for at in range(start, end + 1)}
    for name in {text[start : end + 1] for start, end in spans}:
        for found in re.finditer(rf"\b{re.escape(name)}\b", text):
            refuse_if(found.start() not in inside, key, f"{name} at {found.start()} is not in brackets")


def checked(key: str, text: str, pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    known = trigrams(text)
    for query, _ in pairs:
        refuse_if(len(_WORD.findall(query)) < 10, key, f"fewer than ten words: {query}")
        copied = [" ".join(words) for words in sorted(trigrams(query) & known)]
        refuse_if(bool(copied), key, f"copied from the passage: {', '.join(copied)}")
    return pairs


def trigrams(text: str) -> set[tuple[str, ...]]:
    words = [word.casefold() for word in _WORD.findall(text)]
    return set(zip(words, words[1:], words[2:], strict=False))


def answers(key: str, text: str, spans: list[tuple[int, int]], names: str) -> list[dict[str, Any]]:
    wanted = {name.strip() for name in names.split("|")}
    found = [(start, end, text[start : end + 1]) for start, end in spans if text[start : end + 1] in wanted]
    missing = wanted - {surface for _, _, surface in found}
    refuse_if(bool(missing), key, f"no mention of {', '.join(sorted(missing))}")
    return [{"start": start, "end": end, "text": surface} for start, end, surface in found]


def refuse_if(wrong: bool, key: str, message: str) -> None:
    if wrong:
        raise SampleError(f"{key}: {message}")


def main() -> None:
    examples = build((ROOT / "record.txt").read_text(encoding="utf-8"))
    content = "".join(json.dumps(found, ensure_ascii=False) + "\n" for found in examples).encode()
    documents = record.read(io.BytesIO(content))
    (ROOT / "record.jsonl").write_bytes(content)
    origins = Counter(document.origin for document in documents)
    queries = sum(len(document.queries) for document in documents)
    print(f"{len(documents)} examples, {queries} queries, {dict(origins)}")


if __name__ == "__main__":
    main()
