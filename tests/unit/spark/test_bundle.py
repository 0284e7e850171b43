"""A Python without kafkawire can import the zip for workers."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from kafkawire import wire
from kafkawire.cli.app import main as kafkawire
from kafkawire.spark.bundle import write_bundle

LOGS = Path(__file__).parents[2] / "fixtures" / "kafka-4.3.1" / "logs"


@pytest.mark.extended
@pytest.mark.usefixtures("each_engine")
def test_the_zip_alone_can_read_logs(tmp_path: Path) -> None:
    write_bundle(tmp_path / "kafkawire.zip")
    code = f"""
import sys
sys.path[:0] = [{str(tmp_path / "kafkawire.zip")!r}]
sys.path.append({sysconfig.get_path("purelib")!r})
import kafkawire.logs, kafkawire.spark
assert ".zip" in kafkawire.logs.__file__ and ".zip" in kafkawire.spark.__file__
for table in kafkawire.logs.table_names():
    rows = sum(batch.num_rows for batch in kafkawire.logs.read_table(table, {str(LOGS)!r}))
    print(table, rows)
from kafkawire.admin import AclBinding
from kafkawire.broker import EmbeddedBroker
from kafkawire import wire
assert wire.ENGINE == {wire.ENGINE!r}
"""
    environment = {**os.environ, "KAFKAWIRE_ENGINE": wire.ENGINE}
    ran = subprocess.run(
        [sys.executable, "-S", "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "config_history " in ran.stdout


def test_the_same_code_gives_the_same_bytes(tmp_path: Path) -> None:
    assert write_bundle(tmp_path / "a.zip") == write_bundle(tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_the_command_prints_how_to_submit_the_job(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert kafkawire(["spark", "bundle", str(tmp_path / "kafkawire.zip")]) == 0
    assert capsys.readouterr().out.startswith(f"spark-submit --py-files {tmp_path / 'kafkawire.zip'} ")
    assert kafkawire(["spark", "bundle", str(tmp_path / "kafkawire.whl")]) == 2
