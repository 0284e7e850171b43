"""Offset commits of any log, folded by columns, are those that a fold of one record after the other gives."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import given, strategies as st
from tests.kafka_logs.histories import Row, history, time
from tests.made.logs import OFFSETS_LOG, write_batches

from kafkawire.logs import Accounts
from kafkawire.protocol import (
    EndTxnMarker,
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from kafkawire.records.control_records import ControlRecordType, encode_control_record
from kafkawire.wire.batches import Record, encode_batch

_START = 1_000
_OLD, _PRESENT, _UNKNOWN = b"\0\0", b"\0\1", b"\0\x63"


@dataclass(frozen=True)
class Batch:
    """A batch of a log: records as key and value, or a marker."""

    records: tuple[tuple[bytes | None, bytes | None], ...]
    producer_id: int = -1
    committed: bool | None = None


@dataclass
class OneByOne:
    """What a fold of one record after the other gives: offset to outcome and interval."""

    held: dict[tuple[str, int], int] = field(default_factory=dict)
    pending: dict[int, list[tuple[int, tuple[str, int]]]] = field(default_factory=dict)
    superseded: set[int] = field(default_factory=set)
    spans: dict[int, list[int | None]] = field(default_factory=dict)
    outcomes: dict[int, str] = field(default_factory=dict)

    def set(self, offset: int, key: tuple[str, int], at: int, by: int) -> None:
        self.end(key, at, by)
        self.held[key] = offset
        self.spans[offset] = [at, None, None]

    def end(self, key: tuple[str, int], at: int, by: int) -> None:
        if key in self.held:
            self.spans[self.held.pop(key)][1:] = at, by

    def apply(self, offset: int, at: int, key: bytes | None, value: bytes | None, producer_id: int) -> None:
        name = _name(key)
        if key is None or key[:2] == _UNKNOWN:
            return
        if name is None:
            self.spans[offset] = [at, at, offset]
        elif value is None:
            self.end(name, at, offset)
            self.superseded |= {each for rows in self.pending.values() for each, of in rows if of == name}
            self.spans[offset] = [at, at, offset]
        elif producer_id >= 0:
            self.pending.setdefault(producer_id, []).append((offset, name))
            self.spans[offset], self.outcomes[offset] = [at, at, None], "open"
        else:
            self.set(offset, name, at, offset)

    def end_transaction(self, producer_id: int, at: int, by: int, *, committed: bool) -> None:
        for offset, key in self.pending.pop(producer_id, ()):
            self.outcomes[offset] = "committed" if committed else "aborted"
            self.spans[offset] = [at, at, by]
            if committed and offset not in self.superseded and self.held.get(key, -1) < offset:
                self.set(offset, key, at, by)


def _name(key: bytes | None) -> tuple[str, int] | None:
    """The topic and partition in a whole key; trailing bytes do not matter."""
    for prefix, kind in ((_OLD, LegacyOffsetCommitKey), (_PRESENT, OffsetCommitKey)):
        if key is not None and key.startswith(prefix) and len(key) >= len(prefix + kind("g", "t", 0).encode(0)):
            message, _ = kind.decode_from(key, 2, 0)
            return message.topic, message.partition
    return None


def _keys() -> st.SearchStrategy[bytes | None]:
    partitions = st.integers(0, 2)
    present = partitions.map(lambda each: _PRESENT + OffsetCommitKey("g", "t", each).encode(0))
    old = partitions.map(lambda each: _OLD + LegacyOffsetCommitKey("g", "t", each).encode(0))
    damaged = st.sampled_from([present.map(lambda key: key + b"tail"), present.map(lambda key: key[:-1])])
    return st.one_of(
        present, present, present, old, damaged.flatmap(lambda each: each), st.sampled_from([None, _UNKNOWN])
    )


def _values(key: bytes | None) -> st.SearchStrategy[bytes | None]:
    if key is not None and key.startswith(_OLD):
        return st.sampled_from([b"\0\0" + LegacyOffsetCommitValue(5, "m", 7).encode(0), None])
    whole = [bytes((0, version)) + OffsetCommitValue(version, metadata="m").encode(version) for version in range(5)]
    return st.sampled_from([*whole, None, whole[3] + b"tail", whole[3][:-1], b"\0\x20", b"\0", b""])


_RECORDS = st.lists(_keys().flatmap(lambda key: st.tuples(st.just(key), _values(key))), min_size=1, max_size=4)
BATCHES = st.one_of(
    st.builds(Batch, _RECORDS.map(tuple)),
    st.builds(Batch, _RECORDS.map(tuple), st.integers(7, 8)),
    st.builds(Batch, st.just(()), st.integers(7, 8), st.booleans()),
)


@given(st.lists(BATCHES, min_size=1, max_size=12), st.integers(0, 12))
def test_the_rows_are_those_of_one_record_after_the_other(batches: list[Batch], cut: int) -> None:
    expected, segment, offset, offsets = OneByOne(), list[bytes](), 0, list[int]()
    for number, batch in enumerate(batches):
        at = _START + number
        offsets.append(offset)
        segment.append(encoded(batch, offset, at))
        if batch.committed is not None:
            expected.end_transaction(batch.producer_id, at, offset, committed=batch.committed)
            offset += 1
            continue
        for place, (key, value) in enumerate(batch.records, offset):
            expected.apply(place, at, key, value, batch.producer_id)
        offset += len(batch.records)
    accounts = Accounts()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / OFFSETS_LOG
        write_batches(folder, 0, segment[:cut])
        if segment[cut:]:
            write_batches(folder, offsets[cut], segment[cut:])
        rows = history("offset_commits", folder, accounts=accounts)
    spans = {
        place: (*(None if each is None else time(each) for each in span), by)
        for place, (*span, by) in expected.spans.items()
    }
    assert {row["log_offset"]: (row["valid_from"], row["valid_to"], row["to_offset"]) for row in rows} == spans
    assert {row["log_offset"]: row["txn_outcome"] for row in rows if row["txn_outcome"]} == expected.outcomes
    assert accounts.records_read == len(rows) + sum(accounts.records_dropped.values()) == offset
    assert _ends(rows) == sorted(_ends(rows))
    assert sum(accounts.errors.values()) >= sum(row["_error"] is not None for row in rows)


def _ends(rows: list[Row]) -> list[float]:
    """The times at which the rows ended, in the order of the rows."""
    return [row["valid_to"].timestamp() for row in rows if row["valid_to"] is not None and row["txn_outcome"] != "open"]


def encoded(batch: Batch, offset: int, at: int) -> bytes:
    if batch.committed is not None:
        kind = ControlRecordType.COMMIT if batch.committed else ControlRecordType.ABORT
        key, value = encode_control_record(kind, EndTxnMarker(0), 0)
        records = [Record(timestamp=at, key=key, value=value)]
    else:
        records = [Record(timestamp=at, key=key, value=value) for key, value in batch.records]
    return encode_batch(
        records,
        base_offset=offset,
        partition_leader_epoch=0,
        producer_id=batch.producer_id,
        producer_epoch=0 if batch.producer_id >= 0 else -1,
        transactional=batch.producer_id >= 0,
        control=batch.committed is not None,
    )
