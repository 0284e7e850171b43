"""``kafkawire tables --manifest`` and ``kafkawire evidence verify``."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from kafkawire.cli.app import main
from kafkawire.logs import Manifest

LOGS = Path(__file__).parents[3] / "fixtures" / "kafka-4.3.1" / "logs"


def tables(*words: str | Path) -> int:
    return main(["tables", *map(str, words)])


def manifest_beside(out: Path) -> Manifest:
    return Manifest.decode(out.with_name(f"{out.name}.manifest.json").read_bytes())


@pytest.mark.parametrize("form", ["csv", "jsonl", "json", "yaml", "parquet", "arrow"])
def test_a_result_of_any_form_has_its_manifest(tmp_path: Path, form: str) -> None:
    out = tmp_path / f"acls.{form}"
    assert tables("--log", LOGS, "--table", "acl_history", "--out", out, "--manifest") == 0
    manifest = manifest_beside(out)
    (file,) = manifest.result.files
    assert (file.size, file.sha256) == (out.stat().st_size, hashlib.sha256(out.read_bytes()).hexdigest())
    assert manifest.result.rows == 39
    assert sorted(path.name for path in tmp_path.iterdir()) == [out.name, f"{out.name}.manifest.json"]
    assert main(["evidence", "verify", f"{out}.manifest.json"]) == 0


def test_options_that_are_not_the_default_are_in_it(tmp_path: Path) -> None:
    out = tmp_path / "rows"
    given = ("--columns", "log_offset,json", "--until-offset", "100", "--mode", "dropmalformed", "--processes", "1")
    assert (
        tables("--log", LOGS, "--table", "records", "--out", out, "-o", "csv", "--csv-safe", "--manifest", *given) == 0
    )
    assert manifest_beside(out).options == {
        "--log": [str(LOGS)],
        "--format": "csv",
        "--csv-safe": "true",
        "--columns": "log_offset,json",
        "--until-offset": "100",
        "--mode": "DROPMALFORMED",
    }


def test_changes_since_the_last_run_name_the_state_before_and_after(tmp_path: Path) -> None:
    state, out = tmp_path / "acls.state", tmp_path / "acls.jsonl"
    words = ("--log", LOGS, "--table", "acl_history", "--state", state, "--out", out, "--manifest")
    assert tables(*words) == 0
    first = manifest_beside(out).state
    assert first is not None
    assert (first.before, first.after) == (None, hashlib.sha256(state.read_bytes()).hexdigest())
    assert tables(*words) == 0
    second = manifest_beside(out)
    assert second.state is not None
    assert second.state.before == first.after
    assert (second.result.rows, len(second.inputs)) == (0, 5)


@pytest.mark.parametrize("words", [(), ("--out", "-"), ("--out", "acls.txt"), ("-o", "table", "--out", "acls")])
def test_it_needs_a_file_with_all_rows(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert tables("--log", LOGS, "--table", "acl_history", "--manifest", *words) == 2
    assert "--manifest" in capsys.readouterr().err


def test_a_changed_result_and_a_missing_input_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs = shutil.copytree(LOGS, tmp_path / "logs")
    out = tmp_path / "topics.csv"
    assert tables("--log", logs, "--table", "topic_history", "--out", out, "--manifest") == 0
    shutil.rmtree(logs)
    out.write_text("forged\n", "utf-8")
    capsys.readouterr()
    assert main(["evidence", "verify", f"{out}.manifest.json", "-o", "json"]) == 1
    rows = json.loads(capsys.readouterr().out)
    assert [(row["part"], row["state"]) for row in rows] == [*[("input", "missing")] * 5, ("result", "differs")]
    moved = f"{logs}={LOGS}"
    assert main(["evidence", "verify", f"{out}.manifest.json", "-o", "json", "--moved", moved]) == 1
    rows = json.loads(capsys.readouterr().out)
    assert [row["state"] for row in rows] == [*["same"] * 5, "differs"]


@pytest.mark.parametrize(
    ("content", "words", "code"),
    [(b"{}", (), 1), (b"", (), 1), (None, (), 2), (b"{}", ("--moved", "here"), 2)],
)
def test_wrong_use_and_files_that_are_no_manifest(
    tmp_path: Path, content: bytes | None, words: tuple[str, ...], code: int
) -> None:
    path = tmp_path / "manifest.json"
    if content is not None:
        path.write_bytes(content)
    assert main(["evidence", "verify", str(path), *words]) == code
