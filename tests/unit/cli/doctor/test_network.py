"""``kafkawire doctor`` in front of networks and ports that are not what the settings say."""

from __future__ import annotations

import contextlib
import http.server
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.unit.cli.doctor.conftest import Doctor

from kafkawire.broker import ThreadedBroker
from kafkawire.cli.outcome import ExitCode

LOGIN = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required username=a password=b;",
}


@contextmanager
def swallowing_port() -> Iterator[int]:
    """A port that answers no more connections: its queue is full."""
    with socket.socket() as listening, contextlib.ExitStack() as waiting:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        for _ in range(3):
            connecting = waiting.enter_context(socket.socket())
            connecting.setblocking(False)
            connecting.connect_ex(listening.getsockname())
        yield listening.getsockname()[1]


def test_packets_that_are_swallowed(doctor: Doctor) -> None:
    with swallowing_port() as port:
        (failed,) = doctor(f"127.0.0.1:{port}").failed
    assert (failed["step"], failed["detail"]) == ("tcp", "127.0.0.1: no answer")
    assert failed["advice"] == "see the firewalls, security groups and routes from this machine to the broker"


def test_a_name_with_several_addresses_of_which_one_answers(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    original = socket.getaddrinfo

    def resolved(host: bytes, port: int, *rest: int, **options: int) -> list[Any]:
        hosts = (b"127.0.0.2", b"127.0.0.1") if host == b"broker.test" else (host,)
        return [row for each in hosts for row in original(each, port, *rest, **options)]

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    with ThreadedBroker() as broker:
        checked = doctor(f"broker.test:{broker.bootstrap_servers.rpartition(':')[2]}")
    assert checked.code == ExitCode.DONE
    (tcp,) = checked.of("tcp")
    assert tcp["status"] == "warning"
    assert tcp["detail"] == "127.0.0.2: connection refused; 127.0.0.1: connected"
    assert "remove the addresses that do not answer" in tcp["advice"]


def test_one_bootstrap_address_of_several_fails_and_the_others_are_used(doctor: Doctor) -> None:
    with ThreadedBroker() as broker:
        checked = doctor(f"nowhere.invalid:9092,{broker.bootstrap_servers}")
    assert (checked.code, [row["step"] for row in checked.failed]) == (ExitCode.FAILED, ["name"])
    assert [row["status"] for row in checked.of("metadata")] == ["ok"]


def test_a_login_at_a_listener_without_sasl(doctor: Doctor) -> None:
    with ThreadedBroker() as broker:
        (failed,) = doctor(broker.bootstrap_servers, LOGIN).failed
    assert (failed["step"], failed["detail"]) == ("sasl", "the listener has no SASL, and the settings have a login")
    assert failed["advice"].startswith("set the property security.protocol to PLAINTEXT")


class Silent(http.server.BaseHTTPRequestHandler):
    """Logs nothing."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the name of the base class
        pass


def test_a_port_of_another_protocol(doctor: Doctor) -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Silent) as server:
        serving = threading.Thread(target=server.serve_forever, args=(0.01,))
        serving.start()
        (failed,) = doctor(f"127.0.0.1:{server.server_port}").failed
        server.shutdown()
        serving.join()
    assert failed["detail"] == "the answer looks like HTTP"
    assert failed["advice"] == "this is no Kafka listener, take the port of one, usually 9092"


def test_a_listener_that_says_nothing(doctor: Doctor) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        (failed,) = doctor(f"127.0.0.1:{listening.getsockname()[1]}").failed
    assert failed["step"] == "api versions"
    assert "timed out" in failed["detail"]


@pytest.mark.parametrize("advertised", ["kafka:9092", "localhost:1"])
def test_a_container_that_advertises_its_own_name(doctor: Doctor, advertised: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    settings = {"listeners": f"PLAINTEXT://127.0.0.1:{port}", "advertised.listeners": f"PLAINTEXT://{advertised}"}
    with ThreadedBroker(settings):
        (failed,) = doctor(f"127.0.0.1:{port}").failed
    assert (failed["step"], failed["target"]) == ("advertised", "node 1")
    assert failed["detail"].startswith(advertised)
    assert failed["advice"].endswith("in a container needs one listener for its network and another for this machine")
