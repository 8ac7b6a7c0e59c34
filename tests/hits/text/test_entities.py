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


@pytest.mark.parametrize(
    ("taken", "left"),
    [("Striker Quist", "Quist"), ("Norwegian Quist", "Quist"), ("Ida Quist", "Ida Quist"), ("El Quist", "El Quist")],
)
def test_a_role_that_begins_a_sentence_and_a_nationality_are_no_part_of_a_persons_name(taken, left):
    texts = (f"{taken} came.", "The striker Dana el Quist left.")
    given = [(0, taken, "PERSON"), (1, "Dana el Quist", "PERSON")]
    assert [name for name, _ in marked(*texts, given=given)[0]] == [left]


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
    done = marked("Quist met them.", "A Quist-led boat.", given=[(0, "Quist", "PERSON")])
    assert done[1] == [("Quist", "PERSON")]


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


def test_of_two_names_with_a_number_between_them_one_has_it():
    texts = ("It stands on QTV 101 Tower.", "The QTV 101 Tower opens.", "Quay 101 Tower is another.")
    given = [(n, name, "ORG") for n in range(2) for name in ("QTV", "Tower")] + [(2, "Tower", "ORG")]
    assert [[name for name, _ in own] for own in marked(*texts, given=given)][:2] == [["QTV 101", "Tower"]] * 2


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


@pytest.mark.parametrize(
    ("before", "surface"),
    [("then goalkeeper Amit", "Amit Quist"), ("then Swedish", "Quist"), ("on Monday", "Quist")],
)
def test_a_first_name_before_a_last_name_that_the_tagger_found_alone_is_part_of_it(before, surface):
    texts = (f"It was {before} Quist who came.", "Quist left.")
    given = [(0, "Quist", "PERSON"), (1, "Quist", "PERSON")]
    assert marked(*texts, given=given)[0] == [(surface, "PERSON")]
    # Where the name has a first name elsewhere, another word before it is none.
    others = ("Dana Quist came.", *texts)
    done = marked(*others, given=[(0, "Dana Quist", "PERSON"), (1, "Quist", "PERSON")])
    assert done[1] == [("Quist", "PERSON")]


def test_who_is_called_by_the_last_word_of_a_name_is_a_person_whatever_the_tagger_took_them_for():
    texts = ("Dana Quist came.", "Then Quist spoke.")
    for whole, part in (("ORG", "WORK_OF_ART"), ("ORG", "ORG"), ("WORK_OF_ART", "PERSON")):
        done = marked(*texts, given=[(0, "Dana Quist", whole), (1, "Quist", part)])
        assert done == [[("Dana Quist", "PERSON")], [("Quist", "PERSON")]]
    for second in ("Then the Quist spoke.", "Then Quist, the Quist, spoke."):
        done = marked(texts[0], second, given=[(0, "Dana Quist", "ORG"), (1, "Quist", "ORG")])
        assert done[0] == [("Dana Quist", "ORG")]
    assert marked("QBA Awards came.", "Awards are fine.", given=[(0, "QBA Awards", "ORG"), (1, "Awards", "ORG")])[
        0
    ] == [("QBA Awards", "ORG")]


def test_a_company_that_is_named_before_somebody_of_its_name_stays_one():
    texts = ("Quist sold boats.", "Quist grew, said Dana Quist.")
    given = [(0, "Quist", "ORG"), (1, "Quist", "ORG")]
    done = marked(*texts, given=[*given, (1, "Dana Quist", "PERSON")])
    assert done == [[("Quist", "ORG")], [("Quist", "ORG"), ("Dana Quist", "PERSON")]]


def test_two_names_with_or_or_to_between_are_two():
    for joined in ("Lund or Quay Oar", "Quay Oar to Lund"):
        texts = (f"They want {joined} now.", "Lund came.", "Quay Oar came.")
        names = [
            name
            for name, _ in marked(*texts, given=[(0, joined, "ORG"), (1, "Lund", "ORG"), (2, "Quay Oar", "ORG")])[0]
        ]
        assert sorted(names) == ["Lund", "Quay Oar"]


def test_an_office_and_the_place_behind_of_are_one_name():
    texts = ("The Boat Council of Norway met in the city of Oslo.", "Holm of Norway came.", "The Quay of Oslo.")
    given = [
        *[(0, "Boat Council", "ORG"), (0, "Norway", "GPE"), (0, "Oslo", "GPE")],
        *[(1, "Holm", "ORG"), (1, "Norway", "GPE"), (2, "Oslo", "GPE")],
    ]
    assert [[name for name, _ in own] for own in marked(*texts, given=given)] == [
        *[["Boat Council of Norway", "Oslo"], ["Holm", "Norway"], ["Quay of Oslo"]],
    ]


def test_the_rest_of_a_title_is_part_of_the_name_before_it():
    texts = ("They saw Quist: A Life of Oars and Dana Lund - The Oar Years.", "Dana Lund - the cook - and Quist: Go.")
    given = [(at, name, "PERSON") for at in (0, 1) for name in ("Quist", "Dana Lund")]
    first, second = marked(*texts, given=given)
    assert first == [(name, "WORK_OF_ART") for name in ("Quist: A Life of Oars", "Dana Lund - The Oar Years")]
    assert second == [("Dana Lund", "PERSON"), ("Quist", "PERSON")]


def test_an_abbreviation_in_brackets_that_the_tagger_finds_elsewhere_has_its_long_form_too():
    texts = ("It is the trusted oar box (TOB).", "Then TOB sold.")
    assert [name for name, _ in marked(*texts, given=[(1, "TOB", "ORG")])[0]] == ["trusted oar box", "TOB"]


def test_a_name_that_has_a_known_second_name_is_no_person():
    texts = ("An Oscar was won.", "Many Oscars were.")
    assert marked(*texts, given=[(0, "Oscar", "PERSON")]) == [[("Oscar", "ORG")], [("Oscars", "ORG")]]


def test_an_age_and_scores_are_no_part_of_a_name():
    for text in ("Dana Quist,31", "Dana Quist 6-1,6-4", "Dana Quist 7-6"):
        assert trimmed(text, 0, len(text), "PERSON") == (0, len("Dana Quist"))


def test_an_adverb_or_day_before_a_name_is_no_part_of_it():
    texts = ("They know Quay.", "However Quay sank.", "On Monday Quay sank.", "Last July Quay sank.")
    assert marked(*texts, given=[(0, "Quay", "ORG")]) == [[("Quay", "ORG")]] * 4


def test_a_club_is_no_person_nor_is_what_begins_an_organisations_name():
    for whole, part in (("Quay United", "United"), ("Quay Oar", "Quay")):
        texts = (f"They know {whole}.", f"Then {part} won.", "Dana Lund won.")
        kind = "PERSON" if whole == "Quay United" else "ORG"
        given = [(0, whole, kind), (1, part, "PERSON"), (2, "Dana Lund", "PERSON")]
        assert marked(*texts, given=given)[:2] == [[(whole, "ORG")], [(part, "ORG")]]
    texts = ("They know Quay Oar.", "Then Mr Quay won.", "Quay won.")
    given = [(0, "Quay Oar", "ORG"), (1, "Quay", "PERSON"), (2, "Quay", "PERSON")]
    assert marked(*texts, given=given)[2] == [("Quay", "PERSON")]


def test_known_second_names_of_what_the_texts_name_are_marked():
    texts = ("They know Liverpool and the UK.", "Then the Reds and Britain won, and the Blues.")
    done = marked(*texts, given=[(0, "Liverpool", "ORG"), (0, "UK", "GPE")])
    assert done[1] == [("Reds", "ORG"), ("Britain", "GPE")]


def test_a_month_before_a_name_is_no_first_name():
    texts = ("Then last June Quist came.", "Then June Quist came.", "Quist left.")
    done = marked(*texts, given=[(2, "Quist", "PERSON")])
    assert [[name for name, _ in own] for own in done] == [["Quist"], ["June Quist"], ["Quist"]]


def test_the_end_of_a_name_that_a_tagger_took_into_a_persons_is_cut_off():
    texts = ("They saw Oars of the Sun.", "In Oars of the Sun Quist sings.", "Dana Quist left.")
    given = [(0, "Oars of the Sun", "WORK_OF_ART"), (1, "Sun Quist", "PERSON"), (2, "Dana Quist", "PERSON")]
    assert ("Quist", "PERSON") in marked(*texts, given=given)[1]


def test_plurals_and_small_second_words_that_a_tagger_took_for_people_are_the_name_too():
    texts = ("They know the Quaybox.", "Many Quayboxes sold.", "A Mac Oar here.", "A Mac oar there.")
    given = [(0, "Quaybox", "ORG"), (1, "Quayboxes", "PERSON"), (2, "Mac Oar", "PERSON")]
    first, second, _, last = marked(*texts, given=given)
    assert [kind for own in (first, second) for _, kind in own] == ["ORG", "ORG"]
    assert last == [("Mac oar", "PERSON")]


def test_the_part_of_the_world_behind_a_company_is_part_of_its_name():
    text = "Quay Europe and Oar Asia's cook met Lund in Europe."
    given = [(0, "Quay", "ORG"), (0, "Oar", "ORG"), (0, "Lund", "PERSON")]
    assert [name for name, _ in marked(text, given=given)[0]] == ["Quay Europe", "Oar", "Lund"]


def test_a_number_behind_a_name_counts_where_the_tagger_found_none_too():
    texts = ("They play Quay 2 here.", "They want quay 9 and Quay 2.", "Quay is old.")
    done = marked(*texts, given=[(0, "Quay", "PERSON"), (2, "Quay", "PERSON")])
    assert done[:2] == [[("Quay 2", "ORG")], [("Quay 2", "ORG")]]


def test_a_service_is_no_person_and_a_small_word_before_a_name_no_part_of_it():
    texts = ("They play Quaybox.", "Then Quaybox Live broke.")
    done = marked(*texts, given=[(0, "Quaybox", "PERSON"), (1, "Quaybox Live", "PERSON")])
    assert done[1] == [("Quaybox Live", "ORG")]
    assert trimmed("bank Quay Oar", 0, len("bank Quay Oar"), "ORG") == (5, len("bank Quay Oar"))
