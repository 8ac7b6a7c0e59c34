"""Every operation of the description is a command that sends what the description says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from email import message_from_bytes
from email.policy import HTTP
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from annotate_client.cli import Program
from annotate_client.cli.description import Description
from annotate_client.cli.session import Login, Session
from tests.client.scripted import Answer, Asked, Server, serving

TOKEN, MODEL_TOKEN = "annotate_only-for-tests", "model_only-for-tests"
Schema = Mapping[str, Any]
PLAIN = {"string", "integer", "number"}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(Answer()) as made:
        yield made


@pytest.fixture(scope="module")
def program(document: Schema, server: Server) -> Program:
    session = Session()
    session.login, session.description = Login(server.address, TOKEN), Description(document)
    return Program(session, "annotate")


def call(program: Program, *words: str) -> Result:
    env = {"ANNOTATE_MODEL_TOKEN": MODEL_TOKEN}
    return CliRunner().invoke(program, list(words), prog_name="annotate", env=env)


class Case:
    """An operation with a value for each of its parameters: what is typed, and what has to be sent."""

    def __init__(self, document: Schema, method: str, address: str, raw: Schema, file: Path, content_type: str) -> None:
        self.document, self.method, self.raw, self.file = document, method.upper(), raw, file
        self.content_type = content_type
        self.query: dict[str, Any] = {}
        self.body: dict[str, Any] = {}
        self.arguments: list[str] = []
        self.options: list[str] = []
        self.address = address
        self.takes_file = False

    def fill(self, every: bool) -> Case:
        """With all parameters, or only those that are required."""
        in_path = {one["name"]: one for one in self.raw.get("parameters", ()) if one["in"] == "path"}
        for name in [part[1:-1] for part in self.address.split("/") if part.startswith("{")]:
            value = "7" if in_path[name]["schema"]["type"] == "integer" else f"a-{name}"
            self.address = self.address.replace(f"{{{name}}}", value)
            self.arguments.append(value)
        for one in self.raw.get("parameters", ()):
            if one["in"] == "query" and (every or one.get("required")):
                self.query[one["name"]] = self._typed(one["name"], one["schema"])
        body = self._resolved(
            self.raw.get("requestBody", {}).get("content", {}).get(self.content_type, {}).get("schema", {})
        )
        for name, schema in body.get("properties", {}).items():
            is_wanted = every or name in body.get("required", ())
            if is_wanted and not self._resolved(schema).get("readOnly"):
                self._field(name, self._resolved(schema), name in body.get("required", ()))
        return self

    def _field(self, name: str, schema: Schema, is_required: bool) -> None:
        if self.content_type == "multipart/form-data" and schema.get("format") == "uri":
            self.takes_file = True
            # An option where the body may be sent without it, as JSON.
            several = len(self.raw["requestBody"]["content"]) > 1
            self.arguments += [] if several else [str(self.file)]
            self.options += [f"--{name}", str(self.file)] if several else []
        else:
            self.body[name] = self._typed(name, schema)

    def _typed(self, name: str, schema: Schema) -> Any:
        """The value, after its option was added."""
        schema = self._resolved(schema)
        option = f"--{name.replace('_', '-')}"
        if schema.get("type") == "boolean":
            self.options.append(option)
            return True
        if schema.get("type") == "array" and self._resolved(schema["items"]).get("type") in PLAIN:
            values = [self._value(self._resolved(schema["items"]), number) for number in (1, 2)]
            short = f"{option[:-3]}y" if option.endswith("ies") else option.removesuffix("s")
            self.options += [word for value in values for word in (short, str(value))]
            return values
        value = self._value(schema, 1)
        self.options += [option, value if isinstance(value, str) else json.dumps(value)]
        return value

    def _value(self, schema: Schema, number: int) -> Any:
        if "enum" in schema:
            return schema["enum"][-1]
        kind = schema.get("type")
        values = {"string": f"text {number}", "integer": number, "number": number / 2, "array": [{"a": number}]}
        return values.get(str(kind), {"b": [number, None]})

    def _resolved(self, schema: Schema) -> Schema:
        if "$ref" in schema:
            return self._resolved(self.document["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
        inner = [self._resolved(one) for one in (*schema.get("allOf", ()), *schema.get("oneOf", ()))]
        found = next((one for one in inner if one.get("enum") != [""] and one.get("enum") != [None]), {})
        return {**found, **schema}


def words_of(program: Program, identifier: str) -> tuple[str, ...]:
    return program.session.description.operations[identifier].words


def cases(document: Schema, file: Path, every: bool) -> Iterator[Case]:
    for address, methods in document["paths"].items():
        for method, raw in methods.items():
            kinds = raw.get("requestBody", {}).get("content", {"": None}).keys() - {"application/x-www-form-urlencoded"}
            for kind in sorted(kinds):
                yield Case(document, method, address, raw, file, kind).fill(every)


def answer_to(document: Schema, raw: Schema) -> Answer:
    """The least that a program accepts."""
    status, said = next((code, one) for code, one in raw["responses"].items() if code < "300")
    content = said.get("content", {})
    if status == "204":
        return Answer(204, b"")
    if "application/json" not in content:
        return Answer(200, b"content")
    schema = content["application/json"]["schema"]
    fields = document["components"]["schemas"].get(schema.get("$ref", "").rpartition("/")[2], {}).get("properties", {})
    if schema.get("type") == "array":
        return Answer(int(status), [])
    return Answer(int(status), {"results": [], "next": None} if "results" in fields else {"said": "yes"})


def sent_body(asked: Asked) -> Any:
    if not asked.body:
        return None
    kind = asked.headers["Content-Type"]
    if kind.startswith("application/json"):
        return asked.json
    whole = message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + asked.body, policy=HTTP)
    fields: dict[str, list[str]] = {}
    for part in whole.iter_parts():  # type: ignore[attr-defined]
        name = part.get_param("name", header="content-disposition")
        fields.setdefault(name, []).append(part.get_content() if part.get_filename() is None else part.get_filename())
    return fields


def as_form(value: Any) -> list[str]:
    if isinstance(value, list) and not isinstance(value[0], dict):
        return [str(one) for one in value]
    return [json.dumps(value) if isinstance(value, dict | list | bool) else str(value)]


def test_every_operation_is_a_command_of_its_own_whose_help_says_what_it_does(
    program: Program, document: Schema
) -> None:
    every = [raw for methods in document["paths"].values() for raw in methods.values()]
    assert len({words_of(program, raw["operationId"]) for raw in every}) == len(every) > 230
    for raw in every:
        words = words_of(program, raw["operationId"])
        said = call(program, *words, "--help")
        assert said.exit_code == 0, (words, said.output, said.exception)
        assert raw["summary"].split(";")[0].split()[0].lower() in said.output.lower(), words


@pytest.mark.parametrize("every", [True, False], ids=["all parameters", "the required ones"])
def test_every_command_sends_what_the_description_says(
    program: Program, document: Schema, server: Server, tmp_path: Path, every: bool
) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("id,text\n1,one\n")
    faults = []
    for case in cases(document, file, every):
        words = words_of(program, case.raw["operationId"])
        quote = case.raw.get("x-quote")
        server.asked.clear()
        server.answers = [answer_to(document, case.raw)]
        if quote:
            shown = {quote["names"].get(name, name): case.body[name] for name in quote["gives"]}
            server.answers.insert(0, Answer(200, shown))
        confirm = ["--yes"] if quote or case.method == "DELETE" else []
        output = ["--output", str(tmp_path / "written")] if server.answers[-1].body == b"content" else []
        typed = [*words, *case.arguments, *case.options, *confirm, *output]
        said = call(program, *typed)
        if said.exit_code:
            faults.append(f"{' '.join(typed)}: {said.exit_code} {said.output} {said.exception!r}")
            continue
        faults += [f"{' '.join(typed)}: {fault}" for fault in differences(case, server.asked[-1])]
    assert faults == []


def differences(case: Case, asked: Asked) -> Iterator[str]:
    if (asked.method, asked.path) != (case.method, case.address):
        yield f"sent {asked.method} {asked.path} in place of {case.method} {case.address}"
    is_for_models = case.address.startswith("/api/model/")
    if asked.headers.get("Authorization") != (f"Model {MODEL_TOKEN}" if is_for_models else f"Token {TOKEN}"):
        yield f"sent as {asked.headers.get('Authorization')}"
    query = {name: value for name, value in case.query.items() if name != "limit"}
    sent = {name: value for name, value in asked.query.items() if name != "limit"}
    if sent != {name: as_form(value)[-1] for name, value in query.items()}:
        yield f"sent the query {sent} in place of {query}"
    body, expected = sent_body(asked), case.body or (None if not case.content_type else {})
    if case.takes_file:
        expected = {name: as_form(value) for name, value in case.body.items()}
        expected[next(name for name in body if body[name] == [case.file.name])] = [case.file.name]
    if body != expected and not (body is None and expected is None):
        yield f"sent {body} in place of {expected}"
