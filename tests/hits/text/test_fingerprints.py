"""Articles that came before, found by short fingerprints."""

import random
import time

from hypothesis import given, settings
from hypothesis import strategies as some

from hits.text.originality.fingerprints import SIZE, duplicates, fingerprint, resemblance
from hits.text.originality.near_duplicates import passages

WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "nrstlm"]


def text(seed, size=300):
    return " ".join(random.Random(seed).choices(WORDS, k=size))


def changed(told, every):
    """One word in so many is another one."""
    return " ".join("other" if at % every == 0 else word for at, word in enumerate(told.split()))


def test_case_and_punctuation_make_no_difference():
    assert fingerprint(text(1)) == fingerprint(text(1).upper().replace(" ", ", "))
    assert len(fingerprint(text(1))) == SIZE
    assert fingerprint("...") == [] and resemblance([], []) == 0


def test_what_came_before_is_named_with_the_first_text_that_it_resembles():
    texts = {
        "a": text(1),
        "b": text(2),
        "c": changed(text(1), 60),
        "d": text(3),
        "e": text(1),
        "f": text(2) + " Late. " + text(4, 40),
    }
    prints = [(key, fingerprint(told)) for key, told in texts.items()]
    assert duplicates(prints) == {"c": "a", "e": "a", "f": "b"}
    assert duplicates(prints[3:], earlier=prints[:3]) == {"e": "a", "f": "b"}
    assert duplicates(prints, least=1.0) == {"e": "a"}


def test_texts_without_words_resemble_none():
    assert duplicates([("a", fingerprint("...")), ("b", fingerprint("!"))]) == {}


@settings(max_examples=60, deadline=None)
@given(some.integers(0, 10_000), some.integers(8, 100))
def test_the_estimate_lies_near_the_resemblance_itself(seed, every):
    one, other = text(seed), changed(text(seed), every)
    exact = len(passages(one) & passages(other)) / len(passages(one) | passages(other))
    # Five standard deviations.
    assert abs(resemblance(fingerprint(one), fingerprint(other)) - exact) < 5 * (0.25 / SIZE) ** 0.5


def test_texts_that_share_a_long_part_cost_no_square():
    shared = text(1, 100)
    prints = [(n, fingerprint(f"{shared} {text(n + 2, 200)}")) for n in range(600)]
    began = time.process_time()
    assert duplicates(prints) == {}
    assert time.process_time() - began < 10
