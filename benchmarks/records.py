"""Decoding and encoding of record batches, beside kio and kafka-python.

The peers are Python here. Decoding a batch includes the check of its CRC and an object for each record. The timestamps
are whole seconds, because kio drops fractions.
"""

from __future__ import annotations

import importlib
import io
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Protocol, cast

from benchmarks.results import KAFKA_PYTHON, KIO, OURS, DisagreementError, Measurement, Target
from benchmarks.sampling import Effort, interleave
from kafkawire.wire.batches.batch import Header, Record, read_batches
from kafkawire.wire.batches.reader import decode_records
from kafkawire.wire.batches.writer import encode_batch

FIRST_TIMESTAMP = 1_700_000_000_000
PRODUCER_ID = 4711
TARGETS = (Target(KIO, 8), Target(KAFKA_PYTHON, 8))


class PeerRecord(Protocol):
    """A record of any of the libraries."""

    @property
    def offset(self) -> int: ...
    @property
    def key(self) -> bytes | None: ...
    @property
    def value(self) -> bytes | None: ...


class KioBatch(Protocol):
    """A batch of kio."""

    @property
    def records(self) -> Sequence[PeerRecord]: ...


def sample_records(count: int, headers: int) -> list[Record]:
    """Records of about 200 bytes, one each second."""
    chance = random.Random(4)
    return [
        Record(
            offset=number,
            timestamp=FIRST_TIMESTAMP + 1000 * number,
            key=f"customer-{chance.randrange(1_000_000)}".encode(),
            value=chance.randbytes(chance.randrange(100, 260)),
            headers=tuple(Header(f"header-{index}", chance.randbytes(16)) for index in range(headers)),
        )
        for number in range(count)
    ]


def run(effort: Effort, count: int = 1000) -> Iterator[Measurement]:
    """Measure batches without and with headers."""
    for headers in (0, 2):
        records = sample_records(count, headers)
        title = f"RecordBatch: {count} records, {headers} headers each"
        buffer = _encode(records)
        decoders: dict[str, Callable[[], object]] = {
            OURS: partial(_decode, buffer),
            KIO: partial(_kio_decode, buffer),
            KAFKA_PYTHON: partial(_kafka_python_decode, buffer),
        }
        encoders: dict[str, Callable[[], bytes]] = {
            OURS: partial(_encode, records),
            KIO: _kio_encoder(buffer),
            KAFKA_PYTHON: _kafka_python_encoder(records),
        }
        _check_agreement(records, buffer, encoders, title)
        yield Measurement("decode", title, interleave(decoders, effort), TARGETS)
        yield Measurement("encode", title, interleave(encoders, effort), TARGETS)


def _check_agreement(
    records: list[Record], buffer: bytes, encoders: Mapping[str, Callable[[], bytes]], title: str
) -> None:
    for name, encode in encoders.items():
        if encode() != buffer:
            raise DisagreementError(f"{title}: {name} does not encode the same bytes")
    contents = [(record.offset, record.key, record.value) for record in records]
    decoded: dict[str, Sequence[PeerRecord]] = {
        OURS: _decode(buffer),
        KIO: _kio_decode(buffer).records,
        KAFKA_PYTHON: _kafka_python_decode(buffer),
    }
    for name, theirs in decoded.items():
        if [(record.offset, record.key, record.value) for record in theirs] != contents:
            raise DisagreementError(f"{title}: {name} does not decode the same records")


def _decode(buffer: bytes) -> list[Record]:
    return [record for batch in read_batches(buffer) for record in decode_records(batch)]


def _encode(records: list[Record]) -> bytes:
    # kafka-python writes 0 where producers have no leader epoch to state.
    return encode_batch(records, producer_id=PRODUCER_ID, producer_epoch=0, base_sequence=0, partition_leader_epoch=0)


def _kio_decode(buffer: bytes) -> KioBatch:
    readers = importlib.import_module("kio.records.readers")
    return cast("KioBatch", readers.read_batch(buffer, 0)[0])


def _kio_encoder(buffer: bytes) -> Callable[[], bytes]:
    schema = importlib.import_module("kio.records.schema")
    writers = importlib.import_module("kio.records.writers")
    read = _kio_decode(buffer)
    names = ("producer_id", "producer_epoch", "partition_leader_epoch", "base_sequence", "records", "attributes")
    batch = schema.NewRecordBatch(**{name: getattr(read, name) for name in names})

    def encode() -> bytes:
        out = io.BytesIO()
        writers.write_new_batch(out, batch)
        return out.getvalue()

    return encode


def _kafka_python_decode(buffer: bytes) -> list[PeerRecord]:
    memory_records = importlib.import_module("kafka.record.memory_records")
    decoded: list[PeerRecord] = []
    for batch in memory_records.MemoryRecords(buffer):
        if not batch.validate_crc():
            raise DisagreementError("kafka-python finds the CRC wrong")
        decoded += batch
    return decoded


def _kafka_python_encoder(records: list[Record]) -> Callable[[], bytes]:
    default_records = importlib.import_module("kafka.record.default_records")
    rows = [
        (record.offset, record.timestamp, record.key, record.value, [(one.key, one.value) for one in record.headers])
        for record in records
    ]

    def encode() -> bytes:
        builder = default_records.DefaultRecordBatchBuilder(
            magic=2, compression_type=0, is_transactional=False, producer_id=PRODUCER_ID, producer_epoch=0,
            base_sequence=0, batch_size=1 << 30,
        )  # fmt: skip
        for row in rows:
            builder.append(*row)
        return cast("bytes", builder.build())

    return encode
