"""What ``kafkawire demo`` prints in 80 columns on a machine without Java; its printed commands work afterwards.

``pytest tests/golden --update-golden`` writes the expected text again; read the difference before committing it.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

pytestmark = pytest.mark.extended

EXPECTED: Final = Path(__file__).parent / "demo" / "expected.txt"
BIN: Final = Path(sys.executable).parent
VOLATILE: Final = (
    (r"/tmp/kafkawire-demo-\w{8}", "FOLDER"),  # noqa: S108
    (r"127\.0\.0\.1:\d+", "ADDRESS"),
    (r"kill -9 \d+", "kill -9 PROCESS"),
    (r"20\d\d-\d\d-\d\dT[\d:.]+Z", "DATE"),
    (r"\b\d\d:\d\d:\d\d\.\d{3}", "TIME"),
    (r"[\d,]+ (messages in|versions with|fields became|lines of typed)", r"NUMBER \1"),
    (r"\b\d+ kB", "SIZE kB"),
    (r"\b\d+\.\d+ s\b", "SECONDS s"),
    (r"\b\d+\.\d\d +[\d,]+ *$", "SECONDS RATE"),
    (r" +$", ""),
    (r"─+", "─"),
)
"""What differs from run to run, or from one release of Kafka to the next."""
TIMED: Final = re.compile(r"^(?:call|create_acls|alter_client_quotas) .*", re.MULTILINE)
"""Rows whose columns are as wide as their volatile numbers."""


class Shown(NamedTuple):
    """A run: its output, and its folder."""

    text: str
    folder: Path


@pytest.fixture(scope="module")
def shown() -> Iterator[Shown]:
    """One run for all tests. Its folder has a name of the length that the default folder has."""
    folder = Path(tempfile.mkdtemp(prefix="kafkawire-demo-", dir="/tmp"))
    try:
        ran = subprocess.run(
            [BIN / "kafkawire", "demo", "--out", folder], env=environment(), capture_output=True, text=True, check=False
        )
        assert (ran.stderr, ran.returncode) == ("", 0)
        yield Shown(ran.stdout, folder)
    finally:
        shutil.rmtree(folder)


def environment() -> dict[str, str]:
    """No Java on the path, and 80 columns."""
    kept = {name: value for name, value in os.environ.items() if name not in {"FORCE_COLOR", "COLUMNS"}}
    return kept | {"PATH": str(BIN), "COLUMNS": "80"}


def test_output_reads_as_expected(shown: Shown, update_golden: bool) -> None:
    text = shown.text
    for pattern, mark in VOLATILE:
        text = re.sub(pattern, mark, text, flags=re.MULTILINE)
    text = TIMED.sub(lambda row: re.sub(" {2,}", "  ", row[0]), text)
    if update_golden:
        EXPECTED.parent.mkdir(exist_ok=True)
        EXPECTED.write_text(text, encoding="utf-8")
    assert text == EXPECTED.read_text(encoding="utf-8")


def test_nothing_is_cut_and_no_colour_is_used_without_a_terminal(shown: Shown) -> None:
    assert "\x1b" not in shown.text
    assert "…" not in shown.text
    assert [line for line in shown.text.splitlines() if len(line) > 80] == []


def test_a_chapter_fits_on_a_screen(shown: Shown) -> None:
    chapters = re.split(r"^\d\. .*─$", shown.text, flags=re.MULTILINE)[1:]
    assert len(chapters) == 7
    assert max(len(chapter.strip().splitlines()) for chapter in chapters[:-1]) <= 26


def test_the_last_line_is_the_path_of_the_report(shown: Shown) -> None:
    page = Path(shown.text.splitlines()[-1])
    assert page == shown.folder / "report.html"
    assert page.read_text("utf-8").startswith("<!doctype html>")


def test_every_printed_command_works_afterwards(shown: Shown) -> None:
    commands = re.findall(r"^    (kafkawire (?:.*\\\n)*.*)", shown.text, flags=re.MULTILINE)
    assert [command.split()[1] for command in commands] == [
        *("generate", "codec", "tables", "report", "broker", "tables", "report")
    ]
    outputs = [output_of(command) for command in commands]
    generated, decoded, configs, _, broker, _, _ = outputs
    assert "is up to date" in generated
    assert '"name": "orders"' in decoded
    assert "604800000" in configs
    assert "86400000" not in configs
    assert "listens on 127.0.0.1:" in broker
    assert (shown.folder / "acls.csv").read_text("utf-8").count("\n") == 2_013
    assert (shown.folder / "report-then.html").is_file()


def output_of(command: str) -> str:
    """What a command prints; one that runs until it is interrupted is interrupted after its first line."""
    with subprocess.Popen(
        ["/bin/sh", "-c", command], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        if " broker " in command:
            first = process.stdout.readline()
            os.killpg(process.pid, signal.SIGINT)
            assert process.wait() in {130, -signal.SIGINT}
            return first
        output = process.stdout.read()
        assert process.wait() == 0, output
    return output
