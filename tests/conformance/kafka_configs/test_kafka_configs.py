"""``kafkawire configs --compat kafka`` prints what Apache's kafka-configs prints, at the same cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.apache_kafka.broker import Broker, running_broker
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.kafka_tool import KafkaTool, Printed, running_kafka_tool
from tests.apache_kafka.releases import broker_releases, is_at_least, newest_broker_release
from tests.conformance.kafka_configs.resetting import reset
from tests.conformance.kafka_configs.scenarios import SCENARIOS, words_of, write_files

from kafkawire.admin import BlockingAdminClient, ConfigResourceType
from kafkawire.cli.app import main
from kafkawire.cli.kafka_configs.secrets_in_words import shown_words

pytestmark = [pytest.mark.conformance, pytest.mark.extended]

PLACE_IN_JAVA = re.compile(r"(?:\tat |\t\.\.\. ).*\n")
MECHANISMS = re.compile(r"(?<=' are )SCRAM-\S+, SCRAM-\S+$", re.MULTILINE)
SECONDS_TO_APPLY = 5.0
LISTED_IN = {ConfigResourceType.CLIENT_METRICS: "3.7", ConfigResourceType.GROUP: "4.1"}
"""Type of a resource to the release whose brokers first list those with a configuration."""


@pytest.fixture(scope="module")
def tool() -> Iterator[KafkaTool]:
    """Apache's tool, of the newest release, for brokers of every release."""
    with running_kafka_tool(newest_broker_release()) as running:
        yield running


@pytest.fixture(scope="module", params=broker_releases())
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
    with BlockingAdminClient(broker.address) as client:
        reset(client, listable=listable)
        theirs = [_promised(printed, words) for printed, words in zip(tool.configs(lines), lines, strict=True)]
        reset(client, listable=listable)

    def ours(words: list[str]) -> tuple[list[str], Printed]:
        exit_code = main(["configs", "--compat", "kafka", *words])
        return words, _promised(Printed(*capsys.readouterr(), exit_code), words)

    for words, expected in zip(lines, theirs, strict=True):  # in less time than the broker takes to apply a change
        eventually(partial(ours, words), (words, expected).__eq__, seconds=SECONDS_TO_APPLY)


def test_there_are_more_than_a_hundred_command_lines() -> None:
    assert len({line for lines in SCENARIOS.values() for line in lines}) > 200


def _promised(printed: Printed, words: list[str]) -> Printed:
    """What is promised to be equal: not the places in Java's code, nor secrets, nor the order of mechanisms, which
    differs from one start of a broker to the next.
    """
    errors = PLACE_IN_JAVA.sub("", printed.stderr).replace(" ".join(words), shown_words(words))
    output = MECHANISMS.sub(lambda found: ", ".join(sorted(found[0].split(", "))), printed.stdout)
    return Printed(output, errors, printed.exit)
