"""The command line `annotate`: signing in and out, and a command for every operation of the server's API.

It exits with 0; 1 where the server refused or failed, or does not answer; 2 for wrong usage; 3 where the token is
missing, wrong or may not do that; 130 after Ctrl-C.
"""

from __future__ import annotations

import contextlib
import socket
import sys
from typing import Any

import click

from annotate_client.api import path
from annotate_client.cli import session as sessions
from annotate_client.cli.commands import Operations, sentence
from annotate_client.cli.session import FailedError, Login, Session, api_of
from annotate_client.errors import AnnotateError, ForbiddenError, NotSignedInError

DEFAULT_ADDRESS = "http://localhost:8000"


class Program(Operations):
    """Errors are a sentence and an exit code."""

    def main(self, *args: Any, **options: Any) -> Any:
        try:
            return super().main(*args, **options)
        except (NotSignedInError, ForbiddenError) as error:
            _end(str(error), 3)
        except (AnnotateError, ValueError, OSError) as error:
            _end(str(error), 1)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """By the parts of the API; where no server is known, those that sign in."""
        own = [(name, one.get_short_help_str()) for name, one in self.commands.items()]
        with formatter.section("Signing in"):
            formatter.write_dl(own)
        try:
            description = self.session.description
        except (click.ClickException, AnnotateError) as error:
            formatter.write_paragraph()
            formatter.write_text(f"There are more commands: {getattr(error, 'message', error)}")
            return
        names: dict[str, list[str]] = {tag: [] for tag in description.tags}
        for words, operation in description.by_words.items():
            if not any(words[0] in known for known in names.values()):
                names.setdefault(operation.tag, []).append(words[0])
        rows = [(", ".join(known), sentence(description.tags.get(tag, ""))) for tag, known in names.items() if known]
        with formatter.section("Commands, each with --help"):
            formatter.write_dl(rows, col_max=28)


def _end(message: str, code: int) -> None:
    click.echo(f"Error: {message}", err=True)
    sys.exit(code)


annotate = Program(
    Session(),
    "annotate",
    help="Collect a data set with Annotate. Tables on a terminal, JSON in a pipe; --csv and --json choose.",
    epilog='Completion in bash: eval "$(_ANNOTATE_COMPLETE=bash_source annotate)"',
)


@annotate.command("login")
@click.option(
    "--url", prompt="Address of the server", default=DEFAULT_ADDRESS, help="Such as https://annotate.example.org."
)
@click.option("--username", help="Make a token with name and password, in place of one that you have.")
@click.option("--scope", type=click.Choice(["read", "write", "pay"]), default="pay", show_default=True)
def login(url: str, username: str | None, scope: str) -> None:
    """Sign in at a server, with a token or with name and password."""
    token = "" if username else click.prompt("Token (empty: with name and password)", "", hide_input=True, err=True)
    made = not token
    if made:
        token = _made_token(url, username or click.prompt("Name", err=True), scope)
    # A wrong token is refused here and not kept.
    row = api_of(Login(url, token)).get("token/")
    sessions.keep(Login(url, token, made))
    click.echo(f"Signed in at {url} until {row['expires_at'][:10]}; the token may {row['scope']}.", err=True)


def _made_token(url: str, username: str, scope: str) -> str:
    given = {
        "username": username,
        "password": click.prompt("Password", hide_input=True, err=True),
        "name": f"annotate on {socket.gethostname()}"[:60],
        "scope": scope,
    }
    api = api_of(Login(url, None))
    try:
        row = api.post("token/", given)
    except ForbiddenError as error:
        if error.code != "second_factor":
            raise
        click.echo(error.message, err=True)
        row = api.post("token/", {**given, "code": click.prompt("Code", err=True)})
    return str(row["token"])


@annotate.command("logout")
def logout() -> None:
    """Forget the login; a token that it made ends."""
    kept = sessions.stored()
    if kept is None:
        raise FailedError("You are not signed in.", 3)
    sessions.login_file().unlink()
    if kept.is_made:
        # It may have ended already.
        with contextlib.suppress(NotSignedInError):
            api_of(kept).call("DELETE", path("token"))
    click.echo(f"Signed out of {kept.address}.", err=True)


def main() -> None:
    annotate(prog_name="annotate")
