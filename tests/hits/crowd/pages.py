"""A simulated person at a task's page without a marketplace around it: every screen up to the form that is sent."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings
from django.test import Client

from hits import protocols
from hits.answers.rules.task_links import task_url
from hits.crowd import answering
from hits.crowd.html import parse
from hits.crowd.key import AnswerKey
from hits.crowd.people import Person
from hits.crowd.task_page import read_screen
from hits.models import Hit

MOST_SCREENS = 9


def filled_in(hit: Hit, assignment: str, worker: str, person: Person, key: AnswerKey) -> dict[str, str] | None:
    """What goes to the marketplace; None where the page turns the worker away or the key does not know the task."""
    client, address = Client(), urlsplit(task_url(hit.pk)).path
    (origin,) = settings.MTURK_SUBMIT_ORIGINS[:1]
    frame = {"assignmentId": assignment, "hitId": hit.hit_id, "workerId": worker, "turkSubmitTo": origin}
    reply = client.get(address, frame)
    for _ in range(MOST_SCREENS):
        if reply.status_code == 403:
            return None
        assert reply.status_code == 200, reply.content.decode()
        screen = read_screen(parse(reply.content.decode()), f"http://ours.example{address}")
        found = answering.answer(person, screen, key, protocols.simulated())
        if found is None:
            return None
        fields = {**screen.form.fields, **found.fields}
        if screen.onward is None:
            for tried in found.tries:
                reply = client.post("/task/check/", {**fields, **tried, "page": screen.page_token})
                assert reply.status_code == 422, "What is tried first is there to be refused."
            assert client.post("/task/check/", {**fields, "page": screen.page_token}).json() == {"ok": True}
            return fields
        onward = urlsplit(screen.onward.url)
        reply = client.post(f"{onward.path}?{onward.query}", {**fields, **screen.onward.fields}, follow=True)
    raise AssertionError("The task does not end.")
