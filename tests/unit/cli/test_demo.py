"""``kafkawire demo``: every step is shown, and errors of brokers are distinguished from defects."""

from __future__ import annotations

import io
import socket
import sys
from pathlib import Path

import pytest
from rich.console import Console

from kafkawire.admin import BlockingAdminClient, NewTopic
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.app import main
from kafkawire.cli.demo import running_broker
from kafkawire.cli.demo.request import hex_dump
from kafkawire.cli.outcome import CommandError
from kafkawire.protocol import CreateTopicsRequest
from kafkawire.rpc import encode_request


def test_demo_shows_every_step_on_a_machine_without_java(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    assert main(["demo"]) == 0
    shown = capsys.readouterr()
    assert "message versions" in shown.err + shown.out
    assert "frame.size" in shown.out
    assert "Decoded again, it is equal" in shown.out
    assert '"replicationFactor": 3' in shown.out
    assert row(shown.out, "clicks")[1].startswith("POLICY_VIOLATION (44): clicks would")
    assert row(shown.out, "create_acls")[:3] == ["2011", "2011", "0"]
    assert row(shown.out, "alter_client_quotas")[:3] == ["1002", "1002", "0"]
    assert row(shown.out, "User:user-0300")[0] == "no"
    assert row(shown.out, "ACLs") == ["2011", "2011", "yes"]
    assert row(shown.out, "entities with quotas") == ["1002", "1002", "yes"]
    assert "Left out: kafka-dump-log needs java" in shown.out
    assert "--table acl_history: 2,011 rows" in shown.out.replace("\n", " ")
    operation, resource, _, until = row(shown.out, "WRITE")
    assert (operation, resource) == ("DENY", "TOPIC orders")
    assert until.count(":") == 2
    assert row(shown.out, "READ")[3] == "still valid"
    assert "Left out: Apache Spark reads the same table, but Java is not installed here." in shown.out


def row(shown: str, heading: str) -> list[str]:
    """The first row with this heading, without the heading."""
    rows = ([cell.strip() for cell in line.strip("│").split("│")] for line in shown.splitlines())
    return next(cells[1:] for cells in rows if cells[0] == heading)


def test_dump_accounts_for_every_byte_of_the_frame() -> None:
    request = CreateTopicsRequest(topics=(CreateTopicsRequest.CreatableTopic(name="a"),))
    frame = encode_request(request, 7, correlation_id=1, client_id=None)
    table = hex_dump(frame, CreateTopicsRequest, 7)
    cells = list(table.columns[1].cells)
    shown = " ".join(str(cell).removeprefix("[green]") for cell in cells)
    assert bytes.fromhex(shown) == frame


@pytest.mark.parametrize("address", ["localhost", "localhost:", ":9092", "localhost:0", "localhost:70000", "a:b"])
def test_an_invalid_address_is_refused_at_once(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--broker", address]) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith(f"kafkawire: --broker: {address!r} ")
    assert not shown.out


def test_a_broker_that_does_not_respond_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_broker, "_SECONDS", 0.5)
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{reserved.getsockname()[1]}"
        with pytest.raises(CommandError, match=f"the broker at {address} did not respond"):
            running_broker.ask_broker(Console(), address)


def test_a_broker_is_shown_with_its_topics() -> None:
    with ThreadedBroker() as broker, BlockingAdminClient(broker.bootstrap_servers) as client:
        client.create_topics([NewTopic("orders", 6)]).all()
        console = Console(record=True, file=io.StringIO(), width=120)
        running_broker.ask_broker(console, broker.bootstrap_servers)
    shown = console.export_text()
    assert row(shown, "create_topics") == ["supported", "CREATE_TOPICS", "7"]
    assert row(shown, "orders") == ["6", "no"]
