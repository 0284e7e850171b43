"""Tables that continue from a state: each reading returns what is new since the one before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

import pyarrow as pa

from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.folding.saved_state import SavedLog
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.tables.table import Table


class ChangedRows(Protocol):
    """The rows of a log that an earlier reading did not return, or not as they are now."""

    def rows(self) -> Iterator[pa.RecordBatch]:
        """The rows.

        Raises:
            LogReadError: as ``Table.read``.
        """

    def saved(self) -> SavedLog:
        """What the next reading continues from, after ``rows``."""


@runtime_checkable
class ContinuedTable(Table, Protocol):
    """A table that is made of one log after the other, and can be continued when the log has grown."""

    def changes(self, files: Sequence[LogFile], source: FoldSource, since: SavedLog | None) -> ChangedRows:
        """The rows of one log that an earlier reading did not return, or not as they are now.

        Args:
            files: segments and snapshots of the log.
            source: reads the files.
            since: what the earlier reading left; None for all rows.

        Raises:
            SavedStateError: it cannot be used.
        """
