"""Entities by the real tagger, in sentences of our own."""

import time

import pytest

from hits.text.language.entities import Mention, consistent, mentions, trimmed, word_before


def found(*texts):
    return [[text[one.start : one.end] for one in own] for text, own in zip(texts, mentions(texts), strict=True)]


def test_mentions_are_trimmed_to_names():
    first, second = found(
        "Mr. Anders Holm's boat left Norway for the United States on Monday with 20 sailors.",
        "Then Angela Merkel's plane landed in the Netherlands.",
    )
    assert first == ["Anders Holm", "Norway", "United States"]
    assert second == ["Angela Merkel", "Netherlands"]


def test_names_are_found_in_words_that_begin_so():
    assert found("Some Labour MPs met in Oslo.")[0] == ["Labour", "Oslo"]
    assert found("They were called ex-Labour and anti-Nato people in Oslo.")[0] == ["Labour", "Nato", "Oslo"]


def test_types_are_an_option_and_dates_are_none():
    text = "Angela Merkel spoke in Berlin on 3 May 2011."
    assert [one.type for one in next(mentions([text]))] == ["PERSON", "GPE"]
    assert [one.type for one in next(mentions([text], types=["GPE"]))] == ["GPE"]
    for wrong in ([], ["DATE"]):
        with pytest.raises(ValueError, match="types must be some of"):
            list(mentions([text], types=wrong))


def test_the_office_and_abbreviations_are_no_names():
    (own,) = found("The Secretary of State met an MP from Oslo and watched TV.")
    assert own == ["Oslo"]


@pytest.mark.parametrize("word", ["IPO", "3D", "R&B", "VAT", "ADSL", "ISP", "USB", "XML", "PVRs"])
def test_capitals_that_are_short_for_an_ordinary_thing_are_no_name(word):
    texts = (
        "Dana Quist spoke of {} in Oslo.",
        "{} boats are at the fair.",
        "The new ({}) was sold, said {} maker Holm.",
    )
    every = [name for own in found(*(text.replace("{}", word) for text in texts)) for name in own]
    assert "Oslo" in every
    assert word not in every


def test_a_text_that_is_no_sentence_costs_nothing():
    began = time.process_time()
    assert found("x" * 200_000, "Angela Merkel spoke.") == [[], ["Angela Merkel"]]
    assert time.process_time() - began < 20


def test_names_that_the_tagger_cuts_are_made_whole():
    text = "The Corporation for Assigned Names and Numbers and the UK Independence Party met in Saint Kitts and Nevis."
    (own,) = found(text)
    assert found("Then the Liberal Democrats in Oslo spoke.") == [["Liberal Democrats", "Oslo"]]
    assert "UK Independence Party" in own and not any(name.endswith((" and", " of", " for")) for name in own)


def test_the_word_before_is_a_courtesy_title_or_the():
    assert [
        word_before(text, text.index("Holm")) for text in ("Mrs. Holm", "the Holm", "in Holm", "xthe Holm", "Holm")
    ] == [*("mrs", "the", "", "", "")]


def marked(*texts, given):
    """The mentions after `consistent`, when the tagger found those that are given as (text, name, type)."""
    own = [
        [Mention(text.index(name), text.index(name) + len(name), kind) for at, name, kind in given if at == number]
        for number, text in enumerate(texts)
    ]
    return [
        [(text[one.start : one.end], one.type) for one in done]
        for text, done in zip(texts, consistent(texts, own), strict=True)
    ]


def test_a_name_has_one_type_and_is_marked_wherever_it_stands():
    texts = (
        "Dana Quist baked for Lund Bakery.",
        "Quist says so.",
        "At Lund Bakery, Quist smiled.",
        "Lund Bakery sells.",
    )
    given = [(0, "Dana Quist", "PERSON"), (1, "Quist", "GPE"), (0, "Lund Bakery", "ORG")]
    quist, bakery = ("Quist", "PERSON"), ("Lund Bakery", "ORG")
    assert marked(*texts, given=given) == [[("Dana Quist", "PERSON"), bakery], [quist], [bakery, quist], [bakery]]


def test_the_long_form_before_an_abbreviation_in_brackets_is_a_name():
    text = "They learn Quay Boat Language of Oars (QBLO), and some Rope (QBR) Talk."
    given = [(0, "QBLO", "ORG"), (0, "Language", "LANGUAGE"), (0, "QBR", "ORG")]
    assert marked(text, given=given) == [[("Quay Boat Language of Oars", "ORG"), ("QBLO", "ORG"), ("QBR", "ORG")]]


def test_a_long_form_is_a_name_also_in_small_letters_and_behind_its_abbreviation():
    for text, names in (
        ("They have mild oar-rope (MOR) here.", ["mild oar-rope", "MOR"]),
        ("They have mild oar rope now (MOR) here.", ["MOR"]),
    ):
        assert [name for name, _ in marked(text, given=[(0, "MOR", "ORG")])[0]] == names
    for text, names in (
        ("They met the Quay Boat Union's (QBU) cook.", ["Quay Boat Union", "QBU"]),
        ("They met the Gross Domestic Product (GDP) and quay boat union (QBU).", []),
    ):
        assert [name for name, _ in marked(text, given=[])[0]] == names
    for text in ("It is QPTV (Quay Protocol TV) here.", "It is QPTV - Quay Protocol TV - here."):
        assert [name for name, _ in marked(text, given=[])[0]] == ["QPTV", "Quay Protocol TV"]
    assert marked("They won (Quay Park TV) and QPX (Quay Park TV).", given=[]) == [[]]


def test_who_has_a_title_or_a_persons_last_name_is_a_person():
    for second, given in (
        ("Then Mr Quist spoke.", [(1, "Quist", "ORG")]),
        ("Then Quist spoke.", [(1, "Quist", "PERSON")]),
    ):
        done = marked("Dana Quist came.", second, given=[(0, "Dana Quist", "ORG"), *given])
        assert done == [[("Dana Quist", "PERSON")], [("Quist", "PERSON")]]
    for name in ("Dana United", "Dana Motors"):
        last = name.split()[1]
        done = marked(f"{name} won.", f"Then {last} won.", given=[(0, name, "ORG"), (1, last, "PERSON")])
        assert done[0] == [(name, "ORG")]
    assert marked("It is in New Quist.", "Mr Quist spoke.", given=[(0, "New Quist", "GPE")])[0] == [
        ("New Quist", "GPE")
    ]


@pytest.mark.parametrize(
    ("taken", "left"),
    [
        ("QBA Dana Quist", [("Dana Quist", "PERSON")]),
        ("Oar boss Dana Quist", [("Dana Quist", "PERSON")]),
        ("Lib Dem Dana Quist", [("Dana Quist", "PERSON")]),
        ("Lund Dana Quist", [("Lund", "ORG"), ("Dana Quist", "PERSON")]),
        ("Ida Dana Quist", [("Ida Dana Quist", "ORG")]),
        ("Oar Films' Lund", [("Lund", "ORG")]),
        ("Winning a Lund", [("Lund", "ORG")]),
        ("Vote Lund", [("Lund", "ORG")]),
        ("Lord Dana Quist", [("Lord Dana Quist", "ORG")]),
        ("QBA Mr Quist", [("QBA Mr Quist", "ORG")]),
        ("Across Lund", [("Lund", "ORG")]),
        ("Radio Lund", [("Radio Lund", "ORG")]),
    ],
)
def test_what_a_tagger_took_into_a_name_is_cut_off_where_the_name_stands_elsewhere(taken, left):
    texts = (f"It was {taken} then.", "They met Ms Quist.", "They know Lund.", "It is the Lord.")
    assert (
        marked(*texts, given=[(0, taken, "ORG"), (1, "Quist", "PERSON"), (2, "Lund", "ORG"), (3, "Lord", "ORG")])[0]
        == left
    )


def test_a_title_is_no_first_name():
    texts = ("Lord Quist came.", "Then Lord spoke.")
    assert marked(*texts, given=[(0, "Lord Quist", "PERSON")])[1] == []


def test_what_begins_a_sentence_is_the_first_name_of_whoever_has_none_elsewhere():
    for begin, second, surface in (
        ("Amit Quist", "Mr Quist", "Amit Quist"),
        ("Amit Quist", "Quist", "Quist"),
        ("Striker Quist", "The striker Mr Quist", "Quist"),
        ("Amit Quist", "Dana Quist and Mr Quist", "Quist"),
    ):
        texts = (f"{begin} came.", f"{second} left.")
        given = [(0, "Quist", "PERSON"), (1, "Dana Quist" if "Dana" in second else "Quist", "PERSON")]
        assert marked(*texts, given=given)[0] == [(surface, "PERSON")]


def test_a_nation_before_a_long_form_is_marked():
    text = "A US Department of Quays (DQ) boat."
    given = [(0, "US Department", "ORG"), (0, "DQ", "ORG")]
    assert [name for name, _ in marked(text, given=given)[0]] == ["US", "Department of Quays", "DQ"]


def test_a_name_that_the_tagger_cut_is_whole_as_elsewhere():
    texts = ("They know Lund Oar.", "We saw Lund Oar too.")
    assert marked(*texts, given=[(0, "Lund Oar", "ORG"), (1, "Oar", "ORG")])[1] == [("Lund Oar", "ORG")]


def test_plurals_and_names_of_several_words_in_small_letters_are_marked():
    texts = ("They won a Quay and a Grand Oar.", "Then a grand oar and many Quays.", "Dana Lund won.")
    given = [(0, "Quay", "ORG"), (0, "Grand Oar", "ORG"), (2, "Dana Lund", "PERSON")]
    assert [name for name, _ in marked(*texts, "A dana lund.", given=given)[1]] == ["grand oar", "Quays"]
    assert marked(*texts, "A dana lund.", given=given)[3] == []


def test_two_names_with_a_hyphen_between_are_both_marked():
    texts = ("Quist met Lund.", "The Quist-Lund row.", "The Quist-Benz row.")
    done = marked(*texts, given=[(0, "Quist", "PERSON"), (0, "Lund", "PERSON")])
    assert [[name for name, _ in own] for own in done[1:]] == [["Quist", "Lund"], []]


def test_an_ordinary_word_that_begins_a_quotation_is_no_part_of_the_name_behind_it():
    texts = ("They vote and like Quay.", 'They said "Vote Quay and win".', "They know Royal Quay.", "A royal day.")
    assert [bool(own) for own in marked(*texts, given=[(0, "Quay", "ORG")])] == [True, True, False, False]


def test_a_score_is_no_part_of_a_name_and_new_year_and_western_are_none():
    text = "Dana Quist 6-4 6-2"
    assert trimmed(text, 0, len("Dana Quist 6-"), "PERSON") == (0, len("Dana Quist"))
    assert trimmed("Dana Quist 6", 0, 12, "PERSON") == (0, 12)
    assert found("In the New Year many Western people and MSPs visited Oslo.") == [["Oslo"]]


def test_two_names_that_were_found_as_one_are_two_where_both_stand_elsewhere_too():
    texts = ("Dana Quist met Ida Lund.", "Quist and Lund spoke.", "The firm Lund and Son did not.")
    given = [
        *[(0, "Dana Quist", "PERSON"), (0, "Ida Lund", "PERSON")],
        *[(1, "Quist and Lund", "ORG"), (2, "Lund and Son", "ORG")],
    ]
    assert marked(*texts, given=given)[1:] == [[("Quist", "PERSON"), ("Lund", "PERSON")], [("Lund and Son", "ORG")]]


def test_a_last_name_of_two_words_is_the_person():
    done = marked(
        "Dana El Quist won.", "El Quist smiled.", given=[(0, "Dana El Quist", "PERSON"), (1, "El Quist", "ORG")]
    )
    assert done[1] == [("El Quist", "PERSON")]


def test_a_number_that_stands_beside_a_name_is_part_of_it():
    texts = ("The rapper 70 Lund sang.", "Fans of 70 Lund saw Boom 3.", "They play Boom 3 in Oslo, 24 of them.")
    given = [
        *[(0, "Lund", "PERSON"), (1, "Lund", "PERSON"), (1, "Boom", "PRODUCT"), (2, "Boom", "PRODUCT")],
        (2, "Oslo", "GPE"),
    ]
    assert [[name for name, _ in own] for own in marked(*texts, given=given)] == [
        *[["70 Lund"], ["70 Lund", "Boom 3"], ["Boom 3", "Oslo"]],
    ]
    # A name without its number stays one of its own; what stands once beside a number may be a score.
    texts = ("Boom 2 is new.", "They liked Boom.", "Boom 2 sold.", "Then Lund 3 Quay 4 was read.")
    given = [*[(at, "Boom", "PRODUCT") for at in range(3)], (3, "Lund", "ORG"), (3, "Quay", "ORG")]
    assert [[name for name, _ in own] for own in marked(*texts, given=given)] == [
        *[["Boom 2"], ["Boom"], ["Boom 2"], ["Lund", "Quay"]],
    ]


def test_what_belongs_to_a_person_is_at_no_place():
    texts = ("Dana Quist baked.", "They met at Quist's house.")
    done = marked(*texts, given=[(0, "Dana Quist", "PERSON"), (1, "Quist", "ORG")])
    assert done[1] == [("Quist", "PERSON")]


def test_a_last_name_that_is_a_place_stays_one():
    texts = ("Dana Lund baked.", "She lives in Lund.")
    assert marked(*texts, given=[(0, "Dana Lund", "PERSON"), (1, "Lund", "GPE")])[1] == [("Lund", "GPE")]


def test_what_begins_a_companys_name_is_the_company_and_no_person_or_region():
    texts = ("Shares in Quay Airlines grew.", "Quay flies to Oslo.", "Quay said so.")
    for kind in ("PERSON", "LOC"):
        done = marked(*texts, given=[(0, "Quay Airlines", "ORG"), (1, "Quay", kind), (1, "Oslo", "GPE")])
        assert done == [[("Quay Airlines", "ORG")], [("Quay", "ORG"), ("Oslo", "GPE")], [("Quay", "ORG")]]
    # Capitals are a name even where the tagger found none; another word may be anything.
    assert marked("QBA Resources grew.", "Then QBA fell.", given=[(0, "QBA Resources", "ORG")])[1] == [("QBA", "ORG")]
    assert marked("National Airlines grew.", "Our National shrank.", given=[(0, "National Airlines", "ORG")])[1] == []


@pytest.mark.parametrize(
    ("second", "kind"),
    [
        *[("Many live in Quay today.", "LOC"), ("The Quay is wide and the Quay is deep.", "LOC")],
        *[("Then Mr Quay spoke.", "PERSON"), ("Then Quay spoke.", "GPE"), ("Then Dana Quay spoke.", "PERSON")],
    ],
)
def test_a_place_or_person_after_whom_a_company_is_called_stays_one(second, kind):
    name = "Dana Quay" if "Dana" in second else "Quay"
    given = [(0, "Quay Airlines", "ORG"), (1, name, kind), (2, "Quay", kind)]
    assert marked("Quay Airlines grew.", second, "Others saw Quay too.", given=given)[2] == [("Quay", kind)]


def test_a_name_within_a_compound_is_marked_behind_ex_and_the_like():
    texts = ("Lund Bakery sells.", "An ex-Lund Bakery cook and a Quay-Lund Bakery one.")
    assert marked(*texts, given=[(0, "Lund Bakery", "ORG")])[1] == [("Lund Bakery", "ORG")]


def test_what_a_tagger_took_into_a_name_is_cut_off():
    cut = ["Dana Quist - one", "Balco boss Dana Quist", "Dana van Quist", "Quist of Lund"]
    assert [name[slice(*trimmed(name, 0, len(name), "PERSON"))] for name in cut] == [
        *["Dana Quist", "Dana Quist", "Dana van Quist", "Quist of Lund"],
    ]


def test_capitals_are_a_name_whatever_is_written_small():
    assert marked("US boats came.", "Tell us of US boats.", given=[(0, "US", "GPE")])[1] == [("US", "GPE")]


def test_what_may_be_part_of_a_longer_name_is_not_marked():
    texts = (
        "Korea won.",
        "North Korea lost.",
        "A Korea Times reporter saw it.",
        "It was Korea's day.",
        "Mr Korea smiled.",
    )
    done = marked(*texts, given=[(0, "Korea", "GPE")])
    assert [bool(own) for own in done] == [True, False, False, True, True]


def test_nations_within_compounds_and_first_names_before_last_ones_are_marked():
    texts = ("Egyptian boats came.", "An Israeli-Egyptian plan and an Egyptian-led one.", "Mercedes met Mercedes-Benz.")
    done = marked(*texts, given=[(0, "Egyptian", "NORP"), (2, "Mercedes", "ORG")])
    assert [[name for name, _ in own] for own in done] == [["Egyptian"], ["Egyptian", "Egyptian"], ["Mercedes"]]
    texts = ("Then Quist smiled.", "They met Jan-Erik Quist and Mr Quist there.", "Striker Quist came.")
    assert [[name for name, _ in own] for own in marked(*texts, given=[(0, "Quist", "PERSON")])] == [
        ["Quist"],
        ["Jan-Erik Quist", "Quist"],
        [],
    ]


def test_an_ordinary_word_at_the_beginning_of_a_sentence_is_no_name():
    texts = ("Broadband is cheap.", "They want broadband now.", "Quay Broadband is a firm.")
    assert marked(*texts, given=[(0, "Broadband", "ORG"), (2, "Quay Broadband", "ORG")]) == [
        [],
        [],
        [("Quay Broadband", "ORG")],
    ]


def test_an_article_of_very_many_names_takes_no_square():
    texts = [f"Dana{'x' * (n % 50)}q{n} Lund met Ida Quist{n}." for n in range(3000)]
    own = [[Mention(0, text.index(" met"), "PERSON")] for text in texts]
    began = time.process_time()
    consistent(texts, own)
    assert time.process_time() - began < 10
