"""Time statements in new processes, in turn: the cost in a program that has just been started."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryFile
from types import MappingProxyType
from typing import NamedTuple

KAFKAWIRE = os.fspath(Path(sys.executable).with_name("kafkawire"))
"""The command."""

_BETWEEN_READINGS = 0.01
"""Seconds."""


class Ended(NamedTuple):
    """A process that has ended.

    Attributes:
        seconds: from its start to its end.
        peak: the most memory that it had, in bytes; 0 if it was not read.
        output: what it printed.
    """

    seconds: float
    peak: int
    output: str


_PROGRAM = """
import sys, time
{before}
begin = time.perf_counter()
{body}
print(time.perf_counter() - begin)
"""


def interleave_processes(
    bodies: Mapping[str, str], rounds: int, *, before: str = "", argument: str = ""
) -> dict[str, tuple[float, ...]]:
    """Seconds that statements take, for each round and contender (A B C A B C ...), after a round that does not count.

    Only the operating system's file cache and the byte code are warm. The process takes the time itself, so the start
    of the interpreter, which is the same for all, does not count.

    Args:
        bodies: the statements of each contender.
        rounds: number of processes of each contender that count.
        before: statements that are not timed.
        argument: ``sys.argv[1]`` of each process.
    """
    programs = {name: _PROGRAM.format(before=before, body=body) for name, body in bodies.items()}
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    for round_number in range(rounds + 1):
        for name, program in programs.items():
            taken = float(run_process(program, argument))
            if round_number > 0:
                seconds[name].append(taken)
    return {name: tuple(values) for name, values in seconds.items()}


def run_process(program: str, *arguments: str) -> str:
    """The output of a Python program.

    Raises:
        subprocess.CalledProcessError: if it fails.
    """
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=warm_environment()).stdout


def warm_environment() -> dict[str, str]:
    """The environment in which Python keeps byte code: a program that ran before has it on disk."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def peak_memory(process: int | str = "self") -> int:
    """The most memory that a running process had since its program was started, in bytes; 0 after its end.

    The system's figure for a process that has ended is at least the memory of the process that started it.
    """
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    values = dict(line.split(":", 1) for line in status.splitlines())
    return int(values["VmHWM"].split()[0]) * 1024 if "VmHWM" in values else 0


def whole_process(
    words: Sequence[str],
    environment: Mapping[str, str] = MappingProxyType({}),
    *,
    exit_code: int = 0,
    memory: bool = False,
) -> Ended:
    """Run a program, and measure it from outside.

    Args:
        words: the program and its arguments.
        environment: further variables.
        exit_code: the one that it must end with.
        memory: whether its memory is read too, all the time while it runs.

    Raises:
        subprocess.CalledProcessError: it ends with another exit code.
    """
    with TemporaryFile("w+", encoding="utf-8") as output, TemporaryFile("w+", encoding="utf-8") as errors:
        begin = time.perf_counter()
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, env={**warm_environment(), **environment}
        )
        with ThreadPoolExecutor(1) as other_thread:
            peak = other_thread.submit(_watched_peak, process.pid) if memory else None
            process.wait()
            seconds = time.perf_counter() - begin
        output.seek(0)
        errors.seek(0)
        if process.returncode != exit_code:
            raise subprocess.CalledProcessError(process.returncode, words, output.read(), errors.read())
        return Ended(seconds, 0 if peak is None else peak.result(), output.read())


def _watched_peak(process: int) -> int:
    """The most memory of a process until it ends, as of a moment before its end."""
    peak = now = peak_memory(process)
    while now:
        peak = now
        time.sleep(_BETWEEN_READINGS)
        now = peak_memory(process)
    return peak
