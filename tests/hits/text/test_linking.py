"""Linkers: the sentences are our own, and the tagger takes no part."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hits.text.language.linking import LINKERS, Name, names, names_and_nationalities


def linked(*given, linker=names):
    """The groups of names of at least two mentions, each as the set of what is written."""
    mentions = [Name(*one) for one in given]
    groups = {}
    for one, number in zip(mentions, linker(mentions), strict=True):
        groups.setdefault(number, []).append(one.surface)
    return [found for found in groups.values() if len(found) > 1]


def person(surface, before=""):
    return (surface, "PERSON", before)


def org(surface, before=""):
    return (surface, "ORG", before)


def place(surface):
    return (surface, "GPE")


def test_equal_names_are_linked_without_case_possessives_titles_and_company_forms():
    assert linked(place("OSLO"), place("Oslo"), place("Oslo's")) == [["OSLO", "Oslo", "Oslo's"]]
    assert linked(person("President Mara Lund"), person("Mara Lund")) == [["President Mara Lund", "Mara Lund"]]
    assert linked(org("Quay.com"), org("Quay"), org("U.S.")) == [["Quay.com", "Quay"]]
    assert linked(org("Quay Boats Ltd."), org("Quay Boats")) == [["Quay Boats Ltd.", "Quay Boats"]]
    assert linked(person("Abu al-Rami"), person("Abu Al Rami")) == [["Abu al-Rami", "Abu Al Rami"]]


def test_a_last_or_first_name_alone_is_linked_for_people_only():
    assert linked(person("Mara Lund"), person("Lund"), person("Mara")) == [["Mara Lund", "Lund", "Mara"]]
    assert linked(person("Mara Ida Lund"), person("Mara Lund"), person("Ida")) == [["Mara Ida Lund", "Mara Lund"]]
    assert linked(place("Fort Lund"), place("Lund")) == []


def test_a_name_that_fits_two_people_is_linked_with_nothing():
    assert linked(person("Mara Lund"), person("Nils Lund"), person("Lund"), person("Lund")) == []
    assert linked(person("Mara Lund"), person("Nils Mara"), person("Mara"), person("Mara")) == []


def test_who_is_named_in_short_with_a_title_first_is_somebody_else():
    given = (person("Ida Lund"), person("Lund"))
    assert linked(person("Lund", "president"), *given) == [["Lund", "Lund"]]
    assert linked(person("President Lund"), *given) == [["President Lund", "Lund"]]
    assert linked(person("Lund"), *given) == [["Lund", "Ida Lund", "Lund"]]
    # Of two full names, the one that stands before it.
    assert linked(person("Nils Lund"), person("Lund"), person("Ida Lund")) == [["Nils Lund", "Lund"]]


def test_titles_keep_husband_and_wife_apart():
    given = (person("Nils Lund"), person("Lund", "mr"), person("Lund", "mrs"), person("Lund", "mr"), person("Lund"))
    assert linked(*given) == [["Lund", "Lund"]]
    assert linked(person("Ida Lund", "mrs"), person("Lund", "mr")) == []


@pytest.mark.parametrize(
    ("short", "name"),
    [
        ("QBA", "Quay Bakers Association"),
        ("Qba", "Quay Bakers Association"),
        ("BoQ", "Bank of Quays"),
        ("U.S.", "United States"),
        ("UKQP", "UK Quay Party"),
        ("QPC", "US Quay and Pier Commission"),
    ],
)
def test_an_acronym_is_linked_with_the_name_of_its_initials(short, name):
    assert linked(org(name), org(short)) == [[name, short]]


def test_a_plural_is_linked_with_the_name_of_one():
    assert linked(org("QBox"), org("QBoxes"), ("Lundist", "NORP"), ("Lundists", "NORP")) == [
        ["QBox", "QBoxes"],
        ["Lundist", "Lundists"],
    ]
    assert linked(place("Lund"), place("Lunds"), person("Mara"), person("Maras")) == []


def test_a_party_is_one_whatever_the_tagger_took_it_for():
    assert linked(person("Lib Dem"), org("Liberal Democrats")) == [["Lib Dem", "Liberal Democrats"]]


def test_an_acronym_is_no_name_that_holds_it():
    assert linked(org("QB"), org("QB Boats")) == []


def test_an_acronym_of_two_names_is_linked_with_neither():
    assert linked(org("Quay Bakers Association"), org("Quiet Boats Agency"), org("QBA")) == []


def test_what_stands_in_brackets_behind_a_name_is_linked_with_it_where_its_letters_come_in_this_order():
    institute = org("Quay Institute for Deaf Bakers")
    assert linked(institute, org("QID", "("), org("QID")) == [[institute[0], "QID", "QID"]]
    assert linked(org("Quay Commission"), org("Quay Council"), org("QC", "("), org("QC")) == [
        ["Quay Council", "QC", "QC"]
    ]
    assert linked(org("Quay & Oar Corp"), org("QOC", "("), org("QOC")) == [["Quay & Oar Corp", "QOC", "QOC"]]
    assert linked(person("Ida Lund"), org("QBA", "(")) == []


def test_a_club_is_the_place_that_it_is_called_by():
    assert linked(org("Lund FC"), place("Lund"), place("Lund")) == [["Lund FC", "Lund", "Lund"]]


def test_a_place_is_not_linked_with_a_longer_name_that_holds_it():
    assert linked(place("America"), ("North American", "NORP"), place("North America")) == []


def test_the_last_word_of_a_name_is_linked_behind_the_and_otherwise_with_nothing():
    assert linked(org("Harbour Commission"), org("Commission", "the")) == [["Harbour Commission", "Commission"]]
    assert linked(org("Quay Treasury"), org("Treasury"), org("Treasury")) == []
    assert linked(org("Harbour Commission"), org("Fish Commission"), org("Commission", "the")) == []
    assert linked(org("Bank of Quays"), org("Bank", "the")) == [["Bank of Quays", "Bank"]]
    assert linked(org("Quay & Sons"), org("Quay"), org("Quay")) == []
    assert linked(org("Quayska"), org("Quayskaneft"), org("Quayska")) == []
    assert linked(org("Quay 8.0"), org("Quay"), org("Quay")) == []
    assert linked(org("White House"), org("House", "the"), org("House", "the")) == []


def test_a_club_is_called_by_the_last_word_of_its_name_where_one_has_it():
    assert linked(("Quay United", "NORP"), org("United"), org("United")) == [["Quay United", "United", "United"]]
    assert linked(org("Quay United"), org("Oar United"), org("United"), org("United")) == []


def test_a_second_name_that_the_text_gives_is_linked_but_no_place():
    second = ("Lund", "PERSON", "=")
    assert linked(org("Quay"), second, person("Lund"), org("Quay")) == [["Quay", "Lund", "Lund", "Quay"]]
    assert linked(person("Mara Quist"), second, person("Quist")) == [["Mara Quist", "Lund", "Quist"]]
    assert linked(place("Quay"), second, person("Lund")) == [["Lund", "Lund"]]
    assert linked(place("Quay"), ("Lund", "GPE", "="), place("Lund")) == [["Quay", "Lund", "Lund"]]
    assert linked(org("Quay"), org("Quay", "="), org("Quay")) == [["Quay", "Quay", "Quay"]]
    assert linked(org("Man Utd"), org("Manchester United")) == [["Man Utd", "Manchester United"]]


def test_a_numbered_name_and_the_same_without_its_number_are_linked_with_nothing():
    for name in ("Quay", "Quay Oar"):
        assert linked(*[org(f"{name} 8")] * 2, *[org(name)] * 2) == []
    assert linked(*[org("QBA Radio 1")] * 2, *[org("QBA Radio")] * 2) == [["QBA Radio 1"] * 2, ["QBA Radio"] * 2]


def test_a_name_is_the_one_that_has_capitals_before_it():
    assert linked(org("QBA Radio 1"), org("Radio 1")) == [["QBA Radio 1", "Radio 1"]]
    assert linked(org("QBA Radio 1"), org("QBX Radio 1"), org("Radio 1")) == []
    assert linked(org("Quay Grand Prix"), org("Grand Prix")) == []
    assert linked(org("QBA Radio"), org("Radio")) == []


@pytest.mark.parametrize(
    ("short", "name"),
    [
        ("Quay", "Quay Microsystems"),
        ("Quay", "Quay Department Stores"),
        ("Quay Fish", "Quay Fish Resources"),
        ("Quay", "Quay Haven"),
        ("Fed", "Federal Reserve"),
        ("Fed", "US Federal Reserve"),
    ],
)
def test_the_beginning_of_an_organisations_name_is_linked_with_it(short, name):
    assert linked(org(name), org(short), org(short, "the")) == [[name, short, short]]


def test_a_beginning_that_stands_first_is_linked_where_only_a_word_such_as_group_is_missing():
    assert linked(org("Quay"), org("Quay Group")) == [["Quay", "Quay Group"]]
    assert linked(org("Quay"), org("Quay Haven"), org("Quay")) == [["Quay", "Quay"]]


@pytest.mark.parametrize(
    "given",
    [
        # A place, a nationality, and a part or a product of what has the shorter name.
        (org("Lund Airlines"), place("Lund")),
        (org("Swedish Airlines"), org("Swedish")),
        (org("Quay Radio"), org("Quay")),
        (org("Quay Cup"), org("Quay")),
        (org("Quay 4"), org("Quay")),
        (org("Quay Mini"), org("Quay")),
        (org("Quay 4"), person("Quay"), person("Quay")),
        # Junk of a tagger, and two names with one beginning.
        (org("Quay to Haven"), org("Quay")),
        (org("Quay Energy"), org("Quay Foods"), org("Quay")),
    ],
)
def test_what_begins_another_name_and_means_something_else_is_not_linked_with_it(given):
    assert linked(*given) == []


def test_of_names_that_begin_one_another_all_mean_the_longest():
    found = ["Quay Fish Group", "Quay Fish", "Quay"]
    assert linked(*map(org, found)) == [found]


def test_nationalities_are_linked_with_their_countries_where_that_is_asked_for():
    given = (place("Iceland"), ("Icelandic", "NORP"), ("Icelanders", "NORP"))
    assert linked(*given) == []
    assert linked(*given, linker=names_and_nationalities) == [["Iceland", "Icelandic"]]


@pytest.mark.parametrize("after", ["player", "firms", "Open", "indoor", "carmakers"])
def test_a_nationality_before_a_common_noun_is_no_name(after):
    given = [Name("Norwegian", "NORP", "", after), Name("Norwegian", "NORP"), Name("Lund", "GPE", "", after)]
    assert names(given) == [None, 0, 1]
    assert names_and_nationalities([given[0], Name("Norway", "GPE")]) == [0, 0]


def test_nobody_is_named_by_a_nationality_behind_the_and_one_of_a_people_is():
    assert names([Name("Norwegian", "NORP", "the", "won"), Name("Norwegian", "NORP", "", "who")]) == [None, 0]
    assert names([Name("Dane", "NORP", "the", "won"), Name("Danes", "NORP", "the", "won")]) == [None, 0]


WORDS = some.sampled_from(["Mara", "Ida", "Lund", "Mr", "the", "Bank", "of", "QBA", "U.S.", "Party", "'s", "-", "Jr."])
NAMES = some.builds(
    Name,
    some.lists(WORDS, min_size=1, max_size=4).map(" ".join),
    some.sampled_from(["PERSON", "ORG", "GPE", "NORP"]),
    some.sampled_from(["", "the", "mr", "mrs"]),
)


@pytest.mark.parametrize("linker", LINKERS.values(), ids=LINKERS)
@given(mentions=some.lists(NAMES, max_size=12))
def test_every_mention_gets_a_number_and_the_same_article_the_same_ones(linker, mentions):
    numbers = linker(mentions)
    assert len(numbers) == len(mentions) and numbers == linker(mentions)
    # Numbers count from 0 in the order of their coming.
    assert sorted(set(numbers), key=numbers.index) == list(range(len(set(numbers))))


def test_a_plural_is_linked_with_the_name_of_one_that_was_taken_for_a_place():
    assert linked(place("Quayta"), org("Quaytas")) == [["Quayta", "Quaytas"]]
    assert linked(place("America"), org("Americas")) == []


def test_a_team_of_a_country_has_its_nickname():
    assert linked(place("Argentina"), person("Pumas")) == [["Argentina", "Pumas"]]


def test_a_family_is_nobody_of_it():
    given = [
        Name("Dana Quist", "PERSON"),
        Name("Quist", "PERSON", "the", "family"),
        Name("Quist", "PERSON", "", "said"),
    ]
    assert names(given) == [0, None, 0]


def test_a_club_may_be_called_city():
    assert linked(place("Quay City"), org("City"), org("City", "the")) == [["Quay City", "City", "City"]]


def test_a_last_name_with_a_letter_more_or_less_is_that_of_the_person():
    assert linked(person("Mara Quist"), person("Quistt", "mr")) == [["Mara Quist", "Quistt"]]
    assert linked(person("Mara Quist"), person("Qist")) == []
    assert linked(person("Mara Quister"), org("Quiser")) == [["Mara Quister", "Quiser"]]
    assert linked(person("Mara Quist"), person("Quists")) == []
    assert linked(person("Mara Quister"), person("Ida Quiser"), person("Quiser")) == [["Ida Quiser", "Quiser"]]


def test_names_of_several_words_are_linked_with_their_plurals_and_with_the_acronym_of_both():
    assert linked(org("Golden Oar"), org("Golden Oars")) == [["Golden Oar", "Golden Oars"]]
    names = ["Boats Emergency Committee", "Boat Emergency Committee", "BEC"]
    assert linked(*map(org, names)) == [names]


def test_the_beginning_of_two_names_means_the_one_that_stands_before_it():
    assert linked(org("Quay Oslo"), org("Quay"), org("Quay Oslo Finance Group")) == [["Quay Oslo", "Quay"]]
