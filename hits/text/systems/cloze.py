"""The readers that come with the product, as systems that answer cloze queries; they need no model from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hits.text.readers import Reader, Triple, linear, most_frequent, random
from hits.text.systems import System


def _predict(make: Callable[[int], Reader]) -> Callable[[Sequence[Triple], Sequence[Triple], int], Sequence[str]]:
    def predict(learned: Sequence[Triple], asked: Sequence[Triple], seed: int) -> Sequence[str]:
        reader = make(seed)
        reader.fit(learned)
        return [prediction.text for prediction in reader.predict(asked)]

    return predict


SYSTEMS: tuple[System[Triple], ...] = (
    System(
        "random",
        "Random entity",
        "S. Zhang et al. (2018), ReCoRD, section 5.1: a candidate entity of the passage, drawn at random",
        _predict(random.make),
    ),
    System(
        "most_frequent",
        "Most frequent entity",
        "K. M. Hermann et al. (2015), Teaching machines to read and comprehend, section 3.1: maximum frequency",
        _predict(most_frequent.make),
    ),
    System(
        "linear",
        "Linear ranker of entities",
        "a softmax over the entities of a passage, of the kind of D. Chen et al. (2016), A thorough examination of the "
        "CNN/Daily Mail reading comprehension task, section 3.1: an entity-centric classifier",
        _predict(linear.make),
    ),
)
