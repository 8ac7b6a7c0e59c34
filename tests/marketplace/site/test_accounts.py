from collections.abc import Callable

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from marketplace.models import Worker

FORM = {"username": "nina", "password": "long-enough-7", "email": "", "country": "CA"}


@pytest.fixture
def visitor(db: None) -> Client:
    return Client()


def test_signing_up_makes_a_worker_and_signs_in(visitor: Client) -> None:
    answer = visitor.post("/accounts/signup/", FORM | {"email": "nina@example.org"}, follow=True)
    worker = Worker.objects.get(user__username="nina")
    assert (worker.country, worker.user.email) == ("CA", "nina@example.org")
    assert answer.redirect_chain == [("/", 302)]
    assert answer.context["worker"] == worker


def test_signing_up_goes_on_to_the_page_that_was_asked_for(visitor: Client) -> None:
    assert visitor.post("/accounts/signup/", FORM | {"next": "/worker/"}).headers["Location"] == "/worker/"


def test_it_never_goes_on_to_another_site(visitor: Client) -> None:
    assert visitor.post("/accounts/signup/", FORM | {"next": "https://evil.example/"}).headers["Location"] == "/"


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("username", "", "required"),
        ("username", "Walter", "taken"),
        ("username", "ｗａｌｔｅｒ", "taken"),
        ("username", "two words", "valid username"),
        ("password", "short", "too short"),
        ("password", "password1", "too common"),
        ("email", "nobody", "valid email"),
        ("country", "XX", "valid choice"),
    ],
)
def test_it_says_what_is_wrong_with_a_sign_up(
    visitor: Client, worker: Worker, field: str, value: str, says: str
) -> None:
    answer = visitor.post("/accounts/signup/", FORM | {field: value})
    assert answer.status_code == 400
    assert says in str(answer.context["form"].errors[field])
    assert Worker.objects.count() == 1


def test_signing_in_and_out(visitor: Client, worker: Worker) -> None:
    assert visitor.get("/").headers["Location"] == "/accounts/login/?next=/"
    visitor.post("/accounts/login/", {"username": "walter", "password": "worker"})
    assert visitor.get("/").status_code == 200
    assert visitor.get("/accounts/logout/").status_code == 405
    visitor.post("/accounts/logout/")
    assert visitor.get("/").status_code == 302


def test_an_account_without_a_worker_is_told_so(sign_in: Callable[..., Client], db: None) -> None:
    visitor = Client()
    visitor.force_login(get_user_model().objects.create_user("lead"))
    answer = visitor.get("/")
    assert answer.status_code == 403
    assert "Sign out" in answer.text


def test_a_laptop_is_sent_to_the_one_name_of_the_site(worker: Worker) -> None:
    browser = Client(HTTP_HOST="localhost:8001")
    moved = browser.get("/accounts/login/?next=/worker/")
    assert moved.headers["Location"] == "http://127.0.0.1:8001/accounts/login/?next=/worker/"
    assert Client(HTTP_HOST="localhost:9001").get("/accounts/login/").status_code == 200


@pytest.mark.parametrize(
    "path",
    ["/", "/mturk/preview?groupId=x", "/worker/", "/worker/earnings/", "/worker/qualifications/", "/worker/profile/"],
)
def test_a_visitor_is_asked_to_sign_in(visitor: Client, path: str) -> None:
    assert visitor.get(path).headers["Location"].startswith("/accounts/login/?next=")


@pytest.mark.parametrize("path", ["/mturk/accept", "/mturk/work/1/return/", "/mturk/auto-accept/"])
def test_a_visitor_can_post_nothing(visitor: Client, path: str) -> None:
    assert visitor.post(path).headers["Location"] == "/accounts/login/?next=/"


@pytest.mark.parametrize("path", ["/mturk/accept", "/mturk/work/1/return/", "/mturk/auto-accept/", "/accounts/logout/"])
def test_a_get_changes_nothing(client: Client, path: str) -> None:
    assert client.get(path).status_code == 405
