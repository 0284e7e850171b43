"""The job checks its arguments before it starts a Spark session; its accounts determine the exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from tests.made.logs import write_batches
from tests.made.packages import field, message, write_definitions

from kafkawire.cli.app import main as kafkawire
from kafkawire.logs import Accounts
from kafkawire.spark.job import exit_code_of, reason_of

ASKED = ("spark", "tables", "--log", "/l", "--out", "/o")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (
            ("spark", "tables", "--table", "topic"),
            "kafkawire: --log and --out are missing; ",
        ),
        ((*ASKED, "--table", "topics"), "there is no table 'topics'"),
        ((*ASKED, "--table", "topic", "--as-of", "soon"), "option 'asOf': 'soon' is not a time such as 2026-03-01"),
        ((*ASKED, "--table", "topic", "--columns", "nam"), "table 'topic' has no column 'nam'"),
        (
            (*ASKED, "--table", "topic", "--max-error", "1"),
            "no option --max-error; did you mean --max-errors",
        ),
        ((*ASKED, "--table", "topic", "--max-errors", "-1"), "--max-errors: '-1' is not a number of errors"),
        ((*ASKED, "--table", "topic", "--as-of", "2026-03-01"), "option 'asOf': it needs a history"),
        (
            (*ASKED, "--table", "topic", "--format", "xml"),
            "-o/--format: invalid choice: 'xml'",
        ),
        ((*ASKED, "--table", "topic", "-o", "json"), "none can be one JSON document: use jsonl"),
    ],
)
def test_wrong_usage_is_reported(words: tuple[str, ...], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert kafkawire(list(words)) == 2
    assert complaint in capsys.readouterr().err


def test_wrong_definitions_are_a_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_definitions(tmp_path, message("Wrong", field("Text", "strin"), type="metadata", apiKey=900))
    assert kafkawire([*ASKED, "--table", "records", "--schema-dir", str(folder)]) == 1
    assert "Wrong.json:1:" in capsys.readouterr().err


@pytest.mark.parametrize("out", ["{}", "{}/", "file:{}", "file://{}", "{}/__consumer_offsets-0", "{}/../link", "{}/.."])
def test_logs_are_never_overwritten(tmp_path: Path, out: str, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "data"
    for log in ("__cluster_metadata-0", "__consumer_offsets-0"):
        write_batches(data / log, 0, [])
    (tmp_path / "link").symlink_to(data)
    asked = ("--log", str(data), "--out", out.format(data), "--overwrite")
    assert kafkawire(["spark", "tables", "--table", "topic", *asked]) == 2
    assert "--overwrite would delete logs in " in capsys.readouterr().err


def test_help_lists_options_and_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert kafkawire(["spark", "tables", "--help"]) == 0
    printed = capsys.readouterr().out
    assert "--no-verify-checksums" in printed
    assert "--max-partition-bytes SIZE" in printed
    assert "Exit code: 0 if everything was decoded" in printed


@pytest.mark.parametrize(
    ("errors", "allowed", "code"),
    [({}, None, 0), ({}, 0, 0), ({"bad_crc": 2}, None, 3), ({"bad_crc": 2}, 2, 3), ({"bad_crc": 2}, 1, 1)],
)
def test_errors_determine_the_exit_code(
    errors: dict[str, int], allowed: int | None, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    accounts = Accounts(errors=errors)
    assert exit_code_of(accounts, allowed) == code
    assert capsys.readouterr().err.startswith(f"{accounts.line()}\n")


def test_an_error_that_java_passed_on_is_printed_with_its_python_message() -> None:
    through_java = (
        "An error occurred while calling o1.save.\n: org.apache.spark.SparkException: Job aborted\n"
        "kafkawire.logs.errors.LogReadError: /l/0.log at byte 0, offset 0: bad_crc: the CRC is wrong\n\n\tat java.base"
    )
    assert reason_of(through_java) == "/l/0.log at byte 0, offset 0: bad_crc: the CRC is wrong"
    assert (
        reason_of("[PATH_ALREADY_EXISTS] Path file:/o already exists.\n more")
        == "[PATH_ALREADY_EXISTS] Path file:/o already exists."
    )


def test_other_errors_are_printed_with_their_innermost_cause() -> None:
    no_folder = (
        "An error occurred while calling o44.save.\n: org.apache.spark.SparkException: Job aborted due to failure\n"
        "\tat java.base\nCaused by: java.io.IOException: Mkdirs failed to create file:/proc/nope/0\n\t... 1 more\n"
    )
    assert reason_of(no_folder) == "Mkdirs failed to create file:/proc/nope/0"
    in_python = (
        "\nAn exception was thrown from the Python worker:\nTraceback (most recent call last):\n"
        '  File "accounts.py", line 27, in write_accounts\nFileNotFoundError: [Errno 2] Cannot create directory\n'
    )
    assert reason_of(in_python) == "[Errno 2] Cannot create directory"


def test_without_java_the_error_names_what_is_missing() -> None:
    no_java = "[JAVA_GATEWAY_EXITED] Java gateway process exited before sending its port number."
    assert reason_of(no_java).startswith("Spark could not start Java: Java 17 or newer must be on the path")
