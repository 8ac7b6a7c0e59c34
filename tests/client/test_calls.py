"""How calls are made: errors with their code, repetitions only where they do no harm, lists, streams."""

from __future__ import annotations

from itertools import islice
from typing import Any, cast

import pytest

from annotate_client import (
    AnnotateError,
    Api,
    ApiError,
    BudgetRequestedError,
    Client,
    ConflictError,
    ConnectionFailedError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    NotSignedInError,
    ServerError,
    TooManyCallsError,
    UnexpectedAnswerError,
    api,
)
from annotate_client.shapes import StageShape
from annotate_client.stages import Quote, Stage
from tests.client.scripted import Answer, refusal, serving

TOKEN = "annotate_only-for-tests"
A_MOMENT = 0.2


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "FIRST_PAUSE", 0.01)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, InvalidError),
        (401, NotSignedInError),
        (403, ForbiddenError),
        (404, NotFoundError),
        (409, ConflictError),
        (413, ApiError),
        (429, TooManyCallsError),
        (500, ServerError),
        (503, ServerError),
    ],
)
def test_a_refusal_is_an_error_with_the_code_sentence_and_details_of_the_api(status: int, kind: type[ApiError]) -> None:
    answer = refusal(status, "some_code", "Do something else.", {"left": 3})
    with serving(answer) as server, pytest.raises(ApiError) as caught:
        Api(server.address, TOKEN, retries=0).get("projects/")
    error = caught.value
    assert type(error) is kind
    assert (error.status, error.code, error.message, error.details) == (
        status,
        "some_code",
        "Do something else.",
        {"left": 3},
    )


def test_each_wrong_field_is_told_with_its_reasons() -> None:
    details = {"name": ["Too long.", "Taken."], "budget": ["A valid number is required."]}
    answer = refusal(400, "invalid", "Not accepted: name, budget. Nothing was changed.", details)
    with serving(answer) as server, pytest.raises(InvalidError) as caught:
        Client(server.address, TOKEN).create_project("x", recipe="choice", budget="much", contact_email="a@b.org")
    assert str(caught.value).splitlines() == [
        "Not accepted: name, budget. Nothing was changed.",
        "  name: Too long. Taken.",
        "  budget: A valid number is required.",
    ]


@pytest.mark.parametrize("body", [b"<h1>Bad gateway</h1>", ["not", "an", "object"], {"error": "a text"}, b""])
def test_what_a_proxy_says_is_an_error_without_a_code(body: object) -> None:
    with serving(Answer(502, body)) as server, pytest.raises(ServerError, match="status 502") as caught:
        Api(server.address, TOKEN, retries=0).get("projects/")
    assert caught.value.code == ""


PASSING = [Answer(drop=True), Answer(502, b""), refusal(503, "busy", Retry_After="0"), refusal(429, "throttled")]


@pytest.mark.parametrize("first", [*PASSING, Answer(body={"long": "x" * 100}, cut=20)])
def test_reading_is_tried_again_when_that_may_help(first: Answer) -> None:
    with serving(first, Answer(body={"here": 1})) as server:
        assert Api(server.address, TOKEN).get("projects/") == {"here": 1}
        assert len(server.asked) == 2


@pytest.mark.parametrize("answer", PASSING)
def test_it_is_tried_so_many_times_and_no_more(answer: Answer) -> None:
    with serving(answer) as server, pytest.raises(AnnotateError):
        Api(server.address, TOKEN, retries=2).get("projects/")
    assert len(server.asked) == 3


@pytest.mark.parametrize("answer", [refusal(404, "not_found"), refusal(409, "conflict"), refusal(500, "server_error")])
def test_what_will_be_the_same_again_is_asked_for_once(answer: Answer) -> None:
    with serving(answer) as server, pytest.raises(ApiError):
        Api(server.address, TOKEN).get("projects/")
    assert len(server.asked) == 1


@pytest.mark.parametrize("answer", PASSING)
def test_what_changes_something_is_never_sent_twice(answer: Answer) -> None:
    with serving(answer) as server, pytest.raises(AnnotateError):
        Client(server.address, TOKEN).create_project("x", recipe="choice", budget="1", contact_email="a@b.org")
    assert len(server.asked) == 1


def test_a_server_that_wants_to_be_left_alone_for_long_is_not_waited_for() -> None:
    with serving(refusal(429, "throttled", Retry_After="3600")) as server, pytest.raises(TooManyCallsError) as caught:
        Api(server.address, TOKEN).get("projects/")
    assert caught.value.retry_after == 3600
    assert len(server.asked) == 1


QUOTE = {"items": 5, "total": "0.90", "confirmation": "word-of-the-quote"}


def quoted(address: str) -> tuple[Stage, Quote]:
    """A stage of that server, and a price that it named."""
    stage = Stage(Api(address, TOKEN), "news", {"key": "choose"})  # type: ignore[typeddict-item]
    return stage, Quote("projects/news/stages/choose/", QUOTE)  # type: ignore[arg-type]


def test_publishing_is_repeated_with_the_same_confirmation() -> None:
    now = Answer(body={"key": "choose", "state": "published"})
    with serving(Answer(drop=True), Answer(202, {"id": 1, "state": "publishing"}), now) as server:
        stage, quote = quoted(server.address)
        assert stage.publish(quote, confirm="0.90")["id"] == 1
        assert stage.row == {"key": "choose", "state": "published"}
    bodies = [asked.json for asked in server.asked if asked.method == "POST"]
    assert bodies == [{"items": 5, "total": "0.90", "confirmation": "word-of-the-quote"}] * 2


def test_a_budget_that_an_owner_has_to_raise_is_no_batch() -> None:
    with serving(Answer(200, {"id": 7, "total": "0.90", "budget": "3.00"})) as server:
        stage, quote = quoted(server.address)
        with pytest.raises(BudgetRequestedError, match=r"\$0\.90.*request 7") as caught:
            stage.publish(quote, confirm="0.90")
    assert caught.value.request["budget"] == "3.00"


def test_a_silent_server_is_not_waited_for_for_ever() -> None:
    with serving(Answer(silence=5 * A_MOMENT)) as server, pytest.raises(ConnectionFailedError, match="No answer from"):
        Api(server.address, TOKEN, timeout=A_MOMENT, retries=1).get("projects/")


def test_where_nobody_listens_it_is_said() -> None:
    with serving(Answer()) as server:
        pass
    with pytest.raises(ConnectionFailedError, match="Does it run there"):
        Api(server.address, TOKEN, retries=0).get("projects/")


def test_the_token_does_not_follow_a_redirect() -> None:
    with serving(Answer()) as elsewhere, serving(Answer(302, headers={"Location": elsewhere.address})) as server:
        with pytest.raises(UnexpectedAnswerError, match="sends on to"):
            Api(server.address, TOKEN).get("projects/")
        assert elsewhere.asked == []


def test_what_is_no_json_is_no_annotate() -> None:
    with serving(Answer(body=b"<html>")) as server, pytest.raises(UnexpectedAnswerError, match="is the address right"):
        Api(server.address, TOKEN).get("projects/")


def test_a_list_is_read_page_by_page_and_the_token_goes_to_its_own_address_alone() -> None:
    pages = [
        Answer(body={"results": [1, 2], "next": "http://elsewhere.example.org/api/projects/?after=2&find=news"}),
        Answer(body={"results": [], "next": "http://elsewhere.example.org/api/projects/?after=9&find=news"}),
        Answer(body={"results": [10], "next": None}),
    ]
    with serving(*pages) as server:
        rows = Api(server.address, TOKEN).pages("projects/", find="news", state=None)
        assert list(islice(rows, 2)) == [1, 2]
        assert len(server.asked) == 1
        assert list(rows) == [10]
    assert [asked.query for asked in server.asked] == [
        {"find": "news"},
        {"find": "news", "after": "2"},
        {"find": "news", "after": "9"},
    ]
    assert {asked.headers["Authorization"] for asked in server.asked} == {f"Token {TOKEN}"}


@pytest.mark.parametrize("body", [{"results": 3, "next": None}, [], {"next": None}])
def test_what_is_no_list_is_said(body: object) -> None:
    with serving(Answer(body=body)) as server, pytest.raises(UnexpectedAnswerError, match="did not answer with a list"):
        list(Api(server.address, TOKEN).pages("projects/"))


def test_a_list_that_leads_to_itself_ends() -> None:
    page = {"results": [1], "next": "http://here.example.org/?after=1"}
    with serving(Answer(body=page)) as server, pytest.raises(UnexpectedAnswerError, match="same page"):
        list(Api(server.address, TOKEN).pages("projects/"))


LINES = '{"value": "one\u2028two\x85three"}\n\n{"value": "four"}'.encode()


def test_a_line_ends_with_a_line_feed_and_nothing_else() -> None:
    with serving(Answer(body=LINES)) as server:
        rows = list(Api(server.address, TOKEN).lines("results/"))
    assert rows == [{"value": "one\u2028two\x85three"}, {"value": "four"}]


def test_results_that_break_off_are_no_short_results() -> None:
    with serving(Answer(body=LINES, cut=40)) as server, pytest.raises(ConnectionFailedError, match="broke off"):
        list(Api(server.address, TOKEN).lines("results/"))


def test_a_line_without_an_end_is_not_read_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "LONGEST_LINE", 1000)
    with serving(Answer(body=b"x" * 200_000)) as server, pytest.raises(UnexpectedAnswerError, match="1,000 bytes"):
        list(Api(server.address, TOKEN).lines("results/"))


def test_an_answer_without_an_end_is_not_read_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "LARGEST_ANSWER", 1000)
    with serving(Answer(body=b"1" * 200_000)) as server, pytest.raises(UnexpectedAnswerError, match="1,000 bytes"):
        Api(server.address, TOKEN).get("projects/")


def test_a_path_that_is_a_whole_address_is_refused_so_that_the_token_stays() -> None:
    with serving(Answer()) as elsewhere, pytest.raises(ValueError, match="leads elsewhere"):
        Api("http://localhost:8000", TOKEN).get(f"{elsewhere.address}/api/projects/")
    assert elsewhere.asked == []


def test_names_in_addresses_are_quoted_and_never_lead_elsewhere() -> None:
    assert api.path("projects", "a b/c?d", 7) == "projects/a%20b%2Fc%3Fd/7/"
    for name in ("", ".", ".."):
        with pytest.raises(ValueError, match="names nothing"):
            api.path("projects", name)


@pytest.mark.parametrize("given", ["", "/", "/api", "/api/"])
def test_the_address_may_end_with_api_or_not(given: str) -> None:
    with serving(Answer(body=[])) as server:
        Api(server.address + given, TOKEN).get("projects/")
    assert server.asked[0].path == "/api/projects/"


@pytest.mark.parametrize("address", ["", "localhost:8000", "ftp://localhost", "http://"])
def test_what_is_no_address_is_said(address: str) -> None:
    with pytest.raises(ValueError, match="no address"):
        Client(address, TOKEN)


@pytest.mark.parametrize("token", ["", "  ", "two words", "annotate_\u2026", "a\nb"])
def test_what_is_no_token_is_said(token: str) -> None:
    with pytest.raises(ValueError, match="token"):
        Client("http://localhost:8000", token)


def test_a_token_is_not_shown() -> None:
    assert repr(Client("http://localhost:8000", TOKEN)) == "Client('http://localhost:8000/api/')"


def test_a_missing_setting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANNOTATE_URL", "http://localhost:8000")
    monkeypatch.delenv("ANNOTATE_TOKEN", raising=False)
    with pytest.raises(ValueError, match=r"Set ANNOTATE_TOKEN in"):
        Client.from_environment()


def test_agreement_waits_for_a_run_that_the_server_began_by_itself() -> None:
    def run(pk: int, state: str) -> dict[str, Any]:
        return {"id": pk, "computation": "agreement.choose", "state": state, "done": 0, "total": 1, "error": ""}

    agreement = {"computation": "agreement.choose", "run": 8, "units": []}
    answers = [
        Answer(body=agreement),
        refusal(409, "computation_refused", "It is running already."),
        Answer(body={"next": None, "results": [{**run(9, "running"), "computation": "other"}, run(7, "running")]}),
        Answer(body=run(7, "done")),
        Answer(202, run(8, "queued")),
        Answer(body=run(8, "done")),
        Answer(body=agreement),
    ]
    with serving(*answers) as server:
        stage = Stage(Api(server.address, TOKEN, retries=0), "news", cast(StageShape, {"key": "choose"}))
        assert stage.compute_agreement() == agreement
    runs = "/api/projects/news/computation-runs/"
    assert [(one.method, one.path) for one in server.asked[1:-1]] == [
        ("POST", runs), ("GET", runs), ("GET", f"{runs}7/"), ("POST", runs), ("GET", f"{runs}8/"),
    ]  # fmt: skip


def test_a_refused_agreement_is_refused_where_nothing_is_under_way() -> None:
    refused = refusal(409, "computation_refused", "It does not fit.")
    with serving(
        Answer(body={"computation": "a"}), refused, Answer(body={"next": None, "results": []}), refused
    ) as one:
        stage = Stage(Api(one.address, TOKEN, retries=0), "news", cast(StageShape, {"key": "choose"}))
        with pytest.raises(ConflictError, match="does not fit"):
            stage.compute_agreement()
