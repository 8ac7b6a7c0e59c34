"""Scorers that say how well an answer continues a context: one module each, found by name.

`make(seed) -> Scorer` of a module makes one; see `hits.text.questions.least_challenging.Scorer` and
`hits.text.plugins`.
"""

from __future__ import annotations

from hits.text.plugins import Kind

SCORERS = Kind("hits.text.scorers")
