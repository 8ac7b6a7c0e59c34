"""Whatever is sent: no crash, no header of the sender's, no way to another site."""

from typing import Any

import pytest
from django.test import Client

from tests.marketplace.security.addresses import ADDRESSES
from tests.marketplace.security.conftest import changed, tables
from tests.marketplace.security.test_matrix import RIGHT_ONE

pytestmark = pytest.mark.on_postgresql

ODD = ("a\x00b", "\r\nSet-Cookie: fuzz=1", "<script>fuzz</script>", "x" * 5000, "\ufffe\u202e", "9" * 5000, "-1", "²")
NAMES = (
    *("next", "page", "q", "sort", "groupId", "hitId", "after", "assignment", "assignmentId", "workerId", "auto"),
    *("kind", "state", "before", "returned", "uses", "days", "value", "amount", "minimum", "token"),
)
ELSEWHERE = (
    "https://evil.example/",
    "//evil.example/",
    "/\\evil.example/",
    "\\\\evil.example",
    "http:evil.example",
    "javascript:alert(1)",
    "///evil.example",
    "/\t/evil.example",
)


def test_odd_values_in_address_and_form_never_crash_it(visit: Any, world: dict[str, Any]) -> None:
    for name in ADDRESSES:
        check_odd_values_in_address_and_form_never_crash_it(visit, world, name)


def check_odd_values_in_address_and_form_never_crash_it(visit: Any, world: dict[str, Any], name: str) -> None:
    address = ADDRESSES[name]
    client: Client = visit(RIGHT_ONE[address.who], raise_request_exception=False)
    path = address.path(name, world)
    for odd in ODD:
        values = dict.fromkeys(NAMES, odd)
        for response in (client.get(path, values), client.post(path, values)):
            assert response.status_code < 500, f"{path} with {odd[:20]!r}"
            assert "fuzz" not in response.cookies
            assert "evil" not in response.headers.get("Location", "")
            assert response.streaming or b"<script>fuzz" not in response.content
        if name == "site:logout":
            break


@pytest.mark.parametrize("odd", ["a%00b", "%0d%0aSet-Cookie:%20fuzz=1", "x" * 3000, "..%2f..%2fetc", "%f0%9f%a7%bf"])
def test_odd_ids_in_addresses_are_not_found(visit: Any, world: dict[str, Any], odd: str) -> None:
    before = tables()
    for who, path in (
        ("owner", f"/projects/{odd}/tasks"),
        ("owner", f"/worker/qualifications/{odd}/"),
        ("operator", f"/operator/requesters/{odd}/"),
        ("operator", f"/operator/workers/{odd}/"),
        ("owner", f"/mturk/preview?groupId={odd}"),
        ("owner", f"/mturk/work/{'9' * 30}/"),
    ):
        assert visit(who, raise_request_exception=False).get(path).status_code in (400, 404), path
    assert changed(before) == []


@pytest.mark.parametrize("place", ELSEWHERE)
def test_signing_in_and_up_never_leads_elsewhere(world: dict[str, Any], place: str) -> None:
    known = {"username": "walter", "password": "worker", "next": place}
    new = {"username": "wanda", "password": "of-wanda-1234", "country": "CH", "adult": "on", "next": place}
    for path, form in (("/accounts/login/", known), ("/accounts/signup/", new)):
        response = Client().post(f"{path}?next={place}", form)
        assert "evil" not in response.headers.get("Location", "/"), path
        assert response.headers.get("Location", "/").startswith("/")


def test_ids_are_random_and_follow_no_sequence() -> None:
    from marketplace.rules.ids import customer_id, entity_id

    ids = [entity_id() for _ in range(500)]
    assert len({name[1:12] for name in ids}) == len({name[-11:] for name in ids}) == 500
    assert {len(name) for name in ids} == {30}
    assert all(len({name[place] for name in ids}) > 20 for place in range(1, 30))
    assert len({customer_id() for _ in range(500)}) == 500


@pytest.mark.parametrize(
    "body", [b"x" * 3_000_000, b"&".join(b"a=1" for _ in range(20_001))], ids=["long", "many fields"]
)
def test_an_answer_that_is_too_big_is_refused_kindly(client: Client, world: dict[str, Any], body: bytes) -> None:
    before = tables()
    head = f"assignmentId={world['held_id']}&answer=".encode()
    form = "application/x-www-form-urlencoded"
    response = client.post("/mturk/externalSubmit", head + body, content_type=form)
    assert response.status_code == 413
    assert changed(before) == []


@pytest.mark.django_db
def test_a_host_of_another_name_gets_nothing(client: Client) -> None:
    assert client.get("/accounts/login/", headers={"host": "evil.example"}).status_code == 400


@pytest.mark.parametrize("path", ["/mturk/accept", "/mturk/auto-accept/"])
def test_a_number_of_thousands_of_digits_is_no_number(visit: Any, world: dict[str, Any], hit: Any, path: str) -> None:
    """The worker cannot accept: the way back to the HIT before is asked for."""
    hit.hit_type.requirements = [{"QualificationTypeId": "none", "Comparator": "Exists", "ActionsGuarded": "Accept"}]
    hit.hit_type.save()
    number = "9" * 5000
    form = {"groupId": hit.hit_type.hit_group_id, "after": number, "auto": "on", "assignment": number}
    assert visit("owner", raise_request_exception=False).post(path, form).status_code < 500
