"""nginx's configuration for an installation: `python -m ops.proxy > /etc/nginx/conf.d/annotate.conf`.

Reads the addresses of both sites from the environment, as both projects do, and all else from its options, and writes
one file for nginx's `http` block; `--write FILE` writes it whole or not at all. docker-compose.yml gives it to its own
nginx.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from common import sizes
from ops.surroundings import StackError

HERE = Path(__file__).resolve().parent
# What the requester's side takes of a form, with room for the boundaries between its parts; in MB.
FORM_MB = 3
# An import may bring its media along, and has a form around it.
LARGEST_MB = sizes.IMPORT_MB + sizes.MEDIA_MB + 1
# Where files come: pages and API. Each of these views bounds its own file again.
UPLOADS = (
    r"^/(api/)?projects/[^/]+/(import|uploads|media|payments/file|bonus-files|computations|releases"
    r"|tests|qualification-tests|stages/[^/]+/(annotations|results|task))/|^/(api/projects|new-project)/$"
)
UPLOADS_LOCATION = """
  # Files that leads send in: few at a time from one address, for they wait on the proxy's disk.
  location ~ {pattern} {{
    client_max_body_size {body}m;
    limit_conn annotate_connections 8;
    proxy_pass http://$annotate_web;
  }}
"""
NAME = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+|localhost")
SERVER = re.compile(r"[\w.-]+:\d{1,5}")


# The options, and their values where none is given.
OPTIONS: dict[str, str | int] = {
    "web": "127.0.0.1:8000",
    "marketplace": "127.0.0.1:8001",
    "http_port": 80,
    "https_port": 443,
    # From one address: in the long run, with four times as many at once, and at the same time.
    "requests_a_second": 100,
    "connections": 200,
    "certificates": "/etc/letsencrypt/live",
    "challenges": "/var/www/challenges",
    "log": "/var/log/nginx/annotate.log",
}


def configuration(given: Mapping[str, str], **options: str | int) -> str:
    """The file. Raises StackError that names every variable and option that cannot be used."""
    chosen = {name: str(value) for name, value in (OPTIONS | options).items()}
    faults: list[str] = []
    hosts = {name: _host(given, name, faults) for name in ("PUBLIC_URL", "MARKETPLACE_PUBLIC_URL")}
    if given.get("MARKETPLACE_FRAMES_URL"):
        hosts["MARKETPLACE_FRAMES_URL"] = _host(given, "MARKETPLACE_FRAMES_URL", faults)
    if len(set(hosts.values())) < len(hosts) and all(hosts.values()):
        faults.append(f"{', '.join(hosts)} must have host names that differ.")
    # What earlier versions read: without it the file would be another one than the operator expects.
    faults += [f"{name} is no longer read: give an option, see --help." for name in given if name.startswith("PROXY_")]
    values = {
        **chosen,
        "web": _upstream(chosen, "web", faults),
        "marketplace": _upstream(chosen, "marketplace", faults),
        "burst": str(4 * int(chosen["requests_a_second"])),
        "names": " ".join(hosts.values()),
    }
    if faults:
        raise StackError("\n".join(faults))
    servers = [_server(values, host, name) for name, host in hosts.items()]
    return _filled("nginx.conf.template", {**values, "servers": "".join(servers).rstrip()})


def _server(values: Mapping[str, str], host: str, name: str) -> str:
    folder = f"{values['certificates']}/{host}"
    is_web = name == "PUBLIC_URL"
    own = {
        "name": host,
        "body": f"{FORM_MB if is_web else sizes.MARKETPLACE_FORM_MB}m",
        "certificate": f"{folder}/fullchain.pem",
        "key": f"{folder}/privkey.pem",
        "upstream": "annotate_web" if is_web else "annotate_market",
        "more": UPLOADS_LOCATION.format(pattern=f'"{UPLOADS}"', body=LARGEST_MB) if is_web else "",
    }
    return _filled("nginx.server.template", {**values, **own})


def _filled(file: str, values: Mapping[str, str]) -> str:
    text = (HERE / file).read_text(encoding="utf-8")
    return re.sub(r"@(\w+)@", lambda found: values[found[1]], text)


def _host(given: Mapping[str, str], name: str, faults: list[str]) -> str:
    url = urlsplit(given.get(name, ""))
    host = url.hostname or ""
    if url.scheme != "https" or not NAME.fullmatch(host):
        faults.append(f"{name} must be an https address under a host name, such as https://annotate.example.org.")
    return host


def _upstream(chosen: Mapping[str, str], name: str, faults: list[str]) -> str:
    servers = [server.strip() for server in chosen[name].split(",")]
    if not all(SERVER.fullmatch(server) for server in servers):
        faults.append(f"--{name} must be host:port, or several with commas between them.")
    # A server that did not answer is left out for a moment; of one alone nginx does not do that.
    return " ".join(f"server {server} max_fails=3 fail_timeout=5s;" for server in servers)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m ops.proxy", description=__doc__)
    parser.add_argument("--write", type=Path, metavar="FILE", help="write it here instead of printing it")
    for name, usual in OPTIONS.items():
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(option, type=type(usual), default=usual, help=f"default: {usual}")
    options = parser.parse_args(arguments)
    try:
        text = configuration(os.environ, **{name: getattr(options, name) for name in OPTIONS})
    except StackError as error:
        print(error, file=sys.stderr)
        return 1
    if options.write is None:
        print(text, end="")
        return 0
    new = options.write.with_name(f".{options.write.name}.new")
    new.write_text(text, encoding="utf-8")
    new.replace(options.write)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
