"""``offset_commits``: a row for each offset commit, with the time during which it was the offset of the group.

A commit in a transaction is pending until the marker of its producer (KIP-98). The epoch of the marker may be one above
that of the commits (KIP-890), so markers and commits are matched by producer id alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Final, TypeAlias

import pyarrow as pa

from kafkawire.logs.folding.columns import Columns
from kafkawire.logs.folding.coordinator_decoder import DecodedRecord
from kafkawire.logs.folding.coordinator_fold import HistoryRow, Place
from kafkawire.logs.folding.coordinator_history import CoordinatorHistory
from kafkawire.logs.times import TIMESTAMP
from kafkawire.protocol import LegacyOffsetCommitKey, LegacyOffsetCommitValue, OffsetCommitKey, OffsetCommitValue
from kafkawire.wire.batches import RecordBatch

_COLUMNS: Final[Mapping[str, pa.DataType]] = {
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

_Key: TypeAlias = tuple[str | None, str | None, int | None]


class _OffsetCommit(HistoryRow, gc=False, kw_only=True):
    """An offset commit, or a tombstone that removes an offset.

    ``valid_from`` and ``valid_to`` limit the time during which it was the offset of the group. They are the same for
    rows that never were: tombstones, and commits of transactions that were not committed.

    Attributes:
        group_id, topic, partition: key of the record.
        committed_offset: the offset; None for a tombstone, and if it could not be read.
        committed_leader_epoch: of the committed offset; None if the consumer did not send it.
        metadata: text from the consumer.
        commit_time, expire_time: milliseconds since the epoch.
        is_transactional: whether it is part of a transaction.
        txn_outcome: of the transaction: ``committed``, ``aborted`` or ``open``.
        tombstone: whether it removes the offset.
        superseded: whether a tombstone came while it was pending.
    """

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
    superseded: bool = False

    @property
    def key(self) -> _Key:
        """The key of the record."""
        return self.group_id, self.topic, self.partition


class _OffsetsReducer:
    """The committed and the pending offsets.

    Memory is bounded by the keys that have an offset, and the commits of open transactions.
    """

    RECORDS: ClassVar[frozenset[str]] = frozenset({"OffsetCommit", "LegacyOffsetCommit"})

    def __init__(self) -> None:
        self.ended: list[_OffsetCommit] = []
        self._valid: dict[_Key, _OffsetCommit] = {}
        self._pending: dict[int, list[_OffsetCommit]] = {}
        self._pending_of_key: dict[_Key, dict[int, _OffsetCommit]] = {}

    def apply(self, record: DecodedRecord, place: Place, batch: RecordBatch) -> None:
        """See ``RowReducer``."""
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
        """Apply the pending commits of a producer, or drop them."""
        for pending in self._pending.pop(producer_id, ()):
            self._no_longer_pending(pending)
            pending.txn_outcome = "committed" if committed else "aborted"
            if committed and not pending.superseded and self._is_newest(pending):
                self._begin(pending, at)
            else:
                self._never_valid(pending, at)

    def lose(self, place: Place, code: str, raw: bytes | None) -> None:
        """See ``RowReducer``."""
        self.ended.append(
            _OffsetCommit(place=place, is_transactional=None, tombstone=None, error=code, corrupt=raw, is_lost=True)
        )

    def end_batch(self) -> None:
        """See ``RowReducer``; the end of a batch changes nothing here."""

    def still_open(self) -> Iterator[_OffsetCommit]:
        """The current and the pending offsets, in the order of the log."""
        pending = [commit for commits in self._pending.values() for commit in commits]
        for commit in pending:
            commit.txn_outcome = "open"
            commit.valid_from = commit.valid_to = commit.place.append_time
        return iter(sorted([*self._valid.values(), *pending], key=lambda commit: commit.place.log_offset))

    def _remove(self, tombstone: _OffsetCommit) -> None:
        """Remove an offset, and supersede the pending commits of its key."""
        at = tombstone.place.append_time
        held = self._valid.pop(tombstone.key, None)
        if held is not None:
            self._end(held, at)
        for pending in self._pending_of_key.pop(tombstone.key, {}).values():
            pending.superseded = True
        self._never_valid(tombstone, at)

    def _no_longer_pending(self, pending: _OffsetCommit) -> None:
        same_key = self._pending_of_key.get(pending.key, {})
        same_key.pop(pending.place.log_offset, None)
        if not same_key:
            self._pending_of_key.pop(pending.key, None)

    def _is_newest(self, pending: _OffsetCommit) -> bool:
        """Whether no later record took effect meanwhile, outside of transactions or in another one."""
        held = self._valid.get(pending.key)
        return held is None or held.place.log_offset < pending.place.log_offset

    def _begin(self, commit: _OffsetCommit, at: int) -> None:
        key = commit.key
        held = self._valid.get(key)
        if held is not None:
            self._end(held, at)
        commit.valid_from = at
        self._valid[key] = commit

    def _never_valid(self, commit: _OffsetCommit, at: int) -> None:
        commit.valid_from = at
        self._end(commit, at)

    def _end(self, commit: _OffsetCommit, at: int) -> None:
        commit.valid_to = at
        self.ended.append(commit)


def _commit(record: DecodedRecord, place: Place, *, is_transactional: bool) -> _OffsetCommit:
    commit = _OffsetCommit(
        place=place, is_transactional=is_transactional and not record.is_tombstone, tombstone=record.is_tombstone
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
    """None for -1, which means no value."""
    return None if number < 0 else number


def _cells(commits: Sequence[_OffsetCommit]) -> Columns:
    return {name: [getattr(commit, name) for commit in commits] for name in _COLUMNS}


HISTORY: Final = CoordinatorHistory(
    "offset_commits",
    "offsets that groups committed, transactions resolved",
    _COLUMNS,
    _OffsetsReducer,
    _cells,
    keys=("group_id", "topic", "partition"),
)
