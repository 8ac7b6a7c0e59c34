"""The requester's side under fire: its pages and its API, as the lead of a project, as another lead, and as nobody.

Everything runs in this process, so that what a request writes is seen: GET and HEAD may write nothing. Addresses and
forms come from the URLconf and the pages, bodies of the API from its OpenAPI schema.
"""

from __future__ import annotations

import json
import random
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote, urlencode, urljoin, urlsplit

from celery.signals import task_failure
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.signals import got_request_exception
from django.db import connection
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

from annotate.celery import app
from hits.api import base
from hits.models import Project
from hits.mturk.errors import MarketplaceError
from tests.fuzz.report import Report
from tests.fuzz.site import Visitor
from tests.fuzz.values import HOSTILE, HOSTILE_NUMBERS, HOSTILE_TEXTS, Pool
from tests.fuzz.wire import BODIES
from tests.hits import factories
from tests.hits.formats.test_hostile_files import HOSTILE as FILES
from tests.hits.world import FREE, PAGES, VERBS, World, build_world

URL = "http://testserver"
# What the lead's project is called: it stands in no document and in no value that is sent.
SECRET = "Lighthouse keepers of the northern coast"
# What a stranger may be answered about a project of somebody else.
CLOSED = (400, 401, 403, 404, 405, 413, 415, 429)
OPEN_PLACES = ("/sign-in/", "/health/", "/events/", "/task/", "/static/", "/api/schema/", "/api/docs/", "/api/token/")
FIELDS = ("next", "page", "q", "sort", "after", "before", "state", "stage", "worker", "order", "item", "kind", "origin")
FIELDS += ("reward", "total", "confirmation", "amount", "reason", "feedback", "username", "password", "items", "budget")
FIELDS += ("file", "rule", "text", "name", "assignmentId", "workerId", "hitId", "turkSubmitTo", "answers", "workers")
FORMS_WITH_FILES = ("import", "bonus-file", "fill-qualification-test")
PARTS: dict[str, tuple[Any, ...]] = {
    "slug": ("river-news",), "key": ("validate", "revalidate", "ask"), "number": (1,), "name": ("train.json",),
    "username": ("fuzz-lead",), "pk": (1, 1, 1, 2, 3, 4, 5, 6, 2**31, 2**63, 10**25),
    "worker_id": ("AREADER000001", "APOOR00000001"), "computation": ("words",), "held": ("part-one",),
}  # fmt: skip
UNREACHABLE = ("marketplace_unreachable",)


def fuzz(seed: str, stop: Callable[[Report], bool]) -> Report:
    """Attack a world of its own in the database that is set up, until `stop` says so."""
    report, pool, draw = Report(), Pool(), random.Random(seed)
    lead = factories.user("fuzz-lead")
    # A name that is nowhere among the values: a lead who makes the stranger an owner would change the question.
    stranger = factories.user(f"s{draw.randrange(10**12)}")
    world = build_world([lead])
    Project.objects.filter(pk=world.project.pk).update(name=SECRET)
    _learn(world, pool)
    sessions = [("lead", lead), ("stranger", stranger), ("nobody", None)]
    people = [_Person(name, user, draw, report) for name, user in sessions]
    attackers = [a for person in people for a in (Pages(person, world, pool), Api(person, world, pool))]
    with _quick(), _told(report) as crashes:
        while not stop(report) and len(report.failures) < 40:
            attacker = draw.choices(attackers, (5, 5, 2, 2, 1, 1))[0]
            attacker.person.crashes = crashes
            attacker.step()
    return report


def _learn(world: World, pool: Pool) -> None:
    pool.add("slug", world.project.slug)
    for name, value in (("worker", world.worker.worker_id), ("assignment", world.answer.assignment_id)):
        pool.add(name, value)
    pool.add("test", world.test.key)
    pool.add("username", "fuzz-lead")


@contextmanager
def _quick() -> Iterator[None]:
    """No brakes, and background work at once: a request's work is done when it is answered."""
    rates = [(throttle, throttle.rate) for throttle in (base.LeadThrottle, base.HeavyThrottle)]
    before = app.conf.task_always_eager, app.conf.task_eager_propagates
    app.conf.update(task_always_eager=True, task_eager_propagates=False)
    for throttle, _ in rates:
        throttle.rate = "1000000/min"
    try:
        yield
    finally:
        app.conf.update(task_always_eager=before[0], task_eager_propagates=before[1])
        for throttle, rate in rates:
            throttle.rate = rate


@contextmanager
def _told(report: Report) -> Iterator[list[str]]:
    """The last lines of each crash in a request; a task that crashes is a failure by itself."""
    crashes: list[str] = []

    def crashed(**more: Any) -> None:
        crashes.append("".join(traceback.format_exc().splitlines(keepends=True)[-8:]))

    def failed(sender: Any = None, exception: Any = None, einfo: Any = None, **more: Any) -> None:
        if not isinstance(exception, MarketplaceError):
            report.fail(f"task {sender.name}", "\n".join(str(einfo).splitlines()[-8:]))

    got_request_exception.connect(crashed)
    task_failure.connect(failed)
    try:
        yield crashes
    finally:
        got_request_exception.disconnect(crashed)
        task_failure.disconnect(failed)


@dataclass
class _Person:
    """A browser of somebody, signed in again when it has signed out."""

    name: str
    user: Any
    draw: random.Random
    report: Report
    client: Client = field(init=False)
    crashes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.enter()

    def enter(self) -> Any:
        self.client = Client(raise_request_exception=False)
        if self.user:
            self.client.force_login(self.user)
        cache.clear()
        return self

    def request(self, method: str, address: str, **options: Any) -> Any:
        """As a session of `requests` answers."""
        place, query = address.removeprefix(URL), urlencode(options.get("params") or {}, doseq=True)
        path = f"{place}{'&' if '?' in place else '?'}{query}" if query else place
        body, kind = options.get("data", b""), options.get("content_type", "application/x-www-form-urlencoded")
        if isinstance(body, dict):
            body = urlencode(body, doseq=True)
        self.crashes.clear()
        with _writes() as written:
            if isinstance(body, _Files):
                found = self.client.post(path, body.fields)
            else:
                found = self.client.generic(method, path, body, content_type=kind)
            content = b"".join(found.streaming_content) if found.streaming else found.content
        if method in ("GET", "HEAD") and written:
            self.report.fail(f"{self.name} {method} {path[:200]}", f"it wrote: {written[0][:300]}")
        if found.status_code in (302, 401) and self.user and "sign-in" in found.headers.get("Location", "sign-in"):
            self.enter()
        text = content.decode(errors="replace")
        return SimpleNamespace(
            status_code=found.status_code, headers=found.headers, cookies=found.cookies, text=text, content=content,
            url=address, crash="".join(self.crashes),
        )  # fmt: skip

    def problem(self, path: str, answer: Any) -> str:
        if answer.status_code >= 500 and not _is_unreachable(answer):
            return f"status {answer.status_code}\n{answer.crash}"
        if self.name == "lead":
            return ""
        if SECRET in answer.text and not path.startswith("/task/"):
            return f"{self.name} read the name of the lead's project"
        place = urlsplit(path).path
        of_project = place.startswith(("/projects/river-news/", "/api/projects/river-news/"))
        to_sign_in = self.name == "nobody" and answer.status_code == 302
        # An address that lacks its last slash: it alone decides, whether there is such a project or not.
        to_its_slash = answer.status_code == 301 and urlsplit(answer.headers["Location"]).path == f"{place}/"
        if of_project and answer.status_code not in CLOSED and not to_sign_in and not to_its_slash:
            return f"{self.name} was answered {answer.status_code} about the lead's project"
        guarded = not place.startswith(OPEN_PLACES)
        if self.name == "nobody" and guarded and answer.status_code == 200 and not place.startswith("/api/docs"):
            return "nobody was answered"
        return ""


def _is_unreachable(answer: Any) -> bool:
    """The marketplace or the queue was away, and the API says so."""
    if answer.status_code != 503:
        return False
    try:
        return json.loads(answer.text)["error"]["code"] in UNREACHABLE
    except (ValueError, KeyError, TypeError):
        return False


@contextmanager
def _writes() -> Iterator[list[str]]:
    """The statements that write, other than those of a session."""
    found: list[str] = []

    def watch(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.lstrip().split(" ", 1)[0] in ("INSERT", "UPDATE", "DELETE") and "django_session" not in sql:
            found.append(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(watch):
        yield found


@dataclass(frozen=True)
class _Files:
    """A form with files."""

    fields: dict[str, Any]


def _file(draw: random.Random) -> SimpleUploadedFile:
    content = FILES[draw.choice(sorted(FILES))](draw.choice((100, 3000, 30_000)))
    name = draw.choice(("a.csv", "a.jsonl", "a.txt", "a\x00b.csv", "../../a.xml", "x" * 300, "\u202e.json"))
    return SimpleUploadedFile(name, content)


class Pages(Visitor):
    """Follows links, sends forms with anything in them, and guesses addresses."""

    def __init__(self, person: _Person, world: World, pool: Pool) -> None:
        super().__init__(URL, person.enter, person.draw, pool, person.report)
        self.person, self.world = person, world
        self.part = "pages"

    def step(self) -> None:
        if self.draw.random() < 0.05:
            self._send_file()
        else:
            super().step()

    def _send_file(self) -> None:
        name = self.draw.choice(FORMS_WITH_FILES)
        form = {"file": _file(self.draw), "origin": self.draw.choice(("public", "crawled", "\x00"))}
        self._ask("POST", self.world.url(name), data=_Files(form))

    def _guess(self) -> str:
        roll = self.draw.random()
        if roll < 0.6:
            return self.world.url(self.draw.choice([*PAGES, *VERBS, *sorted(FREE)]))
        return super()._guess() if roll < 0.8 else self._bent(self.world.url(self.draw.choice([*PAGES, *VERBS])))

    def _bent(self, path: str) -> str:
        """The address with one of its parts replaced."""
        parts = path.split("/")
        at = self.draw.randrange(1, len(parts))
        parts[at] = quote(self.draw.choice(HOSTILE_TEXTS).encode("utf-8", "replace")[:500], safe="")
        return "/".join(parts)

    def _argument(self, part: str) -> str:
        name = part.strip("<>").rpartition(":")[2].rstrip(">")
        if name in PARTS and self.draw.random() < 0.6:
            return quote(str(self.draw.choice(PARTS[name])), safe="")
        return super()._argument(part)

    def _fields(self) -> dict[str, list[str]]:
        names = self.draw.sample(FIELDS, self.draw.randint(0, 5))
        return {name: [self._value(self.draw.choice(("", "1", "0.10", "validate")))] for name in names}

    def _ask(self, method: str, path: str, **options: Any) -> None:
        address = urljoin(URL, path)
        if not address.startswith(URL):
            return
        answer = self.person.request(method, address, **options)
        self.report.count(f"pages, {self.person.name}", f"{method} {self._shape(path)}", answer.status_code)
        # The API has no policy of its own to check, and no pages to read.
        of_api = urlsplit(address).path.startswith("/api/")
        problem = self.person.problem(path, answer) or ("" if of_api else self._problem(answer))
        if problem and not (_is_unreachable(answer)):
            self.report.fail(f"{self.person.name} {method} {path[:300]}", f"{problem}\n  sent {str(options)[:1500]}")
        if answer.status_code in (302, 303):
            self.links.append(urljoin(path, answer.headers["Location"]))
        elif answer.status_code == 200 and "html" in answer.headers.get("Content-Type", "") and not of_api:
            self._read(path, answer.text)
        del self.links[:-80], self.forms[:-40]


class Api:
    """Calls every operation of the schema, most of them with something wrong."""

    def __init__(self, person: _Person, world: World, pool: Pool) -> None:
        self.person, self.world, self.pool, self.draw = person, world, pool, person.draw
        schema = SchemaGenerator().get_schema(request=None, public=True)
        self.shapes = schema["components"]["schemas"]
        self.operations = [
            (path, method, operation) for path, found in schema["paths"].items() for method, operation in found.items()
        ]

    def step(self) -> None:
        path, method, operation = self.draw.choice(self.operations)
        spite = self.draw.choice((0, 0, 0.1, 0.4))
        address = self._address(path, operation, spite)
        body, kind = self._body(operation, spite)
        answer = self.person.request(method.upper(), URL + address, data=body, content_type=kind)
        name = f"{method.upper()} {operation['operationId']}"
        self.person.report.count(f"api, {self.person.name}", name, answer.status_code)
        problem = self.person.problem(address, answer) or self._problem(answer)
        if problem:
            self.person.report.fail(
                f"{self.person.name} {name} {address[:300]}", f"{problem}\n  sent {str(body)[:800]}"
            )

    def _problem(self, answer: Any) -> str:
        """Every refusal has the one shape."""
        if answer.status_code < 400:
            return ""
        try:
            return "" if set(json.loads(answer.text)["error"]) == {"code", "message", "details"} else "another shape"
        except (ValueError, KeyError, TypeError):
            return f"a refusal of another shape: {answer.text[:300]}"

    def _address(self, path: str, operation: Any, spite: float) -> str:
        query = {}
        for one in operation.get("parameters", []):
            value = self._value(one["schema"], one["name"], spite)
            if one["in"] == "path":
                path = path.replace("{" + one["name"] + "}", quote(_plain(self._part(one["name"], spite)), safe=""))
            elif self.draw.random() < 0.4:
                query[one["name"]] = _plain(value)
        return f"{path}?{urlencode(query)}" if query else path

    def _part(self, name: str, spite: float) -> Any:
        if self.draw.random() < spite:
            return self.draw.choice(HOSTILE_TEXTS) or "x"
        if name in ("test", "held"):
            return self.world.test.key
        return self.draw.choice(PARTS.get(name, ("1",)))

    def _body(self, operation: Any, spite: float) -> tuple[Any, str]:
        if self.draw.random() < 0.03:
            return self.draw.choice(BODIES), "application/json"
        content = operation.get("requestBody", {}).get("content", {})
        if not content:
            return b"", "application/json"
        kind = self.draw.choice(sorted(content))
        value = self._value(content[kind]["schema"], "", spite)
        if kind == "multipart/form-data" and isinstance(value, dict):
            fields = {name: _plain(inner) for name, inner in value.items() if inner is not None}
            return _Files(fields | ({"file": _file(self.draw)} if self.draw.random() < 0.95 else {})), kind
        return json.dumps(value).encode(), "application/json"

    def _value(self, shape: Any, name: str, spite: float, depth: int = 0) -> Any:
        if self.draw.random() < spite:
            return self._wrong(shape)
        if "$ref" in shape:
            return self._value(self.shapes[shape["$ref"].rpartition("/")[2]], name, spite, depth)
        for several in ("oneOf", "anyOf", "allOf"):
            if several in shape:
                return self._value(self.draw.choice(shape[several]), name, spite, depth)
        if "enum" in shape:
            return self.draw.choice(shape["enum"])
        kind = shape.get("type")
        if kind == "object":
            return self._object(shape, spite, depth)
        if kind == "array":
            return [self._value(shape["items"], name, spite, depth + 1) for _ in range(self.draw.choice((0, 1, 1, 2)))]
        if kind == "integer":
            return self.draw.choice((1, 1, 2, 3, 10, shape.get("minimum", 1)))
        if kind == "boolean":
            return self.draw.random() < 0.5
        if kind == "number":
            return self.draw.choice((0.5, 1, 2.5))
        return self._text(shape, name)

    def _object(self, shape: Any, spite: float, depth: int) -> dict[str, Any]:
        found = {}
        for name, inner in shape.get("properties", {}).items():
            if name in shape.get("required", ()) or self.draw.random() < 0.5:
                found[name] = self._value(inner, name, spite, depth + 1)
        if shape.get("additionalProperties") and depth < 4:
            found[self.draw.choice(("a", "shuffle", "question", "\ud800"))] = self.draw.choice(HOSTILE)
        return found

    def _text(self, shape: Any, name: str) -> str:
        if shape.get("format") == "decimal":
            return self.draw.choice(("0.05", "1.00", "12.50", "100.00"))
        if shape.get("format") == "date-time":
            return self.draw.choice(("2030-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59+14:00"))
        if name in ("password", "username"):
            return self.draw.choice(("fuzz-lead", "nobody", "correct horse"))
        likely = ("yes", "1", "AREADER000001", "validate", "Reading test", "a-test", self.pool.any(self.draw))
        return self.draw.choice(likely)

    def _wrong(self, shape: Any) -> Any:
        roll = self.draw.random()
        if roll < 0.2:
            return self.draw.choice(HOSTILE)
        if roll < 0.4 or shape.get("type") in ("integer", "number"):
            return self.draw.choice(HOSTILE_NUMBERS)
        if roll < 0.5:
            return json.loads("[" * 40 + "]" * 40)
        return self.draw.choice(HOSTILE_TEXTS)


def _plain(value: Any) -> str:
    """As a program writes it into an address or a form."""
    text = value if isinstance(value, str) else json.dumps(value)
    return text.encode("utf-8", "replace").decode()
