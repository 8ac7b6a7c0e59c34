"""The commands: a group for each noun of the description, and a command for each operation."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from annotate_client.cli import calls
from annotate_client.cli.description import CONFIRMATION, Description, Operation, Parameter, singular
from annotate_client.cli.session import Session

#: What is typed for null, and what stands for it until the request is made.
NULL_WORD = "null"
NULL: Any = object()


class Operations(click.Group):
    """The commands of a noun, or those that have none with the nouns. Each is made when it is wanted."""

    def __init__(
        self, session: Session, name: str | None = None, *, noun: tuple[str, ...] = (), **options: Any
    ) -> None:
        super().__init__(name, no_args_is_help=True, **options)
        self.session = session
        self.noun = noun

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *self._names(self.session.description)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if own := super().get_command(ctx, cmd_name):
            return own
        if cmd_name not in self._names(self.session.description):
            # The server may be newer than what was kept of it.
            self.session.refresh()
            if cmd_name not in self._names(self.session.description):
                return None
        operation = self.session.description.by_words.get((*self.noun, cmd_name))
        return command_of(self.session, operation) if operation else noun_of(self.session, cmd_name)

    def _names(self, description: Description) -> set[str]:
        depth = len(self.noun)
        return {words[depth] for words in description.by_words if words[:depth] == self.noun}


def noun_of(session: Session, noun: str) -> Operations:
    """With what its part of the API is for, and one of its commands as an example."""
    description = session.description
    known = [one for words, one in description.by_words.items() if words[0] == noun]
    example = max(known, key=lambda one: (one.method == "POST", bool(one.bodies), -len(usage(one))))
    said = sentence(description.tags.get(known[0].tag, ""))
    return Operations(session, noun, noun=(noun,), help=said, epilog=f"For example: {usage(example)}")


def command_of(session: Session, operation: Operation) -> click.Command:
    def run(**values: Any) -> None:
        own = calls.Options(**{name: values.pop(name) for name in list(values) if name in COMMON})
        calls.run(session.api_for(operation), session.description, operation, request_of(operation, values), own)

    params = [parameter_of(operation, one) for one in operation.parameters]
    return click.Command(
        operation.words[-1],
        params=[*params, *common_options(operation)],
        callback=run,
        help=sentence(operation.summary),
        short_help=operation.summary,
    )


def usage(operation: Operation) -> str:
    """Such as `annotate webhooks add PROJECT --address TEXT --event TEXT`: what cannot be left out."""
    needed = [one for one in operation.parameters if _is_required(operation, one)]
    shown = [
        _metavar(operation, one) if _is_argument(one) else f"{flag(one)} {_type(one).name.upper()}" for one in needed
    ]
    return " ".join(["annotate", *operation.words, *shown])


def sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].removesuffix('.')}." if text else ""


# Parameters


def parameter_of(operation: Operation, one: Parameter) -> click.Parameter:
    kind, key, is_required = _type(one), f"{one.place}_{one.name}", _is_required(operation, one)
    if _is_argument(one):
        return click.Argument([key], type=kind, required=True, metavar=_metavar(operation, one))
    name = flag(one)
    if one.schema.get("type") == "boolean":
        return click.Option([f"{name}/--no-{name[2:]}", key], default=None, help=_help(one))
    return click.Option([name, key], type=kind, required=is_required, multiple=one.is_list, help=_help(one))


def common_options(operation: Operation) -> Iterator[click.Option]:
    if operation.content_type:
        kind = click.Path(dir_okay=False, path_type=Path)
        yield click.Option(["--output", "-o", "output"], type=kind, help="Write the file there.")
    else:
        yield click.Option(["--json", "form"], flag_value="json", help="As JSON; in a pipe it always is.")
        yield click.Option(["--csv", "form"], flag_value="csv", help="As CSV.")
    if operation.is_paged:
        yield click.Option(["--all", "every"], is_flag=True, help="All rows, however many.")
    if operation.quote or operation.method == "DELETE":
        yield click.Option(["--yes", "yes"], is_flag=True, help="Do it without asking.")
    if 202 in operation.answers:
        yield click.Option(
            ["--wait/--no-wait", "wait"],
            default=True,
            help="Wait until it is done, an hour at most, where the server says when.",
        )


COMMON = frozenset({"form", "output", "every", "yes", "wait"})


def request_of(operation: Operation, values: dict[str, Any]) -> calls.Request:
    """What was typed, as it is sent."""
    request = calls.Request()
    for one in operation.parameters:
        value = values[f"{one.place}_{one.name}"]
        if one.is_list:
            value = _joined(value)
        if value is not None:
            request.put(one.place, one.name, None if value is NULL else value)
    return request


def flag(one: Parameter) -> str:
    return f"--{(singular(one.name) if one.is_list else one.name).replace('_', '-')}"


def _is_argument(one: Parameter) -> bool:
    return one.place == "path" or (one.place == "file" and one.required)


def _is_required(operation: Operation, one: Parameter) -> bool:
    """What a quote gives, and what this program draws, may be left out."""
    quote = operation.quote
    return one.required and one.name != CONFIRMATION and not (quote and one.name in quote.gives)


def _metavar(operation: Operation, one: Parameter) -> str:
    return operation.metavar(one.name) if one.place == "path" else one.name.upper()


def _help(one: Parameter) -> str:
    more = [f"default: {one.schema['default']}"] if one.schema.get("default") not in (None, "", [], False) else []
    more += ["may be repeated"] if one.is_list else []
    return f"{one.help}{f'  [{chr(59).join(more)}]' if more else ''}".strip()


def _type(one: Parameter) -> click.ParamType[Any, Any]:
    if one.place == "file":
        return click.Path(exists=True, dir_okay=False, path_type=Path)
    if one.is_list:
        return _ListType(_plain_type(one.schema["items"]))
    kind = _plain_type(one.schema)
    return _NullableType(kind) if one.schema.get("nullable") else kind


def _plain_type(schema: Any) -> click.ParamType[Any, Any]:
    if "enum" in schema:
        return click.Choice([str(value) for value in schema["enum"] if value is not None])
    kinds: dict[str, click.ParamType[Any, Any]] = {
        "integer": click.INT,
        "number": click.FLOAT,
        "boolean": click.BOOL,
        "string": _TextType(),
    }
    return kinds.get(schema.get("type", ""), _JsonType())


class _TextType(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.5 alone
    """A text; of `@file` the content of the file, of `@-` what comes in."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str) or not value.startswith("@") or (param and str(param.name).startswith("path_")):
            return value
        try:
            return sys.stdin.read() if value == "@-" else Path(value[1:]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            self.fail(f"{value[1:]} cannot be read: {error}", param, ctx)


class _JsonType(_TextType):
    """JSON, or `@file` that holds some."""

    name = "json"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return json.loads(super().convert(value, param, ctx))
        except ValueError as error:
            self.fail(f"This is no JSON: {error}", param, ctx)


class _NullableType(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.5 alone
    """A value, or the word null."""

    def __init__(self, inner: click.ParamType[Any, Any]) -> None:
        self.inner = inner
        self.name = f"{inner.name}|null"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return NULL if value == NULL_WORD else self.inner.convert(value, param, ctx)


class _ListType(_JsonType):
    """One value of a list; or several as a JSON list, such as `[]`, or as `@file` that holds one."""

    def __init__(self, inner: click.ParamType[Any, Any]) -> None:
        self.inner = inner
        self.name = inner.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value).startswith(("[", "@")):
            return self.inner.convert(value, param, ctx)
        values = super().convert(value, param, ctx)
        return values if isinstance(values, list) else self.fail("This is no list.", param, ctx)


def _joined(values: Any) -> list[Any] | None:
    """None where the option was not given at all."""
    if not values:
        return None
    return [one for value in values for one in (value if isinstance(value, list) else [value])]
