"""The answer key: what a simulated worker who gets it right would click."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hits.formats import record

_MARKER = "@highlight"


@dataclass(frozen=True)
class Truth:
    """`item` names the query; an answer is what the page sends for it ("start-end") or what stands there."""

    item: str
    spans: frozenset[str]
    texts: frozenset[str]


class AnswerKey:
    """Questions are found by what the page shows, since a page tells no ids."""

    def __init__(self, truths: dict[tuple[str, str], Truth]) -> None:
        self._truths = truths

    def __len__(self) -> int:
        return len(self._truths)

    def find(self, passage: str, statement: str) -> Truth | None:
        return self._truths.get((squeezed(passage), squeezed(statement)))

    @classmethod
    def read(cls, file: Path) -> AnswerKey:
        """Raises OSError, and FormatErrors for a file that could not be imported either."""
        with file.open("rb") as stream:
            documents = record.read(stream)
        return cls(
            {
                (squeezed(document.text), squeezed(query.query)): Truth(
                    query.key,
                    frozenset(f"{answer.start}-{answer.end}" for answer in query.answers),
                    frozenset(answer.text for answer in query.answers),
                )
                for document in documents
                for query in document.queries
            }
        )


def squeezed(text: str) -> str:
    """Letters alone: the page shows paragraphs and bullets, the file has line ends and markers."""
    return "".join(text.replace(_MARKER, "").split())
