"""The manifest of a table that Spark wrote: its inputs, its files, and that they are unchanged."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.interop.spark.same_rows import LOGS, damaged_log

from kafkawire.cli.app import main as kafkawire
from kafkawire.logs import Manifest
from kafkawire.spark import job
from kafkawire.spark.task_accounts import read_accounts

pytestmark = pytest.mark.usefixtures("spark")


def tables(*words: str | Path | int) -> int:
    return kafkawire(["spark", "tables", *map(str, words)])


@pytest.mark.extended
def test_a_table_has_its_manifest(tmp_path: Path) -> None:
    out = tmp_path / "out"
    asked = ("--log", LOGS, "--table", "records", "--out", out, "--max-partition-bytes", "8k", "--until-offset", "100")
    assert tables(*asked, "--manifest") == 0
    manifest = Manifest.decode((out / "_manifest.json").read_bytes())
    assert manifest.options == {"--log": [str(LOGS)], "--until-offset": "100", "--max-partition-bytes": "8k"}
    assert {Path(each.path) for each in manifest.inputs} == {*LOGS.rglob("*.log"), *LOGS.rglob("*.checkpoint")}
    assert {Path(each.path): each.sha256 for each in manifest.result.files} == {
        file: hashlib.sha256(file.read_bytes()).hexdigest() for file in out.glob("part-*.parquet")
    }
    assert manifest.result.path == str(out)
    assert manifest.result.rows == sum(pq.read_table(file).num_rows for file in out.glob("part-*.parquet"))
    assert manifest.accounts == read_accounts(str(out / "_accounts"))[0]
    assert kafkawire(["evidence", "verify", str(out / "_manifest.json")]) == 0
    next(out.glob("part-*.parquet")).unlink()
    assert kafkawire(["evidence", "verify", str(out / "_manifest.json")]) == 1


def test_rows_about_damage_count(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert tables("--log", damaged_log(tmp_path), "--table", "records", "--out", out, "-o", "csv", "--manifest") == 3
    manifest = Manifest.decode((out / "_manifest.json").read_bytes())
    assert manifest.options["--format"] == "csv"
    assert manifest.accounts.flaw_rows
    assert any(each.bytes_skipped for each in manifest.inputs)


def test_logs_that_change_meanwhile_are_no_evidence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    log = shutil.copytree(LOGS / "__transaction_state-0", tmp_path / "__transaction_state-0")
    written = job._write

    def write_and_grow(*arguments: object) -> None:
        written(*arguments)  # type: ignore[arg-type]
        with (log / "00000000000000000000.log").open("ab") as file:
            file.write(b"more")

    monkeypatch.setattr(job, "_write", write_and_grow)
    assert tables("--log", log, "--table", "records", "--out", tmp_path / "out", "--manifest") == 1
    assert "the logs changed" in capfd.readouterr().err
    assert not (tmp_path / "out").exists()
