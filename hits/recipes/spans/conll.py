"""Spans as CoNLL: a line a token, the token and its tag with a tab between them, and a blank line after each sentence.

`hits.text.language.token_tags` says what tokens and tags are. A span that goes on in the next sentence begins anew
there. Spans that overlap a longer one stand in the JSON Lines file alone. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hits.protocols.marked import Span
from hits.text.language.sentences import sentences
from hits.text.language.token_tags import flat, tagged, tokens


def lines(text: str, spans: Sequence[Span], language: str) -> Iterator[str]:
    """The lines of one text, each with its line feed."""
    written, places = flat(spans), tokens(text)
    for sentence in sentences(text, language=language):
        inside = [place for place in places if sentence.start <= place[0] < sentence.end]
        for (start, end), tag in zip(inside, tagged(inside, written), strict=True):
            yield f"{text[start:end]}\t{tag}\n"
        yield "\n"
