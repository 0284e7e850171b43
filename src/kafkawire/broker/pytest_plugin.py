"""A broker for tests: the pytest plug-in of kafkawire.

pytest loads this module whenever kafkawire is installed, so it loads nothing itself until a test wants a broker.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from kafkawire.broker.clock import Clock
    from kafkawire.broker.threaded import ThreadedBroker


@pytest.fixture
def kafka_broker_properties() -> Mapping[str, str]:
    """The properties of `kafka_broker`; override this fixture to have others."""
    return {}


@pytest.fixture
def kafka_broker_clock() -> Clock | None:
    """The clock of `kafka_broker`; override this fixture to have a `ManualClock`."""
    return None


@pytest.fixture
def kafka_broker(
    kafka_broker_properties: Mapping[str, str], kafka_broker_clock: Clock | None
) -> Iterator[ThreadedBroker]:
    """An embedded Kafka broker of this test's own, empty and in memory; for tests with and without asyncio."""
    from kafkawire.broker.threaded import ThreadedBroker  # noqa: PLC0415 see above

    with ThreadedBroker(kafka_broker_properties, clock=kafka_broker_clock) as broker:
        yield broker
