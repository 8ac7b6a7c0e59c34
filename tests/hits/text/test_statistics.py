import io
from dataclasses import dataclass, field

import pytest

from hits.formats.inputs import record
from hits.text.figures.statistics import size, split_statistics, tokens
from tests.hits.formats.shared_data import shared_file


@dataclass
class Query:
    query: str


@dataclass
class Passage:
    text: str
    entities: list = field(default_factory=list)
    queries: list = field(default_factory=list)


LEAD = Passage("Ada met Bo.\n@highlight\nBo left", [(0, 2), (8, 9), (23, 24)], [Query("@placeholder met Ada")])
AGAIN = Passage("Ada met Bo.\n@highlight\nBo left", [(0, 2)], [Query("Did @placeholder go ?")])
OTHER = Passage("bo stayed", [(0, 1)], [Query("@placeholder stayed"), Query("@placeholder did not")])


def test_a_word_keeps_its_inner_marks_and_markers_are_no_tokens():
    assert tokens("Don't say U.S.-led, 2,257 times!\n@highlight\nYes @placeholder's") == [
        *["Don't", "say", "U.S", ".", "-", "led", ",", "2,257", "times", "!", "Yes", "@placeholder", "'", "s"],
    ]


def test_the_table_counts_each_split_and_the_whole():
    table = split_statistics({"train": [LEAD, AGAIN], "dev": [OTHER], "test": []}, "punctuation")
    assert list(table) == ["train", "dev", "test", "overall"]
    assert table["train"] == {
        "queries": 2,
        "unique_passages": 1,
        "passage_vocabulary": 5,
        "query_vocabulary": 6,
        "tokens_per_passage": 6.0,
        "entities_per_passage": 3.0,
        "tokens_per_query": 3.5,
    }
    assert table["overall"]["queries"] == 4
    assert table["overall"]["unique_passages"] == 2
    assert table["overall"]["passage_vocabulary"] == 6
    assert table["overall"]["tokens_per_passage"] == 4.0
    assert table["overall"]["entities_per_passage"] == 2.0


def test_an_empty_split_has_counts_of_zero_and_no_means():
    table = split_statistics({"test": []})
    assert table["test"]["queries"] == 0
    assert table["test"]["tokens_per_passage"] is None
    assert table["overall"] == table["test"]


def test_a_passage_in_two_splits_counts_once_overall():
    table = split_statistics({"train": [LEAD], "dev": [AGAIN]})
    assert table["overall"]["unique_passages"] == 1
    assert table["overall"]["queries"] == 2


def test_no_split_can_be_called_overall():
    with pytest.raises(ValueError, match="overall"):
        split_statistics({"overall": []})


def test_by_whitespace_marks_stay_with_their_words_and_case_counts():
    table = split_statistics({"train": [LEAD, Passage("ada left")]})
    assert table["train"]["tokens_per_passage"] == (6 + 2) / 2
    # Ada, met, Bo., @highlight, Bo, left; ada.
    assert table["train"]["passage_vocabulary"] == 7
    assert table["train"]["tokens_per_query"] == 3


@pytest.mark.parametrize(("tokeniser", "passage", "query"), [("whitespace", 171.2, 23.1), ("punctuation", 189.1, 26.3)])
def test_published_examples_have_the_tokens_that_the_paper_counts(tokeniser, passage, query):
    raw = io.BytesIO(shared_file("record/examples.jsonl").read_bytes())
    found = size(record.read(raw, max_bytes=10**6, default_origin="public"), tokeniser)
    assert round(found.tokens_per_passage + 1e-9, 1) == passage
    assert round(found.tokens_per_query + 1e-9, 1) == query
