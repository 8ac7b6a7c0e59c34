"""How near written answers come to one right answer: BLEU, ROUGE-L and METEOR, by NLTK and Google's rouge-score."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from hits.text.language.words import words


@cache
def _rouge() -> Any:
    """Made once, and only where it is wanted: it takes half a second to load."""
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rougeL"], use_stemmer=True)


class _NoSynonyms:
    """In place of WordNet, which is data to be downloaded."""

    def synsets(self, word: str) -> list[object]:
        return []


def compared(answer: str, right: str) -> dict[str, float]:
    """{"bleu", "rouge_l", "meteor"}, 0..1, in lower case.

    BLEU of this sentence, of up to four words in a row, smoothed (B. Chen and C. Cherry 2014, method 1); the F1 of
    ROUGE-L, of stems; METEOR of words and stems, without synonyms. Published figures are often of a whole corpus.
    """
    # Nothing else needs them.
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
    from nltk.translate.meteor_score import single_meteor_score

    said, wanted = _lower(answer), _lower(right)
    if not said or not wanted:
        return {"bleu": 0.0, "rouge_l": 0.0, "meteor": 0.0}
    rouge = _rouge().score(right, answer)["rougeL"].fmeasure
    bleu = sentence_bleu([wanted], said, smoothing_function=SmoothingFunction().method1)
    return {"bleu": bleu, "rouge_l": rouge, "meteor": single_meteor_score(wanted, said, wordnet=_NoSynonyms())}


def _lower(text: str) -> Sequence[str]:
    return [word.lower() for word in words(text)]
