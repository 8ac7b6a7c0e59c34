"""Questions of every kind and layouts, over the wire."""

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from django.core.management import CommandError, call_command

from marketplace.models import HitLayout, HitType, Requester, Worker
from marketplace.rules.questions.xml import parse_stored
from marketplace.verbs import accounts, assignments, layouts
from tests.marketplace.rules.questions.test_forms import REQUIRED, form_xml, question
from tests.marketplace.site.test_frames import PAGE

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.on_postgresql]
ABOUT = {
    "Title": "Read",
    "Description": "Read and answer",
    "Reward": "0.50",
    "LifetimeInSeconds": 3600,
    "AssignmentDurationInSeconds": 600,
}
FORM = form_xml(question("<FreeTextAnswer/>", "name", REQUIRED))


@pytest.fixture
def layout(requester: Requester, now: datetime) -> HitLayout:
    return layouts.register(requester, "passages", "<h1>${title}</h1><p>${text}</p><form><input name='a'></form>", now)


def refusal(call: Callable[[], Any]) -> tuple[str, str, str]:
    with pytest.raises(ClientError) as caught:
        call()
    answer = caught.value.response
    return answer["Error"]["Code"], answer.get("TurkErrorCode", ""), answer["Error"]["Message"]


def values(**given: str) -> list[dict[str, str]]:
    return [{"Name": name, "Value": value} for name, value in given.items()]


@pytest.mark.parametrize(("xml", "kind"), [(PAGE, "html"), (FORM, "form")])
def test_a_question_of_any_kind_comes_back_as_it_was_given(
    mturk: Any, requester: Requester, xml: str, kind: str
) -> None:
    made = mturk.create_hit(**ABOUT, Question=xml)["HIT"]
    assert mturk.get_hit(HITId=made["HITId"])["HIT"]["Question"] == xml
    assert requester.hits.get().question_kind == kind
    assert "HITLayoutId" not in made


def test_a_layout_becomes_a_page_with_the_data_as_text(mturk: Any, layout: HitLayout) -> None:
    given = values(title="A & B", text="<b>]]></b>")
    made = mturk.create_hit(**ABOUT, HITLayoutId=layout.layout_id, HITLayoutParameters=given)["HIT"]
    assert made["HITLayoutId"] == layout.layout_id
    page = parse_stored(made["Question"])[0].text
    assert page == "<h1>A &amp; B</h1><p>&lt;b&gt;]]&gt;&lt;/b&gt;</p><form><input name='a'></form>"
    kind = mturk.create_hit_type(**{name: ABOUT[name] for name in ABOUT if name != "LifetimeInSeconds"})["HITTypeId"]
    again = mturk.create_hit_with_hit_type(
        HITTypeId=kind, LifetimeInSeconds=60, HITLayoutId=layout.layout_id, HITLayoutParameters=given
    )
    assert again["HIT"]["Question"] == made["Question"]


def test_a_raw_layout_becomes_a_page_with_the_data_as_markup(mturk: Any, requester: Requester, now: datetime) -> None:
    layout = layouts.register(requester, "raw", "<div>${text}</div><p ${more}></p>", now, raw=True)
    given = values(text="<b>R&amp;D</b>]]>", more="hidden", id="17")
    made = mturk.create_hit(**ABOUT, HITLayoutId=layout.layout_id, HITLayoutParameters=given)["HIT"]
    page = parse_stored(made["Question"])[0].text or ""
    assert "<div><b>R&amp;D</b>]]></div><p hidden></p>" in page
    assert page.startswith("<form ") and page.endswith("</form>") and 'value="Submit"' in page


def test_a_layout_is_refused_where_something_is_missing_or_not_ones_own(
    connect: Callable[..., Any], mturk: Any, layout: HitLayout, now: datetime
) -> None:
    def create(client: Any = mturk, **more: Any) -> Callable[[], Any]:
        return lambda: client.create_hit(**(ABOUT | {"HITLayoutId": layout.layout_id} | more))

    assert "missing: title, text" in refusal(create())[2]
    assert refusal(create(HITLayoutParameters=values(title="x")))[0] == "ParameterValidationError"
    all_given = values(title="x", text="y")
    assert "more than once" in refusal(create(HITLayoutParameters=[*all_given, *all_given]))[2]
    assert refusal(create(HITLayoutParameters=all_given, Question=PAGE))[0] == "ParameterValidationError"
    accounts.create_requester("Bob", Decimal("100.00"), now, "bob", "secret-of-bob")
    theirs = create(connect("bob", "secret-of-bob"), HITLayoutParameters=all_given)
    assert refusal(theirs)[:2] == ("RequestError", "AWS.MechanicalTurk.HITLayoutDoesNotExist")


def test_without_a_host_for_frames_only_pages_elsewhere_are_taken(mturk: Any, layout: HitLayout, settings: Any) -> None:
    settings.MARKETPLACE_PUBLIC_URL = "https://crowd.example.org"
    for given in (
        {"Question": PAGE},
        {"Question": FORM},
        {"HITLayoutId": layout.layout_id, "HITLayoutParameters": values(title="x", text="y")},
    ):
        code, _, message = refusal(lambda given=given: mturk.create_hit(**ABOUT, **given))
        assert code == "ParameterValidationError" and "MARKETPLACE_FRAMES_URL" in message


def test_no_answer_has_a_file(mturk: Any, hit_type: HitType, hit: Any, worker: Worker, now: datetime) -> None:
    held = assignments.accept(hit_type, worker, now)
    asked = {"AssignmentId": held.assignment_id, "QuestionIdentifier": "photo"}
    assert refusal(lambda: mturk.get_file_upload_url(**asked))[1] == "AWS.MechanicalTurk.InvalidAssignmentState"
    assignments.submit(held.assignment_id, {"a": ["b"]}, now)
    code, turk, message = refusal(lambda: mturk.get_file_upload_url(**asked))
    assert (code, turk) == ("RequestError", "AWS.MechanicalTurk.InvalidParameterValue")
    assert "no uploaded file for the question 'photo'" in message
    unknown = {"AssignmentId": "3NOSUCH", "QuestionIdentifier": "photo"}
    assert refusal(lambda: mturk.get_file_upload_url(**unknown))[1] == "AWS.MechanicalTurk.AssignmentDoesNotExist"


def test_the_command_registers_a_file(requester: Requester, tmp_path: Path) -> None:
    page, said = tmp_path / "page.html", StringIO()
    page.write_text("<p>${text}</p>", encoding="utf-8")
    call_command("registerlayout", "Alice", "passages", str(page), stdout=said)
    made = HitLayout.objects.get()
    assert said.getvalue() == f"HITLayoutId={made.layout_id}\nPlaceholders: text\n"
    assert (made.requester, made.html) == (requester, "<p>${text}</p>")
    assert not made.raw
    page.write_text("<p style='${text}'></p>", encoding="utf-8")
    call_command("registerlayout", "Alice", "raw", str(page), raw=True, stdout=said)
    assert HitLayout.objects.get(name="raw").raw
    for who, file in (("Alice", page), ("Alice", tmp_path / "none.html"), ("Nobody", page)):
        with pytest.raises(CommandError, match="Nothing was registered"):
            call_command("registerlayout", who, "passages", str(file))
    assert HitLayout.objects.count() == 2
