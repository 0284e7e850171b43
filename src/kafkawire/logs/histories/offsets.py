"""``offset_commits``: a row for each commit of an offset, with the time during which it was the group's offset.

A commit in a transaction is pending until the marker of its producer (KIP-98). The marker's epoch may be one above
that of the commits (KIP-890), so they belong together by the producer's id alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final, TypeAlias

import msgspec
import pyarrow as pa

from kafkawire.logs.histories.columns import TIMESTAMP, Columns, schema_of
from kafkawire.logs.histories.coordinator_records import DecodedRecord
from kafkawire.logs.histories.places import Place
from kafkawire.protocol import LegacyOffsetCommitKey, LegacyOffsetCommitValue, OffsetCommitKey, OffsetCommitValue
from kafkawire.wire.batches import RecordBatch

__all__ = ["OFFSET_SCHEMA", "OffsetCommit", "OffsetsReducer", "offset_columns"]

OFFSET_SCHEMA: Final = schema_of(
    {
        "group_id": pa.string(),
        "topic": pa.string(),
        "partition": pa.int32(),
        "committed_offset": pa.int64(),
        "committed_leader_epoch": pa.int32(),
        "metadata": pa.string(),
        "commit_time": TIMESTAMP,
        "expire_time": TIMESTAMP,
        "is_transactional": pa.bool_(),
        "txn_outcome": pa.string(),
        "tombstone": pa.bool_(),
        "valid_from": TIMESTAMP,
        "valid_to": TIMESTAMP,
    }
)

_Key: TypeAlias = tuple[str | None, str | None, int | None]


class OffsetCommit(msgspec.Struct, gc=False):
    """A record of an offset.

    Attributes:
        place: where it is.
        group_id, topic, partition: what it is about.
        committed_offset: the offset; None for a tombstone, and if it could not be read.
        committed_leader_epoch: of the committed offset; None if the consumer did not tell.
        metadata: what the consumer added.
        commit_time, expire_time: milliseconds since the epoch.
        is_transactional: whether it is part of a transaction.
        txn_outcome: what became of the transaction: ``committed``, ``aborted`` or ``open``.
        tombstone: whether it takes the offset away.
        valid_from, valid_to: when it was the group's offset, in milliseconds since the epoch. They are the same for
            what never was: tombstones, and commits of transactions that were not committed.
        error: what is wrong with it, or None.
        corrupt: the bytes, if something is.
        is_lost: whether it stands for bytes that could not be read.
        superseded: whether another record took its place while it was pending.
    """

    place: Place
    group_id: str | None = None
    topic: str | None = None
    partition: int | None = None
    committed_offset: int | None = None
    committed_leader_epoch: int | None = None
    metadata: str | None = None
    commit_time: int | None = None
    expire_time: int | None = None
    is_transactional: bool | None = False
    txn_outcome: str | None = None
    tombstone: bool | None = False
    valid_from: int | None = None
    valid_to: int | None = None
    error: str | None = None
    corrupt: bytes | None = None
    is_lost: bool = False
    superseded: bool = False

    @property
    def key(self) -> _Key:
        """What it is about."""
        return self.group_id, self.topic, self.partition


class OffsetsReducer:
    """The offsets that are committed, and those that are pending.

    Memory is bounded by the keys that have an offset, and the commits of open transactions.

    Attributes:
        ended: rows that nothing can change any more. Whoever takes them clears the list.
    """

    RECORDS: ClassVar[frozenset[str]] = frozenset({"OffsetCommit", "LegacyOffsetCommit"})

    def __init__(self) -> None:
        self.ended: list[OffsetCommit] = []
        self._valid: dict[_Key, OffsetCommit] = {}
        self._pending: dict[int, list[OffsetCommit]] = {}
        self._pending_of_key: dict[_Key, dict[int, OffsetCommit]] = {}

    def apply(self, record: DecodedRecord, place: Place, batch: RecordBatch) -> None:
        """An offset is committed, or gone."""
        commit = _commit(record, place, is_transactional=batch.is_transactional)
        if record.key is None:
            self._never_valid(commit, place.append_time)
        elif commit.tombstone:
            self._remove(commit)
        elif commit.is_transactional:
            self._pending.setdefault(batch.producer_id, []).append(commit)
            self._pending_of_key.setdefault(commit.key, {})[place.log_offset] = commit
        else:
            self._begin(commit, place.append_time)

    def end_transaction(self, producer_id: int, at: int, *, committed: bool) -> None:
        """A marker: the pending commits of a producer are the groups' offsets from now on, or never."""
        for pending in self._pending.pop(producer_id, ()):
            self._settle(pending)
            pending.txn_outcome = "committed" if committed else "aborted"
            if committed and not pending.superseded and self._is_newest(pending):
                self._begin(pending, at)
            else:
                self._never_valid(pending, at)

    def lose(self, place: Place, code: str, raw: bytes | None) -> None:
        """Bytes could not be read: a row tells."""
        self.ended.append(
            OffsetCommit(place, is_transactional=None, tombstone=None, error=code, corrupt=raw, is_lost=True)
        )

    def settle(self) -> None:
        """A batch is over, which means nothing here."""

    def still_open(self) -> Iterator[OffsetCommit]:
        """The offsets that are valid, and those that are pending, in the order of the log."""
        pending = [commit for commits in self._pending.values() for commit in commits]
        for commit in pending:
            commit.txn_outcome = "open"
            commit.valid_from = commit.valid_to = commit.place.append_time
        return iter(sorted([*self._valid.values(), *pending], key=lambda commit: commit.place.log_offset))

    def _remove(self, tombstone: OffsetCommit) -> None:
        """An offset is gone, and what is pending for it with it."""
        at = tombstone.place.append_time
        held = self._valid.pop(tombstone.key, None)
        if held is not None:
            self._end(held, at)
        for pending in self._pending_of_key.pop(tombstone.key, {}).values():
            pending.superseded = True
        self._never_valid(tombstone, at)

    def _settle(self, pending: OffsetCommit) -> None:
        same_key = self._pending_of_key.get(pending.key, {})
        same_key.pop(pending.place.log_offset, None)
        if not same_key:
            self._pending_of_key.pop(pending.key, None)

    def _is_newest(self, pending: OffsetCommit) -> bool:
        """Whether no later record has been committed in the meantime, without a transaction or in another."""
        held = self._valid.get(pending.key)
        return held is None or held.place.log_offset < pending.place.log_offset

    def _begin(self, commit: OffsetCommit, at: int) -> None:
        key = commit.key
        held = self._valid.get(key)
        if held is not None:
            self._end(held, at)
        commit.valid_from = at
        self._valid[key] = commit

    def _never_valid(self, commit: OffsetCommit, at: int) -> None:
        commit.valid_from = at
        self._end(commit, at)

    def _end(self, commit: OffsetCommit, at: int) -> None:
        commit.valid_to = at
        self.ended.append(commit)


def _commit(record: DecodedRecord, place: Place, *, is_transactional: bool) -> OffsetCommit:
    commit = OffsetCommit(
        place, is_transactional=is_transactional and not record.is_tombstone, tombstone=record.is_tombstone
    )
    if record.error is not None:
        commit.error, commit.corrupt = record.error, record.raw
    match record.key:
        case OffsetCommitKey() | LegacyOffsetCommitKey() as key:
            commit.group_id, commit.topic, commit.partition = key.group, key.topic, key.partition
        case _:
            pass
    match record.value:
        case OffsetCommitValue() as value:
            commit.committed_leader_epoch = _known(value.leader_epoch)
            commit.expire_time = _known(value.expire_timestamp)
        case LegacyOffsetCommitValue() as value:
            pass
        case _:
            return commit
    commit.committed_offset, commit.metadata = value.offset, value.metadata
    commit.commit_time = _known(value.commit_timestamp)
    return commit


def _known(number: int) -> int | None:
    """Kafka's -1 stands for none."""
    return None if number < 0 else number


def offset_columns(commits: Sequence[OffsetCommit]) -> Columns:
    """The columns of ``OFFSET_SCHEMA``."""
    return {name: [getattr(commit, name) for commit in commits] for name in OFFSET_SCHEMA.names}
