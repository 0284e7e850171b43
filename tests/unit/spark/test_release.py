"""The error about a PySpark that is too old names its release, not a name that it lacks."""

from __future__ import annotations

import importlib
import sys

import pytest

import kafkawire.spark
from kafkawire.cli.app import main as kafkawire_command

COMPLAINT = "kafkawire.spark needs PySpark 4.2 or newer, and 4.1.2 is installed"


@pytest.fixture(autouse=True)
def old_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyspark.__version__", "4.1.2")


def test_importing_with_an_old_pyspark_is_an_error() -> None:
    with pytest.raises(ImportError, match=COMPLAINT):
        importlib.reload(kafkawire.spark)


def test_the_command_prints_the_error_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "kafkawire.spark")
    assert kafkawire_command(["spark", "bundle", "kafkawire.zip"]) == 1
    assert capsys.readouterr().err == f"kafkawire: {COMPLAINT}\n"
