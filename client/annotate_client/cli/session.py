"""Which server, as whom, and what that server can do: the environment, a login, or `make run` on this machine."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import click
import httpx

from annotate_client.api import URL, Api
from annotate_client.cli.description import Description, Operation, read
from annotate_client.client import TOKEN
from annotate_client.models import MODEL_TOKEN

#: Written by `make run` and `manage.py load_sample` into the server's DATA_DIR, with the same fields as a login.
LOCAL_FILE = "command-line.json"
#: So many seconds the description is used without asking the server whether it is still that one.
FRESH_SECONDS = 600
HOME_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class Login:
    """`is_made`: the token was made by `annotate login`, so `annotate logout` revokes it."""

    address: str
    token: str | None
    is_made: bool = False

    def same_server(self, address: str) -> bool:
        return httpx.URL(self.address.rstrip("/")) == httpx.URL(address.rstrip("/"))


class FailedError(click.ClickException):
    """A sentence on stderr, and an exit code."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]


class Session:
    """Of one run of the program."""

    @cached_property
    def login(self) -> Login:
        """The environment wins; a token is sent to no server but its own. Raises FailedError."""
        kept = stored() or local()
        address = os.environ.get(URL) or (kept.address if kept else "")
        if not address:
            raise FailedError(f"No server is known. Sign in with `annotate login`, or set {URL} and {TOKEN}.", 3)
        token = os.environ.get(TOKEN) or (kept.token if kept and kept.same_server(address) else None)
        return Login(address, token)

    @cached_property
    def api(self) -> Api:
        return api_of(self.login)

    def api_for(self, operation: Operation) -> Api:
        """Raises FailedError where it takes a model's token and none is there."""
        if not operation.is_for_models:
            return self.api
        if not (token := os.environ.get(MODEL_TOKEN)):
            raise FailedError(f"This is for models alone: set {MODEL_TOKEN}.", 3)
        return api_of(Login(self.login.address, token), "Model")

    @cached_property
    def description(self) -> Description:
        return self._described(FRESH_SECONDS)

    def refresh(self) -> None:
        """Ask the server whether it can do something else by now."""
        self.description = self._described(0)

    def _described(self, fresh_seconds: float) -> Description:
        """As it was kept, unless that is older and the server has another one."""
        name = hashlib.sha256(self.api.address.encode()).hexdigest()[:16]
        file = Path(click.get_app_dir("annotate")) / "descriptions" / f"{name}.json"
        etag, content = "", b""
        with contextlib.suppress(OSError):
            etag, content = _parted(file.read_bytes())
            if time.time() - file.stat().st_mtime < fresh_seconds:
                return read(content)
        newer = self.api.changed("schema/", etag)
        if newer is not None:
            etag, content = newer
        made = read(content)
        # It is a cache: where it cannot be kept, the program works without.
        with contextlib.suppress(OSError):
            write_private(file, etag.encode() + b"\n" + content)
        return made


def api_of(login: Login, scheme: str = "Token") -> Api:
    try:
        return Api(login.address, login.token, scheme=scheme)
    except ValueError as error:
        raise click.ClickException(str(error)) from error


def stored() -> Login | None:
    """What `annotate login` kept."""
    return _read(login_file())


def local() -> Login | None:
    """Of a server on this machine whose folder of data is here. A file that others could have written is not used."""
    file = Path(os.environ.get("DATA_DIR") or "data") / LOCAL_FILE
    found = _read(file)
    if found is None or httpx.URL(found.address).host not in HOME_HOSTS:
        return None
    state = file.stat()
    is_private = os.name != "posix" or (state.st_uid == os.getuid() and not state.st_mode & 0o077)
    return found if is_private else None


def login_file() -> Path:
    return Path(click.get_app_dir("annotate")) / "login.json"


def keep(login: Login) -> None:
    fields = {"address": login.address, "token": login.token, "is_made": login.is_made}
    write_private(login_file(), json.dumps(fields).encode())


def write_private(file: Path, content: bytes) -> None:
    """Only the owner may read it; the old content stays whole until the new one is."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = file.with_name(f"{file.name}.{os.getpid()}.new")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as target:
        target.write(content)
    new.replace(file)


def _read(file: Path) -> Login | None:
    try:
        fields = json.loads(file.read_bytes())
        return Login(str(fields["address"]), str(fields["token"]), bool(fields.get("is_made")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise click.ClickException(f"{file} cannot be read: {error}. Delete it, and sign in again.") from error


def _parted(kept: bytes) -> tuple[str, bytes]:
    """ETag and content."""
    etag, _, content = kept.partition(b"\n")
    return etag.decode("ascii", "replace"), content
