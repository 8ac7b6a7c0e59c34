"""The page at which a worker replies to a message: without a session, for that one message."""

from __future__ import annotations

import pytest
from django.test import Client

from hits.models import InboxEntry, WorkerMessage
from hits.people.models import LONGEST_REPLY
from hits.people.rules.inbox import reply_path
from hits.people.verbs import inbox
from tests.hits import factories as make
from tests.markup import squeezed

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def message() -> WorkerMessage:
    return make.message(subject="About <b>your</b> answers", text="A secret of the lead's.")


@pytest.fixture
def stranger() -> Client:
    """A browser that is signed in nowhere; forged forms are refused wherever CSRF is checked."""
    return Client(enforce_csrf_checks=True)


def test_the_page_shows_the_subject_and_nothing_else_of_the_message(stranger: Client, message: WorkerMessage) -> None:
    make.reply(message, text="Said before.")
    answer = stranger.get(reply_path(message.pk))
    page = squeezed(answer)
    assert "About &lt;b&gt;your&lt;/b&gt; answers" in page and "<textarea" in page
    for hidden in ("A secret", "Said before", message.worker.worker_id, message.project.name):
        assert hidden not in page
    assert (
        "no-store" in answer["Cache-Control"]
        and not answer.cookies
        and "frame-ancestors" in answer.headers["Content-Security-Policy"]
    )


def test_opening_it_writes_nothing_and_posting_keeps_one_reply(stranger: Client, message: WorkerMessage) -> None:
    address = reply_path(message.pk)
    for method in (stranger.get, stranger.head):
        assert method(address).status_code == 200
    assert not InboxEntry.objects.exists()
    sent = stranger.post(address, {"text": "Why?"})
    assert (sent.status_code, sent["Location"]) == (303, f"{address}?sent=1")
    assert "Your reply was sent." in squeezed(stranger.get(sent["Location"]))
    assert (InboxEntry.objects.get().text, InboxEntry.objects.get().message) == ("Why?", message)
    assert stranger.put(address).status_code == 405


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("", 400, "Write something before you send it."),
        ("x" * (LONGEST_REPLY + 1), 400, "A reply has at most 4000 characters."),
        ("x" * 1_000_000, 413, "This is more than a reply can hold."),
        ("字" * 20_000, 413, "This is more than a reply can hold."),
    ],
)
def test_what_is_empty_or_too_long_is_refused_with_what_was_written(
    stranger: Client, message: WorkerMessage, text: str, status: int, said: str
) -> None:
    answer = stranger.post(reply_path(message.pk), {"text": text})
    assert answer.status_code == status and said in squeezed(answer)
    assert len(answer.content) < 20_000 and not InboxEntry.objects.exists()


def test_the_longest_reply_fits_in_any_script(stranger: Client, message: WorkerMessage) -> None:
    said = "字" * LONGEST_REPLY
    body = "text=" + "%E5%AD%97" * LONGEST_REPLY
    answer = stranger.post(reply_path(message.pk), body, content_type="application/x-www-form-urlencoded")
    assert answer.status_code == 303 and InboxEntry.objects.get().text == said


def test_a_body_of_no_known_length_is_read_no_further_than_a_reply(stranger: Client, message: WorkerMessage) -> None:
    answer = stranger.post(reply_path(message.pk), {"text": "Hello"}, CONTENT_LENGTH="-5")
    assert answer.status_code == 413 and not InboxEntry.objects.exists()


def test_the_address_of_another_message_or_of_none_is_a_page_that_says_what_to_do(
    stranger: Client, message: WorkerMessage
) -> None:
    other = make.message()
    forged = reply_path(message.pk).replace(f"/{message.pk}:", f"/{other.pk}:")
    for address in (forged, "/task/reply/x/", f"{reply_path(message.pk)[:-2]}/"):
        for answer in (stranger.get(address), stranger.post(address, {"text": "Hello"})):
            assert answer.status_code == 404 and "No reply can be sent here" in squeezed(answer)
    assert not InboxEntry.objects.exists()


def test_the_eleventh_reply_is_refused_and_what_was_written_stays(stranger: Client, message: WorkerMessage) -> None:
    for number in range(inbox.MOST_REPLIES):
        make.reply(message, text=f"Reply {number}")
    answer = stranger.post(reply_path(message.pk), {"text": "One <i>more</i>"})
    page = squeezed(answer)
    assert answer.status_code == 429 and "no more are taken. Write to lab@example.org instead." in page
    assert "One &lt;i&gt;more&lt;/i&gt;</textarea>" in page


@pytest.mark.parametrize(("language", "said"), [("de", "Antwort absenden"), ("es", "Enviar la respuesta")])
def test_it_is_in_the_language_of_the_browser_or_of_the_stage(
    stranger: Client, message: WorkerMessage, language: str, said: str
) -> None:
    assert said in squeezed(stranger.get(reply_path(message.pk), headers={"Accept-Language": language}))
    message.stage.page_language = language
    message.stage.save()
    assert said in squeezed(stranger.get(reply_path(message.pk)))
