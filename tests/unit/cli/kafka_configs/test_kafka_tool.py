"""Today's grammar, with our errors.

``tests/conformance/kafka_configs`` compares ``--compat kafka`` with Apache's tool.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from tests.unit.cli.kafka_configs.conftest import Ended, Run

SERVER = ("--bootstrap-server", "SERVER")


def done(*lines: str) -> Ended:
    return Ended(0, "".join(f"{line}\n" for line in lines), "")


@pytest.mark.parametrize(
    ("alter", "altered", "describe", "described"),
    [
        (
            "--topic t1 --add-config retention.ms=6000,cleanup.policy=[compact,delete]",
            "config for topic t1",
            "--entity-type topics --entity-name t1",
            (
                "Dynamic configs for topic t1 are:\n"
                "  cleanup.policy=compact,delete sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:cleanup.policy="
                "compact,delete, DEFAULT_CONFIG:log.cleanup.policy=delete}\n"
                "  retention.ms=6000 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:retention.ms=6000}\n"
            ),
        ),
        (
            "--broker-defaults --add-config num.network.threads=4",
            "default config for brokers in the cluster",
            "--entity-type brokers --entity-default",
            (
                "Default configs for brokers in the cluster are:\n"
                "  min.insync.replicas=1 sensitive=false synonyms={DYNAMIC_DEFAULT_BROKER_CONFIG:"
                "min.insync.replicas=1}\n"
                "  num.network.threads=4 sensitive=false synonyms={DYNAMIC_DEFAULT_BROKER_CONFIG:"
                "num.network.threads=4}\n"
            ),
        ),
        (
            "--user u1 --add-config producer_byte_rate=1024,consumer_byte_rate=12345678",
            "config for user u1",
            "--user u1",
            "Quota configs for user-principal 'u1' are consumer_byte_rate=1.2345678E7, producer_byte_rate=1024.0\n",
        ),
        (
            "--user-defaults --client c --add-config request_percentage=3",
            "config for client c",
            "--entity-type users --entity-default --entity-type clients --entity-name c",
            "Quota configs for the default user-principal, client-id 'c' are request_percentage=3.0\n",
        ),
        (
            "--client-defaults --add-config controller_mutation_rate=3.5",
            "default config for clients in the cluster",
            "--entity-type clients",
            "Quota configs for the default client-id are controller_mutation_rate=3.5\n",
        ),
        (
            "--ip 10.0.0.1 --add-config connection_creation_rate=7",
            "config for ip 10.0.0.1",
            "--entity-type ips",
            "Quota configs for ip '10.0.0.1' are connection_creation_rate=7.0\n",
        ),
        (
            "--client-metrics cm1 --add-config interval.ms=30000",
            "config for client-metric cm1",
            "--entity-type client-metrics",
            (
                "Dynamic configs for client-metric cm1 are:\n"
                "  interval.ms=30000 sensitive=false synonyms={DYNAMIC_CLIENT_METRICS_CONFIG:interval.ms=30000}\n"
            ),
        ),
        (
            "--group g1 --add-config consumer.session.timeout.ms=50000",
            "config for group g1",
            "--group g1",
            (
                "Dynamic configs for group g1 are:\n"
                "  consumer.session.timeout.ms=50000 sensitive=false synonyms={DYNAMIC_GROUP_CONFIG:"
                "consumer.session.timeout.ms=50000, DEFAULT_CONFIG:group.consumer.session.timeout.ms=45000}\n"
            ),
        ),
    ],
)
def test_each_entity_is_altered_and_described(
    alter: str, altered: str, describe: str, described: str, run: Run
) -> None:
    """C15 to C22."""
    assert run(*SERVER, "--alter", *alter.split()) == done(f"Completed updating {altered}.")
    assert run(*SERVER, "--describe", *describe.split()) == (0, described, "")


def test_loggers_must_exist(run: Run) -> None:
    """C15."""
    described = run(*SERVER, "--describe", "--broker-logger", "1").stdout.splitlines()
    assert described[0] == "Dynamic configs for broker-logger 1 are:"
    known = described[1].split("=")[0].strip()
    altered = run(*SERVER, "--alter", "--broker-logger", "1", "--add-config", f"{known}=WARN")
    assert altered == done("Completed updating config for broker-logger 1.")
    refused = run(*SERVER, "--alter", "--broker-logger", "1", "--add-config", "nosuch.logger=WARN")
    assert refused == (2, "", "kafkawire: Invalid broker logger(s): nosuch.logger\n")


def test_what_is_not_there_is_said_on_standard_output(run: Run) -> None:
    for type_ in ("topic", "broker", "broker-logger", "client-metrics", "group"):
        name = type_.removesuffix("s")
        expected = f"The {name} '77' doesn't exist and doesn't have dynamic config."
        assert run(*SERVER, "--describe", f"--{type_}", "77") == done(expected)


def test_all_shows_what_is_not_set_too(run: Run) -> None:
    """C11."""
    lines = run(*SERVER, "--describe", "--topic", "t2", "--all").stdout.splitlines()
    assert lines[0] == "All configs for topic t2 are:"
    assert "  flush.ms=9223372036854775807 sensitive=false synonyms={}" in lines


def test_passwords_of_both_mechanisms_are_set_at_once(run: Run) -> None:
    """Apache's tool fails: a broker takes one credential of a user in a request (C29)."""
    both = "SCRAM-SHA-256=[password=xyz],SCRAM-SHA-512=[iterations=8192,password=xyz]"
    ended = run(*SERVER, "--alter", "--user", "both", "--add-config", both)
    assert ended.stdout == "Completed updating config for user both.\n"
    assert ended.stderr.startswith("kafkawire: the list of processes shows the password of --add-config;")
    assert run(*SERVER, "--describe", "--user", "both") == done(
        "SCRAM credential configs for user-principal 'both' are "
        "SCRAM-SHA-256=iterations=4096, SCRAM-SHA-512=iterations=8192"
    )
    ended = run("--compat", "kafka", *SERVER, "--alter", "--user", "both", "--add-config", both)
    assert ended.exit_code == 1
    assert "DuplicateResourceException: A user credential cannot be altered twice in the same request" in ended.stderr
    assert "xyz" not in ended.stderr


@pytest.mark.parametrize("from_standard_input", [True, False])
def test_passwords_of_a_file_or_standard_input_need_no_warning(
    from_standard_input: bool, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "SCRAM-SHA-256 = password=a, b\n"
    file = tmp_path / "password.properties"
    file.write_text(text)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    path = "-" if from_standard_input else str(file)
    ended = run(*SERVER, "--alter", "--user", "filed", "--add-config-file", path)
    assert ended == done("Completed updating config for user filed.")


def test_options_of_older_releases_change_nothing(run: Run) -> None:
    """C11."""
    ended = run(*SERVER, "--force", "--zookeeper", "z:2181", "--describe", "--topic", "t2")
    assert ended == (
        0,
        "Dynamic configs for topic t2 are:\n",
        "kafkawire: --zookeeper is ignored; the command talks to brokers\n",
    )


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("--describe --topics t1", "there is no option --topics; did you mean --topic?"),
        ("--describe --topic a --topic b", "--topic is given more than once; give it once"),
        ("--describe --topic t1 --add-config a=b", "--add-config changes configs and --describe does not; use --alter"),
        ("--describe --entity-type topic", "no such entity type: topic; use one of topics, clients, users, brokers"),
        ("--describe --entity-type topics --entity-default", "topics have no default; leave --entity-default out"),
        ("--describe", "no entity type is given; add --entity-type TYPE, or a short form such as --topic NAME"),
        ("--alter --topic t1 --add-config a==", "--add-config: each config must be KEY=VALUE, or KEY=[VALUE,VALUE]"),
        ("--alter --user u --add-config nosuch=1", "nosuch: no such config of users; use producer_byte_rate,"),
        ("--alter --client c --delete-config SCRAM-SHA-256", "SCRAM-SHA-256: no such config of clients; use"),
        ("--alter --user u --add-config SCRAM-SHA-256=[word=xyz]", "SCRAM-SHA-256: the value must be [password=...]"),
        ("--alter --user u --add-config SCRAM-SHA-256=[iterations=,password=xyz]", "iterations must be a number of"),
        ("--alter --user u --add-config-file /no/such/file", "/no/such/file: No such file or directory"),
        ("--describe --topic t1 --command-config /no/such/file", "/no/such/file: No such file or directory"),
    ],
)
def test_wrong_usage_says_what_to_do(words: str, reason: str, run: Run) -> None:
    ended = run(*SERVER, *words.split())
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert f"kafkawire: {reason}" in ended.stderr
    assert "xyz" not in ended.stderr


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (
            "--alter --topic t1 --add-config retention.ms=abc",
            "topic t1: Invalid value abc for configuration retention.ms: Not a number of type LONG (INVALID_CONFIG)",
        ),
        ("--alter --topic nope --add-config retention.ms=1", "topic nope: The topic 'nope' does not exist."),
        ("--alter --broker 77 --add-config log.cleaner.threads=1", "broker 77 is not in the cluster; live brokers: 1"),
        (
            "--alter --user u --add-config producer_byte_rate=-1",
            "user u: Quota producer_byte_rate must be greater",
        ),
        (
            "--alter --user-defaults --client c --add-config producer_byte_rate=1.5",
            "client c, default of users: producer_byte_rate cannot be a fractional value. (INVALID_REQUEST)",
        ),
        ("--alter --user absent --delete-config SCRAM-SHA-256", "user absent: Attempt to delete a user credential"),
    ],
)
def test_failures_name_the_entity(words: str, reason: str, run: Run) -> None:
    ended = run(*SERVER, *words.split())
    assert (ended.exit_code, ended.stdout) == (1, "")
    assert reason in ended.stderr


def test_properties_that_are_no_properties_are_refused(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "bad.properties"
    file.write_text("a=\\u12\n")
    words = (*SERVER, "--alter", "--topic", "t1", "--add-config-file", str(file))
    assert run(*words).stderr.startswith(f"kafkawire: {file}: the value of a has \\u without four hexadecimal digits")
    assert run("--compat", "kafka", *words) == (1, "", "Malformed \\uxxxx encoding.\n")


def test_a_client_that_cannot_be_made_is_wrong_usage(run: Run) -> None:
    words = ("--bootstrap-server", "a:b:c", "--describe", "--topic", "t1")
    assert run(*words).exit_code == 2
    assert "Failed to create new KafkaAdminClient" in run("--compat", "kafka", *words).stderr


def test_control_characters_of_names_are_escaped_except_with_compat(run: Run) -> None:
    name = "a\x1b[31m"
    run(*SERVER, "--alter", "--user", name, "--add-config", "producer_byte_rate=1")
    words = (*SERVER, "--describe", "--user", name)
    assert "\x1b" not in run(*words).stdout
    assert "\x1b" in run("--compat", "kafka", *words).stdout
