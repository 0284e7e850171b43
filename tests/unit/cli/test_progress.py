"""The progress bar: on a terminal only, and never on a line with rows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals")

METADATA = Path(__file__).parents[2] / "fixtures" / "kafka-4.3.1" / "logs" / "__cluster_metadata-0"
PROGRAM = [str(Path(sys.executable).with_name("kafkawire"))]
READ = ["tables", "--log", str(METADATA), "--table", "records", "--format", "jsonl"]
BAR = "━"


def shown(words: list[str], output: int) -> str:
    """What a run shows on the terminal that is its standard error."""
    outside, inside = pty.openpty()
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=inside) as process:
        os.close(inside)
        printed = b""
        try:
            while piece := os.read(outside, 65536):
                printed += piece
        except OSError:  # the end of a terminal
            pass
        os.close(outside)
        process.wait()
    return printed.decode()


def test_a_bar_is_drawn_if_the_rows_go_to_a_file(tmp_path: Path) -> None:
    assert BAR in shown([*PROGRAM, *READ, "--out", str(tmp_path / "rows.json")], subprocess.DEVNULL)


def test_none_is_drawn_if_the_rows_go_to_a_pipe() -> None:
    reading, writing = os.pipe()
    with subprocess.Popen(["cat"], stdin=reading, stdout=subprocess.DEVNULL) as reader:
        os.close(reading)
        printed = shown([*PROGRAM, *READ], writing)
        os.close(writing)
        reader.wait()
    assert BAR not in printed
    assert printed.startswith("bytes read "), "only the accounts"


def test_rows_of_a_pipeline_have_their_lines_for_themselves() -> None:
    printed = shown(["bash", "-c", f"{PROGRAM[0]} {' '.join(READ)} | head -3 >&2"], subprocess.DEVNULL)
    assert [line[0] for line in printed.splitlines()[:3]] == ["{"] * 3
    assert BAR not in printed
