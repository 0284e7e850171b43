"""Histories of records and of the metadata, read in parts of any size, have the rows and the accounts of the log."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count, pairwise
from pathlib import Path
from typing import TypeAlias, TypeVar

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings, strategies as st
from tests.hypothesis_profiles import scaled
from tests.laws.logs.test_history_laws import NAMES, Story, stories
from tests.made.logs import METADATA_LOG, Step, write_batches, write_checkpoint, write_segment

from kafkawire.layout import Uuid
from kafkawire.logs import (
    LOCAL,
    Accounts,
    BeforeKnowledgeError,
    LogReadError,
    ReadMode,
    ReadOptions,
    find_log_files,
    plan,
    read_part,
    table_named,
)
from kafkawire.logs.parallel_reading import Asked, DividedLog, rows_of
from kafkawire.logs.planning import parts_of_log
from kafkawire.logs.processes import Job, Workers
from kafkawire.protocol import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    GroupMetadataKey,
    GroupMetadataValue,
    ShareSnapshotKey,
    ShareSnapshotValue,
    ShareUpdateKey,
    ShareUpdateValue,
    TransactionLogKey,
    TransactionLogValue,
)
from kafkawire.records.coordinator_records import encode_coordinator_record
from kafkawire.wire import Message
from kafkawire.wire.batches import Record, encode_batch

Outcome: TypeAlias = tuple[Counter[str], Accounts] | str
T = TypeVar("T")

_START = 1_000_000
_TOPICS = {
    "group_history": "__consumer_offsets",
    "transaction_history": "__transaction_state",
    "share_group_history": "__share_group_state",
}
_PLACES = st.lists(st.integers(0, 24), max_size=3)
_FLIPS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 400)), max_size=2)
_PARTS = st.integers(2, 6)


class _InTurn(Workers):
    """Does the jobs one after the other in this process."""

    def __init__(self, folder: Path) -> None:
        self._numbers = count()
        self._path = folder

    def new_path(self) -> Path:
        return self._path / f"{next(self._numbers)}.arrow"

    def results(self, jobs: Iterable[Job[T]]) -> Iterator[T]:
        return (job.run() for job in jobs)


def _at(second: int) -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=_START + second)


_OPTIONS = st.builds(
    ReadOptions,
    mode=st.sampled_from([*ReadMode, ReadMode.PERMISSIVE]),
    as_of=st.none() | st.integers(-1, 30).map(_at),
    from_offset=st.none() | st.integers(0, 8),
    until_time=st.none() | st.integers(8, 30).map(_at),
    secrets=st.just(True),
)


@pytest.mark.parametrize("name", NAMES)
@given(stories(), _PLACES, _PLACES, _PLACES, _FLIPS, _PARTS, st.just(ReadOptions(secrets=True)) | _OPTIONS, st.data())
@settings(max_examples=scaled(12), deadline=None)
def test_parts_of_a_metadata_log_have_its_rows(  # noqa: PLR0917 pytest and hypothesis pass them
    name: str,
    story: Story,
    segments: list[int],
    snapshots: list[int],
    without_time: list[int],
    flips: list[tuple[int, int]],
    parts: int,
    options: ReadOptions,
    data: st.DataObject,
) -> None:
    steps = [Step(-1 if number in without_time else step.time, step.records) for number, step in enumerate(story.steps)]
    first = min(data.draw(st.sampled_from([0, 0, 0, 2]), label="first"), len(steps) - 1)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / METADATA_LOG
        cuts = sorted({*(cut for cut in (*segments, first) if first <= cut < len(steps)), len(steps)})
        for begin, end in pairwise(cuts):
            overlap = begin - data.draw(st.sampled_from([0, 0, 0, 1]), label="overlap")
            write_segment(folder, story.offset_after(max(overlap, 0)), steps[max(overlap, 0) : end])
        for count in snapshots:
            if 0 < count <= len(steps) and story.may_be_snapshot[count - 1]:
                state, last = story.states[count - 1], story.steps[count - 1].time
                write_checkpoint(folder, story.offset_after(count), [*state.records()], time=last)
        _check(name, folder, flips, parts, options)


def _write(topic: str, key: Message, value: Message | None) -> tuple[bytes, bytes | None]:
    return encode_coordinator_record(topic, key, value, None if value is None else value.VERSIONS[-1])


_ID = Uuid(b"t" * 16)
_GROUPS = st.sampled_from(["a", "b", "c"])
_MEMBERS = st.sampled_from(["m", "n"])
_MESSAGES: dict[str, st.SearchStrategy[tuple[Message, Message | None]]] = {
    "group_history": st.one_of(
        st.tuples(
            st.builds(GroupMetadataKey, _GROUPS),
            st.none() | st.builds(GroupMetadataValue, st.just("consumer"), st.integers(0, 2)),
        ),
        st.tuples(
            st.builds(ConsumerGroupMetadataKey, _GROUPS),
            st.none() | st.builds(ConsumerGroupMetadataValue, st.integers(0, 2)),
        ),
        st.tuples(
            st.builds(ConsumerGroupMemberMetadataKey, _GROUPS, _MEMBERS),
            st.none() | st.builds(ConsumerGroupMemberMetadataValue, client_id=st.sampled_from(["x", "y"])),
        ),
        st.tuples(
            st.builds(ConsumerGroupCurrentMemberAssignmentKey, _GROUPS, _MEMBERS),
            st.none() | st.just(ConsumerGroupCurrentMemberAssignmentValue()),
        ),
    ),
    "transaction_history": st.tuples(
        st.builds(TransactionLogKey, _GROUPS),
        st.none() | st.builds(TransactionLogValue, st.integers(0, 2), transaction_status=st.integers(0, 4)),
    ),
    "share_group_history": st.one_of(
        st.tuples(
            st.builds(ShareSnapshotKey, _GROUPS, st.just(_ID), st.integers(0, 1)),
            st.none() | st.builds(ShareSnapshotValue, st.integers(0, 2), start_offset=st.integers(-1, 3)),
        ),
        st.tuples(
            st.builds(ShareUpdateKey, _GROUPS, st.just(_ID), st.integers(0, 1)),
            st.none() | st.builds(ShareUpdateValue, start_offset=st.integers(-1, 3)),
        ),
    ),
}
_DAMAGE = st.sampled_from([*["whole"] * 12, "longer key", "longer value", "no key", "short key", "short value"])


def _damaged(record: tuple[bytes, bytes | None], kind: str) -> tuple[bytes | None, bytes | None]:
    key, value = record
    match kind:
        case "longer key":
            return key + b"?", value
        case "longer value":
            return key, None if value is None else value + b"?"
        case "no key":
            return None, value
        case "short key":
            return key[:-1], value
        case "short value":
            return key, None if value is None else value[:-1]
        case _:
            return key, value


def _record(time: int, key: bytes | None, value: bytes | None) -> Record:
    return Record(timestamp=time, key=key, value=value)


@st.composite
def _batches(draw: st.DrawFn, name: str) -> list[list[bytes]]:
    """Batches of segments. Times and offsets may go back, or times may lack."""
    records = st.tuples(_MESSAGES[name], _DAMAGE, st.sampled_from([0, 0, 0, 1, 2, -_START - 1]))
    offset, segments = draw(st.sampled_from([0, 0, 5])), list[list[bytes]]()
    for number in range(draw(st.integers(1, 3))):
        segment = []
        for place in range(draw(st.integers(1, 6))):
            offset = max(0, offset + draw(st.sampled_from([0] * 12 + [2, -3])))
            made = [
                _record(_START + place + 8 * number + late, *_damaged(_write(_TOPICS[name], *message), kind))
                for message, kind, late in draw(st.lists(records, min_size=1, max_size=4))
            ]
            segment.append(encode_batch(made, base_offset=offset, partition_leader_epoch=0))
            offset += len(made)
        segments.append(segment)
    return segments


@pytest.mark.parametrize("name", list(_TOPICS))
@given(st.data(), _FLIPS, _PARTS, st.just(ReadOptions()) | _OPTIONS)
@settings(max_examples=scaled(30), deadline=None)
def test_parts_of_the_log_of_a_coordinator_have_its_rows(
    name: str, data: st.DataObject, flips: list[tuple[int, int]], parts: int, options: ReadOptions
) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / f"{_TOPICS[name]}-0"
        for number, batches in enumerate(data.draw(_batches(name))):
            write_batches(folder, number, batches)
        _check(name, folder, flips, parts, options)


def _check(name: str, folder: Path, flips: list[tuple[int, int]], parts: int, options: ReadOptions) -> None:
    written = sorted(folder.iterdir())
    for number, place in flips:
        _flip(written[number % len(written)], place)
    table = table_named(name, options)
    (log,) = plan(table, find_log_files([folder]), options=options)
    found_parts = parts_of_log(log, options, LOCAL, max_partition_bytes=log.bytes // parts + 1)
    assume(len(found_parts) > 1)
    divided = DividedLog(Asked(table.name, table.schema, options, LOCAL), log, found_parts)
    in_order, in_parts = Accounts(), Accounts()
    expected = _outcome(read_part(table, log, options, in_order), in_order, options)
    temporary = folder.with_name("temporary")
    temporary.mkdir()
    found = _outcome(rows_of([divided], _InTurn(temporary), in_parts), in_parts, options)
    assert found == expected


def _flip(file: Path, place: int) -> None:
    content = bytearray(file.read_bytes())
    content[place % len(content)] ^= 1
    file.write_bytes(content)


def _outcome(batches: Iterator[pa.RecordBatch], accounts: Accounts, options: ReadOptions) -> Outcome:
    """The rows in any order, or the error. Which one comes first depends on the batches that are decoded together."""
    try:
        rows = Counter(repr(row) for batch in batches for row in batch.to_pylist())
    except (LogReadError, BeforeKnowledgeError) as error:
        return "" if options.mode is ReadMode.FAILFAST else str(error)
    assert accounts.balanced
    return rows, accounts
