"""The base class of the histories of the metadata log and of group coordinators."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa

from kafkawire.column_roles import ColumnRole
from kafkawire.columns.arrow_types import ArrowField
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.tables.column_roles import value_roles
from kafkawire.logs.tables.table import PROVENANCE, last_roles

INTERVAL: Final = ("valid_from", "valid_to")
"""The columns of every history with the time during which a row was valid."""

_ENDS_IN_LOG: Final = ("from_offset", "to_offset", "added_by_snapshot")
"""Where in the log an interval begins and ends."""


@dataclass(frozen=True)
class History(ABC):
    """A table of values, each with the time during which it was valid.

    Attributes:
        name: of the table.
        purpose: what the table holds, in a line.
        own_columns: names and types of the columns that not all histories have.
        keys: those that identify a row, the most important first.
        details: those that say again what others say, such as an id beside a name.
        ids: those that distinguish what is valid at one time; ``keys`` by default.
    """

    name: str
    purpose: str
    own_columns: Mapping[str, pa.DataType]
    keys: tuple[str, ...] = field(default=(), kw_only=True)
    details: tuple[str, ...] = field(default=(), kw_only=True)
    ids: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    @abstractmethod
    def logs(self) -> frozenset[str]:
        """The topics whose logs it is folded from."""

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
        }

    @abstractmethod
    def fields(self, options: ReadOptions) -> tuple[ArrowField, ...]:
        """All columns."""

    @abstractmethod
    def read(self, files: Sequence[LogFile], schema: pa.Schema, source: FoldSource) -> Iterator[pa.RecordBatch]:
        """The rows of one log.

        Args:
            files: segments and snapshots of the log.
            schema: some or all of the columns.
            source: reads the files.

        Raises:
            LogReadError: mode FAILFAST: something is wrong with the log. Any mode: a file cannot be read.
            BeforeKnowledgeError: ``as_of`` lies before the time from which the whole state is known.
        """
