"""The command line reads both sides of a comparison; a missing side is exit code 2."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.made.release_jars import Json, field, install_maven, message, write_jar

from kafkawire.cli.app import main
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.schema.sides import load_sides


def write(folder: Path, definition: Json) -> None:
    folder.mkdir()
    (folder / f"{definition['name']}.json").write_text(json.dumps(definition))


@pytest.fixture(autouse=True)
def _folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "old", message("A", "0", [field("Name", "string", "0+")]))
    write(tmp_path / "new", message("A", "0-1", [field("Name", "string", "0+")]))
    write(tmp_path / "broken", message("A", "0+", []))
    write(tmp_path / "doubtful", message("A", "0", [], deprecatedVersions="2-1"))


def test_both_sides_are_read_in_their_order(capfd: pytest.CaptureFixture[str]) -> None:
    old, new = load_sides("old", "new")

    assert (old.name, new.name) == ("old", "new")
    assert (str(old.messages["A"].valid_versions), str(new.messages["A"].valid_versions)) == ("0", "0-1")
    assert capfd.readouterr() == ("", "")


def test_warnings_do_not_stop_a_comparison(capfd: pytest.CaptureFixture[str]) -> None:
    assert len(load_sides("doubtful", "new")[0].findings) == 1
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("sides", [("broken", "new"), ("old", "broken")])
def test_definitions_with_errors_are_shown_as_lint_shows_them(
    capfd: pytest.CaptureFixture[str], sides: tuple[str, str]
) -> None:
    with pytest.raises(CommandError) as failed:
        load_sides(*sides)

    assert failed.value.exit_code is ExitCode.USAGE
    assert failed.value.message.startswith("broken cannot be compared: its definitions have the errors above")
    printed = capfd.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("broken/A.json:1:48: error[message-max-version-required]: ")


@pytest.mark.parametrize("sides", [("missing", "new"), ("old", "missing")])
def test_a_missing_side_is_wrong_usage(sides: tuple[str, str]) -> None:
    with pytest.raises(CommandError, match="there is no file or folder 'missing'") as failed:
        load_sides(*sides)

    assert failed.value.exit_code is ExitCode.USAGE


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_a_terminal_shows_slow_steps(tmp_path: Path) -> None:
    """On a real pseudo-terminal, since the messages depend on it; none of them reaches standard output."""
    install_maven(tmp_path / "bin", tmp_path / "jars")
    write_jar(tmp_path / "jars" / "3.0.0" / "kafka-clients.jar", "common/message", [message("A", "0", [])])
    script = 'from kafkawire.cli.schema.sides import load_sides; print(load_sides("kafka:3.0.0", "old")[0].name)'
    environment = os.environ | {"PATH": str(tmp_path / "bin"), "XDG_CACHE_HOME": str(tmp_path), "TERM": "xterm"}
    master, terminal = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=terminal
    ) as process:
        os.close(terminal)
        received = read_all(master)
        printed = process.communicate()[0]

    assert (process.returncode, printed) == (0, b"kafka:3.0.0\n")
    assert b"fetching Apache Kafka 3.0.0 with Maven" in received


RELEASES = {"98.0.0": ("kafka-clients", "kafka-streams"), "99.0.0": ("kafka-clients",)}


@pytest.fixture
def releases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two releases of Kafka; the second has only one jar."""
    install_maven(tmp_path / "bin", tmp_path / "jars")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for version, artifacts in RELEASES.items():
        for artifact in artifacts:
            definition = message(artifact.title().replace("-", ""), "0", [field("Name", "string", "0+")])
            write_jar(tmp_path / "jars" / version / f"{artifact}.jar", "common/message", [definition])


STREAMS_ARE_MISSING = (
    "kafkawire: warning: kafka:99.0.0 has no org.apache.kafka:kafka-streams:99.0.0: Maven does not have this jar, "
    "so 1 message is not compared: KafkaStreams"
)


@pytest.mark.usefixtures("releases")
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("command", ["check", "diff"])
def test_definitions_of_an_unpublished_jar_are_not_compared(
    capsys: pytest.CaptureFixture[str], command: str, turned: bool
) -> None:
    sides = ["kafka:98.0.0", "kafka:99.0.0"]
    if turned:
        sides.reverse()
    for _ in range(2):
        assert main(["schema", command, *sides, "--format", "json"]) == ExitCode.DONE
        shown = capsys.readouterr()
        assert STREAMS_ARE_MISSING in shown.err.splitlines()
        received = json.loads(shown.out)
        assert received["findings" if command == "check" else "messages"] == []
        assert [one for one in received["missing"] if one["messages"]] == [
            {"side": "kafka:99.0.0", "jar": "org.apache.kafka:kafka-streams:99.0.0", "messages": ["KafkaStreams"]}
        ]


@pytest.mark.usefixtures("releases")
@pytest.mark.parametrize("command", ["check", "diff"])
def test_a_comment_on_a_change_names_missing_jars(capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert main(["schema", command, "kafka:98.0.0", "kafka:99.0.0", "--format", "markdown"]) == ExitCode.DONE
    assert "kafka-streams:99.0.0: Maven does not have this jar" in capsys.readouterr().out


def read_all(terminal: int) -> bytes:
    """Read until the other end is closed, which Linux reports as an error."""
    received = b""
    try:
        while read := os.read(terminal, 4096):
            received += read
    except OSError as error:
        if error.errno != errno.EIO:
            raise
    finally:
        os.close(terminal)
    return received
