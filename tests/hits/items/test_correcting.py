"""A lead corrects what a text is asked about: both parts or none, nothing that workers may see, and undone in order."""

from __future__ import annotations

from typing import Any

import pytest

from hits.items.rules.item_changes import fingerprint
from hits.items.verbs import correcting
from hits.models import Hit, Item, ItemChange
from hits.protocols.base import AnswerRefusedError
from hits.protocols.optional import MarkedSentence
from hits.protocols.phrase_questions.protocol import protocol
from tests.hits import factories as make
from tests.hits.doing import refused
from tests.hits.protocols.phrases import DOCUMENT, NP, VP

pytestmark = pytest.mark.django_db
SMELL = MarkedSentence(start := DOCUMENT["text"].index("It smelled"), start + len("It smelled wonderful."), ())


@pytest.fixture
def np(db: None) -> Item:
    stage = make.stage(protocol="phrase_questions", key="np-short", title="Things")
    return make.item(stage, document=make.document(stage.project, data=DOCUMENT), data=NP)


@pytest.fixture
def vp(np: Item) -> Item:
    stage = make.stage(np.stage.project, protocol="phrase_questions", key="vp-short", title="Happenings")
    return make.item(stage, document=np.document, data=VP)


@pytest.fixture
def lead(db: None) -> Any:
    return make.user("lead")


def marked(item: Item) -> list[MarkedSentence]:
    item.refresh_from_db()
    return list(protocol.marked(item.data))


def correct(item: Item, wanted: list[MarkedSentence], lead: Any = None) -> int:
    return correcting.correct(item, wanted, fingerprint(item), lead)


def test_a_phrase_that_changes_concerns_its_own_part_alone_and_is_written_down(np: Item, vp: Item, lead: Any) -> None:
    first, second = marked(np)
    assert correct(np, [MarkedSentence(first.start, first.end, first.phrases[1:]), second], lead) == 1
    change = ItemChange.objects.get()
    assert (change.item, change.before, change.after, change.changed_by) == (np, NP, np.data, lead)
    assert len(marked(np)[0].phrases) == 3 and marked(vp) == list(protocol.marked(VP))
    assert correct(np, marked(np), lead) == 0
    assert ItemChange.objects.count() == 1


def test_sentences_come_and_go_in_both_parts_and_come_back_together(np: Item, vp: Item, lead: Any) -> None:
    _, second = marked(np)
    assert correct(np, [second, SMELL], lead) == 2
    assert [(one.start, one.end) for one in marked(vp)] == [(one.start, one.end) for one in marked(np)]
    assert correcting.undo(vp, lead) == 2
    assert (marked(np), marked(vp)) == ([*protocol.marked(NP)], [*protocol.marked(VP)])
    assert set(ItemChange.objects.values_list("undone_by", flat=True)) == {lead.pk}
    with refused("nothing_to_undo", match="No change"):
        correcting.undo(np, lead)


def test_changes_are_undone_newest_first_also_across_the_parts(np: Item, vp: Item, lead: Any) -> None:
    correct(np, [*marked(np), SMELL], lead)
    vp.refresh_from_db()
    third = marked(vp)[2]
    correct(vp, [*marked(vp)[:2], MarkedSentence(third.start, third.end, ((third.start + 3, third.end - 1),))], lead)
    with refused("nothing_to_undo", match="“Happenings” was changed since"):
        correcting.undo(np, lead)
    assert len(marked(np)) == 3, "nothing of it was done"
    assert correcting.undo(vp, lead) == 1
    assert correcting.undo(np, lead) == 2
    assert (np.data, marked(vp)) == (NP, [*protocol.marked(VP)])


@pytest.mark.parametrize("state", [Item.State.OPEN, Item.State.AGAIN, Item.State.KEPT, Item.State.DROPPED])
def test_what_workers_may_have_seen_does_not_change(np: Item, vp: Item, lead: Any, state: str) -> None:
    first, second = marked(np)
    correct(np, [first, second, SMELL], lead)
    Item.objects.filter(pk=vp.pk).update(state=state)
    fewer = [MarkedSentence(first.start, first.end, first.phrases[1:]), second]
    for attempt in (lambda: correct(np, fewer), lambda: correcting.undo(np, lead)):
        with refused("item_published", match="“Happenings” is published"):
            attempt()
    with refused("item_published", match="This text is published"):
        correct(vp, marked(vp))
    assert correct(np, [*fewer, SMELL]) == 1, "a phrase of the part that waits is free"


def test_a_hit_that_the_marketplace_refused_was_seen_by_nobody(np: Item) -> None:
    hit = make.hit(np, state=Hit.State.REFUSED)
    assert correct(np, marked(np)[1:]) == 1
    Hit.objects.filter(pk=hit.pk).update(state=Hit.State.SENT)
    with refused("item_published"):
        correct(np, [*marked(np), SMELL])


def test_two_leads_do_not_overwrite_one_another(np: Item) -> None:
    seen = fingerprint(np)
    correct(np, marked(np)[1:])
    with refused("item_changed"):
        correcting.correct(np, [*protocol.marked(NP)], seen, None)
    assert len(marked(np)) == 1


def test_a_part_that_would_be_left_with_nothing_keeps_both_as_they_are(np: Item, vp: Item) -> None:
    first, second = marked(np)
    Item.objects.filter(pk=vp.pk).update(data=protocol.correct(DOCUMENT, VP, [*protocol.marked(VP)[:1]]))
    with pytest.raises(AnswerRefusedError, match="what happens would have nothing left"):
        correct(np, [second])
    assert marked(np) == [first, second] and not ItemChange.objects.exists()


def test_a_text_of_another_document_or_protocol_is_no_fellow(np: Item, vp: Item) -> None:
    make.item(vp.stage, data=VP)
    make.item(make.stage(np.stage.project), document=np.document)
    assert list(correcting.fellows(np)) == [vp]
    with refused("not_correctable"):
        correcting.protocol_for(make.stage(np.stage.project))
