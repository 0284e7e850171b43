"""Fixtures: ``oracles`` (Kafka's own classes), ``kafka_brokers``, ``secure_kafka_brokers`` and ``kafka_clusters`` (real
ones), ``java_admin`` (Java's Admin), ``kafka_dump_log`` (Kafka's log tool).

Brokers are started at its first use and stopped after the last test that may ask for them: one that only waits
takes a tenth of a processor.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, ExitStack
from functools import cache
from pathlib import Path
from typing import Protocol, TypeVar

import pytest
from tests.apache_kafka.broker import Broker, running_broker
from tests.apache_kafka.cluster import Cluster, running_cluster
from tests.apache_kafka.java_admin import JavaAdmin, running_java_admin
from tests.apache_kafka.java_program import FAST_START
from tests.apache_kafka.node import run_tool
from tests.apache_kafka.oracle import Oracle, running_oracle
from tests.apache_kafka.releases import BROKER, newest_broker_release, newest_with
from tests.apache_kafka.secure_broker import SecureBroker, running_secure_broker

Oracles = Callable[[str], Oracle]
"""Gives the oracle of a release."""

Brokers = Callable[[str], Broker]
"""Gives the broker of a release."""

SecureBrokers = Callable[[str], SecureBroker]
"""Gives the secure broker of a release."""

Clusters = Callable[[str], Cluster]
"""Gives the cluster of a release, with all its nodes running."""


ENVIRONMENTS = ("kafka_clusters", "secure_kafka_brokers", "kafka_brokers")
"""The fixtures whose brokers are stopped early, those with the most processes first."""

T = TypeVar("T")


class DumpLog(Protocol):
    """Gives what ``kafka-dump-log`` prints for a segment, snapshot or index."""

    def __call__(self, file: Path, *flags: str) -> str: ...


@pytest.fixture(scope="session")
def oracles() -> Iterator[Oracles]:
    """The oracle of a release, started at its first use."""
    with ExitStack() as running:

        @cache
        def oracle_of(release: str) -> Oracle:
            return running.enter_context(running_oracle(release))

        yield oracle_of


@pytest.fixture(scope="session")
def oracle(oracles: Oracles) -> Oracle:
    """The oracle of the newest release."""
    return oracles(newest_with(BROKER))


class _Started:
    """What runs at the moment, and which test is the last that may use it."""

    def __init__(self, items: list[pytest.Item]) -> None:
        used_by = {name: item for item in items for name in getattr(item, "fixturenames", ()) if name in ENVIRONMENTS}
        self._last_users = {name: item.nodeid for name, item in used_by.items()}
        self._running = {name: ExitStack() for name in used_by}

    def one_of_each_release(self, name: str, start: Callable[[str], AbstractContextManager[T]]) -> Callable[[str], T]:
        """Gives what runs of a release, for the fixture of that name."""
        return cache(lambda release: self._running[name].enter_context(start(release)))

    def stop_after(self, item: pytest.Item) -> None:
        """Stop what no test after this one uses."""
        for name, last_user in self._last_users.items():
            if item.nodeid == last_user:
                self._running[name].close()

    def stop(self) -> None:
        """Stop all that runs, as it does when testing is broken off."""
        for running in self._running.values():
            running.close()


_STARTED = pytest.StashKey[_Started]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """Stop brokers after the last test that uses them."""
    yield
    if _STARTED in item.session.stash:
        item.session.stash[_STARTED].stop_after(item)


@pytest.fixture(scope="session")
def _started(request: pytest.FixtureRequest) -> Iterator[_Started]:
    started = request.session.stash[_STARTED] = _Started(request.session.items)
    yield started
    started.stop()


@pytest.fixture(scope="session")
def kafka_brokers(_started: _Started, tmp_path_factory: pytest.TempPathFactory) -> Brokers:
    """The broker of a release, started at its first use and shared by all tests of the session."""
    return _started.one_of_each_release(
        "kafka_brokers", lambda release: running_broker(release, tmp_path_factory.mktemp(f"kafka-{release}"))
    )


@pytest.fixture(scope="session")
def kafka_broker(kafka_brokers: Brokers) -> Broker:
    """The broker of the newest release that has its tools."""
    return kafka_brokers(newest_broker_release())


@pytest.fixture(scope="session")
def secure_kafka_brokers(_started: _Started, tmp_path_factory: pytest.TempPathFactory) -> SecureBrokers:
    """The secure broker of a release, started at its first use and shared by all tests of the session."""
    return _started.one_of_each_release(
        "secure_kafka_brokers",
        lambda release: running_secure_broker(release, tmp_path_factory.mktemp(f"secure-kafka-{release}")),
    )


@pytest.fixture(scope="session")
def secure_kafka_broker(secure_kafka_brokers: SecureBrokers) -> SecureBroker:
    """The secure broker of the newest release that has its tools."""
    return secure_kafka_brokers(newest_broker_release())


@pytest.fixture(scope="session")
def kafka_clusters(_started: _Started, tmp_path_factory: pytest.TempPathFactory) -> Clusters:
    """The cluster of a release, started at its first use and shared by all tests of the session.

    Tests may kill nodes: the next test gets a whole cluster again.
    """
    cluster_of = _started.one_of_each_release(
        "kafka_clusters",
        lambda release: running_cluster(release, tmp_path_factory.mktemp(f"kafka-cluster-{release}")),
    )

    def whole_cluster_of(release: str) -> Cluster:
        cluster = cluster_of(release)
        cluster.make_whole()
        return cluster

    return whole_cluster_of


@pytest.fixture
def kafka_cluster(kafka_clusters: Clusters) -> Cluster:
    """The cluster of the newest release that has its tools, with all its nodes running."""
    return kafka_clusters(newest_broker_release())


@pytest.fixture(scope="session")
def java_admin() -> Iterator[JavaAdmin]:
    """Java's Admin, of the newest release that has its tools, for brokers of every release."""
    with running_java_admin(FAST_START) as admin:
        yield admin


@pytest.fixture(scope="session")
def kafka_dump_log() -> DumpLog:
    """``kafka-dump-log`` of the newest release that has it: give a file and flags, get its text."""

    def dump_log(file: Path, *flags: str) -> str:
        return run_tool(newest_broker_release(), "org.apache.kafka.tools.DumpLogSegments", "--files", str(file), *flags)

    return dump_log
