"""A history in parts of a log: each is read by itself, and what the parts leave is joined by key.

A part gives the rows that no other part can change. The others depend on what comes before or after: what it leaves of
each bucket of keys goes to the join of that bucket.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple, Protocol, cast
from zlib import crc32

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.folding.coordinator_log import PartOfLog, Past
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.frames.batches import FileRange

_MOST_BUCKETS: Final = 64


def buckets_of(parts: int) -> int:
    """Into how many the keys of a log are divided: joining one then takes about the memory of reading a part."""
    return min(parts, _MOST_BUCKETS)


class Bucket(NamedTuple):
    """Some of the keys of a log.

    Attributes:
        number: of the bucket, from 0.
        count: into how many buckets the keys are divided.
    """

    number: int
    count: int


def bucket_of(key: bytes, buckets: int) -> int:
    """The bucket of a key: the same in all processes, unlike ``hash``."""
    return crc32(key) % buckets


class LeftByPart(NamedTuple):
    """What a part of a log, or a piece of it, leaves to the join with the other parts.

    Each row of both has a bucket, a number that the rows of a key have in common; null for rows of all buckets.

    Attributes:
        rows: what later parts may change, or what earlier parts change, in the order of the log.
        changes: what the part does besides, in order.
    """

    rows: pa.RecordBatch
    changes: pa.RecordBatch

    def of_bucket(self, bucket: int) -> LeftByPart:
        """What concerns the keys of a bucket."""
        return LeftByPart(*(each.filter(_is_of(bucket, each)) for each in self))

    def encode(self) -> bytes:
        """As bytes: a stream of Arrow's IPC format for each of the two."""
        sink = pa.BufferOutputStream()
        for batch in self:
            with pa.ipc.new_stream(sink, batch.schema) as stream:
                stream.write_batch(batch)
        return sink.getvalue().to_pybytes()

    @classmethod
    def decode(cls, octets: bytes | pa.Buffer) -> LeftByPart:
        """From ``encode``.

        Raises:
            pyarrow.ArrowInvalid: the bytes are not from there.
        """
        source = pa.BufferReader(octets)
        streams = (list(pa.ipc.open_stream(source)) for _ in cls._fields)  # to the end: the next one follows
        return LeftByPart(*(batch for (batch,) in streams))


def _is_of(bucket: int, rows: pa.RecordBatch) -> pa.BooleanArray:
    same = pc.equal(cast("pa.Int32Array", rows.column("bucket")), pa.scalar(bucket, pa.int32()))
    return cast("pa.BooleanArray", pc.fill_null(same, pa.scalar(True)))


class PartReading(Protocol):
    """A part of a log that is being read."""

    def rows(self) -> Iterator[pa.RecordBatch]:
        """The rows that no other part can change.

        Raises:
            LogReadError: as ``History.read``.
            BeforeKnowledgeError: the same, if the part says so by itself.
        """

    def left(self, buckets: int) -> Iterator[LeftByPart]:
        """What the joins need, in pieces, after ``rows``.

        Args:
            buckets: into how many the keys are divided.

        Raises:
            LogReadError: as ``History.read``.
        """

    @property
    def found(self) -> PartOfLog:
        """What was found, after ``left``."""


class DivisibleHistory(ABC):
    """A history that several tasks can read: the rows of its parts and of their join are the rows of the log."""

    @abstractmethod
    def part(
        self,
        ranges: Sequence[FileRange],
        files: Sequence[LogFile],
        schema: pa.Schema,
        source: FoldSource,
        past: Past | None,
    ) -> PartReading:
        """The reading of a part.

        Args:
            ranges: of the files of the log, in order; or a snapshot.
            files: of the log.
            schema: some or all of the columns.
            source: reads the files.
            past: of the part; None if it is not known yet. ``PartOfLog.fits`` then says afterwards whether the part
                has to be read again with its past.
        """

    @abstractmethod
    def joined(
        self,
        lefts: Iterable[Iterable[LeftByPart]],
        files: Sequence[LogFile],
        schema: pa.Schema,
        source: FoldSource,
        bucket: Bucket,
    ) -> Iterator[pa.RecordBatch]:
        """The other rows of a bucket of the keys of a log.

        Args:
            lefts: what each part left of the bucket, in the order of the parts.
            files: of the log.
            schema: some or all of the columns.
            source: counts the rows; that of bucket 0 also counts what concerns all buckets.
            bucket: which one.

        Raises:
            LogReadError, BeforeKnowledgeError: as ``History.read``.
        """

    @abstractmethod
    def check_known(
        self, files: Sequence[LogFile], source: FoldSource, found: Sequence[PartOfLog], *, is_last: bool
    ) -> None:
        """Check that the state is known at ``as_of``, as far as the parts show it.

        Args:
            files: of the log.
            source: has the options.
            found: in the first parts, in order.
            is_last: whether these are all parts.

        Raises:
            BeforeKnowledgeError: it is not known then.
        """
