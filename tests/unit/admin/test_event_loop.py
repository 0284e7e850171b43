"""Tasks that run together: the first error ends them, and is raised as it is."""

from __future__ import annotations

import pytest

from kafkawire.admin.event_loop import together
from kafkawire.wire.kafka_errors import ConnectionFailedError, OperationTimeoutError


async def test_a_timeout_keeps_its_last_cause() -> None:
    timeout = OperationTimeoutError("describe_configs")
    timeout.__cause__ = ConnectionFailedError("localhost:9092: connection refused")

    async def fail() -> None:
        raise timeout

    with pytest.raises(OperationTimeoutError, match="last cause: ConnectionFailedError") as raised:
        async with together() as tasks:
            tasks.create_task(fail())
    assert raised.value is timeout
