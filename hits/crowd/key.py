"""The answer key: what a simulated worker who gets it right would click or write."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hits.formats.files.faults import Faults
from hits.formats.inputs import qualification_test, record

_MARKER = "@highlight"


@dataclass(frozen=True)
class Truth:
    """`item` names the query; an answer is what the page sends for it ("start-end") or what stands there."""

    item: str
    spans: frozenset[str]
    texts: frozenset[str]


@dataclass(frozen=True)
class Written:
    """A question as somebody writes it. `needs` are the two last steps of judging it, as yes or no.

    `junk` is a question of the kind that a page takes and that no reader calls good; `kinds` are the labels that
    somebody who sorts questions by the knowledge that they need would give.
    """

    question: str
    category: str
    correct: tuple[str, ...]
    incorrect: tuple[str, ...]
    needs: Mapping[str, str] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()
    junk: bool = False


class AnswerKey:
    """Questions are found by what the page shows, since a page tells no ids."""

    def __init__(
        self,
        truths: Mapping[tuple[str, str], Truth] | None = None,
        written: Mapping[str, Sequence[Written]] | None = None,
        junk: Sequence[Written] = (),
        stories: Mapping[str, Sequence[str]] | None = None,
        tests: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """`truths` by passage and statement, `written` by the sentence that its story begins with, `stories` to be told
        by their scenario, `tests` the questions of qualification tests as `hits.formats.inputs.qualification_test`
        reads them.
        """
        self._truths = truths or {}
        self._written = {squeezed(opening): tuple(questions) for opening, questions in (written or {}).items()}
        self.junk = tuple(junk)
        self._stories = {squeezed(scenario): tuple(told) for scenario, told in (stories or {}).items()}
        self._tests = tuple(tests)

    def __len__(self) -> int:
        written, told = self._written.values(), self._stories.values()
        return len(self._truths) + sum(map(len, written)) + sum(map(len, told))

    def find(self, passage: str, statement: str) -> Truth | None:
        return self._truths.get((squeezed(passage), squeezed(statement)))

    def about(self, text: str) -> tuple[str, tuple[Written, ...]] | None:
        """(name, questions) of the story whose opening stands in the text."""
        here = squeezed(text)
        return next((found for found in self._written.items() if found[0] in here), None)

    def question(self, text: str, question: str) -> Written | None:
        """A question about the story in the text, be it one of the key's own or rubbish."""
        found = self.about(text)
        asked = squeezed(question)
        return (
            next((one for one in (*found[1], *self.junk) if squeezed(one.question) == asked), None) if found else None
        )

    def stories(self, scenario: str) -> tuple[str, ...]:
        """Those to be told about a scenario; none where the key does not know it."""
        return self._stories.get(squeezed(scenario), ())

    def other_stories(self, scenario: str) -> tuple[str, ...]:
        """Those about all other scenarios."""
        own = squeezed(scenario)
        return tuple(story for about, told in self._stories.items() if about != own for story in told)

    @property
    def knows_tests(self) -> bool:
        return bool(self._tests)

    def right_choice(self, shown: str, choices: Sequence[str]) -> str | None:
        """Which of these choices is right, of the test's question whose wording is shown there with just them."""
        here, there = squeezed(shown), {squeezed(choice): choice for choice in choices}
        for one in self._tests:
            known = [squeezed(choice) for choice in one["choices"]]
            if squeezed(one["question"]) in here and set(known) == set(there):
                return there[known[one["right"]]]
        return None

    @classmethod
    def read(cls, file: Path, tests: Path | None = None) -> AnswerKey:
        """A ReCoRD file, or a key of written texts (`samples/cosmos-key.jsonl` is one); `tests` is a file of questions
        of a qualification test.

        A line of the second kind holds {"opening", "questions"}, or {"scenario", "stories"}.

        Raises OSError, FormatErrors for a ReCoRD file that could not be imported either or for one of a test, and
        ValueError.
        """
        faults = Faults()
        asked = qualification_test.read_file(tests.read_bytes(), faults) if tests else []
        faults.refuse()
        with file.open("rb") as stream:
            if _is_written(stream.readline()):
                return cls._of_written(file, asked)
            stream.seek(0)
            return cls(_truths(record.read(stream)), tests=asked)

    @classmethod
    def _of_written(cls, file: Path, tests: Sequence[Mapping[str, Any]]) -> AnswerKey:
        faults: list[str] = []
        written: dict[str, list[Written]] = {}
        stories: dict[str, list[str]] = {}
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            try:
                found = json.loads(line)
                if "scenario" in found:
                    stories[found["scenario"]] = [str(story) for story in found["stories"]]
                    continue
                written[found["opening"]] = [_written(one, junk=not found["opening"]) for one in found["questions"]]
            except (ValueError, KeyError, TypeError) as error:
                faults.append(f"line {number}: {type(error).__name__}: {error}")
        if faults:
            raise ValueError(f"{file} is no key of written texts. {'; '.join(faults)}")
        openings = {opening: questions for opening, questions in written.items() if opening}
        return cls(written=openings, junk=written.get("", []), stories=stories, tests=tests)


def _is_written(line: bytes) -> bool:
    try:
        first = json.loads(line)
    except ValueError:
        return False
    return isinstance(first, dict) and ("opening" in first or "scenario" in first)


def _written(fields: Mapping[str, Any], *, junk: bool) -> Written:
    return Written(
        question=fields["question"],
        category=fields.get("category", ""),
        correct=tuple(fields["correct"]),
        incorrect=tuple(fields["incorrect"]),
        needs=fields.get("needs", {}),
        kinds=tuple(fields.get("kinds", ())),
        junk=junk,
    )


def _truths(documents: Sequence[record.Document]) -> dict[tuple[str, str], Truth]:
    return {
        (squeezed(document.text), squeezed(query.query)): Truth(
            query.key,
            frozenset(f"{answer.start}-{answer.end}" for answer in query.answers),
            frozenset(answer.text for answer in query.answers),
        )
        for document in documents
        for query in document.queries
    }


def squeezed(text: str) -> str:
    """Letters alone: the page shows paragraphs and bullets, the file has line ends and markers."""
    return "".join(text.replace(_MARKER, "").split())


def is_one_of(text: str, texts: Iterable[str]) -> bool:
    """Whatever the case, space and punctuation, as `squeezed` leaves them out."""
    return squeezed(text) in map(squeezed, texts)
