"""Which tests run one after the other in one process, and which of these units begin first.

Tests share expensive fixtures, such as a running broker, and every process has its own fixtures. So the tests of a file
stay together, and those of several files where ``UNITS`` says so. The table is written by hand: xdist distributes tests
by their ids alone, in the process that has not collected them, so it cannot read the fixtures that they use.
pytest-xdist's mark ``xdist_group`` has no effect with pytest 9.2, where a test's id cannot be changed any more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

import pytest
from tests.apache_kafka.fixtures import ENVIRONMENTS
from xdist.remote import Producer  # type: ignore[import-untyped]
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]


@dataclass(frozen=True)
class Unit:
    """Tests that run one after the other in one process.

    Args:
        name: its name.
        beginnings: beginnings of the paths of its files. A file belongs to the unit with the longest one.
        starts: the fixtures that start processes of Apache Kafka or Spark for it.
    """

    name: str
    beginnings: tuple[str, ...]
    starts: frozenset[str] = frozenset()


UNITS = (
    Unit(
        "brokers",
        (
            *("tests/interop/", "tests/interop/broker/test_version_tables.py"),
            *("tests/interop/broker/test_kafka_streams_groups.py", "tests/interop/broker/test_versions_of_4_4.py"),
            *("tests/interop/logs/test_cluster_histories.py", "tests/repo/test_examples.py"),
        ),
        frozenset({*ENVIRONMENTS, "java_admin"}),
    ),
    Unit("cluster failures", ("tests/interop/admin/test_cluster_failures.py",)),
    Unit("same answers", ("tests/interop/broker/",)),
    Unit(
        "own brokers",
        (
            *("tests/interop/admin/test_alter_config_policy.py", "tests/interop/admin/test_create_topic_policy.py"),
            "tests/interop/admin/test_old_metadata.py",
        ),
    ),
    Unit(
        "clients",
        tuple(
            f"tests/interop/broker/{name}"
            for name in ("clients/", "test_hand_over.py", "test_logs_of_kafka.py", "test_twin.py")
        ),
        frozenset({"java_admin"}),
    ),
    Unit("logs of kafka", ("tests/interop/logs/",), frozenset({"java_admin"})),
    Unit("spark", ("tests/interop/spark/",), frozenset({"spark"})),
    Unit(
        "oracles",
        tuple(
            f"tests/conformance/{name}.py"
            for name in (
                *("broker/test_served_apis", "test_bytes", "test_deviations", "test_json", "test_malformed_bytes"),
                *("test_malformed_json", "test_oracle", "test_page", "test_tables", "test_trials"),
            )
        ),
        frozenset({"oracles"}),
    ),
    Unit("maven", ("tests/conformance/test_readability_of_releases.py", "tests/conformance/test_release_sides.py")),
    Unit("synthetic package", ("tests/golden/codegen/",)),
    Unit("browser", ("tests/interop/browser/",)),
    Unit("site", ("tests/repo/site/", "tests/repo/test_reference_pages.py")),
    Unit("wheel", ("tests/wheel/",)),
)
"""Units of several files, those that take longest first. Every other file is a unit of its own."""

NEXT = ("tests/laws/protocol/test_clients.py", "tests/conformance/", "tests/repo/", "tests/golden/", "tests/laws/")
"""Beginnings of the paths of files that begin after ``UNITS`` and before all others, those that take longest first."""


class UnitScheduling(LoadScopeScheduling):  # type: ignore[misc] # xdist has no types
    """Gives each process a unit at a time, in the order in which they were collected."""

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)


def unit_of(nodeid: str) -> str:
    """The unit of a test: one of ``UNITS``, or its file."""
    file = file_of(nodeid)
    fitting = {each: unit.name for unit in UNITS for each in unit.beginnings if file.startswith(each)}
    return fitting[max(fitting, key=len)] if fitting else file


def file_of(nodeid: str) -> str:
    """The file of a test."""
    return nodeid.partition("::")[0]


def environment_of(fixtures: Collection[str]) -> int:
    """The rank of a file: files that use the same brokers follow each other, so that these can be stopped."""
    return next((rank for rank, name in enumerate(ENVIRONMENTS) if name in fixtures), len(ENVIRONMENTS))


def rank_of(unit: str) -> int:
    """The rank of a unit: units of a lower rank begin earlier."""
    order = [*(each.name for each in UNITS), *NEXT]
    return next((rank for rank, beginning in enumerate(order) if unit.startswith(beginning)), len(order))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> UnitScheduling:
    """Distribute units, whatever ``--dist`` says."""
    config.option.loadscopereorder = False  # by the number of their tests, which says little of how long they take
    return UnitScheduling(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the units that begin first to the front, and refuse tests that use what another unit starts.

    Raises:
        pytest.UsageError: if a test would start processes that another unit has running.
    """
    used: dict[str, set[str]] = defaultdict(set)
    for item in items:
        used[file_of(item.nodeid)].update(getattr(item, "fixturenames", ()))
    items.sort(key=lambda item: (rank_of(unit_of(item.nodeid)), environment_of(used[file_of(item.nodeid)])))
    for item in items:
        for fixture in getattr(item, "fixturenames", ()):
            units = [unit.name for unit in UNITS if fixture in unit.starts]
            if units and unit_of(item.nodeid) not in units:
                raise pytest.UsageError(
                    f"{item.nodeid} uses {fixture}: add its file to {' or '.join(units)} in {__name__}"
                )
