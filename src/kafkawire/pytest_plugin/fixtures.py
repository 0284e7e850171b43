"""Brokers for tests: the pytest plug-in of kafkawire.

pytest loads this module whenever kafkawire is installed, so it loads nothing itself until a test wants a broker.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Final, Literal

import pytest

if TYPE_CHECKING:
    from kafkawire.broker.clock import Clock
    from kafkawire.broker.state_copy import StateCopy
    from kafkawire.broker.threaded import ThreadedBroker
    from kafkawire.declared.state import ClusterState
    from kafkawire.model.partitions import TopicPartition
    from kafkawire.model.topics import NewTopic
    from kafkawire.pytest_plugin.brokers import BrokersOfTests

_REQUESTS_SHOWN: Final = 20
_BROKERS: Final[pytest.StashKey[BrokersOfTests]] = pytest.StashKey()
_SEED: Final = "kafka_seed"
_SEED_VARIABLE: Final = "KAFKA_SEED"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options ``--kafka-seed`` and ``--kafka-seeds``."""
    group = parser.getgroup("kafkawire", "brokers for tests")
    group.addoption(
        "--kafka-seed", type=int, help=f"the seed of tests with kafka_seed (default: ${_SEED_VARIABLE}, else random)"
    )
    group.addoption(
        "--kafka-seeds", type=int, default=1, help="with how many seeds tests with kafka_seed run, one after the other"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Makes a test of each seed of ``--kafka-seeds``."""
    count: int = metafunc.config.getoption("--kafka-seeds")
    if count > 1 and _SEED in metafunc.fixturenames:
        first = _given_seed(metafunc.config) or 0
        metafunc.parametrize(_SEED, range(first, first + count))


@pytest.fixture
def kafka_seed(pytestconfig: pytest.Config) -> int:
    """The seed for `Chance`: another one in each run, unless ``--kafka-seed`` or ``KAFKA_SEED`` gives it."""
    given = _given_seed(pytestconfig)
    return int.from_bytes(os.urandom(4)) if given is None else given  # tests may have set the seed of `random`


def _given_seed(config: pytest.Config) -> int | None:
    option: int | None = config.getoption("--kafka-seed")
    variable = os.environ.get(_SEED_VARIABLE)
    if option is not None or not variable:
        return option
    try:
        return int(variable)
    except ValueError as error:
        raise pytest.UsageError(f"{_SEED_VARIABLE} is {variable!r}: set it to an integer, or not at all") from error


@pytest.fixture(scope="session")
def kafka_broker_properties() -> Mapping[str, str]:
    """The properties of the brokers; override this fixture to have others."""
    return {}


@pytest.fixture(scope="session")
def kafka_broker_topics() -> Iterable[NewTopic | str]:
    """The topics that the brokers have from their start; override this fixture to declare some."""
    return ()


@pytest.fixture(scope="session")
def kafka_broker_clock() -> Clock | None:
    """The clock of the brokers; override this fixture to have a `ManualClock`."""
    return None


@pytest.fixture(scope="session")
def kafka_broker_data_dir() -> str | PathLike[str] | None:
    """The data directory of the brokers; override this fixture to have one, so that a restart keeps their state."""
    return None


@pytest.fixture(scope="session")
def kafka_broker_declared() -> ClusterState | str | PathLike[str] | None:
    """What the brokers have from their start; override this fixture to declare topics, ACLs, quotas and users.

    It is a `ClusterState`, or the path of documents as for ``kafkawire apply``. With ACLs the brokers evaluate them,
    and clients that do not log in are super users. With passwords of users there is a listener ``SASL_PLAINTEXT``,
    where these users log in with PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512. Each partition has one replica.
    """
    return None


@pytest.fixture(scope="session")
def kafka_broker_groups() -> Mapping[str, Mapping[TopicPartition, int]]:
    """The offsets that groups have committed from the start: group id to partition to offset."""
    return {}


@pytest.fixture(scope="session")
def kafka_broker_state() -> StateCopy | None:
    """The copied state with which the brokers begin; override this fixture to return one, from `copy_state`."""
    return None


@pytest.fixture(scope="session")
def kafka_broker_release() -> str | None:
    """The release of Apache Kafka whose versions the brokers offer, such as ``3.9``; None for the newest."""
    return None


def _broker_fixture(scope: Literal["function", "module", "session"], summary: str) -> Callable[..., object]:
    def broker(
        *,
        request: pytest.FixtureRequest,
        kafka_broker_properties: Mapping[str, str],
        kafka_broker_topics: Iterable[NewTopic | str],
        kafka_broker_clock: Clock | None,
        kafka_broker_data_dir: str | PathLike[str] | None,
        kafka_broker_declared: ClusterState | str | PathLike[str] | None,
        kafka_broker_groups: Mapping[str, Mapping[TopicPartition, int]],
        kafka_broker_state: StateCopy | None,
        kafka_broker_release: str | None,
    ) -> Iterator[ThreadedBroker]:
        from kafkawire.pytest_plugin.brokers import Begin, BrokersOfTests  # noqa: PLC0415 see above

        begin = Begin(
            kafka_broker_properties, kafka_broker_topics, kafka_broker_declared, kafka_broker_groups, kafka_broker_state
        )
        brokers = request.session.stash.setdefault(_BROKERS, BrokersOfTests())
        with brokers.running(begin, kafka_broker_data_dir, kafka_broker_clock, kafka_broker_release) as running:
            yield running

    broker.__doc__ = summary
    return pytest.fixture(scope=scope)(broker)


kafka_broker = _broker_fixture(
    "function", "An embedded Kafka broker of this test's own; for tests with and without asyncio."
)
module_kafka_broker = _broker_fixture("module", "An embedded Kafka broker that the tests of a module share.")
session_kafka_broker = _broker_fixture("session", "An embedded Kafka broker that all tests of a run share.")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Adds the seed of a failed test, and the last requests of its brokers with their outcomes, to its report."""
    report = yield
    if report.failed:
        seed = item.funcargs.get(_SEED) if isinstance(item, pytest.Function) else None
        if seed is not None:
            report.sections.append(("Seed of chance", f"pytest --kafka-seed {seed} repeats these faults"))
        report.sections.extend(
            (f"Last requests to {name}", _last_requests(broker))
            for name, broker in _brokers_of(item)
            if broker.requests
        )
    return report


def _brokers_of(item: pytest.Item) -> Iterator[tuple[str, ThreadedBroker]]:
    """The brokers among a test's fixtures, those that other fixtures request included."""
    module = sys.modules.get("kafkawire.broker.threaded")
    if module is not None and isinstance(item, pytest.Function):
        fixtures: Mapping[str, object] = item.funcargs
        for name, value in fixtures.items():
            if isinstance(value, module.ThreadedBroker):
                yield name, value


def _last_requests(broker: ThreadedBroker) -> str:
    return "\n".join(map(str, list(broker.requests)[-_REQUESTS_SHOWN:])) or "none"
