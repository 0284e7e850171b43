"""The base class of the histories of the metadata log and of group coordinators."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec
import pyarrow as pa

from kafkawire.column_roles import ColumnRole
from kafkawire.columns.arrow_types import ArrowField
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.folding.continued import ChangedRows
from kafkawire.logs.folding.saved_state import SavedLog
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.tables.column_roles import value_roles
from kafkawire.logs.tables.table import PROVENANCE, last_roles

INTERVAL: Final = ("valid_from", "valid_to")
"""The columns of every history with the time during which a row was valid."""

INTERVAL_ID: Final = pa.field("interval_id", pa.string())
"""The column that identifies an interval, with option ``interval_ids``: each reading gives an interval the same id."""

_ID_OCTETS: Final = 16

_ENDS_IN_LOG: Final = ("from_offset", "to_offset", "added_by_snapshot")
"""Where in the log an interval begins and ends."""


def id_fields(options: ReadOptions) -> tuple[ArrowField, ...]:
    """``INTERVAL_ID``, if the options want it."""
    return (INTERVAL_ID,) if options.interval_ids else ()


def interval_id(*parts: object) -> str:
    """The id of the interval that these parts identify."""
    return hashlib.blake2b(msgspec.msgpack.encode(parts), digest_size=_ID_OCTETS).hexdigest()


@dataclass(frozen=True)
class History(ABC):
    """A table of values, each with the time during which it was valid.

    Attributes:
        name: of the table.
        purpose: what the table holds, in a line.
        own_columns: names and types of the columns that not all histories have.
        keys: those that identify a row, the most important first.
        details: those that say again what others say, such as an id beside a name.
    """

    name: str
    purpose: str
    own_columns: Mapping[str, pa.DataType]
    keys: tuple[str, ...] = field(default=(), kw_only=True)
    details: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    @abstractmethod
    def logs(self) -> frozenset[str]:
        """The topics whose logs it is folded from."""

    @property
    def spans_logs(self) -> bool:
        """Whether it reads all logs of a cluster together."""
        return False

    def roles(self, options: ReadOptions) -> Mapping[str, ColumnRole]:
        """The roles of all columns: the interval of a row comes first."""
        origins = (*(each.name for each in PROVENANCE if each.name != "cluster"), *_ENDS_IN_LOG, "log")
        known = {*self.keys, *INTERVAL, *_ENDS_IN_LOG}
        return {
            **dict.fromkeys(origins, ColumnRole.ORIGIN),
            **dict.fromkeys(INTERVAL, ColumnRole.TIME),
            **dict.fromkeys(self.keys, ColumnRole.KEY),
            **{name: role for name, role in value_roles(self.own_columns).items() if name not in known},
            **dict.fromkeys(self.details, ColumnRole.DETAIL),
            **last_roles(options),
            **dict.fromkeys((each.name for each in id_fields(options)), ColumnRole.DETAIL),
        }

    @abstractmethod
    def fields(self, options: ReadOptions) -> tuple[ArrowField, ...]:
        """All columns."""

    @abstractmethod
    def read(self, files: Sequence[LogFile], schema: pa.Schema, source: FoldSource) -> Iterator[pa.RecordBatch]:
        """The rows of one log, or of all logs of a cluster.

        Args:
            files: segments and snapshots of the log, or of the logs.
            schema: some or all of the columns.
            source: reads the files.

        Raises:
            LogReadError: mode FAILFAST: something is wrong with the log. Any mode: a file cannot be read.
            BeforeKnowledgeError: ``as_of`` lies before the time from which the whole state is known.
        """


class HistoryOfLog(History):
    """A history that is folded from one log after the other, and can be continued when the log has grown."""

    @abstractmethod
    def changes(
        self, files: Sequence[LogFile], schema: pa.Schema, source: FoldSource, since: SavedLog | None
    ) -> ChangedRows:
        """The rows of one log that an earlier reading did not return, or not as they are now.

        Args:
            files: segments and snapshots of the log.
            schema: some or all of the columns, and perhaps ``INTERVAL_ID``.
            source: reads the files.
            since: what the earlier reading left; None for all rows.

        Raises:
            SavedStateError: it cannot be used.
        """
