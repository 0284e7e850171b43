"""The time to list all changes between two releases of Apache Kafka.

There is no peer; the target is a time. The releases are those of ``specs/sources.toml``; Maven fetches them into the
user's cache before the measurement.
"""

from __future__ import annotations

import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

from benchmarks.results import OURS, Measurement, Target

SOURCES = Path(__file__).parents[1] / "specs" / "sources.toml"
SECONDS = 3.0


def run(rounds: int) -> Iterator[Measurement]:
    """Measure the command ``kafkawire schema diff``, with the start of the interpreter."""
    releases = [release["version"] for release in tomllib.loads(SOURCES.read_text("utf-8"))["releases"]]
    older, newer = releases[0], releases[-1]
    _compare(older, newer)
    seconds = tuple(_compare(older, newer) for _ in range(rounds))
    yield Measurement("compare", f"Apache Kafka {older} with {newer}", {OURS: seconds}, (Target(None, SECONDS),))


def _compare(older: str, newer: str) -> float:
    command = [str(Path(sys.executable).with_name("kafkawire")), "schema", "diff", f"kafka:{older}", f"kafka:{newer}"]
    begin = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin
