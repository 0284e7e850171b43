"""Share partitions: Kafka's own class does the same with random courses of deliveries and acknowledgements."""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import msgspec
import pytest
from tests.apache_kafka.java_program import compiled
from tests.apache_kafka.node import run_tool

from kafkawire.broker.served_apis import RELEASE
from kafkawire.broker.share_coordinator.state_batches import RecordState, StateBatch
from kafkawire.broker.share_coordinator.states import ShareState, ShareSummary, StateUpdate
from kafkawire.broker.shares.acknowledging import Acknowledgement, AcknowledgementError, acknowledge
from kafkawire.broker.shares.acquiring import ReadRecords, Wanted, acquire
from kafkawire.broker.shares.settings import ShareRules
from kafkawire.broker.shares.share_partition import SharePartition, ShareStateError
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.batches import Record, RecordBatch, encode_batch, read_batches

pytestmark = pytest.mark.conformance

_SOURCES: Final = Path(__file__).parent / "shares"
_COURSES: Final = 300
_MEMBERS: Final = ("m", "n", "o")
_LOCK_MS: Final = 30_000
_STATE_EPOCH, _LEADER_EPOCH = 3, 7

Step: TypeAlias = tuple[object, ...]
Outcome: TypeAlias = int | list[tuple[int, int, int]]
Seen: TypeAlias = tuple[int, int, int, int, bool, list[tuple[int, int, list[tuple[int, int, str]]]]]
"""First and last offset in flight, what is done with, what comes next, and each record of each batch in flight."""


class Course(msgspec.Struct):
    """What happens to a share partition, one step after the other, from a recorded state on."""

    most_in_flight: int
    most_deliveries: int
    lock_ms: int
    start: int
    batches: list[tuple[int, int, int, int]]
    steps: list[Step]


def test_share_partitions_do_what_kafkas_do(tmp_path: Path) -> None:
    """KIP-932, KIP-1206 and KIP-1222: deliveries, locks, acknowledgements, gaps of a state, deleted records."""
    driven = [Driven(random.Random(number)) for number in range(_COURSES)]
    for each in driven:
        each.run()
    file = tmp_path / "courses.jsonl"
    file.write_bytes(msgspec.json.Encoder().encode_lines([each.course for each in driven]))
    tool = "kafka.server.share.SharePartitions"
    lines = run_tool(RELEASE, tool, str(file), plugins=[compiled(RELEASE, _SOURCES)]).splitlines()
    delivered, refused, redelivered, ended = 0, 0, 0, 0
    for each, line in zip(driven, lines, strict=True):
        kafkas = msgspec.json.decode(line, type=list[tuple[Outcome, Seen]])
        ended += len(kafkas) < len(each.found)
        for number, (mine, its) in enumerate(zip(each.found, kafkas, strict=False)):
            assert mine == _with_sound_next(its, mine), msgspec.structs.replace(
                each.course, steps=each.course.steps[:number]
            )
        outcomes = [outcome for outcome, _ in each.found]
        delivered += sum(len(outcome) for outcome in outcomes if isinstance(outcome, list))
        redelivered += sum(count > 1 for outcome in outcomes if isinstance(outcome, list) for *_, count in outcome)
        refused += sum(outcome not in (0, -1) for outcome in outcomes if isinstance(outcome, int))
    assert ended < _COURSES / 5
    assert min(delivered, redelivered, refused) > 500, (delivered, redelivered, refused)


def _with_sound_next(its: tuple[Outcome, Seen], mine: tuple[Outcome, Seen]) -> tuple[Outcome, Seen]:
    """What Kafka has; without what it reads next where that is deleted, at which it can get stuck."""
    outcome, (start, end, complete, following, can_acquire, batches) = its
    if following < start:
        following, can_acquire = mine[1][3:5]
    return outcome, (start, end, complete, following, can_acquire, batches)


class Driven:
    """A share partition, the log that it delivers, and the course of what was done.

    Attributes:
        course: the steps so far.
        found: the outcome of each step, and the state after it; the first is the state as it was recorded.
    """

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._now = 0.0
        self._fails = False
        rules = ShareRules(_LOCK_MS, dice.choice((1, 2, 3, 5, 8)), dice.choice((5, 20, 100)))
        start = dice.randrange(20)
        batches = [*self._recorded(start)]
        self.course = Course(rules.most_in_flight, rules.most_deliveries, _LOCK_MS, start, batches, [])
        state = ShareState(
            1,
            ShareSummary(_STATE_EPOCH, _LEADER_EPOCH, start, -1),
            tuple(StateBatch(first, last, kind, count) for first, last, kind, count in batches),
        )
        self._partition = SharePartition(
            state, _LEADER_EPOCH, start, rules=lambda: rules, now=lambda: self._now, write=self._write
        )
        self._log = [self._batch(0)]
        self.found: list[tuple[Outcome, Seen]] = [(0, self._seen())]

    def run(self) -> None:
        """Do random steps."""
        for _ in range(self._dice.randrange(5, 40)):
            kind = self._dice.choices(("acquire", "acknowledge", "release", "log_start", "advance"), (8, 8, 1, 1, 2))[0]
            outcome = getattr(self, f"_{kind}")()
            self.found.append((outcome, self._seen()))

    def _recorded(self, start: int) -> Iterator[tuple[int, int, int, int]]:
        """The batches of a recorded state, with gaps between them."""
        at = start
        for _ in range(self._dice.choice((0, 0, 1, 2, 4))):
            at += self._dice.choice((0, 0, 1, 4))
            last = at + self._dice.randrange(6)
            state = self._dice.choice((RecordState.AVAILABLE, RecordState.ACKNOWLEDGED, RecordState.ARCHIVED))
            yield at, last, state, self._dice.randrange(1, 3)
            at = last + 1

    def _batch(self, at: int) -> bytes:
        """A batch of the log, which may lack offsets before it and records at its end."""
        first = at + self._dice.choice((0, 0, 0, 0, 3))
        size = self._dice.choice((1, 1, 2, 5, 12))
        last = first + size - 1
        return encode_batch([Record(offset=first, value=b"")], base_offset=first, last_offset=last)

    def _read(self, offset: int) -> tuple[Sequence[RecordBatch], bytes]:
        """The next batches of the log from an offset on."""
        most, found = self._dice.randrange(1, 5), list[bytes]()
        for octets in self._log:
            if _last(octets) >= offset and len(found) < most:
                found.append(octets)
        while len(found) < most:
            self._log.append(self._batch(_last(self._log[-1]) + 1))
            if _last(self._log[-1]) >= offset:
                found.append(self._log[-1])
        return [batch for octets in found for batch in read_batches(octets)], b"".join(found)

    def _acquire(self) -> Outcome:
        partition, dice = self._partition, self._dice
        if not partition.can_acquire:
            return self._advance()
        offset = partition.next_offset()
        batches, octets = self._read(offset)
        most, size = dice.choice((1, 3, 10, 500)), dice.choice((1, 4, 100))
        wanted = Wanted(dice.choice(_MEMBERS), most, size, dice.random() < 0.4)
        self.course.steps.append(
            ("acquire", wanted.member_id, wanted.is_strict, wanted.batch_size, wanted.most_records, offset,
             base64.b64encode(octets).decode())
        )  # fmt: skip
        acquired = acquire(partition, wanted, ReadRecords(offset, batches))
        return [(each.first, each.last, each.count) for each in acquired]

    def _acknowledge(self) -> Outcome:
        member, asked = self._dice.choice(_MEMBERS), list[Acknowledgement]()
        for batch in self._partition.batches:
            for part in batch.parts():
                if part.delivery.is_acquired_by(member) and self._dice.random() < 0.5:
                    asked.append(self._said_of(part.first, part.last))
        if not asked or self._dice.random() < 0.1:
            first = self._dice.randrange(max(self._partition.start_offset - 1, 0), self._partition.end_offset + 4)
            asked.append(self._said_of(first, first + self._dice.randrange(5)))
        self._fails = self._dice.random() < 0.1
        step = [(each.first, each.last, list(each.types)) for each in asked]
        self.course.steps.append(("acknowledge", member, step, self._fails))
        try:
            acknowledge(self._partition, member, asked)
        except (AcknowledgementError, ShareStateError) as error:
            return int(error.code)
        return 0

    def _said_of(self, first: int, last: int) -> Acknowledgement:
        """What is said of records, or of some of them: the same of all, or something of each."""
        if self._dice.random() < 0.3:
            first = self._dice.randint(first, last)
            last = self._dice.randint(first, last)
        kinds = (0, 1, 1, 2, 2, 2, 3, 4)
        count = 1 if self._dice.random() < 0.6 else last - first + 1
        return Acknowledgement(first, last, [self._dice.choice(kinds) for _ in range(count)])

    def _release(self) -> Outcome:
        member, self._fails = self._dice.choice(_MEMBERS), self._dice.random() < 0.2
        self.course.steps.append(("release", member, self._fails))
        try:
            self._partition.release(member)
        except ShareStateError as error:
            return int(error.code)
        return 0

    def _log_start(self) -> Outcome:
        offset = self._partition.start_offset + self._dice.randrange(-2, 12)
        self.course.steps.append(("log_start", offset))
        self._partition.note_log_start(offset)
        return 0

    def _advance(self) -> Outcome:
        milliseconds, self._fails = self._dice.choice((_LOCK_MS // 3, _LOCK_MS)), self._dice.random() < 0.1
        self.course.steps.append(("advance", milliseconds, self._fails))
        self._now += milliseconds / 1000
        self._partition.end_due_locks()
        return 0

    def _write(self, update: StateUpdate) -> ErrorCode:
        assert (update.state_epoch, update.leader_epoch) == (_STATE_EPOCH, _LEADER_EPOCH)
        return ErrorCode.UNKNOWN_SERVER_ERROR if self._fails else ErrorCode.NONE

    def _seen(self) -> Seen:
        partition = self._partition
        batches = []
        for batch in partition.batches:
            deliveries = (part.delivery for part in batch.parts())
            records = [(int(each.state), each.count, each.member_id) for each in deliveries]
            batches.append((batch.first, batch.last, records))
        return (
            partition.start_offset, partition.end_offset, partition.delivery_complete_count,
            partition.next_offset(), partition.can_acquire, batches,
        )  # fmt: skip


def _last(octets: bytes) -> int:
    (batch,) = read_batches(octets)
    return batch.last_offset
