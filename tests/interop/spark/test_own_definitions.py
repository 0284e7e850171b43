"""Workers decode records by definitions that only the driver can read."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession
from tests.interop.spark.same_rows import read_with_spark
from tests.made.packages import field, message, write_definitions
from tests.made.segments import write_segment

from kafkawire.wire.batches import Record, encode_batch

GREETING = message("GreetingRecord", field("Text", "string"), type="metadata", apiKey=900)
FRAME = bytes.fromhex("01 8407 00")
TOPIC = message(
    "TopicRecord", field("Name", "string"), field("Owner", "string", "7+"), type="metadata", apiKey=2, versions="0-7"
)


def test_a_record_of_the_user_has_a_table_and_json(spark: SparkSession, tmp_path: Path) -> None:
    definitions = write_definitions(tmp_path / "definitions", GREETING)
    log = tmp_path / "__cluster_metadata-0"
    write_segment(log, encode_batch([Record(value=FRAME + b"\x00\x05hello")]))
    assert read_with_spark(spark, "records", [log], {"columns": "_error"}).collect()[0]._error == "unknown_type"
    options = {"schemaDir": str(definitions)}
    greetings = read_with_spark(spark, "greeting", [log], options)
    records = read_with_spark(spark, "records", [log], {**options, "columns": "record_type,json"})
    for file in definitions.iterdir():  # the driver has read them; the tasks need no folder
        file.unlink()
    definitions.rmdir()
    assert [row.text for row in greetings.select("text").collect()] == ["hello"]
    assert [tuple(row) for row in records.collect()] == [
        ("GREETING_RECORD", '{"type":"GREETING_RECORD","version":0,"data":{"text":"hello"}}')
    ]
