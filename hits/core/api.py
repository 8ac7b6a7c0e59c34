"""The routes of the API that follow from the declarations of verbs and lists."""

from __future__ import annotations

import uuid
from collections import defaultdict
from dataclasses import dataclass
from typing import Any, ClassVar

from django.core.exceptions import RequestDataTooBig
from django.urls import URLPattern, path
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from hits.api.base import ProjectView, QuotedBy, Started, operation, started
from hits.api.paging import PageQuery, asked, page, page_of, sent
from hits.core import lists, roles, verbs
from hits.core.lists import List, Reading
from hits.core.verbs import Shape, Unchanged, Verb
from hits.projects.rules.archived import refuse_archived


@dataclass(frozen=True)
class Pricing:
    """What answers the price of a verb."""

    verb: Verb


Declared = Verb | Pricing | List | Reading
# What a form adds around its file: boundaries, headers and the other fields.
FORM_BYTES = 64 * 1024


# The verb or list of a method is in `declared`; the guard of ProjectView has run before a handler does.
class DeclaredView(ProjectView):
    declared: ClassVar[dict[str, Declared]]
    # Of a body with a file in it.
    most_bytes: ClassVar[int] = 0

    def refuse_large_body(self, length: int) -> None:
        if not self.most_bytes:
            super().refuse_large_body(length)
        elif length > self.most_bytes + FORM_BYTES:
            raise RequestDataTooBig(f"At most {self.most_bytes / 1e6:,.1f} MB are taken at once. Split the file.")

    def needed(self) -> roles.Verb | None:
        found = self.declared["GET" if self.request.method == "HEAD" else str(self.request.method)]
        verb = found.verb if isinstance(found, Pricing) else found
        name = verb.name if isinstance(verb, Verb) else verb.by if isinstance(verb, Reading) else ""
        return roles.declared(name) if name else roles.LOOK

    def context(self) -> dict[str, Any]:
        return {"request": self.request, "role": self.project.role}


def routes(before: str) -> list[URLPattern]:
    """One for each address; it is named after what is declared first there. `before` is the address of a project."""
    by_path: dict[str, dict[str, Declared]] = defaultdict(dict)
    for read in lists.REGISTRY.values():
        by_path[read.path]["GET"] = read
    for verb in verbs.REGISTRY.values():
        by_path[verb.path][verb.method] = verb
        if verb.quote:
            by_path[f"{verb.path}quote/"][verb.method] = Pricing(verb)
    return [
        path(before + address, _view(declared).as_view(), name=_name(declared)) for address, declared in by_path.items()
    ]


def _name(declared: dict[str, Declared]) -> str:
    first = next(iter(declared.values()))
    if isinstance(first, Pricing):
        assert first.verb.quote
        return first.verb.quote.name
    return first.name


def _view(declared: dict[str, Declared]) -> type[DeclaredView]:
    handlers: dict[str, Any] = {method.lower(): _handler(found) for method, found in declared.items()}
    verbs = {method: found for method, found in declared.items() if isinstance(found, Verb)}
    braked: dict[str, Any] = {
        "heavy": frozenset(
            method
            for method, found in declared.items()
            if (isinstance(found, Pricing) or (not isinstance(found, List) and found.heavy))
        ),
        "pays": frozenset(method for method, verb in verbs.items() if verb.pays),
    }
    if most := max((verb.most_bytes for verb in verbs.values()), default=0):
        braked |= {"most_bytes": most, "parser_classes": [MultiPartParser]}
    name = _name(declared).title().replace(".", "").replace("_", "")
    return type(name, (DeclaredView,), {"declared": declared, **braked, **handlers})


def _handler(found: Declared) -> Any:
    if isinstance(found, Verb):
        return _of_verb(found)
    if isinstance(found, Pricing):
        return _of_price(found.verb)
    return _of_list(found) if isinstance(found, List) else _of_row(found)


def _of_verb(verb: Verb) -> Any:
    # Statuses of its refusals: the role, a row that is not there, and what the row or the project is in.
    refuses = [403, 404, *([409] if verb.refuses or not verb.while_archived else []), *([503] if verb.before else [])]
    takes = verb.confirmed()
    quoted = _quoted_by(verb) if verb.quoted_by else None
    if verb.quote:
        quoted = QuotedBy(verb.quote.name.replace(".", "_"), gives=("total", "confirmation"))

    @operation(
        verb.name.replace(".", "_"),
        verb.summary,
        tag=verb.tag,
        takes={"multipart/form-data": takes} if verb.takes_file else takes,
        answer=Started if verb.see else _described(verb),
        code=202 if verb.see else verb.status,
        refuses=refuses,
        quote=quoted,
    )
    def handle(view: DeclaredView, request: Request, **parts: Any) -> Response:
        row = _row(view, verb, parts)
        values = _values(view, takes, row)
        result = verbs.perform(verb, row, view.user, values)
        result = result.result if isinstance(result, Unchanged) else result
        if verb.see:
            return started(verb.sentence(result, values), view.address(verb.see, *verb.on.arguments(row)[1:]))
        body = verb.gives(result, many=verb.many, context=view.context()).data if verb.gives else None
        return Response(body, status=verb.status)

    return handle


def _quoted_by(verb: Verb) -> QuotedBy:
    """What it confirms was answered before, but for the confirmation itself, which the caller makes."""
    return QuotedBy(verb.quoted_by, gives=tuple(name for name in verb.fields() if name != "confirmation"))


def _described(found: Verb | Reading) -> Any:
    return found.gives(many=True) if found.gives and found.many else found.gives


def _of_price(verb: Verb) -> Any:
    quote = verb.quote
    assert quote

    @operation(
        quote.name.replace(".", "_"),
        quote.summary,
        tag=verb.tag,
        takes=verb.takes,
        answer=quote.gives,
        refuses=[403, 404, 409],
    )
    def handle(view: DeclaredView, request: Request, **parts: Any) -> Response:
        row = _row(view, verb, parts)
        refuse_archived(view.project)
        found = quote.price(row, **quote.ask(row, **_values(view, verb.takes, row)))
        return Response(quote.gives({**vars(found), "confirmation": str(uuid.uuid4())}, context=view.context()).data)

    return handle


def _values(view: DeclaredView, takes: Shape | None, row: Any) -> dict[str, Any]:
    """Raises ValidationError."""
    return sent(view.request, takes, **view.context(), row=row) if takes else {}


def _row(view: DeclaredView, declared: Verb | List | Reading, parts: dict[str, Any]) -> Any:
    """What the address names, beside the project. Raises Http404."""
    return declared.on.find(view.project, **{name: value for name, value in parts.items() if name != "slug"})


def _of_list(found: List) -> Any:
    query = type(f"{found.filters.__name__}Query", (found.filters, PageQuery), {}) if found.filters else PageQuery

    @operation(
        found.name.replace(".", "_"),
        found.summary,
        tag=found.tag,
        query=query,
        answer=page_of(found.gives),
        refuses=[*found.refuses, 404],
    )
    def handle(view: DeclaredView, request: Request, **parts: Any) -> Response:
        rows = found.filtered(_row(view, found, parts), asked(request, query))
        return page(request, rows, found.gives, role=view.project.role)

    return handle


def _of_row(found: Reading) -> Any:
    @operation(
        found.name.replace(".", "_"),
        found.summary,
        tag=found.tag,
        query=found.query,
        answer=_described(found),
        refuses=[403, 404] if found.by else [404],
    )
    def handle(view: DeclaredView, request: Request, **parts: Any) -> Response:
        row = _row(view, found, parts)
        values = asked(request, found.query) if found.query else {}
        read = found.read(row, **values) if found.read else row
        return Response(found.gives(read, many=found.many, context=view.context()).data)

    return handle
