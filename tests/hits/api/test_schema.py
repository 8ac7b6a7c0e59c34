"""The description of the API is complete, and the page that shows it runs under the strict policy."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from django.core.management import call_command
from jsonschema import Draft202012Validator
from playwright.sync_api import Browser
from rest_framework.test import APIClient

from hits.api.docs import TAGS
from hits.api.urls import urlpatterns


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    text = io.StringIO()
    call_command("spectacular", "--validate", "--fail-on-warn", stdout=text)
    return dict(yaml.safe_load(text.getvalue()))


def test_it_is_generated_without_a_warning_and_names_every_address(schema: dict[str, Any]) -> None:
    described = {name for path in schema["paths"].values() for name in path}
    assert described <= {"get", "post", "put", "patch", "delete"}
    assert len(schema["paths"]) == len(urlpatterns) - len({"schema", "docs", "nowhere"})


def test_every_default_is_a_value_that_may_be_sent(schema: dict[str, Any]) -> None:
    def check(part: Any) -> Iterator[Any]:
        if isinstance(part, dict) and "default" in part and not isinstance(part["default"], dict):
            yield part
        for one in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
            yield from check(one)

    defaults = list(check(schema))
    assert defaults
    for one in defaults:
        kinds = {key: value for key, value in one.items() if key in ("type", "pattern", "minLength", "enum", "minimum")}
        assert one["default"] is None or list(Draft202012Validator(kinds).iter_errors(one["default"])) == [], one


def test_money_is_text(schema: dict[str, Any]) -> None:
    total = schema["components"]["schemas"]["QuoteShape"]["properties"]["total"]
    assert (total["type"], total["format"]) == ("string", "decimal")


def test_every_operation_refuses_in_the_one_shape(schema: dict[str, Any]) -> None:
    for path in schema["paths"].values():
        for operation in path.values():
            for code, answer in operation["responses"].items():
                if int(code) >= 400 and code != "414":
                    assert answer["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Error"}


def test_it_is_served_to_everybody(db: None) -> None:
    answer = APIClient().get("/api/schema/")
    assert answer.status_code == 200
    assert b"operationId: publish" in answer.content


def test_whoever_has_it_already_is_not_sent_it_again(db: None) -> None:
    first = APIClient().get("/api/schema/")
    again = APIClient().get("/api/schema/", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = APIClient().get("/api/schema/", headers={"If-None-Match": '"of another version"'})
    assert (other.status_code, other.content) == (200, first.content)


def test_every_part_of_it_says_what_it_is_for(schema: dict[str, Any]) -> None:
    used = {operation["tags"][0] for path in schema["paths"].values() for operation in path.values()}
    assert {tag["name"] for tag in schema["tags"] if tag["description"]} == used == set(TAGS)


def test_a_quote_is_an_operation_that_answers_with_what_confirms_it(schema: dict[str, Any]) -> None:
    operations = {each["operationId"]: each for path in schema["paths"].values() for each in path.values()}
    quoted = {name: each["x-quote"] for name, each in operations.items() if "x-quote" in each}
    assert {"publish", "bonuses_create", "workers_block", "rule_save"} <= quoted.keys()
    for name, quote in quoted.items():
        shown = _fields(schema, operations[quote["operation"]]["responses"]["200"])
        taken = {field for body in _bodies(operations[name]) for field in _fields(schema, body)}
        for field in quote["gives"]:
            assert field in taken and quote["names"].get(field, field) in shown, name


def test_what_is_waited_for_is_a_field_of_what_is_looked_at_and_no_failure_is_named_that_is_not_answered(
    schema: dict[str, Any],
) -> None:
    operations = {each["operationId"]: each for path in schema["paths"].values() for each in path.values()}
    shown = _fields(schema, operations["rule_show"]["responses"]["200"])
    done = {name: each["x-done"] for name, each in operations.items() if "x-done" in each}
    assert done.keys() == {"rule_save", "rule_judge_again"} and all(one["field"] in shown for one in done.values())
    undone = {name: each["x-undone"] for name, each in operations.items() if "x-undone" in each}
    assert undone.keys() == {"publish"}
    assert all(said.keys() <= operations[name]["responses"].keys() for name, said in undone.items())


def _bodies(operation: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"content": {kind: body}} for kind, body in operation.get("requestBody", {}).get("content", {}).items()]


def _fields(schema: dict[str, Any], said: dict[str, Any]) -> set[str]:
    (content,) = said["content"].values()
    name = content["schema"]["$ref"].rpartition("/")[2]
    return set(schema["components"]["schemas"][name]["properties"])


def test_the_page_shows_in_a_browser_and_breaks_no_policy(live_server: Any, browser: Browser) -> None:
    said: list[str] = []
    page = browser.new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    answer = page.goto(f"{live_server.url}/api/docs/")
    assert answer is not None
    policy = answer.headers["content-security-policy"]
    # Of many operations only those in sight are in the page.
    page.locator(".opblock").first.get_by_role("button").first.click()
    page.get_by_role("button", name="Try it out").wait_for()
    page.close()
    assert said == []
    assert "default-src 'self'" in policy and "unsafe" not in policy
