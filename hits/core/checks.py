"""What is declared wrongly is refused at start, with a sentence that names the verb."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core import checks

from hits.core import lists, roles, verbs
from hits.core.verbs import Verb, placeholders


@checks.register("verbs")
def check_declarations(app_configs: Any = None, **options: Any) -> list[checks.CheckMessage]:
    found = [sentence for verb in verbs.REGISTRY.values() for sentence in _faults(verb)]
    return [checks.Error(sentence, id="hits.E100") for sentence in [*found, *_twice()]]


def _faults(verb: Verb) -> Iterator[str]:
    if verb.role not in roles.RANKS:
        yield f"The verb {verb.name} names no role that may do it: role= is one of {', '.join(roles.RANKS)}."
    if verb.undo and verb.undo not in verbs.REGISTRY:
        yield f"The verb {verb.name} is undone by {verb.undo}, which is not declared."
    if verb.see and verb.see not in lists.REGISTRY:
        yield f"The verb {verb.name} is watched in {verb.see}, which is not declared."
    if verb.shows_once and (verb.gives is None or set(verb.shows_once) - set(verb.gives().fields)):
        yield f"The verb {verb.name} shows once what it does not give: {', '.join(verb.shows_once)}."
    known = {*verb.fields(), verb.on.name, verb.makes}
    for name in placeholders(verb.activity):
        if name not in known and not hasattr(verb.on.model, name):
            yield f"The activity of {verb.name} names {name}, which is no value and no attribute of its row."


def _twice() -> Iterator[str]:
    """Routes with more than one declaration."""
    routes: dict[tuple[str, str], str] = {}
    declared = [(one.name, "GET", one.path) for one in lists.REGISTRY.values()]
    declared += [(verb.name, verb.method, verb.path) for verb in verbs.REGISTRY.values()]
    for name, method, path in declared:
        if other := routes.get((method, path)):
            yield f"{name} and {other} are both declared as {method} {path}."
        routes[method, path] = name
