"""Classifiers that tell correct answers from incorrect ones: one module each, found by name.

`make(questions) -> Classifier` of a module makes one; see `hits.text.filtering.adversarial_filtering.Classifier` and
`hits.text.plugins`.
"""

from __future__ import annotations

from hits.text.plugins import Kind

CLASSIFIERS = Kind("hits.text.classifiers")
