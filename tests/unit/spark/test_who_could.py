"""The SQL function ``who_could`` without Java: what the driver finds out, and what a task does with rows."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import ArrayType, DataType, IntegerType, Row, StringType, StructType, TimestampType
from pyspark.sql.udtf import AnalyzeArgument

from kafkawire.logs import read_past_acls, read_table, table_named, who_could
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.spark.who_could import WhoCould

LOGS = Path(__file__).parents[2] / "fixtures" / "kafka-4.3.1" / "logs"


def constant(value: object, kind: DataType | None = None) -> AnalyzeArgument:
    return AnalyzeArgument(kind or StringType(), value, isTable=False, isConstantExpression=True)


def table(schema: StructType | None = None) -> AnalyzeArgument:
    own = from_arrow_schema(table_named("acl_history").schema)
    return AnalyzeArgument(schema or own, None, isTable=True, isConstantExpression=False)


READ_AUDIT = (constant("DESCRIBE"), constant("TOPIC"), constant("audit.events"))


def given_rows() -> list[dict[str, Any]]:
    """The rows as Spark gives them: times are microseconds."""
    rows = [row for batch in read_table("acl_history", str(LOGS)) for row in batch.to_pylist()]
    for row in rows:
        for name in ("valid_from", "valid_to"):
            row[name] = None if row[name] is None else int(row[name].timestamp() * 1_000_000)
    return rows


def test_a_task_answers_as_the_plain_function() -> None:
    analysed = WhoCould.analyze(table(), *READ_AUDIT, super_users=constant(["User:admin"], ArrayType(StringType())))
    task = WhoCould(pickle.loads(pickle.dumps(analysed)))  # noqa: S301 it is ours
    rows = given_rows()
    for row in rows:
        selected = [column.alias or column.name for column in analysed.select]
        task.eval(Row(**{name: row[name] for name in selected}))
    answer = list(task.terminate())
    expected = who_could(
        read_past_acls(LOGS), AclOperation.DESCRIBE, ResourceType.TOPIC, "audit.events", super_users=["User:admin"]
    )
    assert len(expected) > 3
    names = analysed.schema.names
    for found, right in zip(answer, expected, strict=True):
        row = dict(zip(names, found, strict=True))
        assert (row["principal"], row["host"], row["allowed"]) == (right.principal, right.host, right.allowed)
        assert (row["valid_from"], row["valid_to"]) == (right.valid_from, right.valid_to)
        assert row["reason"] == right.reason.value
        assert (row["acl"] is None) is (right.acl is None)
        assert row["log"] == rows[0]["log"]


def test_a_lost_part_of_the_log_is_an_error_and_not_a_wrong_answer() -> None:
    task = WhoCould(WhoCould.analyze(table(), *READ_AUDIT))
    lost = dict.fromkeys(given_rows()[0]) | {"log": "/logs/__cluster_metadata-0", "_error": "offset_gap"}
    with pytest.raises(ValueError, match=r"__cluster_metadata-0 is lost \(offset_gap\).*_error IS NULL"):
        task.eval(Row(**lost))


def test_a_removal_of_an_acl_that_the_log_does_not_have_is_no_acl() -> None:
    task = WhoCould(WhoCould.analyze(table(), *READ_AUDIT))
    task.eval(Row(**(dict.fromkeys(given_rows()[0]) | {"log": "/logs", "valid_to": 1})))
    assert list(task.terminate()) == []


def test_a_time_is_a_timestamp_or_a_text_with_or_without_a_zone() -> None:
    expected = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
    local = expected.astimezone().replace(tzinfo=None)  # as PySpark gives it
    for since in (constant("2026-03-01T12:30"), constant("2026-03-01T13:30+01:00"), constant(local, TimestampType())):
        question = WhoCould.analyze(table(), *READ_AUDIT, since=since).question
        assert question is not None
        assert question.since == expected


def test_wrong_calls_are_refused_before_anything_is_read() -> None:
    operation, kind, name = READ_AUDIT
    with pytest.raises(ValueError, match=r"the table lacks cluster, log, host.* acl_history"):
        WhoCould.analyze(table(StructType().add("principal", "string")), *READ_AUDIT)
    with pytest.raises(ValueError, match="the table lacks"):
        WhoCould.analyze(constant("acls"), *READ_AUDIT)
    with pytest.raises(ValueError, match="'REED'"):
        WhoCould.analyze(table(), constant("REED"), kind, name)
    with pytest.raises(ValueError, match="ALL is not an operation of a client"):
        WhoCould.analyze(table(), constant("ALL"), kind, name)
    with pytest.raises(ValueError, match="since: 'yesterday' is not a time"):
        WhoCould.analyze(table(), *READ_AUDIT, since=constant("yesterday"))
    with pytest.raises(TypeError, match="resource_name is 7; give a text"):
        WhoCould.analyze(table(), operation, kind, constant(7, IntegerType()))
    with pytest.raises(TypeError, match="give an array of texts"):
        WhoCould.analyze(table(), *READ_AUDIT, super_users=constant("User:admin"))
    column = AnalyzeArgument(StringType(), None, isTable=False, isConstantExpression=False)
    with pytest.raises(ValueError, match="host is no constant"):
        WhoCould.analyze(table(), *READ_AUDIT, host=column)
