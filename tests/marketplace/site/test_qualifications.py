"""The worker's pages about qualifications: on offer, asked for, tested, held."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from marketplace.models import Qualification, QualificationRequest, QualificationType, Requester, Worker
from marketplace.verbs import blocks, qualification_requests, qualifications
from marketplace.verbs.qualifications import NewTest
from tests.marketplace.rules.test_answer_key import form, key, percent, question
from tests.marketplace.site.conftest import requirement

KEY = key(question("move", {"D": 1}), mapping=percent(1))
TEST = NewTest(form(move="CD", fruit="AB", remark=""), 1800, KEY)


@pytest.fixture
def make_type(requester: Requester, now: datetime) -> Callable[..., QualificationType]:
    def make(**values: Any) -> QualificationType:
        defaults = {"name": "Chess <b>", "description": "Knows the moves", "status": "Active", "now": now}
        return qualifications.create_type(requester, **(defaults | values))

    return make


def page_of(kind: QualificationType) -> str:
    return f"/worker/qualifications/{kind.qualification_type_id}/"


def text_of(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", answer.text)


def start(client: Client, kind: QualificationType) -> str:
    """Begin the test; returns its address."""
    address: str = client.post(f"{page_of(kind)}ask/").headers["Location"]
    return address


def test_a_test_is_taken_and_graded(client: Client, worker: Worker, make_type: Any) -> None:
    kind = make_type(test=TEST)
    before = text_of(client, page_of(kind))
    assert "Start the test, 30 minutes" in before and "one attempt only" in before and "move?" not in before
    address = start(client, kind)
    assert "move?" in text_of(client, address)
    assert client.get(page_of(kind)).text.count(address) == 1
    done = client.post(address, {"move": "D", "remark": "<i>hello</i>"})
    after = text_of(client, done.headers["Location"])
    assert "Submitted: 100 %." in after and "can be asked for once" in after
    assert Qualification.objects.get(worker=worker).integer_value == 100
    assert client.get(address).headers["Location"] == page_of(kind)


def needs(kind: QualificationType, value: int, comparator: str = "GreaterThanOrEqualTo") -> dict[str, Any]:
    """The keywords of a HIT type that asks for so much in that test."""
    asked = requirement(comparator, type_id=kind.qualification_type_id, IntegerValues=[value])
    return {"requirements": [asked], "title": f"Asks for {value}"}


def test_a_failed_test_says_what_was_needed_and_what_is_next(
    client: Client, worker: Worker, make_type: Any, make_hit_type: Any, make_hit: Any
) -> None:
    two = key(question("move", {"D": 1}), question("fruit", {"A": 1}), mapping=percent(2))
    kind = make_type(test=NewTest(TEST.questions, 1800, two))
    make_hit(make_hit_type(**needs(kind, 80)))
    done = client.post(start(client, kind), {"move": "D"})
    after = text_of(client, done.headers["Location"])
    assert "<b>Submitted: 50 %, 80 % needed.</b>" in after
    assert "This was not enough" in after and "one attempt only" in after
    assert "not enough" in text_of(client, page_of(kind))
    for page in (after, text_of(client, page_of(kind)), text_of(client, "/worker/qualifications/asked/")):
        assert "chip good" not in page and "banner good" not in page and "granted<" not in page
    assert "chip good" not in text_of(client, "/worker/qualifications/offered/")


def test_a_failed_test_that_can_be_taken_again_says_from_when(
    client: Client, make_type: Any, make_hit_type: Any, make_hit: Any
) -> None:
    later, at_once = (
        make_type(test=TEST, retry_delay_seconds=3600),
        make_type(test=TEST, retry_delay_seconds=0, name="B"),
    )
    for kind, next_step in ((later, "You can take it again from"), (at_once, "You can take it again now")):
        make_hit(make_hit_type(**needs(kind, 80)))
        done = client.post(start(client, kind), {"move": "C"})
        after = text_of(client, done.headers["Location"])
        assert "Submitted: 0 %, 80 % needed." in after and next_step in after


def test_a_passed_test_says_what_was_needed_in_green(
    client: Client, make_type: Any, make_hit_type: Any, make_hit: Any
) -> None:
    kind = make_type(test=TEST)
    make_hit(make_hit_type(**needs(kind, 80)))
    after = text_of(client, client.post(start(client, kind), {"move": "D"}).headers["Location"])
    assert "<b>Submitted: 100 %, 80 % needed.</b>" in after and "banner good" in after
    assert "You qualify" in after


def test_a_value_that_is_enough_for_some_work_says_so(
    client: Client, make_type: Any, make_hit_type: Any, make_hit: Any
) -> None:
    two = key(question("move", {"D": 1}), question("fruit", {"A": 1}), mapping=percent(2))
    kind = make_type(test=NewTest(TEST.questions, 1800, two))
    for value in (80, 40):
        make_hit(make_hit_type(**needs(kind, value)))
    after = text_of(client, client.post(start(client, kind), {"move": "D"}).headers["Location"])
    assert "Submitted: 50 %, 40 % needed." in after and "enough for some of the work" in after


def test_a_value_that_is_no_percentage_is_not_called_one(
    client: Client, make_type: Any, make_hit_type: Any, make_hit: Any
) -> None:
    kind = make_type(test=NewTest(TEST.questions, 1800, key(question("move", {"D": 7}))))
    make_hit(make_hit_type(**needs(kind, 7, "GreaterThan")))
    after = text_of(client, client.post(start(client, kind), {"move": "D"}).headers["Location"])
    assert "Submitted: 7, more than 7 needed." in after and "not enough" in after


def test_answers_with_a_fault_come_back_as_they_were(client: Client, make_type: Any) -> None:
    address = start(client, make_type(test=TEST))
    answer = client.post(address, {"move": ["C", "Z"], "remark": 'say "so" <script>'})
    assert answer.status_code == 400
    assert "Not sent yet" in answer.text and "say &quot;so&quot; &lt;script&gt;" in answer.text
    assert QualificationRequest.objects.get().status == "Started"


def test_late_and_second_answers_are_refused(client: Client, make_type: Any) -> None:
    kind = make_type(test=TEST, retry_delay_seconds=3600)
    address = start(client, kind)
    assert client.post(address, {"move": "C"}).status_code == 302
    again = client.post(address, {"move": "D"})
    assert again.status_code == 409 and "handed in before" in again.text
    QualificationRequest.objects.update(status="Started", deadline=QualificationRequest.objects.get().asked_at)
    late = client.post(address, {"move": "D"})
    assert late.status_code == 409 and "time for this test is over" in late.text
    assert "You can ask again from" in text_of(client, page_of(kind))
    assert "time ran out" in text_of(client, page_of(kind))
    assert Qualification.objects.get().integer_value == 0


def test_leaving_and_coming_back_keeps_the_deadline(client: Client, worker: Worker, make_type: Any) -> None:
    kind = make_type(test=TEST)
    address = start(client, kind)
    QualificationRequest.objects.update(deadline=datetime.now().astimezone() + timedelta(seconds=90))
    assert start(client, kind) == address
    left = re.search(r'data-seconds-left="(\d+)"', client.get(address).text)
    assert left is not None and 80 <= int(left[1]) <= 90
    assert address in text_of(client, "/worker/qualifications/")


def test_asking_waits_for_the_requester(client: Client, worker: Worker, requester: Requester, make_type: Any) -> None:
    kind = make_type()
    assert "You can ask once" in text_of(client, page_of(kind))
    client.post(f"{page_of(kind)}ask/")
    client.post(f"{page_of(kind)}ask/")
    request = QualificationRequest.objects.get()
    assert "The requester decides" in text_of(client, page_of(kind))
    qualification_requests.reject(requester, request.request_id, request.asked_at, "Not <yet>")
    assert "Not &lt;yet&gt;" in text_of(client, page_of(kind))
    listed = text_of(client, "/worker/qualifications/asked/")
    assert "declined" in listed and "Not &lt;yet&gt;" in listed


def test_an_automatic_one_takes_one_click(client: Client, worker: Worker, make_type: Any) -> None:
    kind = make_type(auto_granted=True, auto_granted_value=7)
    assert "Get it" in text_of(client, page_of(kind))
    client.post(f"{page_of(kind)}ask/")
    assert Qualification.objects.get(worker=worker).integer_value == 7
    assert "nothing to ask for" in text_of(client, page_of(kind))


def test_the_offer_is_searched_and_says_where_one_stands(client: Client, worker: Worker, make_type: Any) -> None:
    kinds = [make_type(name=f"Number {i}") for i in range(30)]
    quick = make_type(name="Quick", auto_granted=True)
    make_type(name="Asleep", status="Inactive")
    qualification_requests.ask(worker, quick.qualification_type_id, quick.created_at)
    first = text_of(client, "/worker/qualifications/offered/")
    assert first.index("Quick") < first.index("Number 29") and "you hold 1" in first
    assert "Number 3<" not in first and "Asleep" not in first
    assert "Number 3<" in text_of(client, "/worker/qualifications/offered/?page=2")
    found = text_of(client, "/worker/qualifications/offered/?q=number+17")
    assert page_of(kinds[17]) in found and page_of(kinds[16]) not in found
    assert "Nothing matches “chess”" in text_of(client, "/worker/qualifications/offered/?q=chess")


def test_pages_of_others_and_of_nothing_are_not_there(
    client: Client, other_client: Client, requester: Requester, make_type: Any, now: datetime
) -> None:
    kind = make_type(test=TEST)
    address = start(client, kind)
    assert other_client.get(address).status_code == 404
    assert other_client.post(address, {"move": "D"}).status_code == 404
    assert client.get(f"{page_of(kind)}ask/").status_code == 405
    for nothing in ("3NONE", "000000000000000000L0"):
        assert client.get(f"/worker/qualifications/{nothing}/").status_code == 404
        assert client.post(f"/worker/qualifications/{nothing}/ask/").status_code == 404
    qualifications.delete_type(requester, kind.qualification_type_id, now)
    assert client.get(page_of(kind)).status_code == client.get(address).status_code == 404
    assert Client().get(page_of(kind)).headers["Location"].startswith("/accounts/login/")


def test_what_only_keeps_workers_out_is_not_on_offer(
    client: Client, worker: Worker, requester: Requester, make_type: Any, make_hit_type: Any, now: datetime
) -> None:
    """Until other work asks for it; who holds it still finds its page, with nothing to ask for."""
    kind = make_type(name="Poor quality")
    make_hit_type(requirements=[requirement(type_id=kind.qualification_type_id, comparator="DoesNotExist")])
    assert "Poor quality" not in text_of(client, "/worker/qualifications/offered/")
    assert client.get(page_of(kind)).status_code == 404
    assert client.post(f"{page_of(kind)}ask/").status_code == 404
    qualifications.grant(requester, kind.qualification_type_id, worker.worker_id, now)
    held = text_of(client, page_of(kind))
    assert "It is not on offer right now" in held and "Ask for it" not in held
    make_hit_type(title="For the same", requirements=[requirement(type_id=kind.qualification_type_id)])
    assert "Poor quality" in text_of(client, "/worker/qualifications/offered/")
    make_hit_type(
        title="Not for them",
        requirements=[requirement(type_id=kind.qualification_type_id, comparator="DoesNotExist")],
    )
    assert "Ask for it" in text_of(client, page_of(kind))


def test_what_hides_the_work_from_whoever_lacks_it_is_not_on_offer(
    client: Client, make_type: Any, make_hit_type: Any
) -> None:
    """Until work that everybody sees asks for it: then asking can be of use."""
    kind = make_type(name="Pool: students")
    needed = {"type_id": kind.qualification_type_id, "comparator": "Exists"}
    make_hit_type(requirements=[requirement(guarded="DiscoverPreviewAndAccept", **needed)])
    assert "Pool: students" not in text_of(client, "/worker/qualifications/offered/")
    assert client.post(f"{page_of(kind)}ask/").status_code == 404
    make_hit_type(title="For all to see", requirements=[requirement(guarded="PreviewAndAccept", **needed)])
    assert "Pool: students" in text_of(client, "/worker/qualifications/offered/")


def test_a_test_stays_on_offer_when_work_asks_that_nobody_passed_it(
    client: Client, requester: Requester, make_type: Any, make_hit_type: Any, now: datetime
) -> None:
    tested, plain = make_type(name="Tested", test=TEST), make_type(name="Plain")
    for kind in (tested, plain):
        refused = requirement(type_id=kind.qualification_type_id, comparator="DoesNotExist")
        make_hit_type(title=kind.name, requirements=[refused])
    assert "Tested" in (listed := text_of(client, "/worker/qualifications/offered/")) and "Plain" not in listed
    qualifications.update_type(requester, plain.qualification_type_id, now, test=TEST)
    assert "Plain" in text_of(client, "/worker/qualifications/offered/")


def test_a_preview_leads_to_what_is_missing(client: Client, make_type: Any, make_hit_type: Any, make_hit: Any) -> None:
    kind = make_type()
    group = make_hit_type(requirements=[requirement(type_id=kind.qualification_type_id)])
    make_hit(group)
    assert page_of(kind) in client.get(f"/mturk/preview?groupId={group.hit_group_id}").text
    assert "Work that is open now asks for it" in text_of(client, page_of(kind))


def test_work_behind_a_test_is_listed_below_what_one_can_start(
    client: Client, worker: Worker, requester: Requester, make_type: Any, make_hit_type: Any, make_hit: Any, now: Any
) -> None:
    """With what the test is and where to take it; what cannot be had is not, and what one holds is above."""
    open_to_all, kind = make_hit_type(title="Open to all"), make_type(name="Ferry test", test=TEST)
    secret = make_type(name="Secret", status="Inactive")
    behind = make_hit_type(title="Behind it", requirements=[requirement(type_id=kind.qualification_type_id)])
    closed = make_hit_type(title="Closed", requirements=[requirement(type_id=secret.qualification_type_id)])
    for group in (open_to_all, behind, closed):
        make_hit(group)
    first, second = client.get("/").text.split('id="behind-test"')
    assert "Open to all" in first and "Behind it" not in first
    assert "Behind it" in second and "Ferry test" in second and "Take the test" in second
    assert page_of(kind) in second and "Closed" not in second and "Start" not in second
    assert "behind-test" not in client.get("/?filtered=1").text
    qualifications.grant(requester, kind.qualification_type_id, worker.worker_id, now)
    assert "behind-test" not in client.get("/").text


def test_the_number_of_queries_does_not_grow(
    client: Client, worker: Worker, make_type: Any, django_assert_max_num_queries: Any
) -> None:
    kind = make_type(test=TEST, retry_delay_seconds=0)
    for number in range(12):
        client.post(start(client, kind), {"move": "D"})
        client.post(f"{page_of(make_type(name=f'N{number}'))}ask/")
    for address in ("", "offered/", "asked/", f"{kind.qualification_type_id}/"):
        with django_assert_max_num_queries(12):
            assert client.get(f"/worker/qualifications/{address}").status_code == 200


def test_work_behind_a_test_keeps_the_secrets_of_hidden_and_blocking_requesters(
    client: Client, worker: Worker, requester: Requester, make_type: Any, make_hit_type: Any, make_hit: Any, now: Any
) -> None:
    kind = make_type(name="Ferry test", test=TEST)
    other = make_type(name="Barred")
    need = requirement(type_id=kind.qualification_type_id)
    hidden = make_hit_type(title="Hidden one", requirements=[need | {"ActionsGuarded": "DiscoverPreviewAndAccept"}])
    barred = make_hit_type(
        title="Barred one", requirements=[need, requirement("DoesNotExist", type_id=other.qualification_type_id)]
    )
    seen = make_hit_type(title="Seen one", requirements=[need])
    for group in (hidden, barred, seen):
        make_hit(group)
    qualifications.grant(requester, other.qualification_type_id, worker.worker_id, now)
    text = client.get("/").text
    assert "Seen one" in text and "Hidden one" not in text and "Barred one" not in text
    blocks.block(requester, worker.worker_id, "no", now)
    text = client.get("/").text
    assert "Seen one" not in text
