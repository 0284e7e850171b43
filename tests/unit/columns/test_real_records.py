"""Columns of the records that Apache Kafka 4.3.1 wrote: what the classes read, whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.kafka_logs.column_rows import check_decoded, row_of, rows, same_rows

from kafkawire.columns import MessageColumns
from kafkawire.protocol import message_class
from kafkawire.records.coordinator_records import CoordinatorRecord, decode_coordinator_record
from kafkawire.records.metadata_records import decode_metadata_record
from kafkawire.wire import Message
from kafkawire.wire.batches import Record, read_batches, read_records

LOGS = Path(__file__).parents[2] / "fixtures" / "kafka-4.3.1" / "logs"

Encoded = tuple[Message, int, bytes]
"""A message, its version, and the octets that end in it."""


def records(folder: Path) -> Iterator[Record]:
    """The records of all segments and snapshots of a partition, except control records."""
    for path in sorted([*folder.glob("*.log"), *folder.glob("*.checkpoint")]):
        if path.suffix == ".log" or path.stem[0].isdigit():
            for batch in read_batches(path.read_bytes()):
                yield from () if batch.is_control else read_records(batch.to_bytes())


def messages(folder: Path) -> Iterator[Encoded]:
    """The keys and values of the records."""
    topic = folder.name.rpartition("-")[0]
    for record in records(folder):
        value = None if record.value is None else bytes(record.value)
        if topic == "__cluster_metadata":
            assert value is not None
            framed = decode_metadata_record(value)
            yield framed.message, framed.version, value
            continue
        found = decode_coordinator_record(topic, record.key, value)
        assert isinstance(found, CoordinatorRecord)
        yield found.key, found.type.key_version, bytes(record.key or b"")
        if found.value is not None and found.value_version is not None and value is not None:
            yield found.value, found.value_version, value


@pytest.mark.parametrize("folder", sorted(LOGS.iterdir()), ids=lambda folder: folder.name)
def test_columns_of_real_records(folder: Path) -> None:
    seen: dict[tuple[str, int, int], list[Encoded]] = {}
    for message, version, octets in messages(folder):
        start = len(octets) - len(message.encode(version))
        seen.setdefault((message.NAME, version, start), []).append((message, version, octets))
    assert seen
    for (name, version, start), found in seen.items():
        columns = MessageColumns(message_class(name))
        arrays = columns.arrays(version, [message for message, _, _ in found])
        expected = [row_of(message, version) for message, _, _ in found]
        assert same_rows(rows(columns, arrays, len(found)), expected)
        check_decoded(columns, version, [octets for _, _, octets in found], start)
