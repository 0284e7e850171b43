"""Histories of coordinators that keep one state for each key: a row for each state, until another takes its place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar, Final, TypeAlias, cast

import msgspec
import pyarrow as pa

from kafkawire.logs.folding.columns import Columns, value_columns
from kafkawire.logs.folding.coordinator_decoder import DecodedRecord
from kafkawire.logs.folding.coordinator_fold import EVERY_ROW, HistoryRow, Place, RecordFold
from kafkawire.logs.folding.coordinator_parts import RoutedHistory
from kafkawire.logs.folding.saved_state import decode_saved, tagged, untagged
from kafkawire.logs.times import TIMESTAMP
from kafkawire.wire import Message

Cells: TypeAlias = tuple[object, ...]
"""The cells of some columns of a row; times are in milliseconds since the epoch."""

_INTERVAL: Final[Mapping[str, pa.DataType]] = {
    "valid_from": TIMESTAMP,
    "valid_to": TIMESTAMP,
    "from_offset": pa.int64(),
    "to_offset": pa.int64(),
}


class StateRow(HistoryRow, gc=False, kw_only=True):
    """A state of a key.

    Attributes:
        key: the key columns; None if the key could not be read.
        values: the value columns; None if the value could not be read.
        to_offset: of the record that ended it.
    """

    key: Cells | None = None
    values: Cells | None = None
    to_offset: int | None = None


class _SavedRow(msgspec.Struct, array_like=True, frozen=True):
    """A row of the state that ``save`` encodes; key and values are tagged."""

    key: object
    values: object
    place: Place
    valid_from: int | None
    error: str | None
    corrupt: bytes | None


class _Saved(msgspec.Struct, array_like=True, frozen=True):
    rows: list[_SavedRow]
    memory: object


class StatesReducer(ABC):
    """The rows of all keys. See ``RowReducer``. Memory is bounded by the keys that have a state.

    A record whose value cannot be read begins a row without values: the state of its key is unknown until the next one.
    """

    RECORDS: ClassVar[frozenset[str]]

    def __init__(self) -> None:
        self.ended: list[StateRow] = []
        self._open: dict[Cells, StateRow] = {}

    @abstractmethod
    def key_of(self, key: Message) -> Cells:
        """The cells of the key columns."""

    @abstractmethod
    def change(self, key: Message, value: Message | None) -> Cells | None:
        """Apply a record; a null value is a tombstone.

        Returns:
            The cells of the value columns from then on, or None if the key has no state.

        Raises:
            ValueError: the record contradicts itself; the state of the key is then unknown.
        """

    @abstractmethod
    def forget(self, key: Message) -> None:
        """Note that the state of a key is unknown."""

    def owner_of(self, key: Message) -> str | None:
        """See ``RowReducer``."""
        return cast("str | None", self.key_of(key)[0])

    def apply(self, record: DecodedRecord, place: Place) -> str | None:
        """See ``RowReducer``."""
        if record.key is None:
            self._add_unknown_key(record, place)
            return None
        key = self.key_of(record.key)
        error, inside, values = record.error, None, None
        if record.value is None and not record.is_tombstone:
            self.forget(record.key)
        else:
            try:
                values = self.change(record.key, record.value)
            except ValueError as contradiction:
                self.forget(record.key)
                error, inside = "decode_error", str(contradiction)
        self._renew(key, values, place, error, record.raw)
        return inside

    def lose(self, place: Place, code: str, raw: bytes | None) -> None:
        """See ``RowReducer``."""
        self.ended.append(StateRow(place=place, error=code, corrupt=raw, lost=True))

    def end_step(self) -> None:  # noqa: B027 records change one key each, so steps do not matter
        """See ``RowReducer``."""

    def still_open(self) -> Iterator[StateRow]:
        """See ``RowReducer``."""
        return iter(sorted(self._open.values(), key=lambda row: row.place.log_offset))

    def save(self) -> bytes:
        """See ``RowReducer``."""
        rows = [
            _SavedRow(tagged(row.key), tagged(row.values), row.place, row.valid_from, row.error, row.corrupt)
            for row in self._open.values()
        ]
        return msgspec.msgpack.encode(_Saved(rows, tagged(self.memory())))

    def resume(self, octets: bytes) -> None:
        """See ``RowReducer``."""
        saved = decode_saved(octets, _Saved)
        for row in saved.rows:
            key = cast("Cells", untagged(row.key))
            self._open[key] = StateRow(
                place=row.place,
                key=key,
                values=cast("Cells | None", untagged(row.values)),
                valid_from=row.valid_from,
                error=row.error,
                corrupt=row.corrupt,
                is_saved=True,
            )
        self.remember(untagged(saved.memory))

    def memory(self) -> object:
        """What it knows besides its rows, of scalars, lists, tuples and dicts; None for nothing."""
        return None

    def remember(self, memory: object) -> None:  # noqa: B027 most know nothing else
        """Continue with the ``memory`` of an earlier reading."""

    def _add_unknown_key(self, record: DecodedRecord, place: Place) -> None:
        time, offset = place.append_time, place.log_offset
        self.ended.append(
            StateRow(
                place=place, valid_from=time, valid_to=time, to_offset=offset, error=record.error, corrupt=record.raw
            )
        )

    def _renew(self, key: Cells, values: Cells | None, place: Place, error: str | None, raw: bytes | None) -> None:
        held = self._open.get(key)
        if held is not None:
            if error is None and held.error is None and held.values == values:
                return
            held.valid_to, held.to_offset = place.append_time, place.log_offset
            self.ended.append(self._open.pop(key))
        if values is not None or error is not None:
            self._open[key] = StateRow(
                place=place,
                key=key,
                values=values,
                valid_from=place.append_time,
                error=error,
                corrupt=None if error is None else raw,
            )


def state_history(
    name: str,
    purpose: str,
    topic: str,
    make_reducer: Callable[[], StatesReducer],
    *,
    keys: Mapping[str, pa.DataType],
    values: Mapping[str, pa.DataType],
    details: tuple[str, ...] = (),
) -> RoutedHistory:
    """A history of the states of keys.

    Args:
        name, purpose, details: as in ``History``.
        topic: of the coordinator.
        make_reducer: makes the reducer of one log.
        keys, values: names and types of the columns.
    """
    columns = {**keys, **values, **_INTERVAL}
    own = [name for name in columns if name not in EVERY_ROW]
    in_milliseconds = {name: pa.int64() if columns[name].equals(TIMESTAMP) else columns[name] for name in own}

    def cells(rows: Sequence[StateRow]) -> Columns:
        return {
            **dict(zip(keys, value_columns([row.key for row in rows], len(keys)), strict=True)),
            **dict(zip(values, value_columns([row.values for row in rows], len(values)), strict=True)),
            "from_offset": [None if row.lost else row.place.log_offset for row in rows],
            "to_offset": [row.to_offset for row in rows],
        }

    return RoutedHistory(
        name,
        purpose,
        columns,
        lambda source: RecordFold(source, make_reducer(), in_milliseconds, cells, topic=topic),
        topic=topic,
        keys=tuple(keys),
        details=details,
    )
