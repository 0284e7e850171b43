"""Retention and compaction of all partitions, by the broker's clock or on demand."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, zip_longest
from typing import Final, TypeAlias

from kafkawire.broker.clock import Clock, sleep_unless
from kafkawire.broker.configuration.dynamic_configuration import DynamicConfiguration
from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.image.topics import TopicsImage
from kafkawire.broker.partitions.cleaned_transactions import CleanedTransactions
from kafkawire.broker.partitions.compaction import Round, compacted, note_keys
from kafkawire.broker.partitions.partition_log import PartitionLog
from kafkawire.broker.partitions.record_store import RecordStore
from kafkawire.broker.partitions.segment import Segment
from kafkawire.broker.partitions.topic_rules import CleaningRules, RulesOfTopics, TopicRules
from kafkawire.broker.storage.errors import StorageError
from kafkawire.model.topics import INTERNAL_TOPICS
from kafkawire.wire.batches import RecordBatch
from kafkawire.wire.errors import DecodeError

_log = logging.getLogger(__name__)
_MOST_KEYS: Final = 1_000_000
"""Keys of a round of compaction, after which it ends with the segment; about 150 bytes of memory for each."""

_SHORTEST_BACKOFF: Final = 0.001
"""Seconds between two rounds at least, so that others run too."""

_NEVER: Final = -1.0
"""A part of a log that is never so small that compaction can wait."""

_LARGEST_SPAN: Final = (1 << 31) - 1
_EXPIRATION: Final = "producer.id.expiration.ms"
_EXPIRATION_INTERVAL: Final = "producer.id.expiration.check.interval.ms"

Breach: TypeAlias = Callable[[Segment, Segment | None], bool]


class RecordCleaner:
    """Deletes and compacts records as the configurations of their topics say, and forgets idle producers.

    Args:
        store: the records.
        topics: the topics.
        rules: the rules of topics.
        configuration: of the broker.
        clock: the broker's.
    """

    def __init__(
        self,
        store: RecordStore,
        topics: TopicsImage,
        rules: RulesOfTopics,
        configuration: DynamicConfiguration,
        clock: Clock,
    ) -> None:
        self._store = store
        self._topics = topics
        self._rules = rules
        self._configuration = configuration
        self._clock = clock
        self._turn = asyncio.Lock()
        self._tasks: tuple[asyncio.Task[None], ...] = ()
        self._changed = asyncio.Event()

    def note_change(self) -> None:
        """Records were appended, or a topic was changed: there may be something to compact."""
        self._changed.set()

    def begin(self) -> None:
        """Clean from the first record on, at the intervals of the broker's configuration."""
        self._store.when_used(self._begin)

    async def end(self) -> None:
        """Clean no more."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def settled(self) -> None:
        """Wait until a round that has begun is over."""
        async with self._turn:
            return

    async def clean(self, topic: str | None = None) -> None:
        """Delete what is too old or too much, and compact everything, whatever part of it is new.

        Args:
            topic: its name; None for all.

        Raises:
            StorageError: a file could not be read or written.
        """
        async with self._turn:
            async for name, log in in_slices(self._named_logs()):
                if topic in {None, name}:
                    await self._clean_all(log, self._rules.of(name))

    async def _clean_all(self, log: PartitionLog, rules: TopicRules) -> None:
        try:
            await self._delete_old(log, rules.cleaning)
            if rules.cleaning.compacts:
                self._end_segment(log)
                await log.durable()
                await self._compact(log, rules, clean_enough=_NEVER)
        except FileNotFoundError:
            if not log.is_closed:
                raise

    def _begin(self) -> None:
        loop = asyncio.get_running_loop()
        self._tasks = loop.create_task(self._run()), loop.create_task(self._forget_producers())

    async def _forget_producers(self) -> None:
        """Forget the producers that were idle for too long, at intervals that are not those of records."""
        while True:
            await self._clock.sleep(self._configuration.integer(_EXPIRATION_INTERVAL) / 1000)
            oldest_ms = self._clock.now_ms() - self._configuration.integer(_EXPIRATION)
            async with self._turn:
                async for _, _, log in in_slices(self._store.logs()):
                    log.producers.expire(oldest_ms)

    async def _run(self) -> None:
        checked = cleaned = self._clock.seconds()
        while True:
            interval = self._configuration.integer(_RETENTION_INTERVAL) / 1000
            await self._round_is_due(cleaned, checked + interval)
            cleaned = self._clock.seconds()
            is_due = cleaned - checked >= interval
            checked = cleaned if is_due else checked
            self._changed.clear()
            async with self._turn:
                async for name, log in in_slices(self._named_logs()):
                    await self._clean_in_background(name, log, deletes=is_due)

    async def _round_is_due(self, cleaned: float, deadline: float) -> None:
        """Wait for the next round after a change, or for the one at a deadline; rounds come in even intervals."""
        backoff = max(self._configuration.integer("log.cleaner.backoff.ms") / 1000, _SHORTEST_BACKOFF)
        if not self._changed.is_set():
            await sleep_unless(self._clock, deadline - backoff - self._clock.seconds(), self._changed)
        await self._clock.sleep(backoff - (self._clock.seconds() - cleaned) % backoff)

    async def _clean_in_background(self, name: str, log: PartitionLog, *, deletes: bool) -> None:
        rules = self._rules.of(name)
        try:
            if deletes:
                await self._delete_old(log, rules.cleaning)
            if rules.cleaning.compacts and self._configuration.boolean("log.cleaner.enable"):
                await self._compact(log, rules, rules.cleaning.dirty_ratio)
        except StorageError:
            pass  # the broker halts, and logs the error once
        except (OSError, DecodeError) as error:
            if not log.is_closed:
                _log.error("The records of a partition of %s cannot be cleaned: %s", name, error)

    def _named_logs(self) -> Iterator[tuple[str, PartitionLog]]:
        for topic_id, _, log in self._store.logs():
            topic = self._topics.by_id.get(topic_id)
            if topic is not None and topic.name not in INTERNAL_TOPICS:  # coordinators rewrite their own
                yield topic.name, log

    async def _delete_old(self, log: PartitionLog, rules: CleaningRules) -> None:
        """Delete segments below the first offset, and those that exceed the retention, as Kafka does in this order."""
        await self._delete_while(log, lambda _, following: _begins_before(following, log.start_offset))
        if not rules.deletes:
            return
        if rules.retention_bytes >= 0:
            excess = log.size - rules.retention_bytes

            def is_in_excess(segment: Segment, _: Segment | None) -> bool:
                nonlocal excess
                excess -= segment.size
                return excess >= 0

            await self._delete_while(log, is_in_excess)
        if rules.retention_ms >= 0:
            oldest_ms = self._clock.now_ms() - rules.retention_ms
            await self._delete_while(log, lambda segment, _: segment.age_timestamp < oldest_ms)

    async def _delete_while(self, log: PartitionLog, is_breached: Breach) -> None:
        """Delete segments from the first on; the last one only after another one has begun."""
        count = 0
        segments = [*log.segments]
        for segment, following in zip_longest(segments, segments[1:]):
            end = log.end_offset if following is None else following.base_offset
            is_empty_end = following is None and not segment.size
            if is_empty_end or end > log.high_watermark or not is_breached(segment, following):
                break
            count += 1
        if count == len(segments):
            self._end_segment(log)
        if count:
            await log.delete_segments(count)

    def _end_segment(self, log: PartitionLog) -> None:
        if log.segments and log.segments[-1].size:
            log.roll(self._clock.now_ms())

    async def _compact(self, log: PartitionLog, rules: TopicRules, clean_enough: float) -> None:
        now_ms = self._clock.now_ms()
        if rules.cleaning.least_lag_ms > 0 or rules.cleaning.most_lag_ms < now_ms:
            self.note_change()  # what is too new now is not at the next round
        first_dirty = max(log.cleaned_offset, log.start_offset)
        segments = _cleanable(log, now_ms - rules.cleaning.least_lag_ms if rules.cleaning.least_lag_ms > 0 else None)
        dirty = [segment for segment in segments if segment.end_offset > first_dirty]
        dirty_bytes = sum(segment.size for segment in dirty)
        every_byte = sum(segment.size for segment in segments)
        is_dirty_enough = every_byte and dirty_bytes / every_byte > clean_enough
        if not is_dirty_enough and not await asyncio.to_thread(
            _are_too_old, dirty, now_ms - rules.cleaning.most_lag_ms
        ):
            return
        newest: dict[bytes, int] = {}
        transactions = CleanedTransactions(log.aborted_in)
        end = first_dirty
        for segment in dirty:
            if len(newest) < _MOST_KEYS:
                batches = _batches([segment], transactions, first_dirty)
                await asyncio.to_thread(note_keys, batches, transactions, newest)
                end = segment.end_offset
        segments = [segment for segment in segments if segment.end_offset <= end]
        known = Round(newest, end, log.producers.last_batches(), now_ms, rules.cleaning.tombstones_ms)
        transactions = CleanedTransactions(log.aborted_in)
        for group in _groups(segments, rules.segments.bytes):
            transactions.aborted = []
            batches = compacted(_batches(group, transactions), transactions, known)
            await log.rewrite(group, batches, transactions.aborted)
        await log.note_cleaned(end)


_RETENTION_INTERVAL: Final = "log.retention.check.interval.ms"


def _begins_before(segment: Segment | None, offset: int) -> bool:
    return segment is not None and segment.base_offset <= offset


def _cleanable(log: PartitionLog, newest_ms: int | None) -> Sequence[Segment]:
    """The segments that may be compacted: below the last stable offset, without the last, without any too new one."""
    segments: list[Segment] = []
    for segment, following in pairwise(log.segments):
        is_too_new = newest_ms is not None and segment.largest_timestamp > newest_ms
        if following.base_offset > log.last_stable_offset or is_too_new:
            break
        segments.append(segment)
    return segments


def _are_too_old(dirty: Sequence[Segment], oldest_ms: int) -> bool:
    """Whether a record is uncompacted for longer than ``max.compaction.lag.ms`` allows."""
    times = (segment.first_timestamp() for segment in dirty) if oldest_ms > 0 else iter(())
    return any(0 < time < oldest_ms for time in times)


def _batches(
    segments: Sequence[Segment], transactions: CleanedTransactions, first_offset: int = 0
) -> Iterator[RecordBatch]:
    for segment in segments:
        offset = max(segment.base_offset, first_offset)
        transactions.expect(offset, segment.end_offset)
        yield from segment.batches(offset)


def _groups(segments: Sequence[Segment], most_bytes: int) -> Iterator[Sequence[Segment]]:
    """Neighbours that fit into one segment."""
    group: list[Segment] = []
    for segment in segments:
        size = sum(each.size for each in group) + segment.size
        if group and (size > most_bytes or segment.end_offset - group[0].base_offset > _LARGEST_SPAN):
            yield group
            group = []
        group.append(segment)
    if group:
        yield group
