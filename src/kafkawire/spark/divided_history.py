"""A history whose large logs many tasks read: each reads a part of a log, then each joins some of the keys of a log.

Between the two, Spark's shuffle carries messages: what a part found, to all joins of its log; rows that no other part
can change, which a join passes on; and what the part leaves, by the bucket of the key. Rows travel as bytes of Arrow's
IPC format, so Java does not copy their cells twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import groupby
from typing import Final, NamedTuple, cast

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from kafkawire.logs import Accounts, LogReadError, Part, read_part
from kafkawire.logs.folding.coordinator_log import NO_PAST, UNREAD, PartOfLog
from kafkawire.logs.folding.division import Bucket, DivisibleHistory, LeftByPart, buckets_of
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.history_tables import HistoryTable
from kafkawire.logs.planning import parts_of_log, plan
from kafkawire.spark.planned_read import Reading, keep_modules, named_as_spark_expects
from kafkawire.spark.releases import CHOSEN_PARTITIONS, lacking
from kafkawire.spark.task_accounts import write_accounts

_COLUMNS: Final[Mapping[str, pa.DataType]] = {
    "join": pa.int32(),
    "kind": pa.int8(),
    "part": pa.int32(),
    "piece": pa.int32(),
    "octets": pa.binary(),
}
_MESSAGES: Final = pa.schema(_COLUMNS)


class _Kind(IntEnum):
    """Kinds of messages, in the order in which a join gets them.

    Attributes:
        FOUND: a `_Found`.
        ROWS: a batch of rows that no other part can change.
        LEFT: two batches, a piece of `LeftByPart`.
    """

    FOUND = 0
    ROWS = 1
    LEFT = 2


class _Found(NamedTuple):
    """What a task found in its part, and its counts as JSON."""

    part: PartOfLog
    accounts: str


class _Message(NamedTuple):
    join: int
    kind: _Kind
    part: int
    piece: int
    octets: bytes | pa.Buffer


@dataclass(frozen=True)
class _PlannedLog:
    """A log, its parts, and the numbers of its joins, which follow each other."""

    log: Part
    parts: tuple[Part, ...]
    first_join: int

    @property
    def joins(self) -> int:
        return buckets_of(len(self.parts))

    def join_of_rows(self, part: int) -> int:
        """The join that passes on the rows of a part, and counts them."""
        return self.first_join + part % self.joins


def divided_history(spark: SparkSession, reading: Reading) -> DataFrame | None:
    """The rows of a history that can be divided, if a log is large enough for that; otherwise None.

    Raises:
        LogReadError: there is no such path or no log of the table there, or a file cannot be read.
    """
    table = reading.table()
    if not (isinstance(table, HistoryTable) and isinstance(table.history, DivisibleHistory)):
        return None
    logs, joins = list[_PlannedLog](), 0
    found = reading.found().needed_by(table)
    options = reading.options
    for log in plan(table, found.files, store=found.store, options=options.read):
        size = options.max_partition_bytes
        logs.append(_PlannedLog(log, parts_of_log(log, options.read, found.store, max_partition_bytes=size), joins))
        joins += logs[-1].joins
    if all(len(log.parts) <= 1 for log in logs):
        return None
    stages = _Stages(reading, tuple(logs))
    parts = len(stages.parts)
    messages = spark.range(0, parts, 1, parts).mapInArrow(stages.read_parts, from_arrow_schema(_MESSAGES))
    # With PySpark 4.0 a task may have several joins, or none.
    divide = messages.repartition if lacking(CHOSEN_PARTITIONS) else messages.repartitionById
    at_their_joins = divide(joins, "join").sortWithinPartitions("join", "kind", "part", "piece")
    return at_their_joins.mapInArrow(stages.join, from_arrow_schema(table.schema))


@dataclass(frozen=True)
class _Stages:
    """The work of the tasks; it is pickled to the workers.

    Attributes:
        reading: of the table.
        logs: all, in order.
    """

    reading: Reading
    logs: tuple[_PlannedLog, ...]

    @property
    def parts(self) -> Sequence[tuple[_PlannedLog, int]]:
        """The part of each task of the first stage: its log and its number in that."""
        return [(log, number) for log in self.logs for number in range(len(log.parts))]

    @cached_property
    def _table(self) -> HistoryTable:
        return cast(HistoryTable, self.reading.table())

    @cached_property
    def _history(self) -> DivisibleHistory:
        return cast(DivisibleHistory, self._table.history)

    def _source(self, accounts: Accounts) -> FoldSource:
        return FoldSource(self.reading.options.read, accounts, self.reading.store)

    def read_parts(self, tasks: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The messages of the parts of a task."""
        keep_modules()
        for batch in tasks:
            for (task,) in zip(*batch.to_pydict().values(), strict=True):
                for message in self._messages(*self.parts[task]):
                    columns = (pa.array([value], field.type) for value, field in zip(message, _MESSAGES, strict=True))
                    yield pa.RecordBatch.from_arrays(list(columns), schema=_MESSAGES)

    def _messages(self, log: _PlannedLog, number: int) -> Iterator[_Message]:
        accounts, schema = Accounts(), self._table.schema
        past = None if number else NO_PAST
        files = [each.file for each in log.log.files]
        part = self._history.part(log.parts[number].files, files, schema, self._source(accounts), past)
        found = UNREAD
        try:
            for piece, rows in enumerate(part.rows()):
                yield _Message(log.join_of_rows(number), _Kind.ROWS, number, piece, rows.serialize().to_pybytes())
            for piece, left in enumerate(part.left(log.joins)):
                for bucket in range(log.joins):
                    octets = left.of_bucket(bucket).encode()
                    yield _Message(log.first_join + bucket, _Kind.LEFT, number, piece, octets)
        except LogReadError:
            if past is not None:  # in mode FAILFAST, its past decides which errors count
                raise
        else:
            found = part.found
        octets = msgspec.json.encode(_Found(found, accounts.to_json()))
        for bucket in range(log.joins):
            yield _Message(log.first_join + bucket, _Kind.FOUND, number, 0, octets)

    def join(self, messages: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of the joins of a task, from their messages in the order of `_Kind`."""
        keep_modules()
        logs = {log.first_join + bucket: log for log in self.logs for bucket in range(log.joins)}
        for number, of_join in groupby(_received(messages), key=lambda message: message.join):
            accounts = Accounts()
            for rows in self._joined(logs[number], number, of_join, accounts):
                yield named_as_spark_expects(rows)
            if self.reading.options.accounts_path is not None:
                write_accounts(self.reading.options.accounts_path, number, accounts)

    def _joined(
        self, log: _PlannedLog, number: int, messages: Iterator[_Message], accounts: Accounts
    ) -> Iterator[pa.RecordBatch]:
        options, schema = self.reading.options.read, self._table.schema
        found = [msgspec.json.decode(next(messages).octets, type=_Found) for _ in log.parts]
        if not _fit([each.part for each in found]):  # rare: offsets go back, or a part begins without times
            if number == log.first_join:
                yield from read_part(self._table, log.log, options, accounts, store=self.reading.store)
            return
        files = [each.file for each in log.log.files]
        parts = [each.part for each in found]
        self._history.check_known(files, self._source(accounts), parts, is_last=True)
        for part, each in enumerate(found):
            if log.join_of_rows(part) == number:
                accounts.merge(Accounts.from_json(each.accounts))
        left: Iterator[_Message] = iter(())
        for kind, of_kind in groupby(messages, key=lambda message: message.kind):
            if kind is _Kind.LEFT:
                left = of_kind
                break
            yield from (pa.ipc.read_record_batch(pa.py_buffer(each.octets), schema) for each in of_kind)
        bucket = Bucket(number - log.first_join, log.joins)
        yield from self._history.joined(_by_part(left), files, schema, self._source(accounts), bucket)


def _by_part(messages: Iterable[_Message]) -> Iterator[Iterator[LeftByPart]]:
    """The pieces of each part that left some; they are taken in order, or not at all."""
    for _, of_part in groupby(messages, key=lambda message: message.part):
        yield (LeftByPart.decode(each.octets) for each in of_part)


def _fit(parts: Sequence[PartOfLog]) -> bool:
    """Whether all parts, read without their past, are what they are with it."""
    past = NO_PAST
    for number, part in enumerate(parts):
        if number and not part.fits(past):
            return False
        past = part.after(past)
    return True


def _received(batches: Iterator[pa.RecordBatch]) -> Iterator[_Message]:
    for batch in batches:
        *numbers, octets = batch.columns
        for at in range(batch.num_rows):
            join, kind, part, piece = (each[at].as_py() for each in numbers)
            yield _Message(join, _Kind(kind), part, piece, octets[at].as_buffer())
