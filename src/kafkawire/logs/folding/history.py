"""The base class of the histories of the metadata log and of group coordinators."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from kafkawire.columns.arrow_types import ArrowField
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.options import ReadOptions


@dataclass(frozen=True)
class History(ABC):
    """A table of values, each with the time during which it was valid.

    Attributes:
        name: of the table.
        purpose: what the table holds, in a line.
        own_columns: names and types of the columns that not all histories have.
    """

    name: str
    purpose: str
    own_columns: Mapping[str, pa.DataType]

    @property
    @abstractmethod
    def logs(self) -> frozenset[str]:
        """The topics whose logs it is folded from."""

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
