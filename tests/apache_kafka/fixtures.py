"""Fixtures: ``oracles`` (Kafka's own classes), ``kafka_brokers``, ``secure_kafka_brokers`` and ``kafka_clusters`` (real
ones), ``java_admin`` (Java's Admin), ``kafka_dump_log`` (Kafka's log tool).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Protocol

import pytest
from tests.apache_kafka.broker import Broker, running_broker
from tests.apache_kafka.cluster import Cluster, running_cluster
from tests.apache_kafka.java_admin import JavaAdmin, running_java_admin
from tests.apache_kafka.node import run_tool
from tests.apache_kafka.oracle import Oracle, running_oracle
from tests.apache_kafka.releases import newest_release
from tests.apache_kafka.secure_broker import SecureBroker, running_secure_broker

Oracles = Callable[[str], Oracle]
"""Gives the oracle of a release."""

Brokers = Callable[[str], Broker]
"""Gives the broker of a release."""

SecureBrokers = Callable[[str], SecureBroker]
"""Gives the secure broker of a release."""

Clusters = Callable[[str], Cluster]
"""Gives the cluster of a release, with all its nodes running."""


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
def secure_kafka_brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureBrokers]:
    """The secure broker of a release, started when first asked for and shared by all tests of the session."""
    with ExitStack() as running:

        @cache
        def broker_of(release: str) -> SecureBroker:
            folder = tmp_path_factory.mktemp(f"secure-kafka-{release}")
            return running.enter_context(running_secure_broker(release, folder))

        yield broker_of


@pytest.fixture(scope="session")
def secure_kafka_broker(secure_kafka_brokers: SecureBrokers) -> SecureBroker:
    """The secure broker of the newest release."""
    return secure_kafka_brokers(newest_release())


@pytest.fixture(scope="session")
def kafka_clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clusters]:
    """The cluster of a release, started when first asked for and shared by all tests of the session.

    Tests may kill nodes: whoever asks next gets a whole cluster again.
    """
    with ExitStack() as running:

        @cache
        def cluster_of(release: str) -> Cluster:
            return running.enter_context(running_cluster(release, tmp_path_factory.mktemp(f"kafka-cluster-{release}")))

        def whole_cluster_of(release: str) -> Cluster:
            cluster = cluster_of(release)
            cluster.make_whole()
            return cluster

        yield whole_cluster_of


@pytest.fixture
def kafka_cluster(kafka_clusters: Clusters) -> Cluster:
    """The cluster of the newest release, with all its nodes running."""
    return kafka_clusters(newest_release())


@pytest.fixture(scope="session")
def java_admin() -> Iterator[JavaAdmin]:
    """Java's Admin, of the newest release, for brokers of every release."""
    with running_java_admin() as admin:
        yield admin


@pytest.fixture(scope="session")
def kafka_dump_log() -> DumpLog:
    """``kafka-dump-log`` of the newest release: give a file and flags, get its text."""

    def dump_log(file: Path, *flags: str) -> str:
        return run_tool(newest_release(), "org.apache.kafka.tools.DumpLogSegments", "--files", str(file), *flags)

    return dump_log
