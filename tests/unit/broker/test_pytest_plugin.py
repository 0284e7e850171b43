"""The fixtures of users, in a separate pytest run."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest_plugins = ("pytester",)

SYNC = """
from kafkawire.admin import BlockingAdminClient, NewTopic

def test_topic(kafka_broker):
    with BlockingAdminClient(kafka_broker.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("orders")]).all()
        assert list(admin.list_topics()) == ["orders"]

def test_every_test_has_its_own(kafka_broker):
    with BlockingAdminClient(kafka_broker.bootstrap_servers) as admin:
        assert not admin.list_topics()
"""

ASYNC = """
import asyncio
from kafkawire.admin import AdminClient, NewTopic

def test_topic(kafka_broker):
    async def create():
        async with AdminClient(kafka_broker.bootstrap_servers) as admin:
            (await admin.create_topics([NewTopic("orders")])).all()
    asyncio.run(create())
"""

PROPERTIES = """
import pytest
from kafkawire.admin import BlockingAdminClient
from kafkawire.broker import ManualClock

@pytest.fixture
def kafka_broker_clock():
    return ManualClock()

@pytest.mark.parametrize("kafka_broker_properties", [{"num.partitions": "7"}])
def test_properties(kafka_broker, kafka_broker_properties):
    from kafkawire.admin import NewTopic
    with BlockingAdminClient(kafka_broker.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("orders")]).all()
        (described,) = admin.describe_topics(["orders"]).all().values()
        assert len(described.partitions) == 7
"""


@pytest.mark.parametrize(("source", "passed"), [(SYNC, 2), (ASYNC, 1), (PROPERTIES, 1)], ids=["sync", "async", "own"])
def test_tests_have_a_broker(pytester: pytest.Pytester, source: str, passed: int) -> None:
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function")
    pytester.makepyfile(source)
    # In this process, the modules that the run imports would be forgotten after it, but not their classes.
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=passed)


def test_tests_without_the_fixtures_import_no_broker() -> None:
    program = (
        "import sys, pytest, importlib; before = set(sys.modules);"
        "importlib.import_module('kafkawire.broker.pytest_plugin');"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        "kafkawire",
        "kafkawire.broker",
        "kafkawire.broker.pytest_plugin",
        "kafkawire.lazy_names",
    ]
