"""PySpark finds the data source, and pays nothing for it before it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("pyspark")

from pyspark.sql.datasource import DataSource

from kafkawire.spark import KafkaLogSource
from pyspark_kafkawire import DefaultSource

LOOKED_UP = """
import importlib, pkgutil, sys
import pyspark.sql.datasource
before = set(sys.modules)
for found in pkgutil.iter_modules():
    if found.name.startswith("pyspark_"):
        print(found.name, importlib.import_module(found.name).DefaultSource.name(), *sorted(set(sys.modules) - before))
"""
"""What PySpark's worker ``lookup_data_sources`` does, once in each session."""


def test_pyspark_finds_the_package_and_imports_nothing_else_for_it() -> None:
    ran = subprocess.run([sys.executable, "-c", LOOKED_UP], capture_output=True, text=True, check=True)
    assert ran.stdout == "pyspark_kafkawire kafka-log pyspark_kafkawire\n"


def test_what_pyspark_makes_is_the_source_itself() -> None:
    assert issubclass(DefaultSource, DataSource)
    assert DefaultSource.name() == KafkaLogSource.name()
    made = DefaultSource(options={"table": "records", "path": "/logs"})
    assert type(made) is KafkaLogSource


def test_a_missing_library_is_an_error_where_the_source_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error earlier would make PySpark skip the sources of all other packages too."""
    monkeypatch.setitem(sys.modules, "kafkawire.spark", None)
    assert DefaultSource.name() == "kafka-log"
    with pytest.raises(ImportError, match=r"kafkawire\.spark"):
        DefaultSource(options={})
