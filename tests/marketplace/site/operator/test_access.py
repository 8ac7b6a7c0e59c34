from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django.test import Client

from marketplace.models import Invitation, OperatorAction, Panel, PanelEntry, Worker
from tests.marketplace.site.operator.conftest import text_of

NEW = "/operator/invitations/new/"


def test_an_invitation_is_made_handed_out_and_revoked(desk: Client, token_of: Callable[[str], str]) -> None:
    form = {"note": "Students", "uses": "3", "days": "14", "token": token_of(NEW)}
    shown = desk.post(NEW, form, follow=True)
    made = Invitation.objects.get()
    assert made.url in text_of(shown) and "0 of 3" in text_of(shown)
    assert desk.post(NEW, form).status_code == 409
    assert Client().get(f"/join/{made.token}/").status_code == 200
    assert "Who has joined stays" in text_of(desk.post(f"/operator/invitations/{made.pk}/revoke/", follow=True))
    assert "withdrawn" in text_of(Client().get(f"/join/{made.token}/"))
    assert desk.post(f"/operator/invitations/{made.pk}/revoke/").status_code == 409
    assert "Students" not in "".join(OperatorAction.objects.values_list("about", flat=True))


def test_an_invitation_that_cannot_be_meant_is_refused_with_the_reason(
    desk: Client, token_of: Callable[[str], str]
) -> None:
    wrong = desk.post(NEW, {"email": "a@example.org", "uses": "2", "token": token_of(NEW)})
    assert wrong.status_code == 400 and "serves once" in text_of(wrong)
    unknown = desk.post(NEW, {"uses": "1", "qualification": "3NONE", "token": token_of(NEW)})
    assert "No requester has" in text_of(unknown)
    assert not Invitation.objects.exists()


def test_a_panel_link_brings_people_in_until_it_is_closed(
    desk: Client, hit_type: Any, token_of: Callable[[str], str]
) -> None:
    form = {
        "name": "The panel",
        "slug": "spring",
        "parameter": "PARTICIPANT_ID",
        "terms": "Be kind.",
        "completion_url": "https://panel.example.org/done?cc=1&id={outside_id}",
        "group": hit_type.hit_type_id,
        "finish_after": "5",
    }
    shown = desk.post("/operator/panels/new/", form | {"token": token_of("/operator/panels/new/")}, follow=True)
    panel = Panel.objects.get()
    assert panel.url in text_of(shown) and hit_type.title in text_of(shown)
    assert "The links are not signed." in text_of(shown) and "do more than 5 HITs" in text_of(shown)
    again = desk.post("/operator/panels/new/", form | {"token": token_of("/operator/panels/new/")})
    assert again.status_code == 400 and "already" in text_of(again)
    assert "nobody new comes in" in text_of(desk.post("/operator/panels/spring/close/", {"do": "close"}, follow=True))
    assert "closed" in text_of(desk.get("/operator/panels/"))
    desk.post("/operator/panels/spring/close/", {"do": "reopen"})
    panel.refresh_from_db()
    assert panel.closed_at is None


def test_somebody_from_a_panel_is_found_and_paid_by_the_outside_id(
    desk: Client, worker: Worker, token_of: Callable[[str], str], now: Any
) -> None:
    panel = Panel.objects.create(slug="p", name="P", terms="x", completion_url="https://example.org/", created_at=now)
    PanelEntry.objects.create(panel=panel, worker=worker, outside_id="5f3a", consented_at=now, last_seen_at=now)
    Worker.objects.filter(pk=worker.pk).update(earned=Decimal("4.00"))
    assert worker.worker_id in text_of(desk.get("/operator/workers/?q=5F3A"))
    assert "5f3a" in text_of(desk.get(f"/operator/workers/{worker.worker_id}/"))
    run = desk.post("/operator/payouts/new/", {"token": token_of("/operator/owed/")}).headers["Location"]
    assert ",5f3a,4.00,USD" in text_of(desk.get(run + "csv/"))


def test_a_new_password_comes_by_a_link_that_is_shown_once(desk: Client, worker: Worker) -> None:
    address = f"/operator/workers/{worker.worker_id}/reset/"
    assert "Make sure that you know who asks" in text_of(desk.get(address))
    made = desk.post(address, follow=True)
    assert "no-store" in made.headers["Cache-Control"]
    link = made.context["new"]["link"].split("8001", 1)[1]
    assert "The link was shown already" in text_of(desk.get(made.redirect_chain[-1][0]))
    assert Client().get(link, follow=True).status_code == 200


def test_personal_data_is_exported_and_deleted_after_typing_the_id(desk: Client, worker: Worker) -> None:
    page = f"/operator/workers/{worker.worker_id}/"
    exported = desk.post(page + "export/")
    assert exported.json()["account"]["username"] == "walter"
    assert desk.get(page + "export/").status_code == 405
    Worker.objects.filter(pk=worker.pk).update(earned=Decimal("2.00"))
    assert "$2.00 is owed and can be paid to nobody afterwards" in text_of(desk.get(page + "erase/"))
    assert desk.post(page + "erase/", {"confirmation": "A1"}).status_code == 400
    assert "Goes" not in text_of(desk.post(page + "erase/", {"confirmation": worker.worker_id.lower()}, follow=True))
    worker.user.refresh_from_db()
    assert worker.user.username.startswith("deleted-")
    assert "Nobody is owed anything" in text_of(desk.get("/operator/owed/"))
    assert desk.post(page + "erase/", {"confirmation": worker.worker_id}).status_code == 409
    about = list(OperatorAction.objects.filter(worker=worker).values_list("about", flat=True))
    assert about == ["Exported the personal data", "Deleted the personal data"]
