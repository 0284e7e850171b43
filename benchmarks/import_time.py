"""What it costs a program that has just been started to import one message and use it.

Each sample is a Python process of its own, so nothing is warm but the operating system's file cache and the byte code.
The process takes the time itself: the start of the interpreter, the same for all, is left out.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping

from benchmarks.payloads import metadata_response
from benchmarks.peers import kafka_python_module, kio_module
from benchmarks.results import KAFKA_PYTHON, KIO, OURS, Measurement, Target

MESSAGE = "MetadataResponse"
VERSION = 12

IMPORTS: Mapping[str, str] = {
    OURS: f"from kafkawire.protocol import {MESSAGE}",
    KIO: f"from {kio_module(MESSAGE, VERSION)} import {MESSAGE}\nfrom kio.serial import entity_reader",
    KAFKA_PYTHON: f"from {kafka_python_module(MESSAGE)} import {MESSAGE}",
}
FIRST_USES: Mapping[str, str] = {
    OURS: f"{MESSAGE}.decode(buffer, {VERSION})",
    KIO: f"entity_reader({MESSAGE})(buffer, 0)",
    KAFKA_PYTHON: f"{MESSAGE}.decode(buffer, version={VERSION})",
}
PROGRAM = """
import sys, time
buffer = bytes.fromhex(sys.argv[1])
begin = time.perf_counter()
{body}
print(time.perf_counter() - begin)
"""


def run(rounds: int) -> Iterator[Measurement]:
    """Measure the import alone, and the import with the first decoding."""
    targets = (Target(KIO, 3),)
    bodies = {name: f"{IMPORTS[name]}\n{FIRST_USES[name]}" for name in IMPORTS}
    yield Measurement("import", f"{MESSAGE}", _interleave(IMPORTS, rounds), targets)
    yield Measurement("import", f"{MESSAGE}, and decode one of version {VERSION}", _interleave(bodies, rounds), targets)


def _interleave(bodies: Mapping[str, str], rounds: int) -> dict[str, tuple[float, ...]]:
    buffer = metadata_response(3, 2).encode(VERSION)
    programs = {name: PROGRAM.format(body=body) for name, body in bodies.items()}
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    for round_number in range(rounds + 1):
        for name, program in programs.items():
            taken = _run_process(program, buffer)
            if round_number > 0:
                seconds[name].append(taken)
    return {name: tuple(values) for name, values in seconds.items()}


def _run_process(program: str, buffer: bytes) -> float:
    command = [sys.executable, "-c", program, buffer.hex()]
    # Whoever starts a program a second time has its byte code.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    finished = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return float(finished.stdout)
