"""``kafkawire groups`` at real brokers: lists, lag, resets that are shown and executed, offsets from a file."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.fixtures import Brokers
from tests.apache_kafka.java_admin import JavaAdminClient
from tests.apache_kafka.java_answers import Partition
from tests.apache_kafka.releases import broker_releases, offers_feature
from tests.interop.cli.conftest import RowsOf

from kafkawire.admin import BlockingAdminClient, NewTopic, TopicPartition
from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode

pytestmark = [pytest.mark.interop, pytest.mark.extended]


@pytest.fixture
def topic(client: BlockingAdminClient, java: JavaAdminClient) -> str:
    """Partition 0 has 5 records, partition 1 none."""
    name = f"read-{uuid.uuid4().hex[:8]}"
    client.create_topics([NewTopic(name, num_partitions=2)]).all()
    client.wait_for_topics([name]).all()
    java.produce(Partition(name, 0), list("abcde"))
    return name


@pytest.fixture
def group(client: BlockingAdminClient, topic: str) -> str:
    name = f"readers-{uuid.uuid4().hex[:8]}"
    client.alter_consumer_group_offsets(name, {TopicPartition(topic, 0): 2}).all()
    return name


def offsets_of(client: BlockingAdminClient, group: str) -> dict[int, int]:
    committed = client.list_consumer_group_offsets([group])[group].all()
    return {where.partition: each.offset for where, each in committed.items() if each is not None}


def test_a_group_is_listed_and_described(
    servers: list[str], group: str, rows: RowsOf, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["groups", "list", f"{group[:-1]}?", *servers, "-o", "jsonl"]) == ExitCode.DONE
    assert [row["group"] for row in rows()] == [group]
    assert main(["groups", "describe", group, "nothing", *servers, "-o", "jsonl"]) == ExitCode.SOME_FAILED
    output, errors = capsys.readouterr()
    assert json.loads(output)["state"] == "Empty"
    assert "nothing" in errors
    assert main(["groups", "members", group, *servers]) == ExitCode.DONE
    assert capsys.readouterr().err == "no members\n"


def test_the_lag_is_shown(servers: list[str], group: str, topic: str, rows: RowsOf) -> None:
    assert main(["groups", "lag", group, *servers, "-o", "jsonl"]) == ExitCode.DONE
    [row] = rows()
    assert (row["topic"], row["partition"], row["offset"], row["end"], row["lag"]) == (topic, 0, 2, 5, 3)
    assert main(["groups", "lag", group, "--total", *servers, "-o", "jsonl"]) == ExitCode.DONE
    assert [row["lag"] for row in rows()] == [3]


def test_a_reset_is_shown_and_then_executed(
    servers: list[str], group: str, client: BlockingAdminClient, rows: RowsOf, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["groups", "reset", group, "--to-earliest", *servers, "-o", "jsonl"]
    assert main(words) == ExitCode.DONE
    output, errors = capsys.readouterr()
    row = json.loads(output)
    assert (row["offset"], row["new_offset"], row["shift"], row["status"]) == (2, 0, -2, "would be done")
    assert errors == "nothing was changed; --execute does it\n"
    assert offsets_of(client, group) == {0: 2}
    assert main([*words, "--execute"]) == ExitCode.USAGE
    capsys.readouterr()
    assert main([*words, "--execute", "--yes"]) == ExitCode.DONE
    assert [row["status"] for row in rows()] == ["done"]
    assert offsets_of(client, group) == {0: 0}


def test_what_a_reset_prints_as_csv_is_a_file_of_offsets(
    group: str, topic: str, client: BlockingAdminClient, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [server] = client.describe_cluster().nodes
    servers = ["-b", server.node.address]
    words = ["groups", "reset", group, "--topic", f"{topic}:0,1", *servers]
    assert main([*words, "--to-latest", "-o", "csv"]) == ExitCode.DONE
    file = tmp_path / "offsets.csv"
    file.write_text(capsys.readouterr().out)
    assert main(["groups", "reset", "--from-file", str(file), "--execute", "--yes", *servers]) == ExitCode.DONE
    assert offsets_of(client, group) == {0: 5, 1: 0}


def test_offsets_and_groups_are_deleted(
    servers: list[str], group: str, topic: str, client: BlockingAdminClient, rows: RowsOf
) -> None:
    words = ["groups", "delete-offsets", group, "--topic", topic, *servers, "-o", "jsonl"]
    assert main([*words, "--dry-run"]) == ExitCode.DONE
    assert [row["status"] for row in rows()] == ["would be done"]
    assert main([*words, "--yes"]) == ExitCode.DONE
    assert offsets_of(client, group) == {}
    rows()
    client.alter_consumer_group_offsets(group, {TopicPartition(topic, 0): 2}).all()
    assert main(["groups", "delete", group, "--yes", *servers, "-o", "jsonl"]) == ExitCode.DONE
    assert [row["status"] for row in rows()] == ["done"]
    assert main(["groups", "delete", group, "--yes", *servers, "-o", "jsonl"]) == ExitCode.FAILED
    assert [row["error"] for row in rows()] == ["GROUP_ID_NOT_FOUND"]


@pytest.mark.parametrize("release", [each for each in broker_releases() if offers_feature(each, "share.version")])
def test_offsets_of_a_share_group_are_deleted(release: str, kafka_brokers: Brokers, rows: RowsOf) -> None:
    address, name = kafka_brokers(release).address, f"shared-{uuid.uuid4().hex}"
    words = ["groups", "delete-offsets", name, "--topic", name, "-b", address, "-o", "jsonl"]
    with BlockingAdminClient(address) as client:
        client.create_topics([NewTopic(name, 2, 1)]).all()
        client.wait_for_topics([name]).all()
        wanted = {TopicPartition(name, each): 0 for each in (0, 1)}
        # The first group makes the topic of its coordinator, which is not there at once.
        eventually(lambda: client.alter_share_group_offsets(name, wanted).errors(), lambda errors: not errors)
        assert main([*words, "--dry-run"]) == ExitCode.DONE
        assert [(row["item"], row["status"]) for row in rows()] == [(name, "would be done")]
        assert main([*words, "--yes"]) == ExitCode.DONE
        assert [(row["item"], row["status"]) for row in rows()] == [(name, "done")]
        assert client.list_share_group_offsets([name])[name].all() == {}
