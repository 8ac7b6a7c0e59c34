"""Guessing passwords is slow wherever the guesses come from; owners are not locked out."""

import os
import subprocess
import sys
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from common import patience as rules
from marketplace.models import Attempts, Worker
from marketplace.verbs import accounts, clock

RIGHT = {"username": "walter", "password": "worker"}
WRONG = {"username": "walter", "password": "wrong"}
GUESS_IN_A_PROCESS = """
import django; django.setup()
from django.test import Client
print(*(Client().post("/accounts/login/", {"username": "walter", "password": "no"}, HTTP_HOST="127.0.0.1").status_code
        for _ in range(4)))
"""


@pytest.fixture
def moving_clock(settings: Any, worker: Worker) -> None:
    settings.MARKETPLACE_TEST_CONTROLS = True


def try_as(name: str, password: str = "wrong", place: str = "192.0.2.7", client: Client | None = None) -> int:
    form = {"username": name, "password": password}
    return (client or Client()).post("/accounts/login/", form, REMOTE_ADDR=place).status_code


def test_the_sixth_guess_has_to_wait_and_hears_how_long(worker: Worker) -> None:
    for _ in range(rules.SIGN_IN.free):
        assert try_as("walter") == 400
    refused = Client().post("/accounts/login/", RIGHT, REMOTE_ADDR="192.0.2.7")
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["Retry-After"]) <= 5
    assert "Try again in" in refused.text
    assert try_as("walter", "worker", place="198.51.100.1") == 302


def test_capital_letters_are_no_way_around(worker: Worker) -> None:
    statuses = [try_as(name) for name in ("walter", "Walter", "WALTER", " walter", "wALTER", "waltER")]
    assert statuses[-1] == 429


def test_spellings_of_one_name_are_counted_together_and_sign_in_alike(worker: Worker) -> None:
    assert try_as("ｗＡｌｔｅｒ ", "worker") == 302
    spellings = ["walter", "ｗａｌｔｅｒ", "𝔀𝓪𝓵𝓽𝓮𝓻", "Ｗalter", "wａlter", "waｌter"]
    assert [try_as(name) for name in spellings] == [400] * rules.SIGN_IN.free + [429]


def test_a_name_that_looks_alike_shares_no_count_with_another_account(make_worker: Any) -> None:
    make_worker("jessica")
    make_worker("jeßica")
    browser = Client()
    assert try_as("jeßica", "worker", client=browser) == 302
    browser.post("/accounts/logout/")
    statuses = []
    for _ in range(rules.SIGN_IN.free + 1):
        statuses.append(try_as("jessica", client=browser))
        signed_in = Client()
        signed_in.cookies = browser.cookies
        try_as("jeßica", "worker", client=signed_in)
        signed_in.post("/accounts/logout/")
    assert statuses == [400] * rules.SIGN_IN.free + [429]


def test_a_good_sign_in_forgets_the_failures(worker: Worker) -> None:
    for _ in range(rules.SIGN_IN.free - 1):
        try_as("walter")
    assert try_as("walter", "worker") == 302
    assert [try_as("walter") for _ in range(rules.SIGN_IN.free)] == [400] * rules.SIGN_IN.free


def test_a_thousand_seconds_leave_room_for_a_dozen_guesses(moving_clock: None) -> None:
    tried = 0
    for _ in range(50):
        tried += try_as("walter") == 400
        clock.advance(timedelta(seconds=20))
    assert 5 <= tried <= 13


def test_guesses_from_many_places_are_slowed_but_a_known_browser_gets_in(moving_clock: None) -> None:
    home = Client()
    assert try_as("walter", "worker", client=home) == 302
    home.post("/accounts/logout/")
    answers = [try_as("walter", place=f"198.51.100.{n}") for n in range(40)]
    assert answers.count(400) == rules.SIGN_IN_AS_NAME.free
    assert try_as("walter", "worker", place="203.0.113.5") == 429
    assert try_as("walter", "worker", client=home) == 302


def test_a_known_browser_may_not_guess_either(worker: Worker, make_worker: Any) -> None:
    home = Client()
    assert try_as("walter", "worker", client=home) == 302
    home.post("/accounts/logout/")
    assert [try_as("walter", client=home) for _ in range(6)][-1] == 429
    make_worker("olga")
    assert [try_as("olga", client=home) for _ in range(6)][-1] == 429


def test_one_place_that_tries_many_names_is_slowed(worker: Worker) -> None:
    answers = [try_as(f"name{n}") for n in range(rules.SIGN_IN_FROM_ADDRESS.free + 3)]
    assert answers.count(429) == 3


def test_a_good_sign_in_forgives_no_other_names_of_its_place(worker: Worker) -> None:
    for n in range(rules.SIGN_IN_FROM_ADDRESS.free - 1):
        try_as(f"name{n}")
    assert try_as("walter", "worker") == 302
    assert [try_as(f"more{n}") for n in range(3)][-1] == 429


def test_an_address_that_a_visitor_claims_is_not_believed(worker: Worker, settings: Any) -> None:
    settings.MARKETPLACE_PROXIES = 1
    for n in range(6):
        forwarded = f"10.0.0.{n}, 192.0.2.7"
        answer = Client().post("/accounts/login/", WRONG, headers={"X-Forwarded-For": forwarded})
    assert answer.status_code == 429


@pytest.mark.django_db(transaction=True)
def test_processes_count_together(worker: Worker) -> None:
    kept = connection.settings_dict
    url = f"sqlite:///{kept['NAME']}"
    if connection.vendor == "postgresql":
        url = f"postgres://{kept['USER']}:{kept['PASSWORD']}@{kept['HOST']}:{kept['PORT']}/{kept['NAME']}"
    environment = os.environ | {"MARKETPLACE_DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "tests.settings.marketplace"}
    command = [sys.executable, "-c", GUESS_IN_A_PROCESS]
    printed = [subprocess.run(command, env=environment, capture_output=True, text=True).stdout for _ in range(2)]
    assert printed == ["400 400 400 400\n", "400 429 429 429\n"]


@pytest.mark.django_db
def test_signing_up_from_one_place_is_slowed() -> None:
    def sign_up(number: int, place: str) -> int:
        form = {"username": f"nina{number}", "password": "long-enough-7", "email": "", "country": "CA"}
        return Client().post("/accounts/signup/", form, REMOTE_ADDR=place).status_code

    answers = [sign_up(n, "192.0.2.7") for n in range(rules.SIGN_UP.free + 2)]
    assert answers == [302] * rules.SIGN_UP.free + [429] * 2
    assert [sign_up(100 + n, "127.0.0.1") for n in range(12)] == [302] * 12


def test_the_table_of_tries_names_nobody(worker: Worker) -> None:
    try_as("walter")
    kept = str(list(Attempts.objects.values()))
    assert "walter" not in kept and "192.0.2.7" not in kept


def test_the_form_to_sign_up_tells_only_a_few_whether_an_address_has_an_account(db: None) -> None:
    form = {"username": "nina", "password": "short", "email": "walter@example.org", "country": "CA"}
    client = Client(REMOTE_ADDR="192.0.2.9")
    answers = [client.post("/accounts/signup/", form) for _ in range(rules.SIGN_UP_SLIPS.free + 1)]
    assert [answer.status_code for answer in answers] == [400] * rules.SIGN_UP_SLIPS.free + [429]


def test_a_session_left_open_lets_nobody_guess_the_operators_password(db: None) -> None:
    client = Client()
    client.force_login(accounts.create_operator("olive", "long-enough-7"))
    form = {"old_password": "guess", "new_password1": "another-one-8", "new_password2": "another-one-8"}
    statuses = [client.post("/operator/password/", form).status_code for _ in range(rules.PASSWORD.free + 1)]
    assert statuses == [400] * rules.PASSWORD.free + [429]
