"""``kafkawire reassign`` on a cluster of three brokers: a plan, the move, its limit, and the way back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.apache_kafka.cluster import Cluster

from kafkawire.admin import BlockingAdminClient, ConfigResource, ConfigSource, NewTopic
from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode
from kafkawire.cli.reassign.throttle import FOLLOWER_RATE, FOLLOWER_REPLICAS, LEADER_RATE, LEADER_REPLICAS

pytestmark = [pytest.mark.interop, pytest.mark.extended]


SET_THERE = {ConfigSource.DYNAMIC_TOPIC_CONFIG, ConfigSource.DYNAMIC_BROKER_CONFIG}


def rows(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def replicas(client: BlockingAdminClient, topic: str) -> list[tuple[int, ...]]:
    return [each.replicas for each in client.describe_topics([topic])[topic].partitions]


def test_a_broker_is_left_and_all_is_as_before_after_the_way_back(
    kafka_cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    servers = ["-b", kafka_cluster.bootstrap]
    moves, back = tmp_path / "moves.json", tmp_path / "back.json"
    leaving = max(kafka_cluster.nodes)
    with BlockingAdminClient(kafka_cluster.bootstrap) as client:
        client.create_topics([NewTopic("moving", num_partitions=3, replication_factor=2)]).all()
        client.wait_for_topics(["moving"]).all()
        before = replicas(client, "moving")

        plan = ["reassign", "plan", "moving", "--without-broker", str(leaving), *servers]
        assert main([*plan, "-o", "jsonl"]) == ExitCode.DONE
        planned = rows(capsys)
        assert [row["removing"] for row in planned] == [[leaving]] * len(planned)
        assert main([*plan, "--out", str(moves)]) == ExitCode.DONE

        run = ["reassign", "run", str(moves), *servers]
        assert main([*run, "--dry-run", "-o", "jsonl"]) == ExitCode.DONE
        assert rows(capsys) == planned
        assert main(run) == ExitCode.USAGE
        assert "give --yes" in capsys.readouterr().err
        assert replicas(client, "moving") == before

        options = ["--yes", "--watch", "--throttle", "1000000", "--rollback-out", str(back), "-o", "jsonl"]
        assert main([*run, *options]) == ExitCode.DONE
        assert {row["status"] for row in rows(capsys)} == {"done"}
        assert all(leaving not in each for each in replicas(client, "moving"))
        resources = [ConfigResource.topic("moving"), *map(ConfigResource.broker, kafka_cluster.nodes)]
        names = (LEADER_RATE, FOLLOWER_RATE, LEADER_REPLICAS, FOLLOWER_REPLICAS)
        for entries in client.describe_configs(resources, keys=names).all().values():
            assert not {entry.source for entry in entries.values()} & SET_THERE

        assert main(["reassign", "run", str(back), "--yes", "--watch", *servers]) == ExitCode.DONE
        assert list(map(set, replicas(client, "moving"))) == list(map(set, before))
    capsys.readouterr()
    assert main(["reassign", "list", *servers, "-o", "json"]) == ExitCode.DONE
    assert json.loads(capsys.readouterr().out) == []


def test_a_broker_that_is_not_live_is_refused(
    kafka_cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with BlockingAdminClient(kafka_cluster.bootstrap) as client:
        client.create_topics([NewTopic("staying", num_partitions=1, replication_factor=1)]).all()
        client.wait_for_topics(["staying"]).all()
    moves = tmp_path / "moves.json"
    moves.write_text('{"version":1,"partitions":[{"topic":"staying","partition":0,"replicas":[77]}]}')
    words = ["reassign", "run", str(moves), "--dry-run", "-b", kafka_cluster.bootstrap]
    assert main(words) == ExitCode.USAGE
    assert "staying-0 would go to broker 77, which is not live" in capsys.readouterr().err


def test_preferred_leaders_are_elected(kafka_cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    with BlockingAdminClient(kafka_cluster.bootstrap) as client:
        client.create_topics([NewTopic("led", num_partitions=2, replication_factor=2)]).all()
        client.wait_for_topics(["led"]).all()
    words = ["reassign", "elect-leaders", "led", "-b", kafka_cluster.bootstrap, "-o", "jsonl"]
    assert main(words) == ExitCode.DONE
    assert [row["item"] for row in rows(capsys)] == ["led-0", "led-1"]
