"""Prerequisites of the tests with Apache Spark."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
from pathlib import Path
from typing import NoReturn

import pytest
from tests.apache_kafka.prerequisites import JAVA_RELEASE, java_version


def require_spark() -> None:
    """Skip the test where Spark cannot run, saying why; fail it in continuous integration."""
    if importlib.util.find_spec("pyspark") is None:
        lacking("PySpark is not installed (requirements/spark.txt; `make test` does it)")
    java = shutil.which("java")
    if java is None:
        lacking("there is no java on the path (Debian: apt-get install openjdk-17-jdk-headless)")
    printed = java_version(java)
    version = re.search(r'version "(\d+)', printed)
    if version is None or int(version[1]) < JAVA_RELEASE:
        lacking(f"Java {JAVA_RELEASE} or newer is needed, and {java} is {printed.splitlines()[0]}")


def spark_home() -> Path:
    """The folder of Spark's own programs, which come with PySpark."""
    require_spark()
    found = importlib.util.find_spec("pyspark")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent


def lacking(what: str) -> NoReturn:
    """Skip the test, saying what is missing; fail it in continuous integration, where nothing may be missing."""
    reason = f"needs Apache Spark: {what}"
    if os.environ.get("CI", "").lower() in ("true", "1"):
        pytest.fail(f"{reason} (in continuous integration this is not skipped)", pytrace=False)
    pytest.skip(reason)
