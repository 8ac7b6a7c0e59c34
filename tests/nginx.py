"""A real nginx with the configuration that we ship, before sites of this machine, with a certificate of its own."""

from __future__ import annotations

import http.client
import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from ops.proxy import configuration
from ops.waiting import until


class NoNginxError(Exception):
    """nginx is not installed, or does not take its configuration."""


@dataclass(frozen=True)
class Proxy:
    """`certificate` is the file of the one that signed itself, for clients to trust."""

    http_port: int
    https_port: int
    certificate: Path
    log: Path

    @property
    def authority(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.certificate))

    def connect(self, host: str) -> ssl.SSLSocket:
        return self.authority.wrap_socket(
            socket.create_connection(("127.0.0.1", self.https_port), timeout=30), server_hostname=host
        )

    def ask(self, host: str, path: str, method: str = "GET", body: bytes | None = None) -> http.client.HTTPResponse:
        """The answer, read to its end; `.data` has its body."""
        connection = http.client.HTTPConnection(host)
        connection.sock = self.connect(host)
        connection.request(method, path, body)
        response = connection.getresponse()
        response.data = response.read()  # type: ignore[attr-defined]
        connection.close()
        return response


@contextmanager
def nginx(
    folder: Path,
    ports: tuple[int, int],
    addresses: Mapping[str, str],
    options: Mapping[str, str | int],
    changes: Mapping[str, str] | None = None,
) -> Iterator[Proxy]:
    """Running in `folder` on these ports for http and https; `addresses` and `options` are those of `ops.proxy`.

    `changes` are parts of the configuration that are written otherwise, each of which has to be there. Raises
    NoNginxError.
    """
    if not shutil.which("nginx"):
        raise NoNginxError("nginx is not installed.")
    http_port, https_port = ports
    hosts = [address.split("//")[1].split(":")[0] for address in addresses.values()]
    certificate = certificates(folder / "certificates", hosts)
    log = folder / "annotate.log"
    text = configuration(
        addresses,
        http_port=http_port,
        https_port=https_port,
        certificates=str(folder / "certificates"),
        log=str(log),
        **options,
    )
    for old, new in (changes or {}).items():
        assert old in text, old
        text = text.replace(old, new)
    (folder / "annotate.conf").write_text(text)
    parts = "".join(
        f"{kind}_temp_path {folder / kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"{_user()}daemon off; worker_processes 1; pid {folder / 'nginx.pid'}; error_log {folder / 'error.log'};"
        f"events {{ worker_connections 1024; }} http {{ {parts} include {folder / 'annotate.conf'}; }}"
    )
    command = ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")]
    checked = subprocess.run([*command, "-t"], capture_output=True, text=True)
    if checked.returncode or "warn" in checked.stderr:
        raise NoNginxError(checked.stderr)
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            until(lambda: _listens(https_port), "nginx")
            yield Proxy(http_port, https_port, certificate, log)
        finally:
            process.terminate()


def _user() -> str:
    """Whoever runs the tests owns the folder, and root would hand requests to a user who may not write there."""
    return "user root; " if os.getuid() == 0 else ""


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def certificates(folder: Path, hosts: list[str]) -> Path:
    """One that signs itself for all these names, in the place of each."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Annotate")])
    today = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(today - timedelta(days=1))
        .not_valid_after(today + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host) for host in hosts]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    for host in hosts:
        (folder / host).mkdir(parents=True)
        (folder / host / "fullchain.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        (folder / host / "privkey.pem").write_bytes(private)
    return folder / hosts[0] / "fullchain.pem"
