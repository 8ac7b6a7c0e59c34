import io
import json
import re
from functools import partial

import pyarrow.parquet
import pytest

from hits.formats.files.faults import FormatErrors
from hits.formats.inputs.record import read, write
from hits.recipes.record.releasing import release_of
from hits.recipes.record.scoring import SCORING
from hits.recipes.record.steps import read_documents
from hits.recipes.source import ChainItem
from hits.text.systems import blank
from tests.hits.recipes.scored import scored

TEXT = "Ada Noor met Bo Lind.\n@highlight\nNoor wins"


def document(number, queries=1):
    spans = [{"start": 0, "end": 7}, {"start": 13, "end": 19}, {"start": 33, "end": 36}]
    answers = [{"start": 13, "end": 19, "text": "Bo Lind"}]
    qas = [{"id": f"q{number}-{i}", "query": "It was @placeholder.", "answers": answers} for i in range(queries)]
    passage = {"text": f"{TEXT} {number}", "entities": spans}
    return {"id": f"d{number}", "source": "Ours", "passage": passage, "qas": qas}


def file_of(*documents):
    return json.dumps({"version": "1.0", "data": list(documents)}).encode()


def imported(raw):
    return read_documents(io.BytesIO(raw), max_bytes=10**6, default_origin="public")


def chain(documents, purpose, *kept_in):
    return [
        ChainItem(d.key, item.key, d.origin, purpose, json.loads(json.dumps(d.data)), item.data, kept_in)
        for d in documents
        for item in d.items
    ]


def ordered_release(items, **how):
    """The release of these items, which come as from a project's tables: by document and key."""
    return release_of(lambda: sorted(items, key=lambda item: (item.document_key, item.key)), **how)


def bytes_of(content, name):
    content.files[name].seek(0)
    return content.files[name].read()


def files_of(content):
    return {name: bytes_of(content, name) for name in content.files}


def test_reading_gives_plain_rows_with_their_places():
    (found,) = imported(file_of(document(1, queries=2)))
    assert (found.key, found.origin, found.place) == ("d1", "public", "data[0]")
    assert found.data["text"] == f"{TEXT} 1"
    assert found.data["entities"] == [[0, 7], [13, 19], [33, 36]]
    assert [item.key for item in found.items] == ["q1-0", "q1-1"]
    assert found.items[0].data["query"] == "It was @placeholder."
    assert found.items[0].data["answers"] == [{"start": 13, "end": 19, "text": "Bo Lind"}]


def test_what_was_imported_is_released_as_it_came():
    raw = file_of(document(1, queries=2), document(2))
    content = ordered_release(chain(imported(raw), "train", "validate"), seed=1)
    assert sorted(content.files) == [
        "dev.json", "dev.parquet", "test-key.json", "test.json", "test.jsonl", "test.parquet", "train.json",
        "train.jsonl", "train.parquet", "val.jsonl",
    ]  # fmt: skip
    assert bytes_of(content, "train.json") == write(read(io.BytesIO(raw)), "1.0")
    assert content.counts == {"train": 3, "dev": 0, "test": 0}
    assert content.statistics["overall"]["unique_passages"] == 2


def test_the_card_says_how_many_queries_share_three_words_in_a_row_with_their_passage():
    given = document(1, queries=2)
    given["qas"][0]["query"] = "They say that ADA NOOR met, @placeholder."
    # Three words of two lines, or across the gap, are none in a row.
    given["qas"][1]["query"] = "Bo Lind Noor wins, and Ada Noor @placeholder Bo."
    notes = ordered_release(chain(imported(file_of(given)), "train", "validate"), seed=1).notes
    (told,) = (note for note in notes if "three words in a row" in note)
    assert told.startswith("1 of 2 queries (50.0 %) share three words in a row with their passage")
    assert not any("in a row" in note for note in ordered_release([], seed=1).notes)


def test_numbered_examples_keep_their_numbers():
    given = document(1)
    given["idx"], given["qas"][0]["idx"] = 5, 6
    del given["id"], given["qas"][0]["id"]
    content = ordered_release(chain(imported(file_of(given)), "train", "validate"), seed=1)
    (released,) = json.loads(bytes_of(content, "train.json"))["data"]
    assert (released["idx"], released["qas"][0]["idx"]) == (5, 6)


def test_a_passage_is_released_with_only_the_queries_that_were_kept():
    items = chain(imported(file_of(document(1, queries=3))), "train", "validate")
    content = ordered_release([items[0], items[2]], seed=1)
    (released,) = json.loads(bytes_of(content, "train.json"))["data"]
    assert [query["id"] for query in released["qas"]] == ["q1-0", "q1-2"]


def test_the_stages_that_kept_an_item_decide_its_split():
    documents = imported(file_of(*(document(i) for i in range(6))))
    items = chain(documents[:2], "train", "validate")
    items += chain(documents[2:4], "eval", "validate", "revalidate")
    items += chain(documents[4:5], "eval", "validate")
    items += chain(documents[5:], "eval")
    content = ordered_release(items, seed=1)
    assert content.counts == {"train": 2, "dev": 1, "test": 1}
    assert content.left_out == {"meant for dev or test, validated only once": 1, "not validated": 1}


def test_the_same_rows_give_the_same_bytes():
    documents = imported(file_of(*(document(i, queries=2) for i in range(8))))
    items = chain(documents, "eval", "validate", "revalidate", "human")
    one, other = ordered_release(items, seed=3), ordered_release(items, seed=3)
    assert files_of(one) == files_of(other)
    assert (one.counts, one.statistics, one.notes) == (other.counts, other.statistics, other.notes)


@pytest.mark.parametrize(
    "of", [lambda items: items[::-1], lambda items: items[:1] + items, lambda items: items[1:] + items[:1]]
)
def test_items_out_of_their_order_or_twice_are_refused(of):
    items = chain(imported(file_of(*(document(i, queries=2) for i in range(3)))), "train", "validate")
    with pytest.raises(ValueError, match="in order, each once"):
        release_of(lambda: of(items), seed=3)


def test_a_split_is_read_by_several_at_once_each_from_its_beginning():
    items = chain(imported(file_of(*(document(i, queries=30) for i in range(9)))), "train", "validate")
    told = ordered_release(items, seed=1).told["validate"]
    keys = [item.key for item in sorted(items, key=lambda item: (item.document_key, item.key))]
    assert [(one.key, other.key) for one, other in zip(told(), told(), strict=True)] == [(key, key) for key in keys]


def test_nothing_kept_gives_files_without_examples():
    content = ordered_release([], seed=1)
    names = ("train.json", "dev.json", "test.json", "test-key.json")
    assert [json.loads(bytes_of(content, name))["data"] for name in names] == [[]] * 4
    assert [bytes_of(content, name) for name in ("train.jsonl", "val.jsonl", "test.jsonl")] == [b""] * 3


def evaluated(documents=8):
    items = chain(
        imported(file_of(*(document(i) for i in range(documents)))), "eval", "validate", "revalidate", "human"
    )
    return ordered_release(items, seed=1)


def test_the_answers_of_test_stand_in_the_key_alone():
    content = evaluated()
    shown, key = (json.loads(bytes_of(content, name))["data"] for name in ("test.json", "test-key.json"))
    assert [one["id"] for one in shown] == [one["id"] for one in key] and len(key) == 4
    assert all("answers" not in query for one in shown for query in one["qas"])
    assert all(query["answers"] for one in key for query in one["qas"])
    lines = [json.loads(line) for line in bytes_of(content, "test.jsonl").splitlines()]
    assert all("answers" not in query for one in lines for query in one["qas"])
    rows = pyarrow.parquet.read_table(io.BytesIO(bytes_of(content, "test.parquet"))).to_pylist()
    assert [row["answers"] for row in rows] == [[]] * 4


def test_json_lines_and_parquet_number_passages_and_queries_from_0_in_each_split():
    content = ordered_release(
        chain(imported(file_of(document(1, queries=2), document(2))), "train", "validate"), seed=1
    )
    lines = [json.loads(line) for line in bytes_of(content, "train.jsonl").splitlines()]
    assert [(one["idx"], [query["idx"] for query in one["qas"]]) for one in lines] == [(0, [0, 1]), (1, [2])]
    rows = pyarrow.parquet.read_table(io.BytesIO(bytes_of(content, "train.parquet"))).to_pylist()
    assert [row["idx"] for row in rows] == [
        {"passage": 0, "query": 0}, {"passage": 0, "query": 1}, {"passage": 1, "query": 2},
    ]  # fmt: skip
    assert rows[0]["entities"] == ["Ada Noor", "Bo Lind", "Noor"] and rows[0]["answers"] == ["Bo Lind"]
    spans = rows[0]["entity_spans"]
    found = [rows[0]["passage"][start:end] for start, end in zip(spans["start"], spans["end"], strict=True)]
    assert found == spans["text"]


# How well people do, and models


def test_human_performance_counts_exactly_the_queries_of_each_split():
    """Two queries that moved to train and one that was left out were answered, too."""
    documents = imported(file_of(*(document(i) for i in range(12))))
    items = chain(documents[:5], "eval", "validate", "revalidate", "human")
    crawled = chain(documents[5:], "eval", "validate", "revalidate", "human")
    items += [ChainItem(i.document_key, i.key, "crawled", *list(vars(i).values())[3:]) for i in crawled]
    said = {item.key: "Bo Lind" for item in items}
    plain = ordered_release(items, seed=1, said=said)
    assert plain.counts == {"train": 2, "dev": 5, "test": 5}
    released = {part: ids(plain, name) for part, name in (("dev", "dev.json"), ("test", "test-key.json"))}
    moved = said.keys() - set(released["dev"]) - set(released["test"])
    wrong = {released["dev"][0]: "Bo", released["test"][0]: "Ada", released["test"][1]: "nobody"}
    found = ordered_release(items, seed=1, said={**said, **dict.fromkeys(moved, "nobody"), **wrong}).statistics
    assert human(found["dev"]) == (5, 80.0, pytest.approx(100 * (4 + 2 / 3) / 5))
    assert human(found["test"]) == (5, 60.0, 60.0)
    assert "human_queries" not in found["train"] and "human_queries" not in found["overall"]


def human(figures):
    return figures["human_queries"], figures["human_exact_match"], figures["human_f1"]


def ids(content, name):
    return [query["id"] for one in json.loads(bytes_of(content, name))["data"] for query in one["qas"]]


def score(content, predictions):
    return scored(SCORING, partial(bytes_of, content), json.dumps(predictions).encode(), "p.json")


def test_predictions_are_scored_against_the_key():
    content = evaluated()
    said = dict.fromkeys(ids(content, "test-key.json"), "the Bo Lind.")
    assert score(content, said) == {"exact_match": 1.0, "f1": 1.0, "n": 4}
    said[next(iter(said))] = "Bo"
    assert score(content, said) == {"exact_match": 0.75, "f1": pytest.approx((3 + 2 / 3) / 4), "n": 4}


def test_predictions_that_fit_no_key_are_refused_with_every_fault():
    content = evaluated()
    first, *rest = ids(content, "test-key.json")
    with pytest.raises(FormatErrors) as refused:
        score(content, {**dict.fromkeys(rest[1:], "Bo Lind"), first: 3, "other": "x"})
    assert [fault.message for fault in refused.value.errors] == [
        "its answer must be a text, not a number", "has no answer", "is the id of no query of this file",
    ]  # fmt: skip


def test_the_ratio_of_origins_and_the_size_of_dev_are_options():
    documents = imported(file_of(*(document(i) for i in range(20))))
    items = chain(documents[:10], "eval", "validate", "revalidate")
    crawled = chain(documents[10:], "eval", "validate", "revalidate")
    items += [ChainItem(i.document_key, i.key, "crawled", *list(vars(i).values())[3:]) for i in crawled]
    content = ordered_release(items, seed=1, options={"public_parts": 1, "crawled_parts": 1, "dev_share": 0.25})
    assert content.counts == {"train": 0, "dev": 5, "test": 15}
    assert content.notes[:1] == ("Dev and test hold 10 public and 10 crawled queries (wanted 1:1).",)


def test_systems_choose_among_the_entities_of_the_passage_and_find_what_is_there_to_be_found():
    content = evaluated()
    rows = SCORING.read(lambda name: io.BytesIO(bytes_of(content, name)), "dev.json", 10**6)
    names = {row.text[one.start : one.end] for row in rows for one in row.mentions}
    assert {answer for row in rows for answer in row.answers} <= names
    for system in SCORING.systems():
        said = system.predict(rows, [blank(row) for row in rows], 7)
        assert set(said) <= names


def generated(secret):
    """As articles give them: an id names the sentence and the entity that answers it."""
    documents = [document(number, queries=3) for number in range(8)]
    for one in documents:
        for at, query in enumerate(one["qas"]):
            query["id"] = f"{one['id']}/s{at}-e1"
            query["query"] = f"It was @placeholder, said {at}."
    items = chain(imported(file_of(*documents)), "eval", "validate", "revalidate", "human")
    return ordered_release(items, seed=1, secret=secret)


def test_ids_and_order_of_generated_queries_of_test_do_not_tell_their_answers():
    content = generated("a secret")
    key, test, dev = (json.loads(bytes_of(content, f"{name}.json"))["data"] for name in ("test-key", "test", "dev"))
    asked = [(query["id"], query["query"]) for one in key for query in one["qas"]]
    assert asked == [(query["id"], query["query"]) for one in test for query in one["qas"]]
    assert len(asked) == 12 and not any(re.search(r"s\d+-e\d+", id) for id, _ in asked)
    assert all(one["qas"] == sorted(one["qas"], key=lambda query: query["id"]) for one in key)
    assert not any(b"-e1" in bytes_of(content, name) for name in ("test.json", "test.jsonl", "test.parquet"))
    assert all(re.search(r"/s\d+-e1$", query["id"]) for one in dev for query in one["qas"])
    assert bytes_of(generated("a secret"), "test.json") == bytes_of(content, "test.json")
    assert bytes_of(generated("another"), "test.json") != bytes_of(content, "test.json")
