"""From articles to cloze queries: the paper's conditions one by one, on articles of our own, with the real tagger."""

from __future__ import annotations

import io
import json
import re
from dataclasses import dataclass
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from hits.formats.inputs import articles
from hits.text.language.linking import names
from hits.text.originality.fingerprints import duplicates, fingerprint
from hits.text.questions.passage_queries import CONDITIONS, Rule, figures, generate, generate_all, judged, queries
from hits.text.questions.query_corrections import validate
from tests.hits.formats.shared_data import shared_file


@dataclass
class Parts:
    paragraphs: list[str]
    highlights: list[str]


LEAD = [
    "Angela Merkel opened a new ferry line between Germany and Sweden on Monday.",
    "She was met at the harbour by Nora Svensson, who runs the Baltic Ferry Company, and by a brass band.",
]
BULLETS = ["Angela Merkel opens ferry line", "First ship leaves on Friday"]
SMALL = Rule(least_tokens=20)


def article(*rest, lead=LEAD, bullets=BULLETS):
    return Parts([*lead, *rest], list(bullets))


def dropped(*rest, rule=SMALL):
    return [one["dropped"] for one in generate(article(*rest), rule).data["sentences"]]


def asked(*rest, rule=SMALL):
    data = generate(article(*rest), rule).data
    return [(one.query, sorted({data["text"][a:b] for a, b in one.answers})) for one in queries(data)]


def test_a_nationality_before_a_common_noun_is_no_name():
    lead = ["Swedish player Nora Svensson beat Angela Merkel at the Australian Open.", "Then both slept in Oslo."]
    told = "Merkel said in Oslo that the Australian with the blue hat had met Swedish fishermen."

    def marked(linker):
        data = generate(Parts([*lead, told], []), Rule(least_tokens=10, linker=linker)).data
        return [
            [of["text"][one["start"] : one["end"]] for one in of["mentions"]] for of in (data, data["sentences"][-1])
        ]

    assert marked("names") == [["Nora Svensson", "Angela Merkel", "Australian Open", "Oslo"], ["Merkel", "Oslo"]]
    assert "Swedish" in marked("names_and_nationalities")[0]


def test_an_abbreviation_in_brackets_is_the_name_before_it():
    lead = [
        "Angela Merkel met the Baltic Commission for Deaf Sailors (BCD) in Oslo near Bergen.",
        "All went very well that day.",
    ]
    data = generate(
        Parts([*lead, "Later that evening the BCD said that they had sung very old songs."], []), SMALL
    ).data
    (query,) = queries(data)
    assert [data["text"][a:b] for a, b in query.answers] == ["Baltic Commission for Deaf Sailors", "BCD"]


@pytest.mark.parametrize(
    "sentence",
    [
        "Angela Merkel, formerly known as Helmut Kohl, met them in Oslo.",
        "Formerly known as Helmut Kohl, Angela Merkel met them in Oslo.",
    ],
)
def test_what_the_text_calls_a_second_name_is_a_reference_too(sentence):
    lead = [f"{sentence} Bergen and Norway were near.", "All went very well that day."]
    data = generate(Parts([*lead, "Later that evening Merkel said that they had sung very old songs."], []), SMALL).data
    (query,) = queries(data)
    assert {data["text"][a:b] for a, b in query.answers} == {"Angela Merkel", "Helmut Kohl"}


def test_who_is_named_in_the_passage_where_no_mention_is_has_no_query():
    told = "Later that day Svensson said that she had met Merkel by the old sea wall."
    assert [answers for _, answers in asked(told)] == [["Nora Svensson"], ["Angela Merkel"]]
    # The tagger finds no name in "Merkel Two", and what it means is not known.
    lead = [LEAD[0].replace("Monday", "Monday for Merkel Two boats"), LEAD[1]]
    data = generate(article(told, lead=lead), SMALL).data
    assert [data["text"][a:b] for one in queries(data) for a, b in one.answers] == ["Nora Svensson"]


@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        ("They sailed from Mumbai (Bombay) to the sea.", ["Mumbai", "Bombay"]),
        ("They sailed from Mumbai (India) to the sea.", ["Mumbai"]),
    ],
)
def test_a_name_in_brackets_behind_one_of_its_type_is_a_second_name_unless_it_is_a_country(sentence, names):
    data = generate(
        article("Later that day all of Mumbai sang by the old sea wall.", lead=[*LEAD, sentence]), Rule(least_tokens=40)
    ).data
    (query,) = queries(data)
    assert [data["text"][a:b] for a, b in query.answers] == names


REST = "Later that day Merkel said the boats would be painted white and blue."


def test_the_passage_is_the_lead_and_the_bullets_in_records_layout():
    data = generate(article(REST), SMALL).data
    assert data["text"] == "\n".join([*LEAD, "@highlight", BULLETS[0], "@highlight", BULLETS[1]])
    said = [data["text"][one["start"] : one["end"]] for one in data["mentions"]]
    assert said == ["Angela Merkel", "Germany", "Sweden", "Nora Svensson", "Baltic Ferry Company", "Angela Merkel"]
    assert [one["entity"] for one in data["mentions"]] == [0, 1, 2, 3, 4, 0]
    assert data["removed"] == [] and validate(data) == []


def test_each_entity_of_a_kept_sentence_is_asked_for_with_all_its_mentions_as_answers():
    told = "Later that day Merkel said that Svensson had promised her a free ride home."
    gaps = ["Later that day @placeholder said that Svensson", "Later that day Merkel said that @placeholder had"]
    found = asked(told)
    assert [query[: len(gap)] for (query, _), gap in zip(found, gaps, strict=True)] == gaps
    assert [answers for _, answers in found] == [["Angela Merkel"], ["Nora Svensson"]]
    data = generate(article(told), SMALL).data
    assert [query.id for query in queries(data)] == ["s0-e0", "s0-e3"]
    assert len(queries(data)[0].answers) == 2


@pytest.mark.parametrize(
    ("sentence", "code"),
    [
        (REST, ""),
        ("Merkel then left by train.", "short"),
        ("Will Merkel be there when the first of the ships sets out?", "question"),
        ("“Will Merkel be there when the first of the ships sets out?”", "question"),
        ("In the end Merkel was met at the harbour by some angry fishermen.", "overlap"),
        ("Nobody on board could say later why it had taken so long.", "no_entity"),
        ("Later that day Merkel flew to Brazil for a meeting on fishing rights.", "no_antecedent"),
        ("Later that day Merkel told reporters that only Merkel could have done it.", "shows_answer"),
    ],
)
def test_a_sentence_is_dropped_for_the_first_condition_that_it_fails(sentence, code):
    assert dropped(sentence) == [code]
    assert code == "" or CONDITIONS[code]


def test_conditions_are_tried_in_the_papers_order():
    assert dropped("Was she met at the harbour by fishermen?") == ["short"]
    assert dropped("Was she really met at the harbour by angry fishermen on Monday?") == ["question"]
    assert dropped("She was met at the harbour by people who had never seen boats.") == ["overlap"]


def test_ngrams_keep_case_and_punctuation_unless_words_are_counted():
    by_words = Rule(least_tokens=20, tokens="words")
    for told in ("the first ship: leaves", "that first ship leaves", "of ferry, line between them and"):
        sentence = f"Later that day Merkel said of {told} that it was a wonder."
        assert dropped(sentence) == [""]
        assert dropped(sentence, rule=by_words) == ["overlap"]


def test_ngrams_do_not_cross_the_lines_of_the_passage_and_may_be_left_out():
    told = "Later that day Merkel slept on Monday. She was up early, they say."
    assert "overlap" not in dropped(told)
    overlapping = "In the end Merkel was met at the harbour by some angry fishermen."
    assert dropped(overlapping, rule=Rule(least_tokens=20, ngram=0)) == [""]


def test_an_entity_that_is_named_twice_makes_no_query_but_the_others_do():
    told = "Later that day Merkel told Svensson that only Merkel could have done it."
    assert [answers for _, answers in asked(told)] == [["Nora Svensson"]]


def test_the_lead_ends_with_the_paragraph_that_fills_it():
    whole = article(REST, REST)
    for least, paragraphs in ((5, 1), (20, 2), (40, 3)):
        data = generate(whole, Rule(least_tokens=least, least_entities=3)).data
        assert data["text"].split("\n@highlight")[0].count("\n") == paragraphs - 1
    data = generate(whole, Rule(least_tokens=5, least_entities=5)).data
    assert data["text"].startswith("\n".join(LEAD) + "\n@highlight")


def test_with_a_lead_by_sentence_it_ends_within_a_paragraph():
    one = Parts([" ".join([*LEAD, REST])], BULLETS)
    by_sentence = Rule(least_tokens=20, lead_by="sentence")
    data = generate(one, by_sentence).data
    assert data["text"].startswith(" ".join(LEAD) + "\n@highlight")
    assert [sentence["text"] for sentence in data["sentences"]] == [REST]
    # An article of one paragraph has no other place to end the lead at.
    assert generate(one, SMALL).data == data
    two = Parts([" ".join([*LEAD, REST]), REST], BULLETS)
    assert generate(two, SMALL).data["text"].startswith(" ".join([*LEAD, REST]) + "\n@highlight")
    assert generate(two, by_sentence).data["text"] == data["text"]


def test_an_article_with_too_little_says_why():
    given_parts = [article(lead=LEAD[:1]), article(lead=["The sea was calm that day and nobody spoke."] * 5), article()]
    assert [one.too_little for one in generate_all(given_parts, SMALL)] == ["short_lead", "few_entities", "no_rest"]
    assert all(one.data == {} for one in generate_all(given_parts, SMALL))


def test_figures_count_sentences_by_what_dropped_them_and_queries():
    data = generate(article(REST, "Merkel then left by train. " + REST.replace("Merkel", "Svensson")), SMALL).data
    counted = figures({**data, "removed": [queries(data)[0].id, "s99-e0"]})
    assert counted == {
        **{"sentences": 3, **dict.fromkeys(CONDITIONS, 0), "short": 1},
        **{"kept": 2, "queries": 1, "removed": 1},
    }


def test_a_linker_can_be_exchanged():
    def apart(mentions):
        return list(range(len(mentions)))

    assert generate(article(REST), SMALL, linker=names).data == generate(article(REST), SMALL).data
    assert generate(article(REST), SMALL, linker=apart).data["sentences"][0]["dropped"] == "no_antecedent"


@pytest.mark.parametrize(
    "wrong",
    [
        {"least_tokens": -1},
        {"ngram": 1.5},
        {"types": ()},
        {"types": ("DATE",)},
        {"linker": "x"},
        {"tokens": "x"},
        {"lead_by": "x"},
    ],
)
def test_a_rule_that_cannot_be_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Rule(**wrong)


def test_progress_is_told():
    told = []
    assert len(list(generate_all([article(REST)] * 70, SMALL, progress=told.append))) == 70
    assert told == [32, 64, 70]


# Whatever the article


def windows(text, size=3):
    """Counted in another way than in the code that is tested."""
    tokens = re.findall(r"\S+", text)
    return {" ".join(tokens[at : at + size]) for at in range(len(tokens) - size + 1)}


def check(data):
    """What must hold of every item under the default rule, but for the least tokens."""
    assert validate(data) == []
    lines = [line for line in data["text"].split("\n") if line != "@highlight"]
    taken = set().union(*map(windows, lines))
    spans = {(one["start"], one["end"]): one["entity"] for one in data["mentions"]}
    for query in queries(data):
        assert query.query.count("@placeholder") == 1
        assert query.answers and all(spans[span] == query.entity for span in query.answers)
        assert len(query.answers) == sum(entity == query.entity for entity in spans.values())
        sentence = data["sentences"][int(query.id[1:].split("-e")[0])]
        assert not windows(sentence["text"]) & taken
        assert len(sentence["text"].split()) >= 10 and sentence["dropped"] == ""
        before, after = query.query.split("@placeholder")
        surface = sentence["text"][len(before) : len(sentence["text"]) - len(after)]
        for name in {surface, *(data["text"][start:end] for start, end in query.answers)}:
            assert not re.search(rf"\b{re.escape(name)}\b", query.query.replace("@placeholder", " | "))


PEOPLE = ["Angela Merkel", "Merkel", "Nora Svensson", "Svensson", "Mr Svensson", "Angela"]
THINGS = ["Germany", "Sweden", "the United States", "U.S.", "Baltic Ferry Company", "German", "the harbour", "a boat"]
DOING = ["met", "painted", "wrote to", "was seen with", "did not believe", "paid"]
WHEN = ["on a grey and rather windy day", "in the end", "after the long lunch at the inn", "?", "they say"]
SENTENCES = some.tuples(*map(some.sampled_from, (PEOPLE + THINGS, DOING, PEOPLE + THINGS, WHEN))).map(
    lambda parts: " ".join(parts).replace(" ?", "?") + ("" if parts[-1] == "?" else ".")
)
PARAGRAPHS = some.lists(SENTENCES, min_size=1, max_size=4).map(" ".join)


@settings(max_examples=40, deadline=None)
@given(
    some.builds(Parts, some.lists(PARAGRAPHS, min_size=1, max_size=8), some.lists(SENTENCES, max_size=2)),
    some.sampled_from(["paragraph", "sentence"]),
)
def test_every_query_has_one_gap_right_spans_no_sight_of_its_answer_and_no_shared_ngram(parts, lead_by):
    data = generate(parts, Rule(least_tokens=10, least_entities=2, lead_by=lead_by)).data
    if data:
        check(data)
        assert judged(data, Rule(least_tokens=10, least_entities=2)) == data
        assert json.loads(json.dumps(data)) == data


# Real articles


def shared_articles(name):
    if name != "articles":
        path = shared_file(name)
        return articles.read(io.BytesIO(path.read_bytes()), path.name)
    stories = sorted(shared_file(name).glob("*.story"))
    return articles.read_all((path.name, io.BytesIO(path.read_bytes())) for path in stories)


@cache
def generated(name, count, lead_by="paragraph"):
    return list(generate_all(shared_articles(name)[:count], Rule(lead_by=lead_by)))


def yields(found):
    """(articles with an item, sentences, kept sentences, queries)"""
    items = [one.data for one in found if one.data]
    total = [figures(data) for data in items]
    return (len(items), *(sum(one[name] for one in total) for name in ("sentences", "kept", "queries")))


def test_the_yields_of_real_articles():
    assert yields(generated("articles", 12)) == (11, 301, 40, 57)
    assert yields(generated("articles/abc-news.txt", 150)) == (108, 561, 82, 121)


def test_every_query_of_real_articles_is_as_the_paper_says():
    for found in (generated("articles", 12), generated("articles/abc-news.txt", 150)):
        for one in found:
            if one.data:
                check(one.data)


def test_real_articles_that_came_before_are_found():
    found = shared_articles("news/bbc-news.jsonl")
    named = duplicates((one.key, fingerprint("\n".join(one.paragraphs))) for one in found)
    texts = {one.key: one.paragraphs for one in found}
    assert len(named) == 108
    equal: dict[tuple[str, ...], str] = {}
    for key, paragraphs in texts.items():
        first = equal.setdefault(paragraphs, key)
        assert first == key or named[key] == named.get(first, first)
