"""Records go both ways: Kafka reads segments that the broker wrote, and the broker those of Kafka."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

import pytest
from tests.apache_kafka.fixtures import DumpLog
from tests.embedded.connection import connected_to
from tests.kafka_logs.dumps import parse_dump
from tests.unit.broker.test_records_on_disk import create, produce

from kafkawire.broker import EmbeddedBroker

pytestmark = pytest.mark.interop

MANY: Final = 200


async def write(data: Path, first: int) -> None:
    """Write records of 10 KiB, so that there are many segments."""
    async with EmbeddedBroker(data_dir=data) as broker, connected_to(broker) as client:
        if not first:
            await create(client, {"segment.bytes": "1048576"})
        for number in range(first, first + MANY):
            assert (await produce(client, b"%05d" % number + bytes(10_000))).base_offset == number


def test_kafkas_log_tool_reads_segments_and_their_indexes(tmp_path: Path, kafka_dump_log: DumpLog) -> None:
    asyncio.run(write(tmp_path, 0))
    folder = tmp_path / "t-0"
    logs = sorted(folder.glob("*.log"))
    assert len(logs) == 2
    values = []
    for log in logs:
        batches = parse_dump(kafka_dump_log(log, "--print-data-log"))
        assert all(batch.valid for batch in batches)
        values += [batch.base_offset for batch in batches]
        for suffix in (".index", ".timeindex"):
            printed = kafka_dump_log(log.with_suffix(suffix))
            assert "mismatch" not in printed.lower(), printed
            assert "offset:" in printed
    assert values == list(range(MANY))
