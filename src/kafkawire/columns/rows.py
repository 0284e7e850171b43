"""Rows that grow from bytes and are taken as Arrow arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from kafkawire.columns.arrow_types import ArrowArray
from kafkawire.wire import DecodeError, Message
from kafkawire.wire.columns import LayoutColumns
from kafkawire.wire.message import FAST_PATH_FAILS


class Rows:
    """A growing set of rows of one message, kept as one list for each column; see ``MessageColumns``.

    A row is there whole or not at all.
    """

    def __init__(self, message: type[Message], schema: pa.Schema, decoders: Mapping[int, LayoutColumns]) -> None:
        self._message = message
        self._types = [field.type for field in schema]
        self._decoders = decoders
        self._clear()

    def __len__(self) -> int:
        return self._length

    def extend(self, version: int, buffers: Sequence[bytes], start: int = 0) -> int:
        """Read one row from each buffer, from ``start`` to its end; stop at the first that is not a message.

        Returns how many rows were read: fewer than there are buffers if the next one is malformed, or goes on after
        the message. No bytes make it raise.

        Raises:
            KeyError: if the message has no such version.
            ValueError: if ``start`` is negative.
        """
        if start < 0:
            raise ValueError(f"start is {start}")
        return self._decode(version, buffers, start, whole=True)[0]

    def append(self, version: int, buffer: bytes, start: int = 0) -> int:
        """Read one row from ``start`` on; further bytes may follow. Returns the position behind it.

        Raises:
            DecodeError: if the bytes are not a message of the version; says where. No row is added then.
            KeyError: if the message has no such version.
        """
        if start >= 0:
            done, end = self._decode(version, (buffer,), start, whole=False)
            if done:
                return end
        self._message.decode_from(buffer, start, version)
        reason = "the columns cannot hold what is a message"
        raise DecodeError("length", reason, message_name=self._message.NAME, version=version, offset=start)

    def extend_nulls(self, count: int) -> None:
        """Add rows without any value, as for tombstones."""
        for column in self._columns:
            column.extend([None] * count)
        self._length += count

    def take(self) -> tuple[list[ArrowArray], list[int]]:
        """All rows as one array for each column, and the numbers of rows with text that is not UTF-8.

        The cells with such text are null. The set of rows is empty afterwards.

        Raises:
            OverflowError: if a column has more than 2 GiB of text or octets, which one array cannot hold.
        """
        bad_rows: set[int] = set()
        try:
            arrays = [_column(*column, bad_rows) for column in zip(self._columns, self._types, strict=False)]
        finally:
            self._clear()
        return arrays, sorted(bad_rows)

    def _decode(self, version: int, buffers: Sequence[bytes], start: int, *, whole: bool) -> tuple[int, int]:
        """How many rows were read, and where the last of them ends."""
        decode, counted, absent = self._decoders[version]
        before = len(self._columns[counted])
        end = start
        try:
            end = decode(buffers, start, self._columns, whole)
        except FAST_PATH_FAILS:
            pass
        except BaseException:
            self._cut()
            raise
        done = len(self._columns[counted]) - before
        for index in absent:
            self._columns[index].extend([None] * done)
        self._length += done
        return done, end

    def _cut(self) -> None:
        """Drop what a decoder added that was interrupted, perhaps in the middle of a row."""
        for column in self._columns:
            del column[self._length :]

    def _clear(self) -> None:
        # The last list is that of messages without fields: something must tell how many there are.
        self._columns: list[list[object]] = [[] for _ in range(len(self._types) + 1)]
        self._length = 0


def _column(values: list[object], type_: pa.DataType, bad_rows: set[int]) -> ArrowArray:
    """The values of a column; where text is not UTF-8, null stands in its row, which is added to the bad ones."""
    try:
        return _array(values, type_)
    except pa.ArrowInvalid:
        found = set(_bad_rows(values, type_, 0))
        bad_rows |= found
        return _array([None if row in found else value for row, value in enumerate(values)], type_)


def _array(values: list[object], type_: pa.DataType) -> ArrowArray:
    """The values as one array.

    Raises:
        ArrowInvalid: if text is not UTF-8.
        OverflowError: if there is too much of it.
    """
    try:
        made = _converted(values, type_)
    except pa.ArrowCapacityError as error:
        raise OverflowError(str(error)) from error
    if isinstance(made, pa.ChunkedArray):
        raise OverflowError("a column has more than 2 GiB of text or octets")
    return made


def _converted(values: list[object], type_: pa.DataType) -> ArrowArray | pa.ChunkedArray[pa.Scalar[pa.DataType]]:
    """What Arrow makes of values; more than one array can hold becomes several, which its types do not tell."""
    return pa.array(values, type_)


def _bad_rows(values: list[object], type_: pa.DataType, first: int) -> Iterator[int]:
    """The rows that Arrow refuses, found by halves."""
    try:
        _array(values, type_)
    except pa.ArrowInvalid:
        if len(values) == 1:
            yield first
            return
        middle = len(values) // 2
        yield from _bad_rows(values[:middle], type_, first)
        yield from _bad_rows(values[middle:], type_, first + middle)
