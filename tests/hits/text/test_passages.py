import re

from hypothesis import given
from hypothesis import strategies as st

from hits.text.language.passages import Part, mention_groups, passage_parts

TEXT = "Mara Lindt met Oslo's mayor.\nShe left.\n@highlight\nLindt visits OSLO\n@highlight\nMayor: 'thanks'"
LINES = ["@highlight", "Some words.", "", "  ", "more @highlight here", "@highlight inline", "@highlighted"]
texts = st.lists(st.sampled_from(LINES), max_size=9).map("\n".join)


def show(text):
    return [(part.kind, text[part.start : part.end]) for part in passage_parts(text)]


def test_it_finds_paragraphs_and_bullets_with_their_offsets():
    assert show(TEXT) == [
        ("paragraph", "Mara Lindt met Oslo's mayor."),
        ("paragraph", "She left."),
        ("bullet", "Lindt visits OSLO"),
        ("bullet", "Mayor: 'thanks'"),
    ]
    assert passage_parts(TEXT)[1] == Part("paragraph", 29, 38)


def test_it_reads_blank_lines_between_marker_and_bullet_and_a_bullet_on_the_markers_line():
    assert show("Lead.\n\n@highlight\n\nOne\n@highlight Two\nAfter") == [
        ("paragraph", "Lead."),
        ("bullet", "One"),
        ("bullet", "Two"),
        ("paragraph", "After"),
    ]


def test_a_marker_within_a_sentence_or_a_word_is_text():
    assert show("see @highlight there\n@highlights") == [
        ("paragraph", "see @highlight there"),
        ("paragraph", "@highlights"),
    ]


def test_a_marker_without_a_bullet_and_an_empty_text_have_no_part():
    assert show("Lead.\n@highlight\n\n") == [("paragraph", "Lead.")]
    assert show("") == []


@given(texts)
def test_every_letter_outside_the_markers_lies_in_exactly_one_part(text):
    parts = passage_parts(text)
    assert all(0 <= part.start < part.end <= len(text) for part in parts)
    assert all(a.end <= b.start for a, b in zip(parts, parts[1:], strict=False))
    shown = "".join(text[part.start : part.end] for part in parts)
    unmarked = re.sub(r"(?m)^\s*@highlight\b(?!\w)", "", text)
    assert "".join(shown.split()) == "".join(unmarked.split())


@given(texts)
def test_no_part_crosses_a_line(text):
    assert all("\n" not in text[part.start : part.end] for part in passage_parts(text))


def spans_of(text, *names):
    found, at = [], 0
    for name in names:
        start = text.index(name, at)
        found.append((start, start + len(name) - 1))
        at = start + 1
    return found


def test_mentions_of_one_name_share_a_group_whatever_their_case_spacing_or_possessive():
    text = "New York won. NEW  YORK\u2019s mayor and New York's team met James' fans and James in York."
    names = ["New York", "NEW  YORK\u2019s", "New York's", "James'", "James", "York"]
    assert mention_groups(text, spans_of(text, *names)) == [0, 0, 0, 1, 1, 2]


def test_groups_follow_the_order_of_the_spans_and_may_be_none():
    text = "B met A and B"
    assert mention_groups(text, [(6, 6), (0, 0), (12, 12)]) == [0, 1, 1]
    assert mention_groups(text, []) == []
