"""The chapter about a broker of the user: a wrong address is known before anything is shown."""

from __future__ import annotations

import io
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from rich.console import Console

from kafkawire.admin import BlockingAdminClient, NewTopic
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.app import main
from kafkawire.cli.demo import your_broker
from kafkawire.cli.demo.stage import Stage
from kafkawire.cli.outcome import ExitCode


@pytest.mark.parametrize("address", ["localhost", "localhost:", ":9092", "localhost:0", "localhost:70000", "a:b"])
def test_an_invalid_address_is_refused_at_once(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--broker", address]) == ExitCode.USAGE
    shown = capsys.readouterr()
    assert shown.err.startswith(f"kafkawire: --broker: '{address}' ")
    assert "host:port" in shown.err
    assert not shown.out


def refused(address: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The error for an address, which comes within seconds and before anything is shown."""
    begin = time.monotonic()
    assert main(["demo", "--broker", address]) == ExitCode.FAILED
    assert time.monotonic() - begin < 5
    shown = capsys.readouterr()
    assert not shown.out
    return shown.err


def test_a_name_that_does_not_resolve_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unresolved(*_: object, **__: object) -> socket.socket:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "create_connection", unresolved)
    said = refused("kafka.invalid:9092", capsys)
    assert "the name kafka.invalid does not resolve (Name or service not known): correct it" in said


def test_a_port_without_listener_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{reserved.getsockname()[1]}"
        assert f"{address} refuses the connection: is the broker running" in refused(address, capsys)


def test_a_server_of_the_web_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with answering(b"HTTP/1.1 400 Bad Request\r\n\r\n") as address:
        assert "looks like HTTP: this is no Kafka listener" in refused(address, capsys)


def test_a_listener_with_tls_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with answering(b"\x15\x03\x03\x00\x02\x02\x46") as address:
        said = refused(address, capsys)
    assert "the listener wants TLS" in said
    assert "The demo uses neither TLS nor a login" in said


def test_a_server_that_is_silent_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(your_broker, "_SECONDS_TO_CONNECT", 0.5)
    with answering(b"") as address:
        assert f"{address} accepts connections, but does not respond as Kafka" in refused(address, capsys)


@contextmanager
def answering(answer: bytes) -> Iterator[str]:
    """A server that sends the same bytes after the first request of each connection; its address."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        connections: list[socket.socket] = []

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                connections.append(connection)
                if answer and connection.recv(1024):
                    connection.sendall(answer)
                    connection.close()

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        thread.join()
        for connection in connections:
            connection.close()


def test_a_broker_is_shown_with_its_nodes_and_topics(tmp_path: Path) -> None:
    with ThreadedBroker() as broker, BlockingAdminClient(broker.bootstrap_servers) as client:
        client.create_topics([NewTopic(f"orders-{number}", 6) for number in range(10)]).all()
        assert your_broker.checked_address(broker.bootstrap_servers) == broker.bootstrap_servers
        console = Console(record=True, file=io.StringIO(), width=80)
        your_broker.show(Stage(console, tmp_path, broker.bootstrap_servers))
    shown = console.export_text()
    assert "which has 1 node:" in shown
    assert [line.split() for line in shown.splitlines() if line.startswith("orders-0")] == [["orders-0", "6", "no"]]
    assert "and 5 more" in shown
    assert len(shown.splitlines()) <= 25
