"""nginx's configuration for an installation: `python -m ops.proxy > /etc/nginx/conf.d/annotate.conf`.

Reads the addresses of both sites from the environment, as both projects do, and writes one file for nginx's `http`
block; `--write FILE` writes it whole or not at all. docker-compose.yml gives it to its own nginx.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from ops.surroundings import StackError

HERE = Path(__file__).resolve().parent
# What the requester's side takes of a form, with room for the boundaries between its parts; in MB.
FORM_MB = 3
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


def configuration(given: Mapping[str, str]) -> str:
    """The file. Raises StackError that names every variable that cannot be used."""
    faults: list[str] = []
    hosts = {name: _host(given, name, faults) for name in ("PUBLIC_URL", "MARKETPLACE_PUBLIC_URL")}
    if given.get("MARKETPLACE_FRAMES_URL"):
        hosts["MARKETPLACE_FRAMES_URL"] = _host(given, "MARKETPLACE_FRAMES_URL", faults)
    if len(set(hosts.values())) < len(hosts) and all(hosts.values()):
        faults.append(f"{', '.join(hosts)} must have host names that differ.")
    values = {
        "web": _upstream(given, "PROXY_WEB", "127.0.0.1:8000", faults),
        "marketplace": _upstream(given, "PROXY_MARKETPLACE", "127.0.0.1:8001", faults),
        "http_port": str(_number(given, "PROXY_HTTP_PORT", 80, 65_535, faults)),
        "https_port": str(_number(given, "PROXY_HTTPS_PORT", 443, 65_535, faults)),
        "rate": str(_number(given, "PROXY_REQUESTS_A_SECOND", 100, 100_000, faults)),
        "connections": str(_number(given, "PROXY_CONNECTIONS", 200, 100_000, faults)),
        "challenges": given.get("PROXY_CHALLENGES") or "/var/www/challenges",
        "log": given.get("PROXY_LOG") or "/var/log/nginx/annotate.log",
        "names": " ".join(hosts.values()),
    }
    values["burst"] = str(4 * int(values["rate"]))
    # An import may bring its media along.
    largest = _number(given, "MAX_IMPORT_MB", 64, 1024, faults) + _number(given, "MAX_MEDIA_MB", 512, 4096, faults)
    form = _number(given, "MARKETPLACE_MAX_FORM_MB", 3, 100, faults)
    if faults:
        raise StackError("\n".join(faults))
    servers = [_server(given, values, host, name, largest, form) for name, host in hosts.items()]
    return _filled("nginx.conf.template", {**values, "servers": "".join(servers).rstrip()})


def _server(given: Mapping[str, str], values: Mapping[str, str], host: str, name: str, largest: int, form: int) -> str:
    """`largest` is the size of files that leads may send, `form` that of a form of the marketplace, in MB."""
    folder = f"{given.get('PROXY_CERTIFICATES') or '/etc/letsencrypt/live'}/{host}"
    is_web = name == "PUBLIC_URL"
    own = {
        "name": host,
        "body": f"{FORM_MB if is_web else form}m",
        "certificate": f"{folder}/fullchain.pem",
        "key": f"{folder}/privkey.pem",
        "upstream": "annotate_web" if is_web else "annotate_market",
        # A file may be as large as it may, and its form around it.
        "more": UPLOADS_LOCATION.format(pattern=f'"{UPLOADS}"', body=largest + 1) if is_web else "",
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


def _upstream(given: Mapping[str, str], name: str, default: str, faults: list[str]) -> str:
    servers = [server.strip() for server in (given.get(name) or default).split(",")]
    if not all(SERVER.fullmatch(server) for server in servers):
        faults.append(f"{name} must be host:port, or several with commas between them.")
    # A server that did not answer is left out for a moment; of one alone nginx does not do that.
    return " ".join(f"server {server} max_fails=3 fail_timeout=5s;" for server in servers)


def _number(given: Mapping[str, str], name: str, default: int, most: int, faults: list[str]) -> int:
    text = given.get(name) or str(default)
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= most:
        faults.append(f"{name} must be a whole number from 1 to {most}.")
        return default
    return int(text)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m ops.proxy", description=__doc__)
    parser.add_argument("--write", type=Path, metavar="FILE", help="write it here instead of printing it")
    options = parser.parse_args(arguments)
    try:
        text = configuration(os.environ)
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
