"""The SQL function ``who_could`` in Spark has the answer of the plain function, for each log by itself."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from tests.interop.spark.same_rows import LOGS

from kafkawire.logs import read_past_acls, who_could
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.spark import register_who_could

pytestmark = pytest.mark.nightly

METADATA = "__cluster_metadata-0"
ZONES = ("UTC", "America/Los_Angeles")


@pytest.fixture
def acls(spark: SparkSession, tmp_path: Path) -> str:
    """A view of the histories of two logs; the second one ends before the last ACL."""
    shutil.copytree(LOGS / METADATA, tmp_path / "one" / METADATA)
    shutil.copytree(LOGS / METADATA, tmp_path / "two" / METADATA)
    (tmp_path / "two" / METADATA / "00000000000000000315.log").unlink()
    register_who_could(spark)
    history = spark.read.format("kafka-log").option("table", "acl_history").load(f"{tmp_path}/*")
    history.createOrReplaceTempView("acls")
    return str(tmp_path)


@pytest.mark.parametrize("zone", ZONES)
def test_the_answer_is_that_of_the_plain_function_for_each_log(acls: str, spark: SparkSession, zone: str) -> None:
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        found = spark.sql(
            "SELECT log, principal, host, unix_millis(valid_from) AS since, unix_millis(valid_to) AS ended, acl "
            "FROM who_could(TABLE(acls), 'READ', 'TOPIC', 'late.topic', host => '10.0.0.7', "
            "super_users => array('User:admin'), since => TIMESTAMP '2026-11-21 08:37:00Z') WHERE allowed"
        ).collect()
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    for log in ("one", "two"):
        expected = who_could(
            read_past_acls(f"{acls}/{log}"),
            AclOperation.READ,
            ResourceType.TOPIC,
            "late.topic",
            host="10.0.0.7",
            super_users=["User:admin"],
        )
        rows = [row for row in found if row.log == f"{acls}/{log}/{METADATA}"]
        assert {(row.principal, row.host, row.since, row.ended, row.acl and row.acl.operation) for row in rows} == {
            (
                right.principal,
                right.host,
                right.valid_from and round(right.valid_from.timestamp() * 1000),
                right.valid_to and round(right.valid_to.timestamp() * 1000),
                right.acl and str(right.acl.operation),
            )
            for right in expected
        }
    assert {row.log.split("/")[-2] for row in found if row.principal == "User:late"} == {"one"}


@pytest.mark.usefixtures("acls")
def test_a_time_of_sql_is_that_moment_in_every_zone(spark: SparkSession) -> None:
    for zone in ZONES:
        spark.conf.set("spark.sql.session.timeZone", zone)
        try:
            found = spark.sql(
                "SELECT DISTINCT principal FROM who_could(TABLE(acls), 'READ', 'TOPIC', 'py.topic', since => "
                "TIMESTAMP '2026-11-21 08:37:23.700Z', until => TIMESTAMP '2026-11-21 08:37:23.700Z')"
            ).collect()
        finally:
            spark.conf.set("spark.sql.session.timeZone", "UTC")
        assert [row.principal for row in found] == ["User:py"]


@pytest.mark.usefixtures("acls")
def test_a_wrong_call_is_an_error_of_the_analysis_that_says_what_to_give(spark: SparkSession) -> None:
    with pytest.raises(AnalysisException, match="give TABLE"):
        spark.sql("SELECT * FROM who_could(TABLE(SELECT principal FROM acls), 'READ', 'TOPIC', 'orders')")
    with pytest.raises(AnalysisException, match="ALL is not an operation of a client"):
        spark.sql("SELECT * FROM who_could(TABLE(acls), 'ALL', 'TOPIC', 'orders')")
