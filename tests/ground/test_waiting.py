"""A service that starts slowly is waited for, and a port is nobody else's."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from ops.healthy import answers
from ops.surroundings import Ports, free_port
from ops.waiting import ServiceNotStartedError, until, wait_started

REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process


def test_a_service_that_lets_its_first_questions_time_out_is_waited_for(sleeper: subprocess.Popen[bytes]) -> None:
    silent, asked = [], []
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def serve() -> None:
            for _ in range(2):
                silent.append(server.accept()[0])
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(REPLY)

        threading.Thread(target=serve, daemon=True).start()

        def ask() -> bool:
            asked.append(time.monotonic())
            return answers(port, seconds=0.2)

        wait_started("slow", ask, sleeper, lambda: "")
    assert len(silent) == 2 and len(asked) == 3


def test_a_service_that_ends_is_given_up_at_once_with_what_it_said(sleeper: subprocess.Popen[bytes]) -> None:
    sleeper.communicate(b"\n")
    with pytest.raises(ServiceNotStartedError, match="slow has ended.*no such table"):
        wait_started("slow", lambda: False, sleeper, lambda: "no such table")


def test_a_service_that_stays_silent_is_given_up_in_the_end(sleeper: subprocess.Popen[bytes]) -> None:
    with pytest.raises(ServiceNotStartedError, match="slow did not answer within 0.1 seconds.*no such table"):
        wait_started("slow", lambda: False, sleeper, lambda: "no such table", seconds=0.1)


def test_waiting_for_a_state_says_what_did_not_come() -> None:
    until(lambda: True, "nothing", seconds=0)
    with pytest.raises(match="Not within 0 seconds: the answer comes"):
        until(lambda: False, "the answer comes", seconds=0)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere a port cannot be held for another process")
def test_a_port_that_was_given_out_stays_away_from_others_and_open_to_its_server() -> None:
    port = free_port()
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(("127.0.0.1", port))
    for _ in range(2):  # a server may be stopped and started again
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))
        with socket.create_server(("127.0.0.1", port)), socket.create_connection(("127.0.0.1", port)):
            pass


def test_free_ports_are_all_different() -> None:
    found = [number for _ in range(50) for number in vars(Ports.free()).values()]
    assert len(set(found)) == len(found)
