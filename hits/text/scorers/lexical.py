"""The default: which words make an answer look right, learned from other paragraphs."""

from __future__ import annotations

from hits.text.questions.least_challenging import lexical_scorer

LABEL = "Lexical: regression on words, which learns"
VERSION = "1"

make = lexical_scorer
