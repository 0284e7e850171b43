"""Options of the data source are checked before anything is read."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

pytest.importorskip("pyspark")

from kafkawire.logs import ReadMode, ReadOptions
from kafkawire.spark.options import OPTION_NAMES, OptionError, SourceOptions, source_options

NOT_A_SIZE = "not a size: give bytes, or a number with k, m, g or t, such as 65536, 64m, 64MiB or 1g"
LEAST = {"table": "records", "path": "/data"}


def test_a_table_and_a_path_are_enough() -> None:
    assert source_options(LEAST) == SourceOptions("records", ("/data",))


def test_every_option_takes_effect() -> None:
    options = source_options(
        {
            "TABLE": "records",
            "paths": '["/a", "/b,c"]',
            "columns": "file, log_offset",
            "recordTypes": "TOPIC_RECORD",
            "mode": "failfast",
            "columnNameOfCorruptRecord": "raw",
            "cluster": "east",
            "fromOffset": "1",
            "untilOffset": "9",
            "fromTime": "2026-03-01",
            "untilTime": "2026-03-01T01:00+01:00",
            "highWatermark": "7",
            "verifyChecksums": "False",
            "maxFrameBytes": "1m",
            "secrets": "true",
            "noOps": "true",
            "asOf": "2026-03-01T00:00Z",
            "pathGlobFilter": "*.log",
            "recursiveFileLookup": "false",
            "maxPartitionBytes": "2 KiB",
            "pushdown": "true",
            "maxBytesPerTrigger": "3g",
            "failOnDataLoss": "false",
            "accountsPath": "/accounts",
        }
    )
    march = datetime(2026, 3, 1, tzinfo=UTC)
    assert options == SourceOptions(
        table="records",
        paths=("/a", "/b,c"),
        read=ReadOptions(
            mode=ReadMode.FAILFAST,
            record_types=("TOPIC_RECORD",),
            columns=("file", "log_offset"),
            from_offset=1,
            until_offset=9,
            from_time=march,
            until_time=march,
            verify_checksums=False,
            max_frame_bytes=1 << 20,
            high_watermark=7,
            corrupt_record_column="raw",
            cluster="east",
            secrets=True,
            no_ops=True,
            as_of=march,
        ),
        path_glob_filter="*.log",
        recursive=False,
        max_partition_bytes=2048,
        pushdown=True,
        max_bytes_per_trigger=3 << 30,
        fail_on_data_loss=False,
        accounts_path="/accounts",
    )


@pytest.mark.parametrize(
    ("option", "text", "complaint"),
    [
        ("mode", "lenient", "option 'mode': 'lenient' is none of PERMISSIVE, DROPMALFORMED, FAILFAST"),
        ("fromOffset", "-1", "option 'fromOffset': '-1' is not an offset: give a whole number from 0 on"),
        (
            "untilOffset",
            str(1 << 63),
            f"option 'untilOffset': '{1 << 63}' is not an offset: give a whole number from 0 on",
        ),
        ("asOf", "yesterday", "option 'asOf': 'yesterday' is not a time such as 2026-03-01 or 2026-03-01T12:30:00Z"),
        ("secrets", "yes", "option 'secrets': 'yes' is neither true nor false"),
        ("maxPartitionBytes", "0", f"option 'maxPartitionBytes': '0' is {NOT_A_SIZE}"),
        ("maxPartitionBytes", "64x", f"option 'maxPartitionBytes': '64x' is {NOT_A_SIZE}"),
        (
            "columns",
            " , ",
            "option 'columns': ' , ' is not a list of names separated by commas",
        ),
        ("paths", "/a,/b", "option 'paths': '/a,/b' is not a JSON array of paths"),
        ("paths", "[]", "option 'paths': '[]' is not a JSON array of paths"),
    ],
)
def test_a_malformed_value_is_named(option: str, text: str, complaint: str) -> None:
    with pytest.raises(OptionError) as refused:
        source_options({**LEAST, option: text})
    assert str(refused.value) == complaint


@pytest.mark.parametrize("missing", ["table", "path"])
def test_missing_required_options_are_named(missing: str) -> None:
    with pytest.raises(OptionError, match=f"option '{missing}': it is missing: "):
        source_options({name: text for name, text in LEAST.items() if name != missing})


@pytest.mark.parametrize(
    ("slip", "meant"), [("maxPartitionByte", "maxPartitionBytes"), ("record_types", "recordTypes"), ("tables", "table")]
)
def test_a_misspelt_option_gets_a_suggestion(slip: str, meant: str) -> None:
    with pytest.raises(OptionError) as refused:
        source_options({**LEAST, slip: "1"})
    assert str(refused.value) == f"there is no option {slip.lower()!r}; did you mean {meant!r}?"


def test_hadoop_uris_are_normalized() -> None:
    paths = '["file:/a", "file:///b", "s3a://bucket/c", "/d/file:/e"]'
    found = source_options({"table": "records", "paths": paths}).paths
    assert found == ("file:///a", "file:///b", "s3a://bucket/c", "/d/file:/e")


def test_other_options_of_spark_are_ignored() -> None:
    assert source_options({**LEAST, "header": "true", "inferSchema": "true"}) == source_options(LEAST)


def test_no_option_counts_as_a_misspelling_of_another() -> None:
    values = {
        "paths": '["/a"]',
        "mode": "FAILFAST",
        "asOf": "2026-03-01",
        "fromTime": "2026-03-01",
        "untilTime": "2026-03-01",
    }
    flags = ("recursiveFileLookup", "verifyChecksums", "secrets", "noOps", "intervalIds", "pushdown", "failOnDataLoss")
    values |= dict.fromkeys(flags, "true")
    source_options({name: values.get(name, "1") for name in OPTION_NAMES if name not in {"schemaDir", "alertRules"}})
