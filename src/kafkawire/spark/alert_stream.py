"""Alerts in a stream: each micro-batch of records of the metadata log becomes the alerts that rules find in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import Final, NamedTuple, TypedDict

import msgspec
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.functions import col, unix_millis
from pyspark.sql.pandas.types import from_arrow_schema

from kafkawire.logs import Accounts, LogReadError, ReadMode, ReadOptions
from kafkawire.logs.alerts.finding import Alert
from kafkawire.logs.alerts.rules import ALERT_RULES, AlertRule
from kafkawire.logs.alerts.table import AlertsTable
from kafkawire.logs.alerts.watching import NEEDED, WatchedLog
from kafkawire.logs.folding.metadata_decoder import ENCODED
from kafkawire.logs.folding.metadata_fold import Change
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.planning import find_logs
from kafkawire.logs.tables.record_types import upper_snake_case

_COLUMNS: Final = ("cluster", "file", "log_offset", "append_time", "record_type", "value", "json")
_NAMES: Final = {upper_snake_case(name): name for name in NEEDED}
_SCHEMA: Final = from_arrow_schema(AlertsTable(ReadOptions(mode=ReadMode.FAILFAST)).schema)


class _Described(TypedDict):
    """The column ``json`` of a record."""

    data: dict[str, object]


def alert_records(spark: SparkSession, path: str, options: Mapping[str, str] = MappingProxyType({})) -> DataFrame:
    """The stream of the records that rules look at; see `AlertStream`.

    Args:
        spark: the session.
        path: the folder of a metadata log, a folder with it, or a URI.
        options: of ``kafka-log``, such as ``maxBytesPerTrigger``.
    """
    stream = spark.readStream.format("kafka-log").options(**options)
    wanted = {"table": "records", "columns": ",".join(_COLUMNS), "recordTypes": ",".join(_NAMES), "mode": "FAILFAST"}
    return stream.options(**wanted).load(path)


class AlertStream:
    """Turns micro-batches of `alert_records` into alerts, in the driver, for ``foreachBatch``.

    The alerts of all micro-batches together are those of table ``alerts``. What rules have to know of the time before a
    micro-batch is in memory; after a restart, and when Spark repeats a micro-batch, the log is read again, up to the
    last record of the micro-batch. So a micro-batch has the same alerts whenever it is run.

    Args:
        path: the same as of `alert_records`.
        rules: which rules; all by default.

    Example:
        ```python
        from pyspark.sql import DataFrame, SparkSession

        from kafkawire.spark import AlertStream, alert_records

        spark = SparkSession.builder.getOrCreate()
        alerts = AlertStream("/var/lib/kafka/data")


        def show(records: DataFrame, batch: int) -> None:
            alerts.of(records).show(truncate=False)


        writer = alert_records(spark, "/var/lib/kafka/data").writeStream.foreachBatch(show)
        writer = writer.option("checkpointLocation", "/var/lib/alerts/checkpoint").trigger(availableNow=True)
        writer.start().awaitTermination()
        ```
    """

    def __init__(self, path: str, rules: Iterable[AlertRule] = tuple(ALERT_RULES.values())) -> None:
        self._path = path
        self._rules = tuple(rules)
        self._followed: dict[str, _Followed] = {}

    def of(self, records: DataFrame) -> DataFrame:
        """The alerts of a micro-batch, with the columns of table ``alerts``.

        Args:
            records: rows of `alert_records`. The driver collects them.

        Raises:
            LogReadError: the log has to be read again up to the micro-batch, and cannot be.
        """
        time = unix_millis(col("append_time")).alias("append_time")  # Python has times without a zone otherwise
        columns = [time if name == "append_time" else col(name) for name in _COLUMNS]
        # Snapshots are read with the files: their records have the state, and no place in the log.
        rows = records.where(col("file").endswith(".log")).select(*columns).collect()
        found = [alert for folder, own in _by_log(rows) for alert in self._alerts(folder, own)]
        return records.sparkSession.createDataFrame(found, _SCHEMA)

    def _alerts(self, folder: str, rows: Sequence[Row]) -> Iterator[tuple[object, ...]]:
        first, last = rows[0]["log_offset"], rows[-1]["log_offset"]
        followed = self._followed.get(folder)
        if followed is None or first < followed.next_offset or followed.log.awaits_snapshot(followed.next_offset):
            log = self._log_until(folder, last + 1)
            alerts = [each for each in log.read() if each.log_offset is None or each.log_offset >= first]
            _check_whole(log, folder, last)
        else:
            log = followed.log
            alerts = list(log.follow([_change(row) for row in rows]))
        self._followed[folder] = _Followed(log, last + 1)
        for alert in alerts:
            yield _row(rows[0]["cluster"], alert, folder)

    def _log_until(self, folder: str, offset: int) -> WatchedLog:
        """A log up to an offset. Its end may be torn, because a broker writes there."""
        options = ReadOptions(mode=ReadMode.DROPMALFORMED, high_watermark=offset)
        logs = find_logs([self._path]).of_table(AlertsTable(options))
        files = [file for file in logs.files if file.shown_folder == folder]
        return WatchedLog(files, FoldSource(options, Accounts(), logs.store), self._rules)


class _Followed(NamedTuple):
    """A log that was read up to an offset."""

    log: WatchedLog
    next_offset: int


def _check_whole(log: WatchedLog, folder: str, last: int) -> None:
    """Check that a log was read without a loss up to an offset.

    Raises:
        LogReadError: a part is lost.
    """
    for loss in log.losses():
        if loss.from_offset is not None and loss.from_offset <= last:
            reason = "a part of the log is lost, so that alerts may be missing; copy the log again"
            raise LogReadError(loss.code, folder, reason, offset=loss.from_offset)


def _by_log(rows: Iterable[Row]) -> Iterator[tuple[str, list[Row]]]:
    """The rows of each log in its order, with its folder."""

    def place(row: Row) -> tuple[str, int]:
        return row["file"].rpartition("/")[0], row["log_offset"]

    for folder, own in groupby(sorted(rows, key=place), key=lambda row: place(row)[0]):
        yield folder, list(own)


def _change(row: Row) -> Change:
    """A record as reducers take it, of its JSON; an ACL as its bytes."""
    name = _NAMES[row["record_type"]]
    data = msgspec.json.decode(row["json"], type=_Described)["data"]
    fields = (bytes(row["value"]) if field == ENCODED else data.get(_in_json(field)) for field in NEEDED[name])
    return (name, *fields), (row["append_time"], row["log_offset"])


def _in_json(field: str) -> str:
    """``resource_type`` as Kafka's JSON has it: ``resourceType``."""
    first, *others = field.split("_")
    return first + "".join(map(str.capitalize, others))


def _row(cluster: str | None, alert: Alert, folder: str) -> tuple[object, ...]:
    return (
        cluster,
        alert.time,
        alert.log_offset,
        alert.rule,
        alert.severity.value,
        alert.resource_type,
        alert.resource_name,
        alert.principal,
        alert.message,
        folder,
    )
