"""The pages for what went wrong, called as the project's handlers are."""

from django.test import Client, RequestFactory

from marketplace.site.views import errors


def test_a_broken_page_asks_nothing_of_the_database(rf: RequestFactory) -> None:
    # No database fixture here: a query would fail this test.
    page = errors.server_error(rf.get("/"))
    assert page.status_code == 500
    assert "what you submitted before is kept" in page.text.lower()


def test_each_refusal_has_its_status_and_a_way_on(rf: RequestFactory) -> None:
    for view, status in (
        (errors.bad_request, 400),
        (errors.forbidden, 403),
        (errors.csrf_failure, 403),
        (errors.not_found, 404),
    ):
        page = view(rf.get("/"))
        assert page.status_code == status
        assert 'class="button primary"' in page.text


def test_an_unknown_address_shows_the_sites_own_page(client: Client) -> None:
    answer = client.get("/no/such/page")
    assert answer.status_code == 404
    assert "Nothing here" in answer.text


def test_a_form_without_a_token_shows_the_sites_own_page(db: None) -> None:
    answer = Client(enforce_csrf_checks=True).post("/accounts/login/", {})
    assert answer.status_code == 403
    assert "The form was too old" in answer.text


def test_an_address_without_its_last_slash_leads_on_under_the_pages_policy(client: Client) -> None:
    reply = client.get("/mturk/work/1")
    assert (reply.status_code, reply["Location"]) == (301, "/mturk/work/1/")
    assert "default-src" in reply["Content-Security-Policy"]
