import hmac
import re
import socket
import threading
import time
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import pytest

from marketplace.transports import Letter, TransportError, send, webhook
from ops.surroundings import ROOT, free_port
from tests.marketplace.transports.sinks import Hook

SENT_AT = datetime(2026, 1, 1, tzinfo=UTC)
BODY = '{"Events":[{"EventType":"Ping"}]}'


def post(url: str, loopback: bool = True) -> None:
    send(Letter("Webhook", url, BODY, SENT_AT, "secret", loopback))


def test_a_receiver_can_check_who_sent_it_and_when(hook: Hook) -> None:
    """The check is written out as the documentation shows it."""
    post(hook.url)
    ((path, body, headers),) = hook.got
    assert (path, body, headers["Content-Type"]) == ("/hook?from=market", BODY, "application/json")
    signed = headers["X-Marketplace-Timestamp"] + "." + body
    expected = "sha256=" + hmac.new(b"secret", signed.encode(), sha256).hexdigest()
    assert hmac.compare_digest(headers["X-Marketplace-Signature"], expected)
    assert headers["X-Marketplace-Timestamp"] == "1767225600"


def test_the_documented_check_tells_true_from_false(hook: Hook) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "marketplace.md").read_text(), re.DOTALL)
    (shown,) = (block for block in blocks if "def is_from_the_marketplace" in block)
    names: dict[str, Any] = {}
    exec(shown, names)
    send(Letter("Webhook", hook.url, BODY, datetime.now(UTC), "secret", loopback=True))
    ((_, body, headers),) = hook.got
    check = names["is_from_the_marketplace"]
    assert check("secret", headers, body.encode())
    assert not check("secret", headers, b"{}")
    assert not check("another", headers, body.encode())
    del headers["X-Marketplace-Timestamp"]
    headers["X-Marketplace-Timestamp"] = "1767225600"
    assert not check("secret", headers, body.encode())


@pytest.mark.parametrize("status", [301, 304, 404, 410, 500])
def test_any_other_answer_than_2xx_means_another_attempt_and_a_redirect_is_not_followed(
    hook: Hook, status: int
) -> None:
    hook.statuses, hook.headers = [status], {"Location": hook.url}
    with pytest.raises(TransportError, match=str(status)) as caught:
        post(hook.url)
    assert not caught.value.permanent
    assert len(hook.got) == 1


def test_a_name_that_leads_into_the_own_network_is_not_called(hook: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    """A public name may be pointed at an internal address after it was taken."""
    port = int(hook.url.split(":")[2].split("/")[0])
    entry = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))
    public = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", port))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *given, **named: [public, entry])
    with pytest.raises(TransportError, match="internal network"):
        post("https://rebound.example.org/hook", loopback=False)
    assert hook.got == []


def test_an_address_that_may_not_be_called_is_given_up_at_once(hook: Hook) -> None:
    with pytest.raises(TransportError) as caught:
        post(hook.url, loopback=False)
    assert caught.value.permanent
    assert hook.got == []


def test_the_connection_goes_to_the_address_that_was_checked(hook: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second look-up of a name that changes would lead elsewhere."""
    looked_up = []

    def changing(host: str, port: int, **named: Any) -> Any:
        looked_up.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1" if len(looked_up) == 1 else "10.9.9.9", port))]

    monkeypatch.setattr(socket, "getaddrinfo", changing)
    post(hook.url.replace("127.0.0.1", "localhost"))
    assert (len(hook.got), looked_up) == (1, ["localhost"])


def test_nobody_there_means_another_attempt() -> None:
    with pytest.raises(TransportError, match="did not answer"):
        post(f"http://127.0.0.1:{free_port()}/")


def test_an_answer_that_drips_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "TOTAL_SECONDS", 0.4)
    listener = socket.create_server(("127.0.0.1", 0))

    def drip() -> None:
        connection, _ = listener.accept()
        with connection:
            for _ in range(10_000):
                try:
                    connection.sendall(b"H")
                except OSError:
                    return
                time.sleep(0.05)

    threading.Thread(target=drip, daemon=True).start()
    start = time.monotonic()
    with listener, pytest.raises(TransportError, match="did not answer"):
        post(f"http://127.0.0.1:{listener.getsockname()[1]}/")
    assert time.monotonic() - start < 10_000 * 0.05 / 2  # long before the last drop
