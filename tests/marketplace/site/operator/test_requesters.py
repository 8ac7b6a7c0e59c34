from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from botocore.exceptions import ClientError
from django.test import Client

from marketplace.models import AccessKey, MoneyEntry, OperatorAction, Requester
from marketplace.verbs import accounts, money
from tests.marketplace.site.operator.conftest import text_of


def page(requester: Requester, more: str = "") -> str:
    return f"/operator/requesters/{requester.customer_id}/{more}"


def test_a_new_requester_s_secret_is_shown_once(desk: Client, token_of: Callable[[str], str]) -> None:
    form = {"name": "The lab", "balance": "250.00", "token": token_of("/operator/requesters/new/")}
    made = desk.post("/operator/requesters/new/", form, follow=True)
    key = AccessKey.objects.get()
    assert f"AWS_SECRET_ACCESS_KEY={key.secret}" in made.content.decode()
    assert "no-store" in made.headers["Cache-Control"]
    assert key.requester.available == 250
    again = desk.post("/operator/requesters/new/", form)
    assert (again.status_code, Requester.objects.count()) == (409, 1)
    reloaded = desk.get(made.redirect_chain[-1][0]).content.decode()
    assert key.secret not in reloaded and "The secret was shown already" in reloaded
    assert key.secret not in desk.get(page(key.requester)).content.decode()


def test_keys_are_made_with_a_label_and_revoked_for_good(
    desk: Client, requester: Requester, token_of: Callable[[str], str], connect: Any, settings: Any
) -> None:
    settings.MARKETPLACE_ACCEPT_ANY_KEY = False
    desk.post(page(requester, "keys/new/"), {"label": "laptop", "token": token_of(page(requester, "keys/new/"))})
    key = requester.access_keys.get(label="laptop")
    client = connect(key.access_key_id, key.secret)
    assert client.get_account_balance()["AvailableBalance"] == "10000.00"
    question = desk.get(f"/operator/keys/{key.pk}/revoke/")
    assert "refused from the next call on" in text_of(question)
    assert client.get_account_balance()
    assert desk.post(f"/operator/keys/{key.pk}/revoke/", follow=True).status_code == 200
    for accept_any in (False, True):
        settings.MARKETPLACE_ACCEPT_ANY_KEY = accept_any
        with pytest.raises(ClientError, match="security token"):
            client.get_account_balance()
    assert desk.post(f"/operator/keys/{key.pk}/revoke/").status_code == 409


def test_the_last_use_of_a_key_is_kept_to_the_hour(requester: Requester, now: datetime) -> None:
    key = requester.access_keys.get()
    for later, expected in ((0, 0), (59, 0), (60, 60)):
        accounts.note_use(AccessKey.objects.get(pk=key.pk), now + timedelta(minutes=later))
        key.refresh_from_db()
        assert key.last_used_at == now + timedelta(minutes=expected)


def test_a_deposit_is_shown_first_and_made_once(
    desk: Client, requester: Requester, token_of: Callable[[str], str]
) -> None:
    first = page(requester, "deposit/?amount=12.50")
    assert "$10,012.50" in text_of(desk.get(first))
    form = {"amount": "12.50", "token": token_of(first)}
    assert desk.post(page(requester, "deposit/"), form).status_code == 302
    assert desk.post(page(requester, "deposit/"), form).status_code == 409
    requester.refresh_from_db()
    assert requester.available == Decimal("10012.50")
    assert [entry.amount for entry in MoneyEntry.objects.order_by("pk")] == [10000, Decimal("12.50")]
    action = OperatorAction.objects.get()
    assert (action.operator_name, action.about, action.requester) == ("olive", "Deposited $12.50", requester)
    assert "Deposited $12.50" in text_of(desk.get(page(requester)))


@pytest.mark.parametrize("amount", ["0", "-5", "1.234", "many", "1000000.01", "1e9", "NaN", "Infinity", ""])
def test_an_amount_that_cannot_be_is_refused_beside_the_field(desk: Client, requester: Requester, amount: str) -> None:
    for answer in (
        desk.get(page(requester, "deposit/"), {"amount": amount}),
        desk.post(page(requester, "deposit/"), {"amount": amount}),
    ):
        assert answer.status_code == 400
        assert 'id="id_amount_error"' in answer.content.decode()
    requester.refresh_from_db()
    assert requester.available == 10000


def test_requesters_are_found_by_name_id_and_key(desk: Client, requester: Requester, now: datetime) -> None:
    accounts.create_requester("Bob", Decimal(0), now)
    for search in ("alic", requester.customer_id.lower(), "alice"):
        found = text_of(desk.get("/operator/requesters/", {"q": search}))
        assert "Alice" in found and "Bob" not in found
    assert "No requester matches" in text_of(desk.get("/operator/requesters/?q=nobody"))


def test_the_ledger_goes_back_page_by_page(desk: Client, requester: Requester, now: datetime) -> None:
    for cents in range(1, 61):
        money.deposit(requester, Decimal(cents) / 100, now)
    newest = desk.get(page(requester, "money/"))
    assert "$0.60" in text_of(newest) and "$0.10 " not in text_of(newest)
    older = desk.get(page(requester, f"money/?before={newest.context['entries'][-1].pk}"))
    assert len(newest.context["entries"]) + len(older.context["entries"]) == 61


def test_a_webhook_s_secret_is_shown_once_and_kept_for_the_same_address(
    desk: Client, requester: Requester, token_of: Callable[[str], str]
) -> None:
    address = page(requester, "webhook/")
    wrong = desk.post(address, {"url": "ftp://example.org/", "token": token_of(address)})
    assert wrong.status_code == 400
    form = {"url": "https://example.org/events"}
    made = desk.post(address, form | {"token": token_of(address)}, follow=True)
    requester.refresh_from_db()
    secret = requester.webhook.secret
    assert secret in made.content.decode()
    assert desk.post(page(requester, "webhook/stop/"), follow=True).status_code == 200
    requester.webhook.refresh_from_db()
    assert not requester.webhook.active
    assert desk.post(address, form | {"token": token_of(address)}).status_code == 302
    requester.webhook.refresh_from_db()
    assert (requester.webhook.active, requester.webhook.secret) == (True, secret)
    assert secret not in desk.get(page(requester)).content.decode()


def test_a_layout_is_pasted_and_looked_at_in_a_frame_of_another_host(
    desk: Client, requester: Requester, token_of: Callable[[str], str]
) -> None:
    address = page(requester, "layouts/new/")
    html = "<!DOCTYPE html><html><head><title>t</title></head><body><p>${passage}</p></body></html>"
    token = token_of(address)
    wrong = desk.post(address, {"name": "Moods", "html": "<style>${x}</style>", "token": token})
    assert wrong.status_code == 400 and "id_html_error" in wrong.content.decode()
    shown = desk.post(address, {"name": "Moods", "html": html, "token": token}, follow=True)
    layout = requester.layouts.get()
    assert layout.layout_id in text_of(shown) and "passage" in text_of(shown)
    frame = shown.context["frame"].url
    assert frame.startswith("http://localhost:8001/frame/layout/")
    inside = Client(headers={"host": "localhost:8001"}).get(frame.removeprefix("http://localhost:8001"))
    assert "<p>passage</p>" in inside.content.decode()
    assert "sandbox" in inside.headers["Content-Security-Policy"]
    assert Client(headers={"host": "localhost:8001"}).get("/frame/layout/guess/").status_code == 404
    assert desk.post(address, {"name": "Moods", "html": html, "token": token}).status_code == 409
