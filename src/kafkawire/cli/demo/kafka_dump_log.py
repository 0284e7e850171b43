"""Apache Kafka's own kafka-dump-log, if this machine has Java and Maven."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

_RELEASE: Final = "4.3.1"
_SECONDS: Final = 600
_PROJECT: Final = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>kafkawire</groupId><artifactId>kafka-dump-log</artifactId><version>0</version><packaging>pom</packaging>
  <dependencies><dependency>
    <groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>{_RELEASE}</version>
    <exclusions>
      <exclusion><groupId>org.apache.kafka</groupId><artifactId>connect-runtime</artifactId></exclusion>
      <exclusion><groupId>org.rocksdb</groupId><artifactId>rocksdbjni</artifactId></exclusion>
    </exclusions>
  </dependency></dependencies>
</project>
"""


class KafkaToolError(Exception):
    """Kafka's tool could not be fetched, or failed; the message says why."""


def missing_program() -> str | None:
    """The first needed program that is not on the path; None if none is missing."""
    return next((program for program in ("java", "mvn") if shutil.which(program) is None), None)


def dump_metadata_log(segment: Path) -> list[str]:
    """The lines that kafka-dump-log prints for a segment of ``__cluster_metadata``.

    The first call fetches Kafka with Maven; its class path is stored in the user's cache.

    Raises:
        KafkaToolError: Maven or the tool failed.
    """
    arguments = ["--cluster-metadata-decoder", "--files", str(segment)]
    command = ["java", "-XX:TieredStopAtLevel=1", "-cp", _class_path(), "org.apache.kafka.tools.DumpLogSegments"]
    return _run([*command, *arguments]).splitlines()


def _class_path() -> str:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kafkawire"
    remembered = cache / f"kafka-tools-{_RELEASE}.classpath"
    if remembered.is_file():
        class_path = remembered.read_text("utf-8")
        if all(Path(jar).is_file() for jar in class_path.split(os.pathsep)):
            return class_path
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="new-", dir=cache) as scratch:
        project, written = Path(scratch) / "pom.xml", Path(scratch) / "classpath"
        project.write_text(_PROJECT, "utf-8")
        _run(["mvn", "-q", "-B", "-f", str(project), "dependency:build-classpath", f"-Dmdep.outputFile={written}"])
        written.replace(remembered)
    return remembered.read_text("utf-8")


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise KafkaToolError(f"{command[0]}: {error}") from error
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise KafkaToolError("\n".join([f"{command[0]} failed:", *lines[:5]]))
    return done.stdout
