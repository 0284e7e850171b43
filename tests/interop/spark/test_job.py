"""The job writes a table and accounts for every byte; its exit code shows whether all were decoded."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from subprocess import PIPE, STDOUT

import pyarrow.parquet as pq
import pytest
from tests.apache_kafka.eventually import eventually
from tests.apache_spark.cluster import WORKERS, kill_an_executor, running_spark_cluster, spark_environment
from tests.apache_spark.fixtures import SETTINGS
from tests.apache_spark.prerequisites import spark_home
from tests.interop.spark.same_rows import LOGS, damaged_log, plain_rows
from tests.made import segments
from tests.made.logs import Step, write_segment

from kafkawire.cli.app import main as kafkawire
from kafkawire.protocol import ConfigRecord
from kafkawire.spark import job
from kafkawire.spark.bundle import write_bundle
from kafkawire.spark.task_accounts import read_accounts

SECONDS_TO_BEGIN = 120

pytestmark = pytest.mark.usefixtures("spark")


def tables(*words: str | Path | int) -> int:
    return kafkawire(["spark", "tables", *map(str, words)])


def rows_of(out: Path) -> list[dict[str, object]]:
    return [row for file in sorted(out.glob("part-*.parquet")) for row in pq.read_table(file).to_pylist()]


def test_a_table_is_written_and_every_byte_accounted_for(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert tables("--log", LOGS, "--table", "offset_commit", "--out", out, "--max-partition-bytes", "8k") == 0
    assert rows_of(out) == plain_rows("offset_commit", [LOGS]).to_pylist()
    accounts, _ = read_accounts(str(out / "_accounts"))
    assert accounts.line() in capfd.readouterr().err.splitlines()  # beside what librdkafka's threads print
    assert accounts.balanced
    assert accounts.bytes_read == sum(file.stat().st_size for file in LOGS.glob("__consumer_offsets-*/*.log"))
    assert accounts.rows == len(rows_of(out))


def test_errors_are_allowed_up_to_a_number(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    log, out = damaged_log(tmp_path), tmp_path / "out"
    asked = ("--log", log, "--table", "records", "--out", out)
    assert tables(*asked, "--max-errors", 2) == 3
    assert tables(*asked, "--max-errors", 1, "--overwrite") == 1
    printed = capfd.readouterr().err
    assert "kafkawire: more errors than --max-errors 1 allows: bad_crc 1, unknown_type 1" in printed
    assert tables(*asked, "--mode", "FAILFAST", "--overwrite") == 1
    assert "bad_crc" in capfd.readouterr().err.splitlines()[-1]


def test_an_existing_table_is_not_overwritten_by_default(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "kept").touch()
    assert tables("--log", LOGS, "--table", "topic", "--out", tmp_path) == 1
    assert "already exists: --overwrite replaces it" in capfd.readouterr().err
    assert (tmp_path / "kept").exists()


def files_of(out: Path) -> dict[str, bytes]:
    return {str(file.relative_to(out)): file.read_bytes() for file in out.rglob("*") if file.is_file()}


@pytest.mark.extended
def test_a_failed_run_leaves_the_old_table(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out, empty = tmp_path / "out", tmp_path / "empty"
    empty.mkdir()
    assert tables("--log", LOGS, "--table", "topic", "--out", out) == 0
    before = files_of(out)
    assert "_SUCCESS" in before
    replace = ("--out", out, "--overwrite")
    damaged = damaged_log(tmp_path)
    for asked, complaint, code in (
        (("--log", damaged, "--table", "records", "--mode", "FAILFAST"), "bad_crc: the CRC", 1),
        (("--log", damaged, "--table", "records", "--max-errors", 0), "more errors than --max-errors 0 allows", 1),
        (
            ("--log", empty, "--table", "records"),
            "no segment (.log) and no snapshot (.checkpoint) of Kafka is there",
            2,
        ),
        (("--log", damaged, "--table", "offset_commit"), "only __cluster_metadata-0 is there", 2),
        (("--log", tmp_path / "none", "--table", "records"), "unreadable: ", 2),
        (("--log", LOGS, "--table", "acl_history", "--as-of", "2001-01-01"), "2001-01-01", 2),
    ):
        assert tables(*asked, *replace) == code, complaint
        shown = capfd.readouterr().err
        assert complaint in shown.splitlines()[-1]
        assert files_of(out) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [damaged.name, "empty", "out"]


def test_a_new_table_replaces_the_old_one_and_gets_its_success_file_last(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert tables("--log", LOGS, "--table", "topic", "--out", out) == 0
    assert tables("--log", LOGS, "--table", "offset_commit", "--out", out, "--overwrite") == 0
    assert rows_of(out) == plain_rows("offset_commit", [LOGS]).to_pylist()
    newest = max((file for file in out.rglob("*") if file.is_file()), key=lambda file: file.stat().st_mtime_ns)
    assert newest == out / "_SUCCESS"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.extended
def test_csv_and_json_hold_lists_and_bytes(tmp_path: Path) -> None:
    asked = ("--log", LOGS, "--table", "partition", "--columns", "partition_id,replicas")
    assert tables(*asked, "--out", tmp_path / "csv", "--format", "csv") == 0
    assert tables(*asked, "--out", tmp_path / "json", "--format", "jsonl") == 0
    plain = plain_rows("partition", [LOGS], {"columns": "partition_id,replicas"}).to_pylist()
    (lines,) = [file.read_text().splitlines() for file in (tmp_path / "csv").glob("part-*.csv")]
    assert [[int(row["partition_id"]), json.loads(row["replicas"])] for row in csv.DictReader(lines)] == [
        [row["partition_id"], row["replicas"]] for row in plain
    ]
    (lines,) = [file.read_text().splitlines() for file in (tmp_path / "json").glob("part-*.json")]
    assert [json.loads(line) for line in lines] == plain


@pytest.mark.extended
def test_csv_for_spreadsheets_has_no_formulas(tmp_path: Path) -> None:
    values = ["=1+1", "-1", "@x", "\uff0b1", "a=b"]
    records = tuple(ConfigRecord(2, value, "retention.ms", value) for value in values)
    write_segment(tmp_path / "__cluster_metadata-0", 0, [Step(1000, records)])
    asked = ("--log", tmp_path, "--table", "config", "--columns", "value,resource_type_code", "--format", "csv")
    for words, shown in (((), values), (("--csv-safe",), ["'=1+1", "-1", "'@x", "'\uff0b1", "a=b"])):
        out = tmp_path / f"out{len(words)}"
        assert tables(*asked, "--out", out, *words) == 0
        (lines,) = [file.read_text().splitlines() for file in out.glob("part-*.csv")]
        assert [row["value"] for row in csv.DictReader(lines)] == shown


@pytest.mark.nightly
def test_two_workers_need_only_the_zip_of_kafkawire_and_one_of_them_may_fail(tmp_path: Path) -> None:
    """The workers' Python has the libraries, and kafkawire only through ``--py-files``."""
    many = segments.repeated(segments.real_segment(segments.OFFSETS), 20)
    segments.write_segment(tmp_path / "logs" / segments.OFFSETS, many)
    write_bundle(tmp_path / "kafkawire.zip")
    python = tmp_path / "python"
    libraries = f"{sysconfig.get_path('purelib')}{os.pathsep}{sysconfig.get_path('platlib')}"
    path = f"$PYTHONPATH{os.pathsep}{libraries}"
    python.write_text(f'#!/bin/sh\nKAFKAWIRE_ENGINE=python PYTHONPATH="{path}" exec {sys.executable} -S "$@"\n')
    python.chmod(0o755)
    out = tmp_path / "out"
    with running_spark_cluster(tmp_path, python) as cluster:
        command = [str(spark_home() / "bin" / "spark-submit"), "--master", cluster.master]
        command += [f"--conf={name}={value}" for name, value in SETTINGS.items()]
        command += ["--py-files", str(tmp_path / "kafkawire.zip"), job.__file__]
        command += ["--log", str(tmp_path / "logs"), "--table", "offset_commit", "--out", str(out)]
        command += ["--max-partition-bytes", "4k"]
        environment = spark_environment(python)
        with subprocess.Popen(command, env=environment, stdout=PIPE, stderr=STDOUT, text=True) as running:
            eventually(lambda: list(tmp_path.glob(".out.*.part/_accounts/part-*.json")), bool, seconds=SECONDS_TO_BEGIN)
            kill_an_executor(cluster)
            printed, _ = running.communicate()
        assert running.returncode == 0, printed
        assert len(list(cluster.home.glob("worker-*/app-*/*/stderr"))) == WORKERS + 1
    assert rows_of(out) == plain_rows("offset_commit", [tmp_path / "logs"]).to_pylist()
    accounts, tasks = read_accounts(str(out / "_accounts"))
    assert tasks > WORKERS * 10
    assert accounts.line() in printed
