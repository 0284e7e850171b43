"""``kafkawire configs --compat kafka`` prints what Apache's kafka-configs prints, at the same cluster."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.apache_kafka.broker import Broker, running_broker
from tests.apache_kafka.kafka_tool import KafkaTool, Printed, running_kafka_tool
from tests.apache_kafka.releases import broker_release_parameters, is_at_least, newest_scala_tools
from tests.conformance.kafka_configs.resetting import reset, settle
from tests.conformance.kafka_configs.scenarios import SCENARIOS, words_of, write_files

from kafkawire.admin import BlockingAdminClient, ConfigResourceType
from kafkawire.cli.app import main
from kafkawire.cli.kafka_configs.secrets_in_words import shown_words

pytestmark = [pytest.mark.conformance, pytest.mark.extended]

PLACE_IN_JAVA = re.compile(r"(?:\tat |\t\.\.\. ).*\n")
MECHANISMS = re.compile(r"(?<=' are )SCRAM-\S+, SCRAM-\S+$", re.MULTILINE)
LISTED_IN = {ConfigResourceType.CLIENT_METRICS: "3.7", ConfigResourceType.GROUP: "4.1"}
"""Type of a resource to the release whose brokers first list those with a configuration."""


@pytest.fixture(scope="module")
def tool() -> Iterator[KafkaTool]:
    """Apache's tool, for brokers of every release."""
    with running_kafka_tool(newest_scala_tools()) as running:
        yield running


@pytest.fixture(scope="module", params=broker_release_parameters(every_minor=False))
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker of its own: scenarios delete all topics."""
    release: str = request.param
    with running_broker(release, tmp_path_factory.mktemp(f"kafka-configs-{release}")) as running:
        yield running


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_output_and_exit_code_are_those_of_apaches_tool(
    scenario: str, broker: Broker, tool: KafkaTool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_files(tmp_path)
    lines = [
        words_of(
            line, server=broker.address, controller=f"{broker.host}:{broker.controller_port}", node=broker.node_id,
            files=tmp_path,
        )
        for line in SCENARIOS[scenario]
    ]  # fmt: skip
    listable = frozenset(type_ for type_, first in LISTED_IN.items() if is_at_least(broker.release, first))

    def run_theirs(words: list[str]) -> Printed:
        (printed,) = tool.configs([words])
        return printed

    def run_ours(words: list[str]) -> Printed:
        exit_code = main(["configs", "--compat", "kafka", *words])
        return Printed(*capsys.readouterr(), exit_code)

    with BlockingAdminClient(broker.address) as client:
        reset(client, listable=listable)
        theirs = list(_printed(run_theirs, lines, client))
        reset(client, listable=listable)
        for ended, expected in zip(_printed(run_ours, lines, client), theirs, strict=True):
            assert ended == expected


def _printed(
    run: Callable[[list[str]], Printed], lines: list[list[str]], client: BlockingAdminClient
) -> Iterator[tuple[list[str], Printed]]:
    """Each command line, and what it prints after the changes of those before are applied."""
    for words in lines:
        yield words, _promised(run(words), words)
        if any(word.lstrip("-") == "alter" for word in words):
            settle(client)


def test_there_are_more_than_a_hundred_command_lines() -> None:
    assert len({line for lines in SCENARIOS.values() for line in lines}) > 200


def _promised(printed: Printed, words: list[str]) -> Printed:
    """What is promised to be equal: not the places in Java's code, nor secrets, nor the order of mechanisms, which
    differs from one start of a broker to the next.
    """
    errors = PLACE_IN_JAVA.sub("", printed.stderr).replace(" ".join(words), shown_words(words))
    output = MECHANISMS.sub(lambda found: ", ".join(sorted(found[0].split(", "))), printed.stdout)
    return Printed(output, errors, printed.exit)
