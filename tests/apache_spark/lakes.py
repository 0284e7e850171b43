"""Delta Lake and Apache Iceberg for the installed release of Spark: jars from Maven, and settings of a session.

They follow Spark's releases after some months, so the newest release of Spark may have neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.apache_kafka.maven import NotFetchedError, fetched_jars
from tests.apache_spark.installed import SPARK
from tests.apache_spark.prerequisites import lacking

_PROJECT: Final = Path(__file__).with_name("lakes.pom.xml")
_GROUPS: Final = "io.delta,io.unitycatalog,org.apache.iceberg"
_CATALOGS: Final = {"delta": "spark_catalog", "iceberg": "lake"}
_EXTENSIONS: Final = {
    "delta": "io.delta.sql.DeltaSparkSessionExtension",
    "iceberg": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
}

_RELEASES: Final[Mapping[str, Mapping[str, str]]] = {
    "4.0": {"delta": "4.4.0", "iceberg": "1.11.0"},
    "4.1": {"delta": "4.4.0", "iceberg": "1.12.0"},
    "4.2": {"delta": "4.4.0"},
}
"""The newest releases of both for each release of Spark, on 2026-11-25."""

LAKES: Final = tuple(_RELEASES.get(SPARK, ()))
"""Those that the installed release of Spark can write to, by the names of their formats."""


def lake_settings(folder: Path) -> Mapping[str, str]:
    """What a session needs for `LAKES`; nothing if there are none.

    Args:
        folder: for the tables of Iceberg; those of Delta Lake are in Spark's warehouse.
    """
    if not LAKES:
        return {}
    releases = tuple(f"-D{lake}.release={release}" for lake, release in _RELEASES[SPARK].items())
    try:
        jars = fetched_jars(
            _PROJECT, (f"-Dspark.release={SPARK}", *releases, f"-DincludeGroupIds={_GROUPS}"), f"lakes-{SPARK}"
        )
    except NotFetchedError as error:
        lacking(f"Maven could not fetch {' and '.join(LAKES)} for Spark {SPARK}\n{error}")
    settings = {
        "spark.jars": ",".join(map(str, jars)),
        "spark.sql.extensions": ",".join(_EXTENSIONS[lake] for lake in LAKES),
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.databricks.delta.snapshotPartitions": "2",  # of the 50 by default, each is a task
    }
    if "iceberg" in LAKES:
        settings |= {
            "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.lake.type": "hadoop",
            "spark.sql.catalog.lake.warehouse": str(folder),
        }
    return settings


def named_in(lake: str, table: str) -> str:
    """The name of a table in the catalog of a lake."""
    return f"{_CATALOGS[lake]}.default.{table}"
