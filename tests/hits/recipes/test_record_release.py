import io
import json

from hits.formats.record import read, write
from hits.recipes.record.steps import read_documents, release_of
from hits.recipes.source import ChainItem

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
    content = release_of(chain(imported(raw), "train", "validate"), seed=1)
    assert sorted(content.files) == ["dev.json", "test.json", "train.json"]
    assert content.files["train.json"] == write(read(io.BytesIO(raw)), "1.0")
    assert content.counts == {"train": 3, "dev": 0, "test": 0}
    assert content.statistics["overall"]["unique_passages"] == 2


def test_numbered_examples_keep_their_numbers():
    given = document(1)
    given["idx"], given["qas"][0]["idx"] = 5, 6
    del given["id"], given["qas"][0]["id"]
    content = release_of(chain(imported(file_of(given)), "train", "validate"), seed=1)
    (released,) = json.loads(content.files["train.json"])["data"]
    assert (released["idx"], released["qas"][0]["idx"]) == (5, 6)


def test_a_passage_is_released_with_only_the_queries_that_were_kept():
    items = chain(imported(file_of(document(1, queries=3))), "train", "validate")
    content = release_of([items[0], items[2]], seed=1)
    (released,) = json.loads(content.files["train.json"])["data"]
    assert [query["id"] for query in released["qas"]] == ["q1-0", "q1-2"]


def test_the_stages_that_kept_an_item_decide_its_split():
    documents = imported(file_of(*(document(i) for i in range(6))))
    items = chain(documents[:2], "train", "validate")
    items += chain(documents[2:4], "eval", "validate", "revalidate")
    items += chain(documents[4:5], "eval", "validate")
    items += chain(documents[5:], "eval")
    content = release_of(items, seed=1)
    assert content.counts == {"train": 2, "dev": 1, "test": 1}
    assert content.left_out == {"meant for dev or test, validated only once": 1, "not validated": 1}


def test_the_same_rows_in_any_order_give_the_same_bytes():
    documents = imported(file_of(*(document(i, queries=2) for i in range(8))))
    items = chain(documents, "eval", "validate", "revalidate", "human")
    assert release_of(items, seed=3) == release_of(items[::-1], seed=3)


def test_nothing_kept_gives_three_files_without_examples():
    content = release_of([], seed=1)
    assert {json.loads(raw)["data"] == [] for raw in content.files.values()} == {True}
