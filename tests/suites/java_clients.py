"""The integration tests of Apache Kafka's Java clients: their jars, and our classes that start clusters for them."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.apache_kafka.maven import CACHE, fetched_jars, one_process_at_a_time
from tests.apache_kafka.prerequisites import program

RELEASE: Final = "4.3.1"
"""The release of Apache Kafka whose tests run."""

_SOURCES: Final = Path(__file__).parent / "packages" / "java_clients"


def class_path() -> str:
    """The class path of the tests; our classes come first."""
    jars = fetched_jars(_SOURCES / "pom.xml", (f"-Dkafka.release={RELEASE}",), "java-clients")
    return os.pathsep.join(map(str, (_compiled(jars), *jars)))


def _compiled(jars: Sequence[Path]) -> Path:
    """The folder with our classes; compiled again when they or the jars have changed."""
    files = sorted(path for path in _SOURCES.rglob("*") if path.is_file())
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files))
    digest.update("".join(map(str, jars)).encode())
    target = CACHE / f"java-clients-{digest.hexdigest()[:12]}"
    with one_process_at_a_time():
        if not target.is_dir():
            _compile(jars, target)
    return target


def _compile(jars: Sequence[Path], target: Path) -> None:
    sources = [str(path) for path in sorted(_SOURCES.glob("*.java"))]
    with tempfile.TemporaryDirectory(dir=target.parent) as work:
        classes = Path(work) / "classes"
        shutil.copytree(_SOURCES, classes, ignore=shutil.ignore_patterns("*.java", "pom.xml"))
        options = ["-Xlint:all,-processing,-classfile", "-proc:none", "-d", str(classes)]
        subprocess.run([program("javac"), *options, "-cp", os.pathsep.join(map(str, jars)), *sources], check=True)
        classes.rename(target)
