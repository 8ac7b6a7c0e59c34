"""Makes cosmos-stories.txt and cosmos-key.jsonl of cosmos.txt, which is the text that people edit.

`python samples/build_cosmos.py`. In cosmos.txt blank lines part the stories. Below a story `?` begins a question with
its kind, `+` a correct answer and `-` an incorrect one; `! needs_context no` or `! needs_common_sense no` says what a
careful reader finds wanting. Under a lone `#` stand questions that make no sense, for people who do not read.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT.parent))

from hits.text.language.words import words  # noqa: E402 (the line above makes it importable from anywhere)

WORDS = range(60, 151)
CATEGORIES = ("causes", "effects", "facts", "counterfactual")
STEPS = ("needs_context", "needs_common_sense")
_SENTENCE = re.compile(r".*?[.!?]\"?(?= [A-Z\"]|$)")
_SIGNS = {"?": "question", "+": "correct", "-": "incorrect", "!": "needs"}


class SampleError(ValueError):
    """A story that is not well made; the message names it and says what to change."""


def build(source: str) -> tuple[str, list[dict[str, Any]]]:
    """(the stories, the lines of their key, rubbish last). Raises SampleError."""
    blocks = [block.splitlines() for block in re.split(r"\n\s*\n", source.strip())]
    key = [_entry(*block) for block in blocks]
    openings = [entry["opening"] for entry in key]
    for opening in {each for each in openings if openings.count(each) > 1}:
        raise SampleError(f"two stories begin with {opening!r}")
    stories = [block[0] for block in blocks if block[0] != "#"]
    return "\n\n".join(stories) + "\n", sorted(key, key=lambda entry: not entry["opening"])


def _entry(story: str, *lines: str) -> dict[str, Any]:
    if story == "#":
        return {"opening": "", "questions": _questions("rubbish", lines)}
    found = _SENTENCE.match(story)
    opening = found.group() if found else story
    _refuse_if(len(words(story)) not in WORDS, opening, f"the story has {len(words(story))} words")
    questions = _questions(opening, lines)
    _refuse_if(len(questions) != 2, opening, f"there are {len(questions)} questions")
    return {"opening": opening, "questions": questions}


def _questions(opening: str, lines: tuple[str, ...]) -> list[dict[str, Any]]:
    questions: list[dict[str, Any]] = []
    for line in lines:
        sign, text = line[:1], line[2:].strip()
        _refuse_if(sign not in _SIGNS or (sign != "?" and not questions), opening, f"a line is out of place: {line}")
        _add(questions, opening, _SIGNS[sign], text)
    for question in questions:
        answers = len(question["correct"]), len(question["incorrect"])
        _refuse_if(answers not in ((1, 3), (2, 3)), opening, f"{question['question']} has {answers} answers")
    return questions


def _add(questions: list[dict[str, Any]], opening: str, part: str, text: str) -> None:
    if part == "question":
        asked, _, category = (piece.strip() for piece in text.partition("|"))
        _refuse_if(category not in CATEGORIES, opening, f"{category!r} is none of {', '.join(CATEGORIES)}")
        questions.append({"question": asked, "category": category, "correct": [], "incorrect": []})
    elif part == "needs":
        step, _, value = text.partition(" ")
        _refuse_if(step not in STEPS or value not in ("yes", "no"), opening, f"nobody knows what {text!r} means")
        questions[-1].setdefault("needs", {})[step] = value
    else:
        questions[-1][part].append(text)


def _refuse_if(wrong: bool, opening: str, message: str) -> None:
    if wrong:
        raise SampleError(f"{opening}: {message}")


def main() -> None:
    stories, key = build((ROOT / "cosmos.txt").read_text(encoding="utf-8"))
    (ROOT / "cosmos-stories.txt").write_text(stories, encoding="utf-8")
    lines = [json.dumps(entry, ensure_ascii=False) for entry in key]
    (ROOT / "cosmos-key.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(key) - 1} stories, {sum(len(entry['questions']) for entry in key[:-1])} questions")


if __name__ == "__main__":
    main()
