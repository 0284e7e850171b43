"""Fixtures: ``oracles`` (Kafka's own classes), ``kafka_brokers`` (real ones), ``kafka_dump_log`` (Kafka's log tool)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Protocol

import pytest
from tests.apache_kafka.broker import Broker, run_tool, running_broker
from tests.apache_kafka.oracle import Oracle, running_oracle
from tests.apache_kafka.releases import newest_release

Oracles = Callable[[str], Oracle]
"""Gives the oracle of a release."""

Brokers = Callable[[str], Broker]
"""Gives the broker of a release."""


class DumpLog(Protocol):
    """Gives what ``kafka-dump-log`` prints for a segment, snapshot or index."""

    def __call__(self, file: Path, *flags: str) -> str: ...


@pytest.fixture(scope="session")
def oracles() -> Iterator[Oracles]:
    """The oracle of a release, started when first asked for."""
    with ExitStack() as running:

        @cache
        def oracle_of(release: str) -> Oracle:
            return running.enter_context(running_oracle(release))

        yield oracle_of


@pytest.fixture(scope="session")
def oracle(oracles: Oracles) -> Oracle:
    """The oracle of the newest release."""
    return oracles(newest_release())


@pytest.fixture(scope="session")
def kafka_brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokers]:
    """The broker of a release, started when first asked for and shared by all tests of the session."""
    with ExitStack() as running:

        @cache
        def broker_of(release: str) -> Broker:
            return running.enter_context(running_broker(release, tmp_path_factory.mktemp(f"kafka-{release}")))

        yield broker_of


@pytest.fixture(scope="session")
def kafka_broker(kafka_brokers: Brokers) -> Broker:
    """The broker of the newest release."""
    return kafka_brokers(newest_release())


@pytest.fixture(scope="session")
def kafka_dump_log() -> DumpLog:
    """``kafka-dump-log`` of the newest release: give a file and flags, get its text."""

    def dump_log(file: Path, *flags: str) -> str:
        return run_tool(newest_release(), "org.apache.kafka.tools.DumpLogSegments", "--files", str(file), *flags)

    return dump_log
