"""Which grammar the words have."""

from __future__ import annotations

import pytest
from tests.unit.cli.kafka_configs.conftest import Run

OF_A_TOPIC = ("--describe", "--entity-type", "topics", "--entity-name", "t1")


def test_the_servers_of_kip_248_mean_its_command(run: Run) -> None:
    assert run("--bootstrap-servers", "SERVER", *OF_A_TOPIC).stdout.startswith("CONFIGS FOR TOPIC t1\n")
    assert run("--bootstrap-servers=SERVER", "--help").stdout.startswith("usage: config-command [-h] --entity-type")


def test_the_server_of_kafka_configs_means_its_grammar(run: Run) -> None:
    assert run("--bootstrap-server", "SERVER", *OF_A_TOPIC).stdout == "Dynamic configs for topic t1 are:\n"
    assert run("--bootstrap-server", "x", "--help").stdout.startswith("Usage: kafkawire configs --bootstrap-server")


def test_without_a_server_the_grammar_is_that_of_kafka_configs(run: Run) -> None:
    ended = run(*OF_A_TOPIC)
    expected = "kafkawire: Either --bootstrap-server or --bootstrap-controller must be specified.\n"
    assert ended == (2, "", expected)


def test_options_of_both_are_refused(run: Run) -> None:
    ended = run("--bootstrap-servers", "SERVER", "--command-config", "f", *OF_A_TOPIC)
    reason = "--bootstrap-servers is an option of KIP-248's command and --command-config of kafka-configs"
    assert ended == (2, "", f"kafkawire: {reason}; use the options of one\n")


def test_the_old_command_reads_its_own_options_only(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USE_OLD_COMMAND", "true")
    warning = "kafka.admin.ConfigCommand is deprecated and will be removed in version 2.0.\n"
    old = run("--bootstrap-server", "SERVER", *OF_A_TOPIC)
    assert old == (0, "Dynamic configs for topic t1 are:\n", warning)
    new = run("--bootstrap-servers", "SERVER", *OF_A_TOPIC)
    assert new.exit_code == 2
    assert new.stderr == (
        f"{warning}kafkawire: there is no option --bootstrap-servers; did you mean --bootstrap-server?\n"
    )


@pytest.mark.parametrize("compat", [("--compat", "kafka"), ("--compat=kafka",)])
def test_compat_prints_the_errors_of_apaches_tool(compat: tuple[str, ...], run: Run) -> None:
    assert run(*compat, "--zookeeper", "z") == (1, "", "zookeeper is not a recognized option\n")
    assert run("--bootstrap-servers", "SERVER", *compat) == (1, "", "bootstrap-servers is not a recognized option\n")
    assert run(*compat, "--version") == (0, "4.3.1\n", "")
    usage = run(*compat).stderr
    assert usage.startswith("This tool helps to manipulate and describe entity config for a topic, client,")
    assert usage.endswith(f"{'--version                              Display Kafka version.':<78}\n")


def test_compat_with_another_tool_is_refused(run: Run) -> None:
    assert run("--compat", "rpk") == (2, "", "kafkawire: --compat rpk: no such tool; use --compat kafka\n")


def test_help_alone_is_that_of_the_group(run: Run) -> None:
    assert run("--help").stdout.startswith("Usage: kafkawire configs COMMAND")
    assert run("-h", "--bootstrap-servers", "x").stdout.startswith("usage: config-command")


def test_words_that_are_not_utf_8_are_replaced_as_in_java(run: Run) -> None:
    ended = run("--bootstrap-server", "SERVER", "--describe", "--group", b"g\xff".decode("utf-8", "surrogateescape"))
    assert ended == (0, "The group 'g\ufffd' doesn't exist and doesn't have dynamic config.\n", "")
