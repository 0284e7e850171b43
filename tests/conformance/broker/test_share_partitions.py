"""Share partitions: Kafka's own class does the same with random courses of deliveries and acknowledgements."""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Final, TypeAlias

import msgspec
import pytest
from tests.apache_kafka.java_program import compiled
from tests.apache_kafka.node import run_tool

from kafkawire.broker.served_apis import RELEASE
from kafkawire.broker.share_coordinator.state import ShareState, ShareSummary, StateUpdate
from kafkawire.broker.share_coordinator.state_batches import RecordState, StateBatch
from kafkawire.broker.shares.acknowledging import Acknowledgement, AcknowledgementError, acknowledge
from kafkawire.broker.shares.acquiring import ReadRecords, Wanted, acquire
from kafkawire.broker.shares.settings import ShareRules
from kafkawire.broker.shares.share_partition import SharePartition, ShareStateError
from kafkawire.broker.storage.transaction_index import AbortedTransaction
from kafkawire.protocol import EndTxnMarker
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.records.control_records import ControlRecordType, encode_control_record
from kafkawire.wire.batches import Record, encode_batch, read_batches

pytestmark = pytest.mark.conformance

_SOURCES: Final = Path(__file__).parent / "clocked"
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
        ended += not _agrees(each, kafkas)
        outcomes = [outcome for outcome, _ in each.found]
        delivered += sum(len(outcome) for outcome in outcomes if isinstance(outcome, list))
        redelivered += sum(count > 1 for outcome in outcomes if isinstance(outcome, list) for *_, count in outcome)
        refused += sum(outcome not in (0, -1) for outcome in outcomes if isinstance(outcome, int))
    assert ended < _COURSES / 5
    assert min(delivered, redelivered, refused) > 500, (delivered, redelivered, refused)


def _agrees(driven: Driven, kafkas: Sequence[tuple[Outcome, Seen]]) -> bool:
    """Whether the whole course could be compared: it ends where Kafka fails, or begins to deliver deleted records."""
    start = 0
    for number, (mine, its) in enumerate(zip(driven.found, kafkas, strict=False)):
        if its[1][0] < start:
            return False
        start = its[1][0]
        steps = driven.course.steps[:number]
        assert mine == _with_sound_next(its, mine), msgspec.structs.replace(driven.course, steps=steps)
    return len(kafkas) == len(driven.found)


def _with_sound_next(its: tuple[Outcome, Seen], mine: tuple[Outcome, Seen]) -> tuple[Outcome, Seen]:
    """What Kafka has; without what it reads next where that is deleted, at which it can get stuck."""
    outcome, (start, end, complete, following, can_acquire, batches) = its
    if following < start:
        following, can_acquire = mine[1][3:5]
    return outcome, (start, end, complete, following, can_acquire, batches)


class GrowingLog:
    """A log that grows as it is read: plain records, transactions and their markers; some offsets have no record."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._batches: list[tuple[int, bytes]] = []
        self._begun: dict[int, int] = {}
        self._aborted: list[AbortedTransaction] = []

    def read(self, offset: int) -> tuple[bytes, Sequence[AbortedTransaction]]:
        """The next batches from an offset on, and the aborted transactions among them."""
        most, found = self._dice.randrange(1, 5), list[tuple[int, bytes]]()
        for at in count():
            if at == len(self._batches):
                self._grow()
            if self._batches[at][0] >= offset:
                found.append(self._batches[at])
            if len(found) == most:
                break
        last = found[-1][0]
        aborted = [each for each in self._aborted if each.first_offset <= last and offset <= each.last_offset]
        return b"".join(octets for _, octets in found), aborted

    def _grow(self) -> None:
        first = (self._batches[-1][0] if self._batches else -1) + 1 + self._dice.choice((0, 0, 0, 0, 3))
        kind = self._dice.choice(("plain", "plain", "data", "data", "marker"))
        if kind == "marker" and self._begun:
            self._batches.append((first, self._marker(first)))
            return
        last = first + self._dice.choice((1, 1, 2, 5, 12)) - 1
        producer = -1 if kind == "plain" else self._dice.choice((11, 12))
        if producer >= 0:
            self._begun.setdefault(producer, first)
        records = [Record(offset=first, value=b"")]
        octets = encode_batch(
            records, base_offset=first, last_offset=last, producer_id=producer, transactional=producer >= 0
        )
        self._batches.append((last, octets))

    def _marker(self, offset: int) -> bytes:
        producer = self._dice.choice([*self._begun])
        begun, committed = self._begun.pop(producer), self._dice.random() < 0.4
        if not committed:
            self._aborted.append(AbortedTransaction(producer, begun, offset, offset + 1))
        kind = ControlRecordType.COMMIT if committed else ControlRecordType.ABORT
        key, value = encode_control_record(kind, EndTxnMarker(0), 0)
        record = Record(offset=offset, key=key, value=value)
        return encode_batch([record], base_offset=offset, producer_id=producer, transactional=True, control=True)


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
        self._log = GrowingLog(dice)
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

    def _acquire(self) -> Outcome:
        partition, dice = self._partition, self._dice
        if not partition.can_acquire:
            return self._advance()
        offset = partition.next_offset()
        octets, aborted = self._log.read(offset)
        is_committed = dice.random() < 0.5
        most, size = dice.choice((1, 3, 10, 500)), dice.choice((1, 4, 100))
        wanted = Wanted(dice.choice(_MEMBERS), most, size, dice.random() < 0.4)
        self.course.steps.append(
            ("acquire", wanted.member_id, wanted.is_strict, wanted.batch_size, wanted.most_records, offset,
             base64.b64encode(octets).decode(),
             [(each.producer_id, each.first_offset) for each in aborted] if is_committed else None)
        )  # fmt: skip
        read = ReadRecords(offset, [*read_batches(octets)], aborted if is_committed else ())
        return [(each.first, each.last, each.count) for each in acquire(partition, wanted, read)]

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
