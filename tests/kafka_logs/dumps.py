"""The real logs in ``tests/fixtures`` and the output of kafka-dump-log for them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import msgspec

FIXTURES: Final = Path(__file__).parents[1] / "fixtures" / "kafka-4.3.1"

_BATCH: Final = re.compile(
    r"baseOffset: (?P<base_offset>\d+) lastOffset: (?P<last_offset>\d+) count: (?P<count>\d+) "
    r"baseSequence: (?P<base_sequence>-?\d+) lastSequence: (?P<last_sequence>-?\d+) "
    r"producerId: (?P<producer_id>-?\d+) producerEpoch: (?P<producer_epoch>-?\d+) "
    r"partitionLeaderEpoch: (?P<partition_leader_epoch>-?\d+) isTransactional: (?P<transactional>\w+) "
    r"isControl: (?P<control>\w+) deleteHorizonMs: OptionalLong(?P<delete_horizon>\.empty|\[\d+\]) "
    r"position: (?P<position>\d+) (?P<timestamp_type>\w+): (?P<timestamp>-?\d+) size: (?P<size>\d+) "
    r"magic: (?P<magic>\d) compresscodec: (?P<codec>\w+) crc: (?P<crc>\d+) isvalid: (?P<valid>\w+)"
)
_RECORD: Final = re.compile(
    r"\| offset: (?P<offset>\d+) (?P<timestamp_type>\w+): (?P<timestamp>-?\d+) keySize: (?P<key_size>-?\d+) "
    r"valueSize: (?P<value_size>-?\d+) sequence: (?P<sequence>-?\d+) headerKeys: \[(?P<header_keys>.*?)\] ?(?P<rest>.*)"
)


class DumpedRecord(msgspec.Struct, frozen=True):
    """A record line; ``rest`` is what the decoder of the topic printed after the sizes."""

    offset: int
    timestamp: int
    key_size: int
    value_size: int
    sequence: int
    header_keys: tuple[str, ...]
    rest: str


class DumpedBatch(msgspec.Struct, frozen=True):
    """A batch line and its record lines."""

    base_offset: int
    last_offset: int
    count: int
    base_sequence: int
    last_sequence: int
    producer_id: int
    producer_epoch: int
    partition_leader_epoch: int
    transactional: bool
    control: bool
    delete_horizon_ms: int | None
    position: int
    timestamp_type: str
    timestamp: int
    size: int
    magic: int
    codec: str
    crc: int
    valid: bool
    records: tuple[DumpedRecord, ...]


class RealLog(msgspec.Struct, frozen=True):
    """A segment or snapshot and its dump."""

    path: Path
    dump: Path

    @property
    def name(self) -> str:
        return f"{self.path.parent.name}/{self.path.name}"

    def read_bytes(self) -> bytes:
        return self.path.read_bytes()

    def read_dump(self) -> tuple[DumpedBatch, ...]:
        return parse_dump(self.dump.read_text())


def real_logs() -> tuple[RealLog, ...]:
    """All segments and snapshots of the fixtures."""
    paths = sorted(path for path in FIXTURES.glob("logs/*/*") if path.suffix in {".log", ".checkpoint"})
    return tuple(RealLog(path, FIXTURES / "dumps" / f"{path.parent.name}.{path.name}.txt") for path in paths)


def parse_dump(text: str) -> tuple[DumpedBatch, ...]:
    """The batches of a dump; a line that is neither heading, batch nor record is an error."""
    batches: list[tuple[re.Match[str], list[DumpedRecord]]] = []
    for line in text.splitlines():
        if batch := _BATCH.fullmatch(line):
            batches.append((batch, []))
        elif record := _RECORD.fullmatch(line):
            batches[-1][1].append(_record(record))
        elif not line.startswith(("Dumping ", "Log starting offset: ", "Snapshot end offset: ")):
            raise ValueError(f"not a line of a dump: {line[:100]}")
    return tuple(_batch(match, records) for match, records in batches)


def _record(match: re.Match[str]) -> DumpedRecord:
    keys = match["header_keys"]
    return DumpedRecord(
        offset=int(match["offset"]),
        timestamp=int(match["timestamp"]),
        key_size=int(match["key_size"]),
        value_size=int(match["value_size"]),
        sequence=int(match["sequence"]),
        header_keys=tuple(keys.split(",")) if keys else (),
        rest=match["rest"],
    )


def _batch(match: re.Match[str], records: list[DumpedRecord]) -> DumpedBatch:
    horizon = match["delete_horizon"]
    return DumpedBatch(
        base_offset=int(match["base_offset"]),
        last_offset=int(match["last_offset"]),
        count=int(match["count"]),
        base_sequence=int(match["base_sequence"]),
        last_sequence=int(match["last_sequence"]),
        producer_id=int(match["producer_id"]),
        producer_epoch=int(match["producer_epoch"]),
        partition_leader_epoch=int(match["partition_leader_epoch"]),
        transactional=match["transactional"] == "true",
        control=match["control"] == "true",
        delete_horizon_ms=None if horizon == ".empty" else int(horizon[1:-1]),
        position=int(match["position"]),
        timestamp_type=match["timestamp_type"],
        timestamp=int(match["timestamp"]),
        size=int(match["size"]),
        magic=int(match["magic"]),
        codec=match["codec"],
        crc=int(match["crc"]),
        valid=match["valid"] == "true",
        records=tuple(records),
    )
