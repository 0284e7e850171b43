"""Many tasks read a history, and have the rows and accounts of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.interop.spark.same_rows import LOGS, plain_rows
from tests.made.logs import METADATA_LOG, Step, write_checkpoint, write_segment as write_metadata_segment
from tests.made.segments import OFFSETS, real_segment, repeated, write_segment

from kafkawire.layout import Uuid
from kafkawire.logs import Accounts, BeforeKnowledgeError, NoLogsError, read_table
from kafkawire.protocol import AccessControlEntryRecord, RemoveAccessControlEntryRecord
from kafkawire.spark import OptionError, read_history
from kafkawire.spark.options import source_options
from kafkawire.spark.task_accounts import read_accounts
from kafkawire.wire.batches import read_batches

pytestmark = pytest.mark.extended

TABLE = "offset_commits"
CONTENT = real_segment(OFFSETS)
SMALL_PARTS = {"maxPartitionBytes": str(len(CONTENT) // 3)}


def counted(rows: pa.Table) -> Counter[str]:
    return Counter(map(repr, rows.to_pylist()))


def same(spark: SparkSession, path: Path, accounts: Path, options: Mapping[str, str], table: str = TABLE) -> pa.Table:
    """The rows, which are those of the plain function; so are the accounts."""
    rows = read_history(spark, table, str(path), {**options, "accountsPath": str(accounts)})
    assert rows.rdd.getNumPartitions() > 1
    read, plain = rows.toArrow(), plain_rows(table, [path], options)
    assert read.column_names == plain.column_names
    assert counted(read) == counted(plain)
    expected = Accounts()
    for _ in read_table(
        table, str(path), source_options({"table": table, "path": str(path), **options}).read, accounts=expected
    ):
        pass
    assert read_accounts(str(accounts))[0] == expected
    return read


@pytest.mark.parametrize("size", ["1k", "20k"])
def test_parts_of_any_size_have_the_rows_of_the_log(spark: SparkSession, tmp_path: Path, size: str) -> None:
    same(spark, LOGS, tmp_path, {"maxPartitionBytes": size})


@pytest.mark.parametrize("table", ["group_history", "acl_history", "config_history", "partition_history"])
def test_parts_of_other_histories_have_the_rows_of_the_log(spark: SparkSession, tmp_path: Path, table: str) -> None:
    same(spark, LOGS, tmp_path, {"maxPartitionBytes": "4k"}, table)


def test_the_snapshot_before_a_log_is_a_part_of_it(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / METADATA_LOG
    acls = [AccessControlEntryRecord(Uuid(bytes([number] * 16)), 2, "t", 3, "User:a", "*", 3, 3) for number in range(9)]
    write_checkpoint(folder, 20, acls[:6], time=1_000)
    steps = [Step(2_000 + number, (RemoveAccessControlEntryRecord(each.id),)) for number, each in enumerate(acls[:3])]
    write_metadata_segment(folder, 20, [*steps, Step(3_000, tuple(acls[6:]))])
    read = same(spark, tmp_path, tmp_path / "accounts", {"maxPartitionBytes": "200"}, "acl_history")
    assert read.num_rows == len(acls)


def test_large_and_small_logs_are_read_together_with_chosen_columns(spark: SparkSession, tmp_path: Path) -> None:
    for number, times in enumerate((1, 3, 1, 2)):
        content = repeated(CONTENT, times) if times > 1 else CONTENT[: len(CONTENT) // 4]
        write_segment(tmp_path / "logs" / f"__consumer_offsets-{number}", content)
    options = {
        **SMALL_PARTS,
        "columns": "file,group_id,topic,committed_offset,valid_from,valid_to",
        "mode": "DROPMALFORMED",
    }
    assert same(spark, tmp_path / "logs", tmp_path / "accounts", options).num_rows > 100


def test_a_log_whose_parts_depend_on_their_past_is_read_as_a_whole(spark: SparkSession, tmp_path: Path) -> None:
    """The second segment repeats the offsets of the first one."""
    for base_offset in (0, 5):
        write_segment(tmp_path / "logs" / OFFSETS, repeated(CONTENT, 2), base_offset=base_offset)
    same(spark, tmp_path / "logs", tmp_path / "accounts", SMALL_PARTS)


def test_damage_is_a_row_or_an_error_as_without_spark(spark: SparkSession, tmp_path: Path) -> None:
    content = repeated(CONTENT, 3)
    write_segment(tmp_path / "logs" / OFFSETS, content + b"tail" * 40)
    same(spark, tmp_path / "logs", tmp_path / "accounts", SMALL_PARTS)
    with pytest.raises(Exception, match=rf"\.log at byte {len(content)}"):
        read_history(spark, TABLE, str(tmp_path / "logs"), {**SMALL_PARTS, "mode": "FAILFAST"}).collect()


def test_a_date_before_all_that_is_known_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    (_, second, *_) = read_batches(CONTENT)
    write_segment(tmp_path / OFFSETS, CONTENT[second.position :], base_offset=second.base_offset)
    options = {**SMALL_PARTS, "asOf": "2001-01-01T00:00:00Z"}
    with pytest.raises(BeforeKnowledgeError):
        plain_rows(TABLE, [tmp_path], options)
    with pytest.raises(Exception, match="BeforeKnowledgeError"):
        read_history(spark, TABLE, str(tmp_path), options).collect()


def test_what_cannot_be_divided_is_read_by_the_source(spark: SparkSession, tmp_path: Path) -> None:
    assert (
        read_history(spark, "acl_history", str(LOGS)).toArrow().to_pylist()
        == plain_rows("acl_history", [LOGS]).to_pylist()
    )
    assert read_history(spark, TABLE, [str(LOGS)]).toArrow().to_pylist() == plain_rows(TABLE, [LOGS]).to_pylist()
    with pytest.raises(OptionError, match="maxPartitionByte"):
        read_history(spark, TABLE, str(LOGS), {"maxPartitionByte": "1k"})
    (tmp_path / "empty").mkdir()
    with pytest.raises(NoLogsError):
        read_history(spark, TABLE, str(tmp_path / "empty"))
