"""Verbs: each change that a lead can make, declared once.

From a declaration come the route of the API with its description, the form on a page and what it posts to, the
permission, the brake, the row of the activity log, the row of docs/verbs.md, and the subcommand of the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from rest_framework import serializers

from hits.core import roles
from hits.core.action_log import record
from hits.core.quotes import PaymentConfirmation, Quote, kept_as
from hits.core.targets import PROJECT, Target
from hits.models import Stage
from hits.projects.rules.archived import refuse_archived

Shape = type[serializers.Serializer[Any]]
REGISTRY: dict[str, Verb] = {}
# Methods of verbs that change fields of their row: a form shows what the row has.
CHANGING = ("PATCH", "PUT")


@dataclass(frozen=True)
class Unchanged:
    """Returned by a verb that found nothing to do: no row of the activity log is written.

    `result` is answered as if it had been done; `sentence` is what a page says instead of the verb's `done`.
    """

    result: Any
    sentence: str = ""


@dataclass(frozen=True, kw_only=True)
class Verb:
    """One change.

    `label` stands in the table of roles and on the button, `summary` in the description of the API and of the command
    line. `method` and `path` are the route, the path behind that of a project. `takes` is the one place that says which
    values are allowed; `gives` is what the API answers, with `status`; `many`: a list of these. `activity` is what the
    activity log says of it: words, then in braces what it was done to: a field of `takes`, the name of `on`, an
    attribute of its row, or `makes`, the name of what the verb makes. `done` is what a page says afterwards: a
    sentence, or a function of what the verb returned and of the values. `confirm` says what cannot be undone: a page
    asks first. `undo` names the verb that takes it back. `leads_to` gives the name of the page that a form leads to,
    its arguments and perhaps a query as a mapping, from what the verb returned; None: the page that the form stands on.
    `shows_once` are fields of `gives` that only that page shows, and once. `see` names the list that shows what becomes
    of it, where work goes on in the background. `refuses` are the codes of what it raises as `Refused`.

    `before` asks others than the database, such as the marketplace, outside of the transaction: it takes the row and
    the values, and what it returns are more values of the function. `quote` is of one that spends: the function takes
    `total` and `confirmation` too, and one confirmation does it once. `quoted_by` names the operation that gives what
    the verb's own fields confirm, such as `total`. `most_bytes` are those of the file of one that takes a file. `pages`
    are names of pages that nobody else opens than who may do it. `detail` is more that the activity's row keeps, of the
    row, what the verb returned and the values. `after` takes the row and what was returned, and runs behind the commit.
    """

    name: str
    label: str
    summary: str
    tag: str
    on: Target[Any]
    role: str
    method: str
    path: str
    do: Callable[..., Any]
    activity: str
    makes: str = ""
    takes: Shape | None = None
    gives: Shape | None = None
    many: bool = False
    status: int = 200
    done: str | Callable[[Any, Mapping[str, Any]], str] = "Done."
    confirm: str = ""
    undo: str = ""
    leads_to: Callable[[Any], Sequence[Any]] | None = None
    shows_once: tuple[str, ...] = ()
    see: str = ""
    refuses: tuple[str, ...] = ()
    while_archived: bool = False
    heavy: bool = False
    pays: bool = False
    before: Callable[..., Mapping[str, Any]] | None = None
    quote: Quote | None = None
    quoted_by: str = ""
    most_bytes: int = 0
    pages: tuple[str, ...] = ()
    detail: Callable[[Any, Any, Mapping[str, Any]], Mapping[str, Any]] | None = None
    after: Callable[[Any, Any], object] | None = None

    @property
    def words(self) -> str:
        """What the activity log says was done."""
        return self.activity.partition("{")[0].strip()

    @property
    def page_path(self) -> str:
        """Behind the project's address: what the form posts to, such as `webhooks/<int:pk>/change/`."""
        noun, _, action = self.name.partition(".")
        noun = noun.replace("_", "-")
        base = self.on.path if noun in self.on.path.split("/") else f"{self.on.path}{noun}/"
        return f"{base}{action.replace('_', '-')}/"

    @property
    def has_form(self) -> bool:
        """Whether a page can ask for its values: for a list of objects it cannot."""
        return not any(isinstance(one, serializers.BaseSerializer) for one in self.fields().values())

    @property
    def takes_file(self) -> bool:
        return any(isinstance(one, serializers.FileField) for one in self.fields().values())

    def fields(self) -> Mapping[str, serializers.Field[Any, Any, Any, Any]]:
        return {name: one for name, one in self.takes().fields.items() if not one.read_only} if self.takes else {}

    def confirmed(self) -> Shape | None:
        """What the API takes: the fields, and of one with a price its confirmation."""
        if not self.quote:
            return self.takes
        bases = (self.takes, PaymentConfirmation) if self.takes else (PaymentConfirmation,)
        return type(f"Confirmed{bases[0].__name__}", bases, {"__doc__": None})

    def sentence(self, result: Any, values: Mapping[str, Any]) -> str:
        """What a page says after it was done."""
        return self.done if isinstance(self.done, str) else self.done(result, values)


def verb(name: str, label: str, *, route: str, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare the function below as a verb; it stays callable as it is, within a transaction of the caller's.

    `route` is such as "POST webhooks/", behind the address of `on`. The function takes the row, locked and read again,
    the user (None: a command of the machine), and the values of `takes` by their names.
    """
    method, _, path = route.partition(" ")

    def declare(do: Callable[..., Any]) -> Callable[..., Any]:
        on = options["on"]
        declared = Verb(name=name, label=label, method=method, path=on.path + path, do=do, **options)
        if name in REGISTRY:
            raise ValueError(f"Two verbs are called {name}.")
        REGISTRY[name] = declared
        pages = frozenset({name, *declared.pages})
        needs = roles.Verb(label, declared.role, pages, frozenset(), declared.while_archived)
        for page in pages:
            roles.declare(needs, page)
        return do

    return declare


def placeholders(sentence: str) -> list[str]:
    return [name for _, name, _, _ in Formatter().parse(sentence) if name]


def perform(verb: Verb, row: Any, user: User | None, values: Mapping[str, Any]) -> Any:
    """Do it in one transaction with its row of the activity log, and return what it returned.

    The caller has checked the role and the values. Raises Refused, ArchivedError and Http404, and what `before` and the
    quote's `ask` raise.
    """
    quote, more = verb.quote, dict[str, Any]()
    if quote:
        key = kept_as(verb.on.project_of(row), values["confirmation"])
        values = {**values, "confirmation": key}
        if earlier := quote.made(verb.on.project_of(row), key):
            return earlier
        asked = {name: value for name, value in values.items() if name not in ("total", "confirmation")}
        more.update(quote.ask(row, **asked))
    if verb.before:
        more.update(verb.before(row, **{**values, **more}))
    with transaction.atomic():
        locked = verb.on.locked(row)
        project = verb.on.project_of(locked)
        if quote:
            if verb.on.owner:
                PROJECT.locked(project)
            # Twice at the same time: the second one waited for the lock of the first.
            if earlier := quote.made(project, key):
                return earlier
        if not verb.while_archived:
            refuse_archived(project)
        result = verb.do(locked, user, **{**values, **more})
        if not isinstance(result, Unchanged):
            rows = [locked] if isinstance(locked, Stage) else None
            record(project, user, verb.words, rows, detail=_detail(verb, locked, result, values))
    if verb.after:
        verb.after(locked, result)
    return result


def _detail(verb: Verb, row: Any, result: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """What the placeholders of the activity name, as text; and of a change, which fields were given."""
    known = {verb.makes: result, verb.on.name: row, **values}
    named = {
        name: str(known[name] if name in known else getattr(row, name)) for name in placeholders(verb.activity)
    }  # fmt: skip
    more = verb.detail(row, result, values) if verb.detail else {}
    return {**named, **({"fields": sorted(values)} if verb.method in CHANGING else {}), **more}
