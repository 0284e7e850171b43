"""The data source without Java: it returns the plain rows with the schema that Spark expects."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pytest

pytest.importorskip("pyspark")

from hypothesis import given, settings, strategies as st
from pyspark.sql.datasource import InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from tests.hypothesis_profiles import scaled

from kafkawire.logs import LogReadError, read_table, table_named, table_names
from kafkawire.spark import KafkaLogSource, OptionError
from kafkawire.spark.planned_read import LogPartition, expected_by_spark
from kafkawire.spark.pushdown import FilteredKafkaLogReader
from kafkawire.spark.table_reader import KafkaLogReader
from kafkawire.spark.task_accounts import read_accounts

LOGS = Path(__file__).parents[2] / "fixtures" / "kafka-4.3.1" / "logs"


T = TypeVar("T")


def sent(value: T) -> T:
    """The object that another process unpickles."""
    arrived: T = pickle.loads(pickle.dumps(value))  # noqa: S301 it is ours
    return arrived


def read(options: Mapping[str, str]) -> pa.Table:
    """Read as Spark does: one process plans the partitions and sends them pickled to others."""
    source = sent(KafkaLogSource({"path": str(LOGS), **options}))
    schema = source.schema()
    reader = source.reader(schema)
    partitions = reader.partitions()
    expected = expected_by_spark(schema)
    worker = sent(reader)
    batches = [
        batch
        for partition in partitions
        for batch in worker.read(sent(partition))
        if batch.schema.equals(expected, check_metadata=True)
    ]
    return pa.Table.from_batches(batches, expected)


@pytest.mark.parametrize("table", table_names())
def test_every_table_has_the_rows_and_columns_of_read_table(table: str) -> None:
    plain = pa.Table.from_batches(read_table(table, str(LOGS)), table_named(table).schema)
    rows = read({"table": table})
    assert rows.column_names == plain.column_names
    assert rows.to_pylist() == plain.to_pylist()


@given(size=st.integers(1, 60_000))
@settings(max_examples=scaled(15))
def test_parts_of_any_size_together_have_all_rows(size: int) -> None:
    options = {"table": "batches", "columns": "file,log_offset"}
    assert read({**options, "maxPartitionBytes": str(size)}).to_pylist() == read(options).to_pylist()


def test_each_task_leaves_its_accounts_once(tmp_path: Path) -> None:
    source = KafkaLogSource(
        {"path": str(LOGS), "table": "records", "maxPartitionBytes": "8k", "accountsPath": str(tmp_path / "accounts")}
    )
    reader = source.reader(source.schema())
    partitions = reader.partitions()
    for partition in [*partitions, *partitions]:  # a task may run again
        rows = sum(batch.num_rows for batch in reader.read(partition))
        assert rows
    accounts, tasks = read_accounts(str(tmp_path / "accounts"))
    assert tasks == len(partitions) > 3
    assert accounts.balanced
    assert accounts.bytes_read == sum(
        file.stat().st_size for file in LOGS.glob("*/*") if file.suffix in {".log", ".checkpoint"}
    )


def test_the_empty_partition_that_spark_adds_has_no_rows() -> None:
    source = KafkaLogSource({"path": str(LOGS), "table": "records"})
    assert list(source.reader(source.schema()).read(InputPartition(None))) == []


def test_filters_are_pushed_down_on_request_only() -> None:
    for options, kind in (
        ({"table": "records"}, KafkaLogReader),
        ({"table": "records", "pushdown": "true"}, FilteredKafkaLogReader),
        ({"table": "acl_history", "pushdown": "true"}, FilteredKafkaLogReader),
    ):
        source = KafkaLogSource({"path": str(LOGS), **options})
        assert type(source.reader(source.schema())) is kind


def test_another_schema_is_refused() -> None:
    source = KafkaLogSource({"path": str(LOGS), "table": "batches"})
    with pytest.raises(OptionError, match="use the option 'columns' for some of the columns"):
        source.reader(from_arrow_schema(pa.schema([("log_offset", pa.string())])))


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"table": "topic", "asOf": "2026-03-01"}, "option 'asOf': it needs a history; table 'topic' has a row"),
        ({"table": "topic", "recordTypes": "TOPIC_RECORD"}, "option 'recordTypes': it is for table 'records', not"),
        (
            {"table": "records", "recordTypes": "topic_record"},
            "no record type 'topic_record'; did you mean TOPIC_RECORD?",
        ),
        (
            {"table": "records", "recordTypes": "17"},
            "there is no record type '17'; column record_type of table records has the names",
        ),
        (
            {"table": "batches", "columnNameOfCorruptRecord": "File"},
            "table 'batches' has a column 'file': choose another name",
        ),
    ],
)
def test_options_that_do_not_fit_the_table_are_refused(options: Mapping[str, str], complaint: str) -> None:
    with pytest.raises(OptionError) as refused:
        KafkaLogSource({"path": str(LOGS), **options}).schema()
    assert complaint in str(refused.value)


def test_numbers_and_markers_are_record_types_too() -> None:
    assert read({"table": "records", "recordTypes": "UNKNOWN(900),COMMIT", "columns": "log_offset"}).num_columns == 1


def test_uris_are_read_through_arrow() -> None:
    rows = read({"table": "batches", "path": LOGS.as_uri(), "columns": "log_offset,size"})
    assert rows.to_pylist() == read({"table": "batches", "columns": "log_offset,size"}).to_pylist()


def test_paths_and_uris_do_not_mix() -> None:
    with pytest.raises(OptionError, match="cannot be read together"):
        KafkaLogSource({"paths": f'["{LOGS}", "{LOGS.as_uri()}"]', "table": "batches"})


def test_failfast_names_the_place(tmp_path: Path) -> None:
    segment = tmp_path / "__cluster_metadata-0" / f"{0:020}.log"
    segment.parent.mkdir()
    content = bytearray((LOGS / "__cluster_metadata-0" / segment.name).read_bytes())
    content[70] ^= 1
    segment.write_bytes(content)
    source = KafkaLogSource({"path": str(tmp_path), "table": "records", "mode": "FAILFAST"})
    (partition,) = source.reader(source.schema()).partitions()
    assert isinstance(partition, LogPartition)
    with pytest.raises(LogReadError, match="at byte 0, offset 0: bad_crc"):
        list(source.reader(source.schema()).read(partition))


def test_a_worker_lets_the_collector_pass_over_what_it_has_imported() -> None:
    """PySpark collects garbage after each task."""
    program = f"""
import gc
before = gc.get_freeze_count()
from kafkawire.spark import KafkaLogSource
source = KafkaLogSource({{"path": {str(LOGS)!r}, "table": "batches"}})
reader = source.reader(source.schema())
first, *_ = reader.partitions()
is_unused = gc.get_freeze_count() == before
print(is_unused, any(batch.num_rows for batch in reader.read(first)), gc.get_freeze_count() > 10_000)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["True"] * 3
