"""The time to generate the whole protocol: into an empty folder, and again with nothing changed.

There is no peer; the targets are times.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.results import OURS, Measurement, Target

SPECS = Path(__file__).parents[1] / "specs"
FROM_NOTHING_SECONDS = 30.0
UNCHANGED_SECONDS = 2.0


def run(rounds: int) -> Iterator[Measurement]:
    """Measure the command ``kafkawire generate``, with the start of the interpreter."""
    from_nothing = []
    unchanged = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            from_nothing.append(_generate(Path(folder)))
            unchanged.append(_generate(Path(folder)))
    title = f"{sum(1 for _ in SPECS.rglob('*.json'))} definitions"
    yield Measurement(
        "generate", f"{title}, from nothing", {OURS: tuple(from_nothing)}, (Target(None, FROM_NOTHING_SECONDS),)
    )
    yield Measurement("generate", f"{title}, unchanged", {OURS: tuple(unchanged)}, (Target(None, UNCHANGED_SECONDS),))


def _generate(folder: Path) -> float:
    command = [
        str(Path(sys.executable).with_name("kafkawire")),
        "generate",
        "--specs",
        str(SPECS),
        "--out",
        str(folder),
    ]
    begin = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin
