"""The releases of Apache Kafka that the definitions come from, and where their jars lie."""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.apache_kafka.prerequisites import lacking, program

REPOSITORY = Path(__file__).parents[2]
CACHE = REPOSITORY / "build" / "apache-kafka"
_PROJECT = Path(__file__).with_name("pom.xml")
_SOURCES = REPOSITORY / "specs" / "sources.toml"
_LAST_LINES = 12


def releases() -> tuple[str, ...]:
    """All releases in ``specs/sources.toml``, oldest first."""
    return tuple(release["version"] for release in tomllib.loads(_SOURCES.read_text("utf-8"))["releases"])


def newest_release() -> str:
    """The release that the newest definitions come from."""
    return releases()[-1]


def pinned_digests(release: str) -> dict[str, str]:
    """The sha256 of each jar of a release that definitions were imported from, by artifact."""
    entries = tomllib.loads(_SOURCES.read_text("utf-8"))["releases"]
    return next(dict(entry["sha256"]) for entry in entries if entry["version"] == release)


def class_path(release: str, project: Path = _PROJECT) -> tuple[Path, ...]:
    """The jars of a release and of what it needs, fetched by Maven once and remembered under ``build/``.

    Args:
        release: of Apache Kafka.
        project: the Maven project that says which jars.
    """
    digest = hashlib.sha256(project.read_bytes()).hexdigest()[:12]
    remembered = CACHE / f"{release}-{digest}.classpath"
    with one_process_at_a_time():
        if not remembered.is_file() or not all(jar.is_file() for jar in _jars_in(remembered)):
            _resolve(release, project, remembered)
    return _jars_in(remembered)


@contextmanager
def one_process_at_a_time() -> Iterator[None]:
    """Keep test processes that run side by side from making the same thing in the cache twice."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _resolve(release: str, project: Path, remembered: Path) -> None:
    written = remembered.with_suffix(".new")
    command = [program("mvn"), "-q", "-B", "-f", str(project), f"-Dkafka.release={release}"]
    command += ["dependency:build-classpath", "-Dmdep.includeScope=runtime", f"-Dmdep.outputFile={written}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        told = (done.stdout + done.stderr).strip().splitlines()[:_LAST_LINES]
        lacking(f"Maven could not fetch Apache Kafka {release}:\n" + "\n".join(told))
    written.replace(remembered)


def _jars_in(file: Path) -> tuple[Path, ...]:
    return tuple(Path(jar) for jar in file.read_text("utf-8").strip().split(os.pathsep))
