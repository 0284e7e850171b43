"""Kafka's own tools: what is said if something is missing, and what is run if nothing is."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkawire.cli.demo.kafka_tools import KafkaTools, ToolsAbsentError
from kafkawire.cli.outcome import CommandError


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the whole path; the user's cache is beside it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


def add_program(folder: Path, name: str, lines: str) -> None:
    program = folder / name
    program.write_text(f"#!/bin/sh\n{lines}\n", "utf-8")
    program.chmod(0o755)


def fetch_writes(folder: Path, class_path: str) -> None:
    """Maven writes this to the file of its last argument, as it writes the class path."""
    add_program(
        folder, "mvn", f'for last; do :; done; echo fetch >> {folder}/fetches; printf %s {class_path} > "${{last#*=}}"'
    )


@pytest.mark.usefixtures("programs")
def test_java_is_needed() -> None:
    with pytest.raises(ToolsAbsentError, match=r"^java, which is not on the path$"):
        KafkaTools.found(print)


def test_maven_is_needed_the_first_time(programs: Path) -> None:
    add_program(programs, "java", "exit 0")
    with pytest.raises(ToolsAbsentError, match=r"^mvn to fetch Kafka's tools, which is not on the path$"):
        KafkaTools.found(print)


def test_a_failure_of_maven_is_one_line(programs: Path) -> None:
    add_program(programs, "java", "exit 0")
    add_program(programs, "mvn", "echo begin; echo '[ERROR] no route to host'; echo end; exit 1")
    with pytest.raises(ToolsAbsentError) as caught:
        KafkaTools.found(print)
    assert str(caught.value) == (
        "Kafka's tools, which Maven could not fetch (mvn failed with exit code 1: [ERROR] no route to host)"
    )


def test_maven_fetches_once_and_says_so_before(programs: Path, tmp_path: Path) -> None:
    add_program(programs, "java", 'echo "$@"')
    jar = tmp_path / "kafka-tools.jar"
    jar.touch()
    fetch_writes(programs, str(jar))
    said: list[str] = []
    KafkaTools.found(said.append)
    tools = KafkaTools.found(said.append)
    assert said == ["Maven fetches Apache Kafka 4.3.1's tools, once; that can take minutes."]
    (line,) = tools.dump_metadata_log(Path("a.log"))
    assert line.endswith(f"-cp {jar} org.apache.kafka.tools.DumpLogSegments --cluster-metadata-decoder --files a.log")


def test_maven_fetches_again_if_a_jar_has_gone(programs: Path, tmp_path: Path) -> None:
    add_program(programs, "java", "exit 0")
    jar = tmp_path / "kafka-tools.jar"
    jar.touch()
    fetch_writes(programs, str(jar))
    KafkaTools.found(print)
    jar.unlink()
    KafkaTools.found(print)
    assert (programs / "fetches").read_text("utf-8") == "fetch\nfetch\n"


def test_a_tool_that_fails_is_named_with_its_error(programs: Path) -> None:
    add_program(programs, "java", "echo starting; echo 'Exception: cannot connect' >&2; exit 3")
    with pytest.raises(CommandError, match=r"^AclCommand failed with exit code 3: Exception: cannot connect$"):
        KafkaTools("some.jar").add_read_acls("localhost:9092", "alice", "orders")
