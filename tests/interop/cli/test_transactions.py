"""``kafkawire transactions`` at real brokers: an open transaction is listed, described, and ended."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.apache_kafka.java_admin import JavaAdminClient, JavaAdminError
from tests.apache_kafka.java_answers import Partition
from tests.interop.cli.conftest import RowsOf

from kafkawire.admin import BlockingAdminClient, NewTopic
from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode

pytestmark = [pytest.mark.interop, pytest.mark.extended]


@contextmanager
def transaction_that_is_taken_away(java: JavaAdminClient, topic: str) -> Iterator[None]:
    """An open transaction that its producer cannot commit when the context ends."""
    with pytest.raises(JavaAdminError), java.open_transaction(f"of-{topic}", Partition(topic, 0)):
        yield


@pytest.fixture
def topic(client: BlockingAdminClient) -> str:
    name = f"in-transactions-{uuid.uuid4().hex[:8]}"
    client.create_topics([NewTopic(name, num_partitions=1)]).all()
    client.wait_for_topics([name]).all()
    return name


def test_an_open_transaction_is_listed_and_described(
    servers: list[str], topic: str, java: JavaAdminClient, rows: RowsOf
) -> None:
    with java.open_transaction(f"of-{topic}", Partition(topic, 0)):
        assert main(["transactions", "list", "--state", "ongoing", *servers, "-o", "jsonl"]) == ExitCode.DONE
        assert f"of-{topic}" in [row["transactional_id"] for row in rows()]
        assert main(["transactions", "describe", f"of-{topic}", *servers, "-o", "jsonl"]) == ExitCode.DONE
        [described] = rows()
        assert (described["state"], described["partitions"]) == ("Ongoing", [f"{topic}-0"])
        assert main(["transactions", "producers", f"{topic}:0", *servers, "-o", "jsonl"]) == ExitCode.DONE
        [producer] = rows()
        assert (producer["producer_id"], producer["transaction_start_offset"]) == (described["producer_id"], 0)
        assert main(["transactions", "hanging", topic, *servers, "-o", "jsonl"]) == ExitCode.DONE
        assert rows() == []


def test_a_transaction_is_aborted_where_it_begins(
    servers: list[str], topic: str, java: JavaAdminClient, rows: RowsOf
) -> None:
    abort = ["transactions", "abort", f"{topic}:0", *servers, "-o", "jsonl"]
    with transaction_that_is_taken_away(java, topic):
        assert main([*abort, "--start-offset", "7"]) == ExitCode.FAILED
        assert [row["reason"] for row in rows()] == [
            f"no transaction begins at 7; kafkawire transactions producers {topic}:0 shows where"
        ]
        assert main([*abort, "--start-offset", "0", "--dry-run"]) == ExitCode.DONE
        assert [row["status"] for row in rows()] == ["would be done"]
        assert main([*abort, "--start-offset", "0", "--yes"]) == ExitCode.DONE
        assert [row["status"] for row in rows()] == ["done"]
        assert main(["transactions", "fence", f"of-{topic}", "--yes", *servers, "-o", "jsonl"]) == ExitCode.DONE


def test_a_producer_is_fenced(servers: list[str], topic: str, java: JavaAdminClient, rows: RowsOf) -> None:
    with transaction_that_is_taken_away(java, topic):
        assert main(["transactions", "fence", f"of-{topic}", *servers]) == ExitCode.USAGE
        assert main(["transactions", "terminate", f"of-{topic}", "--yes", *servers, "-o", "jsonl"]) == ExitCode.DONE
        assert [row["status"] for row in rows()] == ["done"]


@pytest.mark.parametrize("action", ["terminate", "fence"])
def test_brokers_make_an_id_that_does_not_exist(action: str, servers: list[str], topic: str, rows: RowsOf) -> None:
    name = f"new-{topic}"
    assert main(["transactions", action, name, "--yes", *servers, "-o", "jsonl"]) == ExitCode.DONE
    assert [row["status"] for row in rows()] == ["done"]
    assert main(["transactions", "describe", name, *servers, "-o", "jsonl"]) == ExitCode.DONE
    assert [row["transactional_id"] for row in rows()] == [name]
