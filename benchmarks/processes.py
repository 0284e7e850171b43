"""Time statements in new processes, in turn: the cost in a program that has just been started."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

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
    # A program that ran before has its byte code on disk.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment).stdout
