"""A few kilobytes of log take neither gigabytes nor minutes, whatever they claim and whatever they decompress to."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tests.made.segments import METADATA, OFFSETS, write_segment

from kafkawire import wire
from kafkawire.logs import Accounts, read_table
from kafkawire.protocol import (
    BeginTransactionRecord,
    EndTransactionRecord,
    PartitionRecord,
    ShareSnapshotKey,
    ShareSnapshotValue,
    TopicRecord,
)
from kafkawire.records.coordinator_records import encode_coordinator_record
from kafkawire.records.metadata_records import encode_metadata_record
from kafkawire.wire import Uuid
from kafkawire.wire.batches import Record, RecordBatch, encode_batch, seal
from kafkawire.wire.compression import Codec, compress
from kafkawire.wire.varint import write_uvarint

MOST_MEMORY = 400 << 20
MOST_STEPS_PER_MIB = 20.0  # millions of a loop in Python: some two seconds
MIB = 1 << 20
DATA = "data-0"

MEASURED = """
import json, resource, sys, time
from collections import deque
from kafkawire import wire
from kafkawire.logs import Accounts, read_table

def seconds_of_two_million_steps():
    begun = time.process_time()
    sum(step * step % 7 for step in range(2_000_000))
    return time.process_time() - begun

table, log, warm = sys.argv[1:]
deque(read_table(table, warm), maxlen=0)
before_it = seconds_of_two_million_steps()
before, begun, accounts = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time(), Accounts()
rows = sum(batch.num_rows for batch in read_table(table, log, accounts=accounts))
memory, seconds = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10, time.process_time() - begun
steps = 4 * seconds / (before_it + seconds_of_two_million_steps())
print(json.dumps({"memory": memory, "steps": steps, "rows": rows, "errors": accounts.errors}))
"""


class Measured(msgspec.Struct, frozen=True):
    """What a reading took beyond what the process took before.

    Its time is given as millions of steps of a loop beside it, since some machines are slow.
    """

    memory: int
    steps: float
    rows: int
    errors: dict[str, int]


def measured(table: str, log: Path, warm: Path, engine: str | None = None) -> Measured:
    command = [sys.executable, "-c", MEASURED, table, str(log), str(warm)]
    usual = "native" if wire.ENGINE == "both" else wire.ENGINE
    environment = {**os.environ, "KAFKAWIRE_ENGINE": engine or usual}
    done = subprocess.run(command, capture_output=True, check=True, timeout=300, env=environment)
    return msgspec.json.decode(done.stdout, type=Measured)


def batch(records: bytes, count: int, codec: Codec = Codec.ZSTD) -> bytes:
    """A batch with a valid checksum that claims this number of records."""
    header = RecordBatch(
        base_offset=0,
        partition_leader_epoch=0,
        crc=0,
        attributes=codec,
        last_offset_delta=max(count - 1, 0),
        base_timestamp=0,
        max_timestamp=0,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        records_count=count,
        payload=compress(codec, records),
    )
    return seal(header).to_bytes()


def record(value: bytes | None = None, key: bytes | None = None, headers: bytes = b"\0") -> bytes:
    """A record without offset delta and timestamp delta."""
    body = b"\0\0\0" + nullable(key) + nullable(value) + headers
    return write_uvarint(2 * len(body)) + body


def nullable(octets: bytes | None) -> bytes:
    return b"\1" if octets is None else write_uvarint(2 * len(octets)) + octets


def transactions() -> bytes:
    marks = (encode_metadata_record(each, 0) for each in (BeginTransactionRecord(), EndTransactionRecord()))
    return b"".join(map(record, marks)) * 150_000


def partition_of_many_replicas() -> bytes:
    return record(encode_metadata_record(PartitionRecord(replicas=[0] * 1_000_000), 0))


def topic_of_many_tags() -> bytes:
    tags = b"".join(write_uvarint(100 + number) + b"\0" for number in range(800_000))
    return record(encode_metadata_record(TopicRecord("t"), 0)[:-1] + write_uvarint(800_000) + tags)


def group_of_many_members() -> bytes:
    member = bytes(3 * 2 + 4 + 2 * 4)
    value = bytes.fromhex("0000 0000 00000001 ffff ffff") + (200_000).to_bytes(4) + member * 200_000
    return record(value, key=bytes.fromhex("0002 0001 67"))


def transaction_of_many_partitions(status: int) -> bytes:
    ids = b"".join(number.to_bytes(4) for number in range(900_000))
    listed = (1).to_bytes(4) + bytes.fromhex("0001 74") + (900_000).to_bytes(4) + ids
    value = bytes.fromhex("0000") + bytes(8 + 2 + 4) + status.to_bytes(1) + listed + bytes(8 + 8)
    return record(value, key=bytes.fromhex("0000 0001 67"))


def partition_of_many_deliveries(times: int) -> bytes:
    """Every second offset was delivered."""
    batches = [ShareSnapshotValue.StateBatch(2 * at, 2 * at, 2, times) for at in range(180_000)]
    value = ShareSnapshotValue(state_batches=tuple(batches))
    key, octets = encode_coordinator_record("__share_group_state", ShareSnapshotKey("g"), value, 0)
    return record(octets, key=key)


BOMBS: dict[str, tuple[str, str, int, Callable[[], bytes]]] = {
    "zeros for one record": ("records", DATA, 120, lambda: batch(bytes(120 * MIB), 1)),
    "zeros within the limit": ("records", DATA, 60, lambda: batch(bytes(60 * MIB), 1)),
    "zeros for many records": ("records", METADATA, 60, lambda: batch(bytes(60 * MIB), 8 * MIB)),
    "gzip": ("offset_commit", OFFSETS, 60, lambda: batch(bytes(60 * MIB), 1, Codec.GZIP)),
    "snappy": ("acl_history", METADATA, 40, lambda: batch(bytes(40 * MIB), 1, Codec.SNAPPY)),
    "small records": ("records", DATA, 14, lambda: batch(record() * 2_000_000, 2_000_000)),
    "small records, the last one torn": ("records", DATA, 60, lambda: batch(record() * 9_000_000 + b"\0", 9_000_001)),
    "records with headers": (
        "records",
        DATA,
        9,
        lambda: batch(record(headers=b"\x02\0\1") * 1_000_000, 1_000_000),
    ),
    "headers": (
        "records",
        DATA,
        20,
        lambda: batch(record(headers=write_uvarint(20_000_000) + b"\0\1" * 10_000_000), 1),
    ),
    "one record": ("records", DATA, 60, lambda: batch(record(bytes(60 * MIB)), 1)),
    "one record of metadata": ("topic_history", METADATA, 60, lambda: batch(record(bytes(60 * MIB)), 1)),
    "transactions": ("records", METADATA, 3, lambda: batch(transactions(), 300_000)),
    "arrays": ("records", METADATA, 60, lambda: batch(partition_of_many_replicas() * 15, 15)),
    "tags": ("topic", METADATA, 9, lambda: batch(topic_of_many_tags() * 3, 3)),
    "members": ("records", OFFSETS, 14, lambda: batch(group_of_many_members() * 4, 4)),
    "members in a history": ("group_history", OFFSETS, 14, lambda: batch(group_of_many_members() * 4, 4)),
    "partitions in a history": (
        "transaction_history",
        "__transaction_state-0",
        52,
        lambda: batch(b"".join(transaction_of_many_partitions(each % 6) for each in range(15)), 15),
    ),
    "deliveries in a history": (
        "share_group_history",
        "__share_group_state-0",
        52,
        lambda: batch(b"".join(partition_of_many_deliveries(1 + each) for each in range(15)), 15),
    ),
}
"""Table, log, decompressed size in MiB, content."""
SOON_READ = {"zeros for many records", "gzip", "one record of metadata", "tags"}
"""`make test` tries these alone."""


@pytest.mark.parametrize("engine", [None, pytest.param("python", marks=pytest.mark.nightly)])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.extended] * (name not in SOON_READ)) for name in BOMBS]
)
def test_a_bomb_takes_little_memory_and_time(tmp_path: Path, name: str, engine: str | None) -> None:
    table, log, size, content = BOMBS[name]
    bomb = content()
    write_segment(tmp_path / "bomb" / log, bomb)
    sound = encode_batch([Record(timestamp=1, key=b"\0\1", value=b"\1\2\0")])
    write_segment(tmp_path / "warm" / log, sound)
    found = measured(table, tmp_path / "bomb" / log, tmp_path / "warm" / log, engine)
    assert found.memory < MOST_MEMORY, found
    assert found.steps < MOST_STEPS_PER_MIB * size, found


def test_a_record_that_no_broker_takes_is_not_decoded(tmp_path: Path) -> None:
    sizes = {4 * MIB: 0, 4 * MIB + 1: 1}
    for size, refused in sizes.items():
        log = write_segment(tmp_path / str(size) / METADATA, batch(record(bytes(size)), 1)).parent
        accounts = Accounts()
        for _ in read_table("records", log, accounts=accounts):
            pass
        assert accounts.errors.get("too_large", 0) == refused


def test_a_batch_in_pieces_is_refused_as_a_whole(tmp_path: Path) -> None:
    log = write_segment(tmp_path / DATA, batch(record(b"v") * 50_000 + b"\0", 50_001)).parent
    accounts = Accounts()
    (rows,) = read_table("records", log, accounts=accounts)
    assert rows.column("_error").to_pylist() == ["bad_records"]
    assert accounts.balanced
    assert accounts.bytes_decoded == 0


@pytest.mark.extended
@pytest.mark.parametrize("table", ["records", "topic", "topic_history"])
def test_all_records_of_a_large_batch_are_read(tmp_path: Path, table: str) -> None:
    values = [
        encode_metadata_record(TopicRecord(f"topic-{number}", Uuid(number.to_bytes(16))), 0) for number in range(40_000)
    ]
    records = [Record(offset, 7, None, value) for offset, value in enumerate(values)]
    small = [encode_batch(records[at : at + 1000], base_offset=at) for at in range(0, len(records), 1000)]
    rows = {}
    for name, content in {"large": encode_batch(records, codec=Codec.ZSTD), "small": b"".join(small)}.items():
        log = write_segment(tmp_path / name / METADATA, content).parent
        rows[name] = [row for batch in read_table(table, log) for row in batch.to_pylist()]
    assert len(rows["large"]) == len(values)
    for row in (*rows["large"], *rows["small"]):
        row.pop("log", None)
        row.pop("file", None)
        row.pop("batch_position", None)
    assert rows["large"] == rows["small"]
