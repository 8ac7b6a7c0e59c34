"""One call: what it would do is shown and confirmed, then it is made, waited for, and its answer printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

import click

from annotate_client.api import Api
from annotate_client.api import path as address_of
from annotate_client.cli import output
from annotate_client.cli.description import CONFIRMATION, FORM, JSON, Description, Look, Operation
from annotate_client.cli.session import FailedError
from annotate_client.errors import fault_line
from annotate_client.progress import Progress, watch

#: Rows of a list without --all and --limit, and the most that the server gives at once.
USUAL_ROWS, MOST_AT_ONCE = 100, 500
#: So long a job is waited for; it goes on at the server.
WAIT_SECONDS = 3600.0


@dataclass(frozen=True)
class Request:
    """What is sent, by the names of the description; what is not given is left out."""

    parts: dict[str, Any] = field(default_factory=dict)
    query: dict[str, Any] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)
    files: dict[str, Path] = field(default_factory=dict)

    def put(self, place: str, name: str, value: Any) -> None:
        places = {"path": self.parts, "query": self.query, "body": self.body, "file": self.files}
        places[place][name] = _as_field(value) if place == "query" else value


@dataclass(frozen=True)
class Options:
    """Of every command. `form` is `json`, `csv` or empty."""

    form: str = ""
    every: bool = False
    yes: bool = False
    wait: bool = True
    output: Path | None = None


def run(api: Api, description: Description, operation: Operation, request: Request, options: Options) -> None:
    """Raises AnnotateError, FailedError and click.UsageError."""
    if operation.quote or operation.method == "DELETE":
        _confirm(api, operation, request, options)
    if any(one.name == CONFIRMATION for one in operation.parameters):
        request.body.setdefault(CONFIRMATION, str(uuid4()))
    if operation.content_type:
        _download(api, operation, request, options)
    elif operation.is_paged:
        _list(api, operation, request, options)
    else:
        status, answer = send(api, operation, request)
        look = description.reader_of(operation, request.parts, answer) if status == 202 else None
        if look and options.wait and (is_over := _end_of(operation, look)):
            answer, look = _finished(api, look, is_over), None
        _print(answer, options)
        if why := operation.undone(status):
            raise FailedError(why)
        if look:
            output.note(f"It goes on at the server. Look with: {look.command}")


def send(api: Api, operation: Operation, request: Request) -> tuple[int, Any]:
    """Status and JSON of the answer."""
    path = path_of(operation, request.parts)
    if FORM in operation.bodies and (request.files or JSON not in operation.bodies):
        fields = {name: _as_field(value) for name, value in request.body.items()}
        with ExitStack() as stack:
            files = {name: (file.name, stack.enter_context(_reading(file))) for name, file in request.files.items()}
            return api.send_form(path, files, fields)
    body = request.body if operation.bodies else None
    return api.call(operation.method, path, params=request.query, body=body, repeatable=operation.is_repeatable)


def path_of(operation: Operation, parts: Mapping[str, Any]) -> str:
    """Relative to /api/. A name of a file may have slashes. Raises ValueError for a part that would lead elsewhere."""
    pieces = [piece for piece in operation.path.split("/") if piece]
    values = [str(parts[piece[1:-1]]) if piece.startswith("{") else piece for piece in pieces]
    return address_of(*(part for value in values for part in value.split("/")))


def _as_field(value: Any) -> Any:
    """Of a form or an address: texts, and JSON for what is nested."""
    is_nested = isinstance(value, dict) or (isinstance(value, list) and any(isinstance(one, dict) for one in value))
    return json.dumps(value) if is_nested else value


# Confirming


def _confirm(api: Api, operation: Operation, request: Request, options: Options) -> None:
    """Show what it would do, ask, and fill in what confirms it. Raises FailedError where the answer is no."""
    if quote := operation.quote:
        asked = _asked_for(quote.operation, quote.names, request)
        shown = send(api, quote.operation, asked)[1]
        for line in output.lines(shown):
            output.note(line)
        if shown.get("problems"):
            raise FailedError("Nothing was sent.")
        for name in quote.gives:
            # What the quote was asked for counts as it answers: of 5 items perhaps 3 are left.
            if name not in request.body or name in asked.query:
                request.body[name] = shown[quote.names.get(name, name)]
    if options.yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError("Nothing was sent: confirm it with --yes.")
    if not click.confirm("Go ahead?", err=True):
        raise FailedError("Nothing was sent.")


def _asked_for(operation: Operation, names: Mapping[str, str], request: Request) -> Request:
    """The request of a quote, of the same values."""
    own_names = {theirs: own for own, theirs in names.items()}
    given = {**request.query, **request.body, **request.files, **request.parts}
    asked = Request()
    for one in operation.parameters:
        name = own_names.get(one.name, one.name)
        if name in given:
            asked.put(one.place, one.name, given[name])
    return asked


# Answers


def _print(answer: Any, options: Options) -> None:
    if answer is None:
        if sys.stdout.isatty():
            output.note("Done.")
    elif isinstance(answer, list):
        output.show_rows(answer, options.form)
    elif set(answer) == {"results"}:
        output.show_rows(answer["results"], options.form)
    else:
        output.show(answer, options.form)


def _list(api: Api, operation: Operation, request: Request, options: Options) -> None:
    most = None if options.every else request.query.get("limit", USUAL_ROWS)
    # One more than is shown, to know whether there are more.
    request.query["limit"] = MOST_AT_ONCE if most is None else min(most + 1, MOST_AT_ONCE)
    rows = api.pages(path_of(operation, request.parts), **request.query)
    output.show_rows(islice(rows, most), options.form)
    if most is not None and next(rows, None) is not None:
        output.note(f"These are the first {most:,}. --all shows all, --limit another number.")


def _download(api: Api, operation: Operation, request: Request, options: Options) -> None:
    is_text = operation.content_type not in ("application/octet-stream", "application/zip")
    if options.output is None and sys.stdout.isatty() and not is_text:
        raise click.UsageError("Say where the file shall be: --output FILE, or a pipe.")
    with api.stream(path_of(operation, request.parts), **request.query) as pieces:
        if options.output is None:
            for piece in pieces:
                sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
            return
        # It has its name only when it is whole.
        part = options.output.with_name(f"{options.output.name}.part")
        try:
            with part.open("wb") as written:
                for piece in pieces:
                    written.write(piece)
            part.replace(options.output)
        finally:
            part.unlink(missing_ok=True)
    output.note(f"Wrote {options.output} ({options.output.stat().st_size:,} bytes).")


# Waiting


def _end_of(operation: Operation, look: Look) -> Callable[[Mapping[str, Any]], bool] | None:
    """Whether a row has ended; None where the server does not say that of its kind."""
    if done := operation.done:
        name, value = done
        return lambda row: bool(row[name] == value)
    if "finished_at" in look.operation.answer.get("properties", {}):
        return lambda row: row["finished_at"] is not None
    return None


def _finished(api: Api, look: Look, is_over: Callable[[Mapping[str, Any]], bool]) -> Any:
    """What is waited for, when it has ended. Raises FailedError where it failed or takes too long."""

    def ask() -> Any:
        return send(api, look.operation, Request(parts=dict(look.parts)))[1]

    def describe(row: Mapping[str, Any]) -> Progress:
        return Progress(
            str(row.get("message") or row.get("state") or "It goes on"), row.get("done", 0), row.get("total", 0)
        )

    try:
        row, has_ended = watch(ask, describe, is_over, _report, WAIT_SECONDS)
    except KeyboardInterrupt:
        raise FailedError(f"It goes on at the server. Look with: {look.command}", 130) from None
    finally:
        if sys.stderr.isatty():
            click.echo("\r\x1b[K", nl=False, err=True)
    if not has_ended:
        raise FailedError(f"It still goes on after {WAIT_SECONDS / 60:.0f} minutes. Look with: {look.command}")
    if row.get("error") or row.get("fault_count"):
        head = f"{row.get('name', 'It')}: {row['state']}. {row.get('error', '')}".rstrip()
        raise FailedError("\n  ".join([head, *map(fault_line, row.get("faults", ()))]))
    return row


def _report(progress: Progress) -> None:
    """One line that changes, on a terminal alone."""
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K{progress}", nl=False, err=True)


class _Counted:
    """A file that moves a bar while it is read."""

    def __init__(self, file: BinaryIO, bar: Any) -> None:
        self._file = file
        self._bar = bar

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def read(self, size: int = -1) -> bytes:
        piece = self._file.read(size)
        self._bar.update(len(piece))
        return piece


@contextmanager
def _reading(file: Path) -> Iterator[Any]:
    with file.open("rb") as opened:
        if not sys.stderr.isatty():
            yield opened
            return
        with click.progressbar(length=file.stat().st_size, label=f"Sending {file.name}", file=sys.stderr) as bar:
            yield _Counted(opened, bar)
