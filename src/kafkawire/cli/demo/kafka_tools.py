"""Apache Kafka's own command-line tools, if this machine has Java, and Maven has fetched them or can."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from kafkawire.cli.outcome import CommandError

_RELEASE: Final = "4.3.1"
_SECONDS: Final = 60
_FAULT: Final = re.compile("error|exception", re.IGNORECASE)
_SECONDS_TO_FETCH: Final = 300
_PROJECT: Final = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>kafkawire</groupId><artifactId>kafka-tools</artifactId><version>0</version><packaging>pom</packaging>
  <dependencies><dependency>
    <groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>{_RELEASE}</version>
    <exclusions>
      <exclusion><groupId>org.apache.kafka</groupId><artifactId>connect-runtime</artifactId></exclusion>
      <exclusion><groupId>org.rocksdb</groupId><artifactId>rocksdbjni</artifactId></exclusion>
    </exclusions>
  </dependency></dependencies>
</project>
"""


class ToolsAbsentError(Exception):
    """This machine does not have what the tools need; the message says what, after "it needs"."""


class KafkaTools:
    """The tools, on a class path."""

    def __init__(self, class_path: str) -> None:
        self._class_path = class_path

    @classmethod
    def found(cls, say: Callable[[str], None]) -> KafkaTools:
        """The tools; the first call on a machine fetches them with Maven into the user's cache.

        Args:
            say: is called with a sentence before something is fetched, which takes time.

        Raises:
            ToolsAbsentError: there is no Java, or the tools are not there and Maven is missing or fails.
        """
        if shutil.which("java") is None:
            raise ToolsAbsentError("java, which is not on the path")
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kafkawire"
        remembered = cache / f"kafka-tools-{_RELEASE}.classpath"
        if not _is_complete(remembered):
            if shutil.which("mvn") is None:
                raise ToolsAbsentError("mvn to fetch Kafka's tools, which is not on the path")
            say(f"Maven fetches Apache Kafka {_RELEASE}'s tools, once; that can take minutes.")
            try:
                _fetch(cache, remembered)
            except (CommandError, OSError) as error:
                raise ToolsAbsentError(f"Kafka's tools, which Maven could not fetch ({error})") from None
        return cls(remembered.read_text("utf-8"))

    def add_read_acls(self, bootstrap_servers: str, user: str, topic: str) -> None:
        """Let a user read a topic in a group of the same name, with one call of ``kafka-acls``.

        Raises:
            CommandError: it failed.
        """
        who = ("--add", "--allow-principal", f"User:{user}", "--operation", "Read", "--topic", topic, "--group", user)
        self._run("AclCommand", "--bootstrap-server", bootstrap_servers, *who)

    def dump_metadata_log(self, segment: Path) -> list[str]:
        """The lines that ``kafka-dump-log`` prints for a segment of ``__cluster_metadata``.

        Raises:
            CommandError: it failed.
        """
        return self._run("DumpLogSegments", "--cluster-metadata-decoder", "--files", str(segment)).splitlines()

    def _run(self, tool: str, *arguments: str) -> str:
        # The compiler that starts fast is the right one for a program that ends in a second.
        java = ("java", "-XX:TieredStopAtLevel=1", "-cp", self._class_path, f"org.apache.kafka.tools.{tool}")
        return _output([*java, *arguments], tool, _SECONDS)


def _is_complete(remembered: Path) -> bool:
    return remembered.is_file() and all(Path(jar).is_file() for jar in remembered.read_text("utf-8").split(os.pathsep))


def _fetch(cache: Path, remembered: Path) -> None:
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="new-", dir=cache) as scratch:
        project, written = Path(scratch) / "pom.xml", Path(scratch) / "classpath"
        project.write_text(_PROJECT, "utf-8")
        command = ["mvn", "-q", "-B", "-f", str(project), "dependency:build-classpath", f"-Dmdep.outputFile={written}"]
        _output(command, "mvn", _SECONDS_TO_FETCH)
        written.replace(remembered)


def _output(command: list[str], name: str, seconds: int) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        raise CommandError(f"{name} did not end within {seconds} s") from None
    if done.returncode:
        lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        wrong = next((line for line in lines if _FAULT.search(line)), "it does not say why")
        raise CommandError(f"{name} failed with exit code {done.returncode}: {wrong}")
    return done.stdout
