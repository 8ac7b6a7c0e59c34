"""The page “Terms”: what stands, every version, writing one, withdrawing."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import expect

from hits.judging.rules.summaries import refresh_summary
from hits.models import Project
from tests.axe import violations
from tests.hits import factories as make
from tests.hits.lead_pages import Opener
from tests.markup import squeezed

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project(alice: Any) -> Project:
    return make.project(owner=alice, name="River <b>stories</b>", slug="river")


def url(name: str, *arguments: Any) -> str:
    return reverse(name, args=["river", *arguments])


def test_a_project_without_terms_says_so_and_the_first_text_makes_version_1(
    lead_client: Client, project: Project
) -> None:
    page = squeezed(lead_client.get(url("terms")))
    assert "This project has no terms" in page and "Withdraw the terms" not in page and "Answers under it" not in page
    form = {"text": "We publish **answers**.\r\n\r\n<script>alert(1)</script>", "publish": "yes"}
    page = squeezed(lead_client.post(url("terms"), form, follow=True))
    assert "Version 1 stands." in page and "We publish <strong>answers</strong>." in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page and "<script>alert" not in page
    assert project.terms.get().made_by.get_username() == "alice"
    assert "text of version 1, which stands already" in squeezed(
        lead_client.post(url("terms"), {"text": project.terms.get().text, "publish": "yes"}, follow=True)
    )
    assert project.terms.count() == 1


def test_what_was_written_is_shown_before_it_is_published(lead_client: Client, project: Project) -> None:
    make.terms(project, text="First.")
    page = squeezed(lead_client.post(url("terms"), {"text": "Second **text**\r\n\r\n<b>.</b>"}))
    assert "Second <strong>text</strong>" in page and "&lt;b&gt;.&lt;/b&gt;" in page and "<b>.</b>" not in page
    assert "workers read it at once" in page and "may still finish it under version 1" in page
    assert project.terms.get().text == "First."
    page = squeezed(lead_client.post(url("terms"), {"text": "First."}))
    assert "This is the text of version 1, which stands already." in page and 'name="publish"' not in page


def test_a_previewed_text_is_published_as_it_was_written(opened: Opener, project: Project) -> None:
    for width in (1280, 360):
        page = opened(url("terms"), width)
        page.locator("#id_text").fill(f"First line\n\n* a point at {width}")
        page.get_by_role("button", name="Look at it as workers will").click()
        expect(page.get_by_role("region", name="What you wrote")).to_contain_text(f"a point at {width}")
        assert violations(page) == [] and page.evaluate("document.documentElement.scrollWidth") <= width
        page.get_by_role("button", name="Publish").click()
        expect(page.get_by_role("region", name="as workers read it")).to_contain_text(f"a point at {width}")
        assert project.terms.standing().get().text == f"First line\n\n* a point at {width}"


def test_every_version_is_listed_with_its_answers_and_can_be_read(lead_client: Client, project: Project) -> None:
    first = make.terms(project, text="First _text_.")
    make.terms(project, text="Second text.")
    answer = make.assignment(make.hit(make.item(make.stage(project))), terms=first)
    refresh_summary(answer.stage)
    page = squeezed(lead_client.get(url("terms")))
    assert page.index("Version 2</a>") < page.index("Version 1</a>")
    assert '<td class="n" data-label="Answers under it">1</td>' in page and "Second text." in page
    read = squeezed(lead_client.get(url("terms-version", 1)))
    assert "First <em>text</em>." in read and "First _text_." in read
    assert lead_client.get(url("terms-version", 3)).status_code == 404


def test_a_text_that_is_refused_stays_in_the_form_and_changes_nothing(lead_client: Client, project: Project) -> None:
    make.terms(project, text="First.")
    for text, said in (("", "Write the text of the terms."), ("x" * 20_001, "at most 20,000 are taken")):
        answer = lead_client.post(url("terms"), {"text": text})
        assert answer.status_code == 400 and said in squeezed(answer) and text in squeezed(answer)
    assert project.terms.get().text == "First."


def test_withdrawn_terms_are_asked_of_nobody_and_a_second_time_there_is_nothing(
    lead_client: Client, project: Project
) -> None:
    make.terms(project)
    assert "Version 1 is withdrawn" in squeezed(lead_client.post(url("withdraw-terms"), follow=True))
    page = squeezed(lead_client.get(url("terms")))
    assert "The terms are withdrawn" in page and "Version 1</a>" in page and "Withdraw the terms" not in page
    assert "no terms that stand" in squeezed(lead_client.post(url("withdraw-terms"), follow=True))


def test_a_stage_that_cannot_ask_is_named_before_anything_is_written(lead_client: Client, project: Project) -> None:
    make.stage(project, title="Own <i>page</i>", protocol="html_page")
    assert "“Own &lt;i&gt;page&lt;/i&gt;” shows a page of your own" in squeezed(lead_client.get(url("terms")))


def test_a_reader_reads_and_has_no_form(project: Project, bob: Any) -> None:
    make.member(project, bob, "reader")
    make.terms(project)
    reader = Client()
    reader.force_login(bob)
    page = squeezed(reader.get(url("terms")))
    assert "Version 1, as workers read it" in page and "<textarea" not in page and "Withdraw the terms" not in page
    assert reader.post(url("terms"), {"text": "Mine."}).status_code == 403
    assert project.terms.get().version == 1


def test_the_page_of_a_worker_says_what_they_agreed_to(lead_client: Client, project: Project) -> None:
    stage, worker = make.stage(project), make.worker("AREADER")
    make.assignment(make.hit(make.item(stage)), worker, terms=make.terms(project))
    make.worker_stat(stage, worker)
    page = squeezed(lead_client.get(url("worker", "AREADER")))
    assert "Terms agreed to" in page and 'terms/1/">Version 1</a>' in page and 'small">since <time' in page


@pytest.mark.parametrize("width", [1280, 360])
def test_the_pages_fit_and_are_accessible(opened: Opener, project: Project, width: int) -> None:
    make.terms(project, text="# First\n\n" + "word " * 300 + "\n\n| a | b |\n|---|---|\n| 1 | 2 |")
    make.terms(project, text="# Second\n\n* one\n* two\n\n[a link](https://lab.example)")
    for address in (url("terms"), url("terms-version", 1)):
        page = opened(address, width=width)
        expect(page.locator("h1").first).to_contain_text("Terms for workers")
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
