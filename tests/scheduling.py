"""Which tests run one after the other in one process, and which of these units begin first.

Tests share what is expensive to make, such as a running broker, through fixtures, of which every process has its own.
So the tests of a file stay together, and those of several files where ``UNITS`` says so. pytest-xdist's mark
``xdist_group`` would do it too, but has no effect with pytest 9.2, where a test's id cannot be changed any more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

import pytest
from tests.apache_kafka.fixtures import ENVIRONMENTS
from xdist.remote import Producer  # type: ignore[import-untyped]
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

UNITS: Mapping[str, tuple[str, ...]] = {
    "cluster failures": ("tests/interop/admin/test_cluster_failures.py",),
    "own brokers": tuple(
        f"tests/interop/admin/test_{name}.py" for name in ("alter_config_policy", "create_topic_policy", "old_metadata")
    ),
    "clients": (
        *("tests/interop/broker/clients/", "tests/interop/broker/test_hand_over.py"),
        "tests/interop/broker/test_logs_of_kafka.py",
    ),
    "same answers": ("tests/interop/broker/",),
    "browser": ("tests/interop/browser/",),
    "spark": ("tests/interop/spark/",),
    "logs of kafka": ("tests/interop/logs/",),
    "brokers": ("tests/interop/", "tests/repo/test_examples.py"),
    "oracles": tuple(
        f"tests/conformance/{name}.py"
        for name in (
            *("broker/test_served_apis", "test_bytes", "test_deviations", "test_json", "test_malformed_bytes"),
            *("test_malformed_json", "test_oracle", "test_tables", "test_trials"),
        )
    ),
    "maven": ("tests/conformance/test_readability_of_releases.py", "tests/conformance/test_release_sides.py"),
    "synthetic package": ("tests/golden/codegen/",),
}
"""Name of a unit to the beginnings of its tests' ids, the first that fits. Every other file is a unit of its own."""

STARTED: Mapping[str, frozenset[str]] = {
    "kafka_brokers": frozenset({"brokers"}),
    "secure_kafka_brokers": frozenset({"brokers"}),
    "kafka_clusters": frozenset({"brokers"}),
    "java_admin": frozenset({"brokers", "clients", "logs of kafka"}),
    "oracles": frozenset({"oracles"}),
    "spark": frozenset({"spark"}),
}
"""Fixture that starts processes of Apache Kafka or Spark, once for a whole unit, to the units that may use it."""

FIRST = (
    *("brokers", "cluster failures", "tests/laws/protocol/test_clients.py", "same answers", "own brokers"),
    *("clients", "logs of kafka", "spark", "oracles", "maven", "synthetic package"),
    *("tests/conformance/", "tests/repo/", "tests/golden/", "tests/laws/"),
)
"""Beginnings of the names of units, those that take longest first: what begins last shall not be what all wait for."""


class UnitScheduling(LoadScopeScheduling):  # type: ignore[misc] # xdist has no types
    """Gives each process a unit at a time, in the order in which they were collected."""

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)


def unit_of(nodeid: str) -> str:
    """The unit of a test: one of UNITS, or its file."""
    file = file_of(nodeid)
    return next((unit for unit, beginnings in UNITS.items() if file.startswith(beginnings)), file)


def file_of(nodeid: str) -> str:
    """The file of a test."""
    return nodeid.partition("::")[0]


def environment_of(fixtures: Collection[str]) -> int:
    """Files that use the same brokers follow each other, so that these can be stopped."""
    return next((rank for rank, name in enumerate(ENVIRONMENTS) if name in fixtures), len(ENVIRONMENTS))


def rank_of(unit: str) -> int:
    """Units of a lower rank begin earlier."""
    return next((rank for rank, beginning in enumerate(FIRST) if unit.startswith(beginning)), len(FIRST))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> UnitScheduling:
    """Distribute units, whatever ``--dist`` says."""
    config.option.loadscopereorder = False  # by the number of their tests, which says little of how long they take
    return UnitScheduling(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the units that begin first to the front, and see that what is started for a unit is used nowhere else.

    Raises:
        pytest.UsageError: if a test would start processes that another unit has running.
    """
    used: dict[str, set[str]] = defaultdict(set)
    for item in items:
        used[file_of(item.nodeid)].update(getattr(item, "fixturenames", ()))
    items.sort(key=lambda item: (rank_of(unit_of(item.nodeid)), environment_of(used[file_of(item.nodeid)])))
    for item in items:
        for fixture in STARTED.keys() & getattr(item, "fixturenames", ()):
            if unit_of(item.nodeid) not in STARTED[fixture]:
                units = " or ".join(sorted(STARTED[fixture]))
                raise pytest.UsageError(f"{item.nodeid} uses {fixture}: add its file to {units} in {__name__}")
