"""The command of KIP-248."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.cli.kafka_configs.conftest import Run

from kafkawire.broker import ThreadedBroker
from kafkawire.cli.app import main
from kafkawire.protocol import AlterClientQuotasRequest, AlterQuotasRequest, DescribeQuotasRequest

KIP = ("--bootstrap-servers", "SERVER")
ALICE = ("--entity-type", "users", "--entity-name", "alice")
T1 = ("--entity-type", "topics", "--entity-name", "t1")


@pytest.fixture
def stable_broker() -> Iterator[ThreadedBroker]:
    """A broker without the APIs of the proposal."""
    with ThreadedBroker() as running:
        yield running


def test_quotas_are_altered_and_then_described_with_the_defaults(run: Run, broker: ThreadedBroker) -> None:
    """C2, C5."""
    ended = run(*KIP, "--alter", *ALICE, "--add-config", "producer_byte_rate=1024,request_percentage=12.5")
    assert ended == (
        0,
        """\
CONFIGS FOR USER alice
Name                       Value                Sensitive  Read-only  Default
consumer_byte_rate       = 9223372036854775807  false      false      true
controller_mutation_rate = 2147483647           false      false      true
producer_byte_rate       = 1024                 false      false      false
request_percentage       = 12.5                 false      false      false
""",
        "",
    )
    assert broker.requests.of(AlterQuotasRequest)
    assert broker.requests.of(DescribeQuotasRequest)
    ended = run(*KIP, "--alter", *ALICE, "--delete-config", "producer_byte_rate, request_percentage")
    assert "producer_byte_rate       = 9223372036854775807  false      false      true\n" in ended.stdout


def test_without_the_apis_of_the_proposal_those_of_kafka_are_used(
    stable_broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]
) -> None:
    """C5."""
    servers = stable_broker.bootstrap_servers
    words = ["--alter", *ALICE, "--add-config", "consumer_byte_rate=7"]
    assert main(["configs", "--bootstrap-servers", servers, *words]) == 0
    assert "consumer_byte_rate       = 7                    false      false      false\n" in capsys.readouterr().out
    assert stable_broker.requests.of(AlterClientQuotasRequest)


@pytest.mark.parametrize(
    ("entity", "heading"),
    [
        (("--entity-type", "clients", "--entity-name", "c1"), "CLIENT c1"),
        (("--entity-type", "users", "--entity-default"), "USER <default>"),
        (("--entity-type", "users", "--entity-name", "<default>"), "USER <default>"),
        (
            ("--entity-type", "clients", "--entity-name", "c1", "--entity-type", "users", "--entity-name", "u1"),
            "USER u1, CLIENT c1",
        ),
        (("--entity-type", "brokers", "--entity-name", "1"), "BROKER 1"),
        (("--entity-type", "brokers", "--entity-default"), "BROKER <default>"),
    ],
)
def test_the_heading_names_the_entity(entity: tuple[str, ...], heading: str, run: Run) -> None:
    ended = run(*KIP, "--describe", *entity)
    assert ended.exit_code == 0
    assert ended.stdout.startswith(f"CONFIGS FOR {heading}\nName")


def test_configs_of_a_topic_are_altered_with_brackets_and_described_with_the_defaults(run: Run) -> None:
    added = "retention.ms=10,cleanup.policy=[compact,delete]"
    ended = run(*KIP, "--alter", *T1, "--force", "true", "--add-config", added)
    lines = ended.stdout.splitlines()
    assert lines[0] == "CONFIGS FOR TOPIC t1"
    assert lines[1].split() == ["Name", "Value", "Sensitive", "Read-only", "Default"]
    values = {line.split()[0]: line.split()[2:] for line in lines[2:]}
    assert values["cleanup.policy"] == ["compact,delete", "false", "false", "false"]
    assert values["retention.ms"] == ["10", "false", "false", "false"]
    assert values["flush.ms"] == ["9223372036854775807", "false", "false", "true"]
    ended = run(*KIP, "--alter", *T1, "--delete-config", "retention.ms, cleanup.policy")
    assert "retention.ms                            = 604800000            false      false      true\n" in ended.stdout


def test_secrets_have_no_value(run: Run) -> None:
    ended = run(*KIP, "--alter", "--entity-type", "brokers", "--entity-name", "1", "--add-config", "my.secret=xyz")
    assert "xyz" not in ended.stdout
    assert ["my.secret", "=", "true"] in [line.split()[:3] for line in ended.stdout.splitlines()]


def test_the_properties_file_names_the_cluster(run: Run, broker: ThreadedBroker, tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text(f"bootstrap.servers={broker.bootstrap_servers}\n")
    ended = run("--config.properties", str(file), "--describe", *ALICE)
    assert ended.stdout.startswith("CONFIGS FOR USER alice\n")
    assert run("--config.properties", str(tmp_path / "none"), "--describe", *ALICE).exit_code == 2


def test_zookeeper_is_ignored_with_a_warning(run: Run) -> None:
    """C1."""
    ended = run(*KIP, "--describe", *ALICE, "--zookeeper", "z:2181")
    assert (ended.exit_code, ended.stderr) == (0, "kafkawire: --zookeeper is ignored; the command talks to brokers\n")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--describe", "--alter", *T1), "You can specify only one in --alter, --describe"),
        (("--describe", *T1, "--entity-default"), "You can specify only one in --entity-name and --entity-default"),
        (
            ("--describe", *T1, "--config.properties", "f"),
            "You can specify only one in --bootstrap-servers, --config.properties",
        ),
        (T1, "one of the arguments --describe --alter is required"),
        (("--describe", "--entity-type", "users"), "one of the arguments --entity-name --entity-default is required"),
        (("--describe", "--entity-default"), "argument --entity-type is required"),
        (
            ("--describe", "--entity-type", "groups", "--entity-name", "g"),
            "argument --entity-type: invalid choice: 'groups' (choose from {topics,clients,users,brokers})",
        ),
        (("--describe", *T1, "stray"), "unrecognized arguments: stray"),
        (("--describe", *T1, "--add-config", "a=b"), "--describe changes nothing: use --alter"),
        (("--alter", *T1), "--alter needs --add-config or --delete-config"),
        (("--alter", *T1, "--add-config", "a=="), "--add-config: Invalid entity config: all configs to be added"),
        (("--alter", *T1, "--add-config", "a=1", "--delete-config", "a"), "a: both added and deleted; do one"),
        (("--describe", "--entity-type", "topics", "--entity-name", "a b"), "Topic name is invalid: 'a b' contains"),
        (("--describe", "--entity-type", "topics", "--entity-default"), "--entity-default: topics have no default"),
        (("--describe", "--entity-type", "users", "--entity-name", ""), "the name of users is empty"),
        (("--describe", "--entity-type", "brokers", "--entity-name", "x"), "--entity-name x: the name of a broker is"),
        (("--describe", *T1, *ALICE), "only users and clients are given together, each once"),
        (("--describe", *ALICE, "--entity-type", "clients"), "each --entity-type needs one --entity-name"),
        (("--alter", *ALICE, "--add-config", "SCRAM-SHA-256=[password=xyz]"), "KIP-248 has no passwords"),
    ],
)
def test_wrong_usage_is_refused(words: tuple[str, ...], reason: str, run: Run) -> None:
    ended = run(*KIP, *words)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"kafkawire: {reason}")
    assert "xyz" not in ended.stderr


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--describe", "--entity-type", "topics", "--entity-name", "nope"), "TOPIC nope: UNKNOWN_TOPIC_OR_PARTITION"),
        (("--describe", "--entity-type", "brokers", "--entity-name", "7"), "broker 7 is not in the cluster; live"),
        (
            ("--alter", *T1, "--add-config", "retention.ms=abc"),
            "TOPIC t1: Invalid value abc for configuration retention.ms: Not a number of type LONG (INVALID_CONFIG)",
        ),
        (("--alter", *ALICE, "--add-config", "nosuch=1"), "USER alice: 'nosuch' is no quota of user 'alice'"),
    ],
)
def test_failures_are_messages(words: tuple[str, ...], reason: str, run: Run) -> None:
    ended = run(*KIP, *words)
    assert (ended.exit_code, ended.stdout) == (1, "")
    assert ended.stderr.startswith(f"kafkawire: {reason}")
