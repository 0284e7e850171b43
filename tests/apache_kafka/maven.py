"""Jars that Maven fetches once, for all test processes."""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from tests.apache_kafka.prerequisites import program

CACHE = Path(__file__).parents[2] / "build" / "apache-kafka"
_FIRST_LINES = 12


class NotFetchedError(Exception):
    """Maven could not fetch the jars; the message is what it printed."""


def fetched_jars(project: Path, properties: tuple[str, ...], name: str) -> tuple[Path, ...]:
    """The jars that a Maven project names and what they need, remembered under ``build/``.

    Args:
        project: the project.
        properties: of the project, and options of ``dependency:build-classpath``: ``-Dname=value``.
        name: begins the name of the file that remembers them.

    Raises:
        NotFetchedError: Maven could not fetch them.
    """
    digest = hashlib.sha256(project.read_bytes() + "".join(properties).encode()).hexdigest()[:12]
    remembered = CACHE / f"{name}-{digest}.classpath"
    with one_process_at_a_time():
        if not remembered.is_file() or not all(jar.is_file() for jar in _jars_in(remembered)):
            problem = _resolve(project, properties, remembered)
            if problem:
                raise NotFetchedError(problem)
    return _jars_in(remembered)


@contextmanager
def one_process_at_a_time() -> Iterator[None]:
    """Keep test processes that run side by side from making the same thing in the cache twice."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@cache
def _resolve(project: Path, properties: tuple[str, ...], remembered: Path) -> str:
    """Have Maven find the jars, once in a session; why it could not, or nothing."""
    written = remembered.with_suffix(".new")
    command = [program("mvn"), "-q", "-B", "-f", str(project), *properties]
    command += ["dependency:build-classpath", "-Dmdep.includeScope=runtime", f"-Dmdep.outputFile={written}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return "\n".join((done.stdout + done.stderr).strip().splitlines()[:_FIRST_LINES])
    written.replace(remembered)
    return ""


def _jars_in(file: Path) -> tuple[Path, ...]:
    return tuple(Path(jar) for jar in file.read_text("utf-8").strip().split(os.pathsep))
