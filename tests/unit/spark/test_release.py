"""An error about a PySpark that is too old names its release, not a name that it lacks."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

import kafkawire.spark
from kafkawire.cli.app import main as kafkawire_command
from kafkawire.spark import KafkaLogSource, OptionError

COMPLAINT = "kafkawire.spark needs PySpark 4.0 or newer, and 3.5.9 is installed"


@pytest.fixture
def too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyspark.__version__", "3.5.9")


@pytest.mark.usefixtures("too_old")
def test_importing_with_an_old_pyspark_is_an_error() -> None:
    with pytest.raises(ImportError, match=COMPLAINT):
        importlib.reload(kafkawire.spark)


@pytest.mark.usefixtures("too_old")
def test_the_command_prints_the_error_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "kafkawire.spark")
    assert kafkawire_command(["spark", "bundle", "kafkawire.zip"]) == 1
    assert capsys.readouterr().err == f"kafkawire: {COMPLAINT}\n"


def test_a_stream_is_refused_where_pyspark_cannot_limit_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = KafkaLogSource({"table": "records", "path": str(tmp_path)})
    monkeypatch.setattr("pyspark.__version__", "4.1.4")
    reader = source.streamReader(source.schema())
    for position in (reader.initialOffset, reader.latestOffset):
        with pytest.raises(ImportError, match=r"needs PySpark 4\.2 or newer, and 4\.1\.4 is installed; spark\.read"):
            position()  # type: ignore[call-arg] # as releases before 4.2 call it


def test_pushdown_is_refused_where_pyspark_passes_no_filters(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = KafkaLogSource({"table": "records", "path": str(tmp_path), "pushdown": "true"})
    monkeypatch.setattr("pyspark.__version__", "4.0.5")
    with pytest.raises(OptionError, match=r"option 'pushdown': needs PySpark 4\.1 or newer, and 4\.0\.5 is installed"):
        source.reader(source.schema())
