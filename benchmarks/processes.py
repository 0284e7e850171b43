"""Timing statements in processes of their own, in turn: what a program pays that has just been started."""

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

    Nothing is warm but the operating system's file cache and the byte code. The process takes the time itself: the
    start of the interpreter, the same for all, is left out.

    Args:
        bodies: contender to its statements.
        rounds: how many processes of each count.
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
    """What a Python program prints.

    Raises:
        subprocess.CalledProcessError: if it fails.
    """
    # Whoever starts a program a second time has its byte code.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment).stdout
