"""The benchmarks run, and judge what they measured. Their figures are not looked at here: see ``make bench``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.chart import speed_up_chart
from benchmarks.peers import missing_peers
from benchmarks.report import page
from benchmarks.results import KAFKA_PYTHON, KIO, OURS, Measurement, Target
from benchmarks.sampling import Effort, interleave

ROOT = Path(__file__).parents[2]

TWICE_KIO = Measurement(
    "decode",
    "SomeResponse 1: one thing",
    {OURS: (1.0, 2.0, 3.0), KIO: (2.0, 4.0, 6.0), KAFKA_PYTHON: (4.0, 8.0, 12.0)},
    (Target(KIO, 2), Target(KAFKA_PYTHON, 5), Target(None, 2.5)),
)


@pytest.mark.skipif(
    bool(missing_peers()), reason=f"{' and '.join(missing_peers())} not installed; `make bench` does it"
)
def test_the_three_libraries_agree_and_are_measured() -> None:
    command = [sys.executable, "-m", "benchmarks", "codec", "records", "import", "--trial", "--rounds", "1"]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    rows = [line for line in finished.stdout.splitlines() if line.startswith("| ") and "---" not in line]
    assert sum("Response 12" in row for row in rows) == 6


def test_speed_ups_are_taken_round_by_round() -> None:
    assert TWICE_KIO.speed_up(KIO).median == 2
    assert TWICE_KIO.speed_up(KAFKA_PYTHON).low == 4


def test_a_missed_target_is_named() -> None:
    assert TWICE_KIO.missed() == [Target(KAFKA_PYTHON, 5)]


def test_contenders_take_turns() -> None:
    turns: list[str] = []
    contenders = {name: lambda name=name: turns.append(name) for name in (OURS, KIO)}
    seconds = interleave(contenders, Effort(rounds=3, slice_seconds=0, slice_calls=1))
    assert turns[-6:] == [OURS, KIO] * 3
    assert [len(seconds[name]) for name in (OURS, KIO)] == [3, 3]


def test_the_page_states_times_ratios_and_verdicts() -> None:
    text = page([TWICE_KIO], [("Processor", "a fast one")], [("decode.svg", "Time to decode")])
    assert "| SomeResponse 1: one thing | 2 s | 4 s | 8 s | **2** (2 to 2) | **4** (4 to 4) |" in text
    assert "✓ 2 x kio, ✗ 5 x kafka-python, ✓ at most 2.5 s" in text


def test_the_picture_has_a_dot_for_each_library() -> None:
    picture = speed_up_chart("Time to decode", [TWICE_KIO])
    for contender in (OURS, KIO, KAFKA_PYTHON):
        assert picture.count(f'<circle class="{contender}"') == 2  # one in the row, one in the legend
