"""``kafkawire cluster``: what it prints of an embedded broker, and what it says where the broker lacks an API."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from kafkawire.broker import ThreadedBroker
from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode
from kafkawire.protocol import DescribeLogDirsRequest


@pytest.fixture(scope="module")
def servers() -> Iterator[str]:
    with ThreadedBroker({"broker.rack": "left"}) as broker:
        yield broker.bootstrap_servers


def test_nodes_have_addresses_and_racks(servers: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "nodes", "-b", servers, "-o", "json"]) == ExitCode.DONE
    [node] = json.loads(capsys.readouterr().out)
    assert f"{node['host']}:{node['port']}" == servers
    assert (node["rack"], node["is_controller"], node["is_fenced"]) == ("left", True, False)


def test_a_cluster_is_described(servers: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "describe", "-b", servers, "-o", "json"]) == ExitCode.DONE
    [cluster] = json.loads(capsys.readouterr().out)
    assert (cluster["brokers"], cluster["quorum_leader"], cluster["voters"]) == (1, 1, [1])
    assert "ALTER" in cluster["operations"]


def test_api_versions_name_the_version_that_is_used(servers: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "api-versions", "-b", servers, "-o", "jsonl"]) == ExitCode.DONE
    apis = {api["api"]: api for api in map(json.loads, capsys.readouterr().out.splitlines())}
    assert (apis["CreateTopics"]["highest"], apis["CreateTopics"]["used"]) == (7, 7)
    assert apis["Produce"]["used"] is None


def test_the_name_form_has_names_of_apis_only(servers: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "api-versions", "-b", servers, "-o", "name"]) == ExitCode.DONE
    assert "CreateTopics" in capsys.readouterr().out.splitlines()


def test_an_unknown_node_fails(servers: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["cluster", "api-versions", "-b", servers, "--node", "9", "--timeout", "1"]
    assert main(words) == ExitCode.FAILED
    assert "node 9" in capsys.readouterr().err


def test_features_have_levels(servers: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "features", "-b", servers, "-o", "jsonl"]) == ExitCode.DONE
    features = {row["feature"]: row for row in map(json.loads, capsys.readouterr().out.splitlines())}
    metadata = features["metadata.version"]
    assert metadata["lowest"] <= metadata["level"] <= metadata["highest"]


@pytest.mark.parametrize("text", ["metadata.version", "=3", "metadata.version=x", "metadata.version=-1"])
def test_a_level_is_a_number_after_the_name(servers: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "set-features", "-b", servers, text, "--yes"]) == ExitCode.USAGE
    assert f"{text}: write FEATURE=LEVEL" in capsys.readouterr().err


def test_a_change_of_features_is_confirmed(servers: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "set-features", "-b", servers, "metadata.version=25"]) == ExitCode.USAGE
    assert "there is no terminal to ask on; give --yes" in capsys.readouterr().err


def test_a_broker_that_lacks_an_api_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with ThreadedBroker() as broker, broker.faults.hide(DescribeLogDirsRequest):
        assert main(["cluster", "log-dirs", "-b", broker.bootstrap_servers]) == ExitCode.FAILED
    assert "DescribeLogDirs: the broker offers no version" in capsys.readouterr().err


def test_a_topic_without_a_replica_is_named(servers: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "log-dirs", "-b", servers, "--topic", "nosuch", "-o", "jsonl"]) == ExitCode.DONE
    printed = capsys.readouterr()
    assert json.loads(printed.out)["replicas"] == 0
    assert printed.err == "kafkawire: there is no replica of the topic nosuch\n"
