"""The environment of a whole stack on one machine: defaults for a laptop, generated secrets, what the caller set."""

from __future__ import annotations

import os
import secrets
import shlex
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from hits.environment import Requester
from marketplace.environment import Marketplace

ROOT = Path(__file__).resolve().parent.parent

# Of `make run` alone: ports, and a module of settings that another program may have named.
OURS = {*Requester.model_fields, *Marketplace.model_fields, "BROKER_PORT", "DJANGO_SETTINGS_MODULE", "WEB_PORT"}
# What boto3 reads besides, the port of the marketplace, and what was read once, so that it is named at the start.
OUR_PREFIXES = ("AWS_", "MARKETPLACE_", "MTURK_")


class StackError(Exception):
    """The stack cannot start or go on; the message says what to do."""


@dataclass(frozen=True)
class Ports:
    """All on the loopback interface."""

    web: int = 8000
    marketplace: int = 8001
    broker: int = 6390

    @classmethod
    def free(cls) -> Ports:
        """Three ports that nobody listens on, kept for servers that this process starts."""
        return cls(free_port(), free_port(), free_port())

    @classmethod
    def chosen(cls, given: Mapping[str, str]) -> Ports:
        """From WEB_PORT, MARKETPLACE_PORT and BROKER_PORT."""
        names = {"web": "WEB_PORT", "marketplace": "MARKETPLACE_PORT", "broker": "BROKER_PORT"}
        numbers = {}
        for field, name in names.items():
            value = given.get(name, str(getattr(cls, field)))
            if not value.isascii() or not value.isdigit() or not 1 <= int(value) <= 65535:
                raise StackError(f"{name} must be a port number from 1 to 65535, not {value!r}.")
            numbers[field] = int(value)
        if len(set(numbers.values())) < len(numbers):
            raise StackError(f"{', '.join(names.values())} must be three different ports.")
        return cls(**numbers)


_held: list[socket.socket] = []


def free_port() -> int:
    """A port of loopback for a server that is started next, which sets SO_REUSEADDR as servers do.

    On Linux it is nobody else's until this process ends: a bound socket that does not listen keeps it from being given
    out again, refuses connections, and lets a server listen beside it. Elsewhere it is only free at this moment.
    """
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    port: int = held.getsockname()[1]
    if sys.platform.startswith("linux"):
        _held.append(held)
    else:
        held.close()
    return port


def ours(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that configure either project, out of all that are set."""
    return {name: value for name, value in environment.items() if name in OURS or name.startswith(OUR_PREFIXES)}


def surroundings(data_dir: Path, ports: Ports, given: Mapping[str, str]) -> dict[str, str]:
    """The variables of every process of the stack; `given` wins over the defaults for a laptop."""
    kept = keep_secrets(data_dir / "secrets.env")
    marketplace = f"http://127.0.0.1:{ports.marketplace}"
    defaults = {
        "DATA_DIR": str(data_dir),
        "DEBUG": "True",
        "SECRET_KEY": kept["SECRET_KEY"],
        # Another host name than the marketplace's: what breaks in a cross-site frame shall break here too.
        "PUBLIC_URL": f"http://localhost:{ports.web}",
        # A script on this machine may listen.
        "WEBHOOK_HTTP": "True",
        "WEBHOOK_NETWORKS": "127.0.0.0/8,::1/128",
        "REDIS_URL": f"redis://:{kept['BROKER_PASSWORD']}@127.0.0.1:{ports.broker}/0",
        "MTURK_ENDPOINT_URL": marketplace,
        "MARKETPLACE_SECRET_KEY": kept["MARKETPLACE_SECRET_KEY"],
        "MARKETPLACE_PUBLIC_URL": marketplace,
        "MARKETPLACE_SANDBOX": "True",
        "MARKETPLACE_ACCEPT_ANY_KEY": "True",
    }
    if "MTURK_ENDPOINT_URL" not in given:
        # Whatever key pair the shell holds belongs to another service: it stays out of the local marketplace.
        given = {name: value for name, value in given.items() if not name.startswith("AWS_")}
        defaults |= {"AWS_ACCESS_KEY_ID": "LOCALREQUESTER", "AWS_SECRET_ACCESS_KEY": "local-requester-secret"}
    if "DATABASE_URL" in given and "MARKETPLACE_DATABASE_URL" not in given:
        defaults |= second_database(given["DATABASE_URL"])
    return {**defaults, **given}


def second_database(url: str) -> dict[str, str]:
    """On a database server, the marketplace gets a database of its own beside the requester's."""
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return {}
    path = parts.path.rstrip("/")
    if len(path) < 2:
        raise StackError("DATABASE_URL names no database: end it with one, as in postgres://user@host:5432/annotate.")
    return {"MARKETPLACE_DATABASE_URL": parts._replace(path=f"{path}_marketplace").geturl()}


def whole_environment(own: Mapping[str, str]) -> dict[str, str]:
    """What a child process gets: the shell's variables without settings of ours, and then `own`."""
    rest = {name: value for name, value in os.environ.items() if name not in ours(os.environ)}
    # A proxy of the shell would be asked for loopback addresses too.
    direct = [*rest.get("NO_PROXY", rest.get("no_proxy", "")).split(","), "localhost", "127.0.0.1"]
    bypass = ",".join(dict.fromkeys(filter(None, direct)))
    return rest | {"NO_PROXY": bypass, "no_proxy": bypass, "PYTHONUNBUFFERED": "1", **own}


def keep_secrets(file: Path) -> dict[str, str]:
    """The secrets in `file`, made up at the first start: sessions and task pages outlive a restart."""
    if file.exists():
        return dict(line.split("=", 1) for line in file.read_text().split())
    kept = {
        "SECRET_KEY": secrets.token_urlsafe(48),
        "MARKETPLACE_SECRET_KEY": secrets.token_urlsafe(48),
        "BROKER_PASSWORD": secrets.token_urlsafe(24),
    }
    write_private(file, "".join(f"{name}={value}\n" for name, value in kept.items()))
    return kept


def write_private(file: Path, text: str) -> None:
    """Only the owner may read it. The old content stays whole until the new one is."""
    new = file.with_name(f"{file.name}.new")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as target:
        target.write(text)
    new.replace(file)


def as_shell(own: Mapping[str, str]) -> str:
    """A file for `set -a; . FILE`. A database that the shell names for another installation is forgotten."""
    others = sorted({"DATABASE_URL", "MARKETPLACE_DATABASE_URL"} - own.keys())
    return (f"unset {' '.join(others)}\n" if others else "") + "".join(
        f"{name}={shlex.quote(value)}\n" for name, value in sorted(own.items())
    )
