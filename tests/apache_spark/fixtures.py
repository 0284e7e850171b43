"""Fixtures: ``spark`` (a session on this machine), ``spark_cluster`` (two workers)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.apache_kafka.java_program import FAST_START
from tests.apache_spark.prerequisites import require_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": " ".join(FAST_START),
    "spark.executor.extraJavaOptions": " ".join(FAST_START),
    "spark.log.level": "ERROR",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.showConsoleProgress": "false",
}
"""What makes Spark start soon and keep quiet."""


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session with two threads, in which PySpark finds ``kafka-log``; the only one of the test run."""
    require_spark()
    from pyspark.sql import SparkSession  # noqa: PLC0415 may be missing
    from tests.apache_spark.lakes import lake_settings  # noqa: PLC0415 needs PySpark

    warehouse: Path = tmp_path_factory.mktemp("spark")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.Builder().master("local[2]").appName("tests")
    for name, value in {**SETTINGS, **lake_settings(warehouse / "lake")}.items():
        builder = builder.config(name, value)
    session = builder.config("spark.sql.warehouse.dir", str(warehouse)).getOrCreate()
    yield session
    session.stop()
