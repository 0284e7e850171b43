"""Fixtures that more than one kind of test uses, and how property tests run."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from tests.engines import use_engine_or_skip

from kafkawire import wire

pytest_plugins = ["tests.apache_kafka.fixtures", "tests.apache_spark.fixtures", "tests.scheduling"]

# Loading a profile keeps examples random in CI, where hypothesis would repeat the same ones. Machines are busy at
# times, which is neither a slow strategy nor a slow test. `pytest --hypothesis-profile=thorough` looks for longer, and
# `make test` takes a quick look.
settings.register_profile("kafkawire", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("kafkawire"), max_examples=25)
settings.register_profile("thorough", settings.get_profile("kafkawire"), max_examples=2000)
settings.load_profile("kafkawire")

# The garbage collector is spared what stays to the end: modules, and some twenty thousand tests. While they are
# collected there is nothing else, and it would take a third of the time.
gc.disable()


def pytest_collection_finish() -> None:
    gc.enable()
    gc.collect()
    gc.freeze()


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """SIGINT interrupts, here and in programs that the test starts.

    A shell starts jobs in the background with SIGINT ignored, and programs inherit that.
    """
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, inherited)


@pytest.fixture
def one_engine() -> Iterator[None]:
    """For tests that measure: the time and memory of one engine, where CI runs both."""
    chosen = wire.ENGINE
    if chosen == "both":
        wire.use_engine("native")
    yield
    wire.use_engine(chosen)


@pytest.fixture(params=["python", "native"])
def each_engine(request: pytest.FixtureRequest) -> Iterator[None]:
    """For tests that measure both engines one after the other."""
    chosen = wire.ENGINE
    use_engine_or_skip(request.param)
    yield
    wire.use_engine(chosen)
