"""``kafkawire schema lint``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode

SOUND = '{"type": "data", "name": "Example", "validVersions": "0", "flexibleVersions": "none", "fields": []}'
DOUBTFUL = SOUND.replace('"fields"', '"deprecatedVersions": "2-1", "fields"')
WRONG = SOUND.replace('"0"', '"0+"')


@pytest.mark.parametrize(
    ("text", "exit_code", "line"),
    [
        (SOUND, ExitCode.DONE, "0 errors, 0 warnings in 1 file"),
        (DOUBTFUL, ExitCode.DONE, "0 errors, 1 warning in 1 file"),
        (WRONG, ExitCode.FAILED, "1 error, 0 warnings in 1 file"),
    ],
)
def test_the_exit_code_distinguishes_errors_from_warnings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, exit_code: ExitCode, line: str
) -> None:
    (tmp_path / "Example.json").write_text(text)
    assert main(["schema", "lint", str(tmp_path)]) == exit_code
    assert capsys.readouterr().out.splitlines()[-1] == line


def test_json_lines_have_one_object_per_line_and_prints_the_summary_to_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "Example.json"
    path.write_text(WRONG)
    assert main(["schema", "lint", str(path), "--format", "jsonl"]) == ExitCode.FAILED
    printed = capsys.readouterr()
    (line,) = printed.out.splitlines()
    assert list(json.loads(line)) == [
        "file", "line", "column", "end_line", "end_column", "rule", "severity", "message",
    ]  # fmt: skip
    assert json.loads(line)["rule"] == "message-max-version-required"
    assert printed.err == "1 error, 0 warnings in 1 file\n"


def test_json_is_one_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "Example.json").write_text(WRONG)
    assert main(["schema", "lint", str(tmp_path), "-o", "json"]) == ExitCode.FAILED
    assert [finding["rule"] for finding in json.loads(capsys.readouterr().out)] == ["message-max-version-required"]
    (tmp_path / "Example.json").write_text(SOUND)
    assert main(["schema", "lint", str(tmp_path), "-o", "json"]) == ExitCode.DONE
    assert json.loads(capsys.readouterr().out) == []


@pytest.mark.parametrize("arguments", [["missing"], [], ["--format", "xml", "."]])
def test_wrong_usage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["schema", "lint", *arguments]) == ExitCode.USAGE


def test_help_explains_folders_and_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "lint", "--help"]) == ExitCode.DONE
    assert "partners may be elsewhere" in " ".join(capsys.readouterr().out.replace("│", " ").split())


def test_github_commands_have_paths_from_the_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "Example.json").write_text(WRONG)
    monkeypatch.chdir(tmp_path / "specs")

    assert main(["schema", "lint", "Example.json", "--format", "github"]) == ExitCode.FAILED
    printed = capsys.readouterr()
    assert printed.out.startswith("::error file=specs/Example.json,line=1,endLine=1,col=54,endColumn=58,title=message-")
    assert printed.err == "1 error, 0 warnings in 1 file\n"


def test_sarif_has_one_run_even_without_findings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "Example.json").write_text(SOUND)

    assert main(["schema", "lint", str(tmp_path), "--format", "sarif"]) == ExitCode.DONE
    assert json.loads(capsys.readouterr().out)["runs"][0]["results"] == []
