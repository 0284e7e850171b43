"""Filters of a query on offsets, times and record types, so that other batches and records are not decoded.

More may be read than the query wants: rows are filtered again, here or by Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import pyarrow as pa
from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    InputPartition,
    LessThan,
    LessThanOrEqual,
)

from kafkawire.logs import FileKind, ReadOptions
from kafkawire.spark.planned_read import Reading
from kafkawire.spark.row_filters import is_applied, kept
from kafkawire.spark.table_reader import KafkaLogReader

_OFFSET = ("log_offset",)
_TIME = ("append_time",)
_TYPE = ("record_type",)
_MILLISECOND = timedelta(milliseconds=1)


class FilteredKafkaLogReader(KafkaLogReader):
    """Reads less if the filters of the query allow it, and gives Java fewer rows.

    Unless ``spark.sql.python.filterPushdown.enabled`` is set, Spark rejects queries on a reader with ``pushFilters``.
    So this is a separate class, for the option ``pushdown``.
    """

    def __init__(self, reading: Reading) -> None:
        super().__init__(reading)
        self._applied: tuple[Filter, ...] = ()

    def pushFilters(self, filters: list[Filter]) -> list[Filter]:  # noqa: N802 Spark's name
        """Narrow the reading.

        Returns:
            The filters that Spark applies. A plan shows the others, in ``explain("formatted")``.

        Raises:
            LogReadError: there is no such path.
        """
        table, options = self.reading.table(), self.reading.options
        if table.splittable:
            offsets = all(file.kind is FileKind.SEGMENT for file in self.reading.files())
            read = narrowed(options.read, filters, offsets=offsets, types=options.table == "records")
            self.reading = replace(self.reading, options=replace(options, read=read))
        self._applied = tuple(each for each in filters if is_applied(each, table.schema))
        return [each for each in filters if each not in self._applied]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """See ``KafkaLogReader``."""
        for rows in super().read(partition):
            if (some := kept(rows, self._applied)).num_rows:
                yield some


def narrowed(options: ReadOptions, filters: Iterable[Filter], *, offsets: bool, types: bool) -> ReadOptions:
    """Options that exclude what the filters of a query exclude.

    Args:
        options: those of the user.
        filters: of the query; those on other columns, or of other forms, have no effect.
        offsets: whether ``log_offset`` is an offset of the log in every row; in rows of snapshots it is not.
        types: whether the table has a column ``record_type``.
    """
    for each in filters:
        if isinstance(each, EqualTo | GreaterThan | GreaterThanOrEqual | LessThan | LessThanOrEqual):
            if offsets and each.attribute == _OFFSET and isinstance(each.value, int):
                options = _limit_offsets(options, each, each.value)
            elif each.attribute == _TIME and isinstance(each.value, datetime):
                options = _limit_times(options, each, each.value)
        options = _limit_types(options, each) if types else options
    return options


def _limit_offsets(options: ReadOptions, each: Filter, value: int) -> ReadOptions:
    begin, end = options.from_offset, options.until_offset
    if isinstance(each, EqualTo | GreaterThan | GreaterThanOrEqual):
        begin = max(value + isinstance(each, GreaterThan), begin or 0)
    if isinstance(each, EqualTo | LessThan | LessThanOrEqual):
        last = max(value + (not isinstance(each, LessThan)), 0)
        end = last if end is None else min(last, end)
    if begin is not None and end is not None and end < begin:  # no row can be in both ranges
        begin = end
    return replace(options, from_offset=begin, until_offset=end)


def _limit_times(options: ReadOptions, each: Filter, value: datetime) -> ReadOptions:
    """Records have milliseconds, columns have microseconds."""
    begin, end = options.from_time, options.until_time
    if isinstance(each, EqualTo | GreaterThan | GreaterThanOrEqual):
        begin = value if begin is None else max(value, begin)
    if isinstance(each, EqualTo | LessThan | LessThanOrEqual):
        last = value + _MILLISECOND
        end = last if end is None else min(last, end)
    if begin is not None and end is not None and end < begin:
        begin = end
    return replace(options, from_time=begin, until_time=end)


def _limit_types(options: ReadOptions, each: Filter) -> ReadOptions:
    values: tuple[object, ...] = ()
    if isinstance(each, EqualTo) and each.attribute == _TYPE:
        values = (each.value,)
    elif isinstance(each, In) and each.attribute == _TYPE:
        values = each.value
    names = tuple(value for value in values if isinstance(value, str))
    if not names or len(names) < len(values):
        return options
    known = options.record_types
    return replace(options, record_types=tuple(name for name in names if known is None or name in known))
