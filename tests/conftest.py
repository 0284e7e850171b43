"""Fixtures that more than one kind of test uses."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator

import pytest
import tests.hypothesis_profiles  # noqa: F401 - loads the usual one
from tests.engines import use_engine_or_skip

from kafkawire import wire

pytest_plugins = ["tests.apache_kafka.fixtures", "tests.apache_spark.fixtures", "tests.scheduling"]

# The garbage collector is spared what stays to the end: modules, and some twenty thousand tests. While they are
# collected there is nothing else, and it would take a third of the time.
gc.disable()


def pytest_collection_finish() -> None:
    gc.enable()
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What CI leaves to the night, `make test` leaves out too."""
    for item in items:
        if item.get_closest_marker("nightly"):
            item.add_marker(pytest.mark.extended)


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """SIGINT interrupts, here and in programs that the test starts.

    A shell starts jobs in the background with SIGINT ignored, and programs inherit that.
    """
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, inherited)


@pytest.fixture(scope="session")
def no_cover() -> None:
    """For tests that take long and reach no lines that others do not: by this name, pytest-cov pauses in them."""


@pytest.fixture
def one_engine(no_cover: None) -> Iterator[None]:  # noqa: ARG001 - pytest-cov reads the names
    """For tests that measure, and for much of the same data: one engine, where CI runs both."""
    chosen = wire.ENGINE
    if chosen == "both":
        wire.use_engine("native")
    yield
    wire.use_engine(chosen)


@pytest.fixture(params=["python", "native"])
def each_engine(request: pytest.FixtureRequest, no_cover: None) -> Iterator[None]:  # noqa: ARG001 - pytest-cov reads the names
    """For tests that try both engines one after the other."""
    chosen = wire.ENGINE
    use_engine_or_skip(request.param)
    yield
    wire.use_engine(chosen)
