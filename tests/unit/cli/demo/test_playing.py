"""The chapters in a row: errors end one chapter, missing libraries leave it out, pauses wait, files stay."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from kafkawire.cli.app import main
from kafkawire.cli.demo import broker_process
from kafkawire.cli.outcome import ExitCode

WITHOUT_EXTRAS = """
import sys
sys.modules |= dict.fromkeys(["jinja2", "pyarrow", "pyspark", "ruff"])
from kafkawire.cli.app import main
sys.exit(main())
"""


@pytest.fixture(autouse=True)
def _without_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))


@pytest.mark.extended
def test_chapters_whose_libraries_are_missing_are_left_out_and_the_others_are_whole(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WITHOUT_EXTRAS, "demo", "--out", str(tmp_path / "kept")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.stderr, ran.returncode) == ("", 0)
    assert "Left out: it needs jinja2 and ruff, which are not installed.\n" in ran.stdout
    assert "Left out: it needs pyarrow, which is not installed.\n" in ran.stdout
    summary = ran.stdout.rpartition("What you have seen")[2]
    assert [line.split()[-1] for line in summary.splitlines()[3:10]] == ["out", *["shown"] * 4, "out", "out"]
    assert "One command installs what is missing: pip install 'kafkawire[all]'" in summary
    assert "kafkawire codec decode" in summary
    assert "kafkawire tables" not in ran.stdout


def test_a_chapter_prepares_what_it_needs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--chapter", "report", "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "2,011 ACLs, 2,002 quotas" in shown
    assert shown.splitlines()[-1] == str(tmp_path / "report.html")
    assert "1. " not in shown


def test_a_broker_that_does_not_start_ends_its_chapters_and_no_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker_process, "_PROPERTIES", {"node.id": "no number"})
    assert main(["demo", "--out", str(tmp_path), *("--chapter", "2"), *("--chapter", "3"), *("--chapter", "4")]) == 1
    shown = capsys.readouterr().out
    early = [line for line in shown.splitlines() if line.startswith("This chapter ended early: ")]
    assert len(early) == 2
    assert "the broker did not start: kafkawire: " in early[0]
    assert "node.id" in early[0]
    assert early[1].endswith("it needs the broker, which failed above")
    assert "They decode to an equal request." in shown
    assert shown.count("ended early\n") == 2
    assert "kafkawire broker " not in shown.rpartition("What you have seen")[2]


def test_an_error_of_the_disk_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json, "dumps", no_space)
    assert main(["demo", "--chapter", "bytes", "--out", str(tmp_path)]) == ExitCode.FAILED
    assert "This chapter ended early: [Errno 28] No space left on device\n" in capsys.readouterr().out


def no_space(_: object) -> str:
    raise OSError(28, "No space left on device")


def test_a_pause_waits_for_enter_between_chapters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n"))
    words = ["demo", "--pause", "--out", str(tmp_path)]
    assert main([*words, *("--chapter", "2"), *("--chapter", "3"), *("--chapter", "5")]) == 0
    shown = capsys.readouterr().out
    assert "Enter goes on with chapter 3; Ctrl-C ends." in shown
    assert shown.index("2. A request") < shown.index("Enter goes on with chapter 3") < shown.index("3. A broker")
    assert "chapter 2;" not in shown
    assert "kill -9" in shown


def test_interruption_ends_the_broker_and_leaves_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[int | None] = []

    def interrupted(*_: object) -> str:
        raise KeyboardInterrupt

    kill = broker_process.BrokerProcess.kill

    def noted(broker: broker_process.BrokerProcess) -> None:
        killed.append(broker.process_id)
        kill(broker)

    monkeypatch.setattr(broker_process.BrokerProcess, "kill", noted)
    monkeypatch.setattr("rich.console.Console.input", interrupted)
    words = ["demo", "--pause", "--out", str(tmp_path), *("--chapter", "3"), *("--chapter", "4")]
    assert main(words) == ExitCode.INTERRUPTED
    assert len(killed) == 1
    assert killed[0] is not None
    assert (tmp_path / "broker").is_dir()


def test_files_stay_in_a_new_temporary_folder_by_default(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert main(["demo", "--chapter", "bytes"]) == 0
    (folder,) = tmp_path.iterdir()
    assert [file.name for file in folder.iterdir()] == ["request.jsonl"]
    assert f"The files stay in {folder}\n" in capsys.readouterr().out


def test_a_folder_with_files_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").touch()
    assert main(["demo", "--out", str(tmp_path)]) == ExitCode.USAGE
    shown = capsys.readouterr()
    assert f"--out: {tmp_path} is not an empty folder; name a new one" in shown.err
    assert not shown.out


def test_a_wrong_chapter_is_refused_before_anything_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--chapter", "brokr"]) == ExitCode.USAGE
    shown = capsys.readouterr()
    assert "did you mean broker?" in shown.err
    assert not shown.out
