"""Commands with Spark that pages print work, on files and on S3; `test_printed_commands` of `repo` has the others."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.apache_spark.installed import since
from tests.interop.spark.same_rows import LOGS, plain_rows
from tests.pages.commands import WITH_SPARK, lines_of, with_stand_ins
from tests.pages.proofs import PAGES
from tests.servers.s3 import S3Server, running_s3_server

from kafkawire.cli.app import main as kafkawire
from kafkawire.spark import job
from kafkawire.spark.releases import PUSHDOWN

# PySpark 4.0 does not send a changed environment to the process that plans a query.
pytestmark = [since(PUSHDOWN), pytest.mark.extended]

JOB = re.compile(r'^spark-submit .*"\$\(.*\)" (?P<words>.*)$')
PRINTED = sorted({line for page in PAGES for line in lines_of(page)})


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with running_s3_server(tmp_path_factory.mktemp("s3") / "log") as running:
        for folder in ("snapshots", "logs"):
            for log in LOGS.iterdir():
                if log.is_dir():
                    running.put_folder("bucket", log, under=f"{folder}/2026-03-01")
        yield running


@pytest.fixture(autouse=True)
def known_server(spark: SparkSession, server: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The session began before the server, so each query sends the server's address to the workers."""
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
        monkeypatch.setitem(spark.sparkContext.environment, name, value)


@pytest.mark.parametrize("printed", [line for line in PRINTED if WITH_SPARK.match(line)])
def test_a_printed_command_succeeds(
    printed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").symlink_to(LOGS)
    command = with_stand_ins(printed)
    submitted = JOB.match(command)
    words = shlex.split(submitted["words"] if submitted else command)
    assert (job.main(words) if submitted else kafkawire(words[1:])) == 0, capfd.readouterr().err
    out = Path(words[words.index("--out") + 1]) if "--out" in words else Path(words[-1])
    assert out.exists()
    if out.is_dir():
        assert (out / "_SUCCESS").exists()


def test_each_way_to_read_logs_is_printed() -> None:
    for way in (
        "kafkawire tables",
        "kafkawire report",
        "kafkawire spark tables",
        "kafkawire spark bundle",
        "spark-submit",
    ):
        assert any(each.startswith(way) for each in PRINTED), way
    assert any("s3a://bucket/snapshots/*/" in each for each in PRINTED)


def test_the_same_rows_are_read_from_s3_and_from_files(tmp_path: Path) -> None:
    out = tmp_path / "topics"
    asked = ("--log", "s3a://bucket/snapshots/*/", "--table", "topic_history", "--out", str(out))
    assert kafkawire(["spark", "tables", *asked]) == 0
    rows = pq.read_table(min(out.glob("part-*.parquet")))
    assert set(rows["log"].to_pylist()) == {"s3a://bucket/snapshots/2026-03-01/__cluster_metadata-0"}
    here = plain_rows("topic_history", [LOGS])
    assert rows.drop_columns("log").to_pylist() == here.drop_columns("log").to_pylist()
