"""A stream as Spark drives it: positions go through JSON, and a reader may be a new one at any time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit

from kafkawire.logs import Accounts, read_table
from kafkawire.spark.options import source_options
from kafkawire.spark.source import KafkaLogSource
from kafkawire.spark.streaming.reader import KafkaLogStreamReader

Row = tuple[object, ...]

OPTIONS = {"table": "batches", "columns": "file,batch_position,log_offset,record_count,_error"}
"""A small table whose rows show where they are from."""


@dataclass
class Followed:
    """A query that follows logs, and is restarted for each of their states.

    Attributes:
        folder: the logs, a path or a URI.
        options: of the data source.
        rows: what came so far.
        steps: how many micro-batches there were.
        position: how far they came.
        planned: how far the one goes that was begun and not ended.
    """

    folder: Path | str
    options: Mapping[str, str] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    steps: int = 0
    position: str = "{}"
    planned: str | None = None

    def reader(self) -> KafkaLogStreamReader:
        """A new reader without the state of earlier ones."""
        chosen = self.options if "table" in self.options else {**OPTIONS, **self.options}
        source = KafkaLogSource({**chosen, "path": str(self.folder)})
        reader = source.streamReader(source.schema())
        assert isinstance(reader, KafkaLogStreamReader)
        return reader

    def look(self, reader: KafkaLogStreamReader | None = None, limit: ReadLimit | None = None) -> list[Row]:
        """Run micro-batches until there is nothing new; the rows that came."""
        reader = reader or self.reader()
        limit = limit or reader.getDefaultReadLimit()
        before = len(self.rows)
        while (end := self.planned or self._latest(reader, limit)) != self.position:
            for partition in reader.partitions(json.loads(self.position), json.loads(end)):
                for batch in reader.read(partition):
                    self.rows += [tuple(row.values()) for row in batch.to_pylist()]
            self.position, self.planned = end, None
            self.steps += 1
        return self.rows[before:]

    def plan(self) -> None:
        """Plan a micro-batch, and be killed: the next look begins with it."""
        reader = self.reader()
        latest = self.planned or self._latest(reader, reader.getDefaultReadLimit())
        self.planned = latest if latest != self.position else None  # nothing new is no micro-batch

    def _latest(self, reader: KafkaLogStreamReader, limit: ReadLimit) -> str:
        return json.dumps(reader.latestOffset(json.loads(self.position), limit))


def rows_at_once(folder: Path | str, options: Mapping[str, str] | None = None) -> list[Row]:
    """The rows that a reading of everything gives."""
    read = source_options({**OPTIONS, "path": str(folder), **(options or {})}).read
    batches = read_table((options or OPTIONS).get("table", "batches"), str(folder), read, accounts=Accounts())
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


EVERYTHING = ReadAllAvailable()
