"""How simulated people mark spans of a text: runs of capitalised words, with errors where they do not know.

No key is needed. Who chooses blindly marks any word; who errs leaves a span out, cuts it or takes another label.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hits.crowd.html import Node
from hits.crowd.people import Person, draw, happens, one_of
from hits.crowd.task_page import NotATaskError

Word = tuple[int, int, str]
Marked = list[tuple[int, int, str]]


def marked(person: Person, page: Node, item: str) -> Marked:
    """What the person marks in the one text of this page, or part of a page: (start, end, label id), in order."""
    text = page.all("div", "data-marking")[0]
    labels = [button.attributes["data-label"] for button in page.all("button", "data-label")]
    lines = [[_word(node) for node in line.all("span", "data-number")] for line in text.all("p")]
    words = [word for line in lines for word in line]
    if not labels or not words:
        raise NotATaskError("The page has no word to mark or no label.")
    fewest, most = int(text.attributes["data-fewest"]), int(text.attributes["data-most"])
    if person.chooses_blindly:
        start, end, _ = one_of(words, person, item, "which")
        said = [(start, end, one_of(labels, person, item, "label"))]
    else:
        said = _by_sight(person, item, lines, labels)
    return sorted([*said, *_more(said, words, labels, fewest)])[:most]


def _word(node: Node) -> Word:
    start, said = int(node.attributes["data-start"]), node.text()
    return start, start + len(said), said


def _by_sight(person: Person, item: str, lines: Sequence[Sequence[Word]], labels: Sequence[str]) -> Marked:
    found = []
    for line in lines:
        for run in _names(line):
            place = f"{item} {run[0][0]}"
            # What is right is the same for everybody: no person decides it.
            label = labels[int(draw(0, "label of", " ".join(word[2] for word in run)) * len(labels))]
            if not happens(person, place, "knows", person.accuracy):
                error = one_of(("left out", "cut", "other label"), person, place, "error")
                if error == "left out":
                    continue
                run = run[:1] if error == "cut" else run
                label = one_of(labels, person, place, "label") if error == "other label" else label
            found.append((run[0][0], run[-1][1], label))
    return found


def _names(words: Sequence[Word]) -> Iterator[list[Word]]:
    """Runs of capitalised words with one space between them; not the first word alone, which any sentence has so."""
    run: list[Word] = []
    for word in words:
        capital = word[2][:1].isupper()
        if run and not (capital and word[0] == run[-1][1] + 1):
            yield run
            run = []
        if capital and (run or word is not words[0]):
            run.append(word)
    if run:
        yield run


def _more(said: Marked, words: Sequence[Word], labels: Sequence[str], fewest: int) -> Marked:
    """The first words that nobody marked, where the page wants more than somebody found."""
    free = [word for word in words if not any(start < word[1] and word[0] < end for start, end, _ in said)]
    return [(start, end, labels[0]) for start, end, _ in free[: max(0, fewest - len(said))]]
