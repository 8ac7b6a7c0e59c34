"""Posts to an address that somebody chose go to the address that was checked, and are over in time."""

from __future__ import annotations

import datetime
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from common import outgoing
from common.addresses import AddressError, Reach, checked
from ops.surroundings import free_port

HERE = Reach(http=True, networks=(ip_network("127.0.0.0/8"),))
INTERNET = Reach()


def post(url: str, reach: Reach = HERE, seconds: float = 5) -> outgoing.Answer:
    return outgoing.post(url, b"{}", {}, reach, total_seconds=seconds, read_seconds=seconds)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://example.org/", "must begin with https://."),
        ("ftp://example.org/", "must begin with https://."),
        ("https://127.0.0.1/", "not on an internal network"),
        ("https://localhost/", "not on an internal network"),
        ("https://hook.localhost./", "not on an internal network"),
        ("https://[::1]/", "not on an internal network"),
        ("https://[::ffff:10.0.0.1]/", "not on an internal network"),
        ("https://10.1.2.3/", "not on an internal network"),
        ("https://169.254.169.254/latest/meta-data/", "not on an internal network"),
        ("https://192.0.0.192/", "not on an internal network"),
        ("https://0.0.0.0/", "not on an internal network"),
        ("https://me:secret@example.org/", "holds no name and password"),
        ("https:///path", "needs a host"),
        ("https://example.org:0/", "needs a host"),
        ("https://example.org:99999/", "is not an address"),
        ("https://example.org/\nHost: other", "plain ASCII"),
        ("https://exämple.org/", "plain ASCII"),
        ("https://example.org/" + "a" * 500, "500 at most"),
        ("", "needs a host"),
    ],
)
def test_an_address_that_may_not_be_called_says_why(url: str, why: str) -> None:
    with pytest.raises(AddressError, match=why):
        checked(url, INTERNET)


def test_networks_that_are_named_may_be_called_and_no_others() -> None:
    lab = Reach(networks=(ip_network("10.20.0.0/16"),))
    assert checked("https://10.20.3.4:8443/hook?a=1", lab).port == 8443
    assert checked("https://[::ffff:10.20.3.4]/", lab)
    for other in ("https://10.21.0.1/", "https://localhost/", "http://10.20.3.4/"):
        with pytest.raises(AddressError):
            checked(other, lab)
    assert checked("http://localhost:9000/", HERE)


def resolves(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> list[str]:
    """Names lead to these addresses; returns the names that are looked up."""
    asked: list[str] = []

    def found(host: str, port: int, **named: Any) -> list[Any]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", found)
    return asked


@pytest.mark.parametrize("addresses", [("127.0.0.1",), ("93.184.216.34", "169.254.169.254"), ("10.0.0.8",)])
def test_a_name_one_of_whose_addresses_is_internal_is_not_called(
    monkeypatch: pytest.MonkeyPatch, addresses: tuple[str, ...]
) -> None:
    resolves(monkeypatch, *addresses)
    with pytest.raises(outgoing.NoAnswerError, match="is on an internal network"):
        post("https://rebound.example.org/", INTERNET)


def test_a_name_that_is_nobodys_says_so() -> None:
    with pytest.raises(outgoing.NoAnswerError, match=r"nobody\.invalid has no address: [a-z ]+\."):
        post("http://nobody.invalid/")


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Of hook.example.org, signed by itself; with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "hook.example.org")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("hook.example.org")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "hook.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return file


@pytest.fixture
def secure(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, list[str]]]:
    """The port of an https server whose certificate is trusted here, and the hosts that it was asked for."""
    hosts: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            hosts.append(self.headers["Host"])
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *given: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    outgoing._certificates.cache_clear()
    yield server.server_port, hosts
    server.shutdown()
    server.server_close()
    outgoing._certificates.cache_clear()


def test_the_call_goes_to_the_checked_address_under_the_name_and_with_its_certificate(
    secure: tuple[int, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    port, hosts = secure
    asked = resolves(monkeypatch, "127.0.0.1")
    assert post(f"https://hook.example.org:{port}/").status == 204
    assert (asked, hosts) == (["hook.example.org"], [f"hook.example.org:{port}"])
    with pytest.raises(outgoing.NoAnswerError, match="its certificate is not trusted"):
        post(f"https://other.example.org:{port}/")
    assert len(hosts) == 1


def test_the_next_address_of_a_name_is_tried_where_nobody_is_at_the_first(
    secure: tuple[int, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    resolves(monkeypatch, "127.0.0.9", "127.0.0.1")
    assert post(f"https://hook.example.org:{secure[0]}/").status == 204


@pytest.mark.parametrize("page", [b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n", b"H", b""])
def test_a_server_that_never_comes_to_an_end_is_left_in_time(page: bytes) -> None:
    """It sends the same again and again, or nothing at all; a status is an answer whatever comes behind it."""
    listener = socket.create_server(("127.0.0.1", 0))

    def send() -> None:
        connection, _ = listener.accept()
        with connection:
            for _ in range(1000):
                try:
                    connection.sendall(page)
                except OSError:
                    return
                time.sleep(0.05)

    threading.Thread(target=send, daemon=True).start()
    begun = time.monotonic()
    with listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        if b"200" in page:
            assert post(url, seconds=0.5).status == 200
        else:
            with pytest.raises(outgoing.NoAnswerError, match=r"did not answer: its time was over\."):
                post(url, seconds=0.5)
    assert time.monotonic() - begun < 30


def test_nobody_there_is_said() -> None:
    with pytest.raises(outgoing.NoAnswerError, match=r"did not answer: nothing listens at this address and port\.$"):
        post(f"http://127.0.0.1:{free_port()}/")
