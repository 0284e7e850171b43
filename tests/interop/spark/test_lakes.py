"""Histories in tables of Delta Lake and Apache Iceberg: written, read back by other readers, and kept up to date.

Neither has a runtime for the newest release of Spark, so `make test-spark` runs these tests with older ones.
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.apache_spark.installed import SPARK
from tests.apache_spark.lakes import LAKES, named_in
from tests.interop.spark.same_rows import LOGS, plain_rows, read_with_spark
from tests.interop.spark.test_docstring_examples import WITH_A_LAKE
from tests.kafka_logs.cuts import batch_ends, write_log_until
from tests.made.docstring_examples import errors_of, examples
from tests.pages.proofs import ROOT
from tests.repo.test_documentation import run_in

from kafkawire.spark import merge_changes

pytestmark = [
    pytest.mark.extended,
    pytest.mark.skipif(not LAKES, reason=f"neither Delta Lake nor Iceberg has a runtime for Spark {SPARK}"),
]
WITH_OTHER_READERS = "4.1"
"""The release of Spark whose environment has delta-rs and PyIceberg, see ``requirements/spark-4.1.in``."""

WITH_IDS = {"intervalIds": "true"}

each_lake = pytest.mark.parametrize("lake", LAKES)


def counted(rows: pa.Table) -> Counter[str]:
    return Counter(map(repr, rows.to_pylist()))


def written(spark: SparkSession, lake: str, name: str, rows: pa.Table) -> str:
    """A table with some rows; its name."""
    table = named_in(lake, name)
    spark.createDataFrame(rows).writeTo(table).using(lake).createOrReplace()
    return table


@each_lake
@pytest.mark.parametrize("history", ["acl_history", "quota_history", "group_history", "offset_commits"])
def test_a_history_is_written_and_read_back(spark: SparkSession, lake: str, history: str) -> None:
    """These have columns of all types."""
    table = named_in(lake, history)
    read_with_spark(spark, history, [LOGS], {}).writeTo(table).using(lake).create()
    expected = plain_rows(history, [LOGS])
    assert counted(spark.table(table).toArrow()) == counted(expected)
    if SPARK == WITH_OTHER_READERS:
        assert without_nulls(read_without_spark(spark, lake, table)) == without_nulls(expected)


@each_lake
@pytest.mark.parametrize(
    ("history", "log"), [("acl_history", "__cluster_metadata-0"), ("offset_commits", "__consumer_offsets-1")]
)
def test_merging_what_changed_gives_the_history_computed_from_nothing(
    spark: SparkSession, lake: str, tmp_path: Path, history: str, log: str
) -> None:
    seed = random.randrange(1 << 32)
    print("seed", seed)
    ends = batch_ends(LOGS / log)
    first, *later = [*sorted(random.Random(seed).sample(ends[1:-1], 2)), ends[-1]]
    write_log_until(LOGS / log, first, tmp_path / log)
    before = plain_rows(history, [tmp_path], WITH_IDS)
    table = written(spark, lake, "merged", before)
    for end in later:
        write_log_until(LOGS / log, end, tmp_path / log)
        now = plain_rows(history, [tmp_path], WITH_IDS)
        merge_changes(spark.createDataFrame(changed(before, now)), table)
        assert counted(spark.table(table).toArrow()) == counted(now)
        before = now


@each_lake
def test_what_is_merged_again_changes_nothing(spark: SparkSession, lake: str, tmp_path: Path) -> None:
    """Losses are intervals, too."""
    log = shutil.copytree(LOGS / "__cluster_metadata-0", tmp_path / "__cluster_metadata-0")
    for snapshot in log.glob("*.checkpoint"):
        snapshot.unlink()
    for segment in log.glob("*.log"):
        content = segment.read_bytes()
        middle = len(content) * 2 // 3
        segment.write_bytes(content[:middle] + b"\xff" * 100 + content[middle:])
    rows = plain_rows("acl_history", [log], WITH_IDS)
    table = written(spark, lake, "merged", rows.slice(0, 0))
    for _ in range(2):
        merge_changes(read_with_spark(spark, "acl_history", [log], WITH_IDS), table)
        assert counted(spark.table(table).toArrow()) == counted(rows)


@pytest.fixture
def audit(spark: SparkSession) -> Iterator[str]:
    """The name of a table that the page and the docstring use; the test makes it."""
    if "iceberg" not in LAKES:
        pytest.skip(f"Iceberg has no runtime for Spark {SPARK}")
    yield "lake.audit.acls"
    spark.sql("DROP TABLE lake.audit.acls")


@pytest.mark.usefixtures("audit")
def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_in(ROOT / "docs" / "how-to" / "keep-a-history-in-a-lake.md", tmp_path, monkeypatch)


async def test_the_example_runs(spark: SparkSession, audit: str) -> None:
    spark.createDataFrame(plain_rows("acl_history", [LOGS], WITH_IDS)).writeTo(audit).using("iceberg").create()
    (example,) = (each for each in examples() if each.owner == WITH_A_LAKE)
    assert await errors_of(example, {"/var/lib/kafka/data": str(LOGS)}) == []


def changed(before: pa.Table, now: pa.Table) -> pa.Table:
    """The rows that are not in an earlier history."""
    known = counted(before)
    return pa.Table.from_pylist([row for row in now.to_pylist() if repr(row) not in known], now.schema)


def without_nulls(rows: pa.Table) -> Counter[str]:
    """PyIceberg 0.12 reads a null list of structs as an empty one."""
    return Counter(
        repr({**row, **({"assignment": row["assignment"] or []} if "assignment" in row else {})})
        for row in rows.to_pylist()
    )


def read_without_spark(spark: SparkSession, lake: str, table: str) -> pa.Table:
    """A table as delta-rs or PyIceberg reads it."""
    if lake == "delta":
        from deltalake import DeltaTable  # type: ignore[import-not-found] # noqa: PLC0415 in one of the environments

        (described,) = spark.sql(f"DESCRIBE DETAIL {table}").collect()
        by_delta_rs: pa.Table = DeltaTable(described.location).to_pyarrow_table()
        return by_delta_rs
    from pyiceberg.table import StaticTable  # type: ignore[import-not-found] # noqa: PLC0415 in one of the environments

    newest = spark.table(f"{table}.metadata_log_entries").orderBy("timestamp", ascending=False).collect()[0]
    by_pyiceberg: pa.Table = StaticTable.from_metadata(newest.file).scan().to_arrow()
    return by_pyiceberg
