"""``kafkawire broker`` as a program: it prints its address, stops on signals, and reports errors."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.kafka_logs.dumps import FIXTURES

from kafkawire.admin import BlockingAdminClient
from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode

PROGRAM = "import sys; from kafkawire.cli.app import main; sys.exit(main())"


@contextmanager
def started(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The program and the first line that it prints."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "broker", "--port", "0", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("kafkawire broker listens on "), process.communicate()
            yield process, line
        finally:
            process.kill()


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize(
    ("number", "exit_code"), [(signal.SIGTERM, ExitCode.DONE), (signal.SIGINT, ExitCode.INTERRUPTED)]
)
def test_it_prints_its_address_and_stops_on_signals(tmp_path: Path, number: int, exit_code: int) -> None:
    ready, properties = tmp_path / "ready", tmp_path / "server.properties"
    properties.write_text("# for the test\nnode.id = 7\nnum.partitions=1\n")
    options = ("--data-dir", f"{tmp_path / 'data'}", "--ready-file", f"{ready}", "--properties", f"{properties}")
    with started(*options, "--config", "num.partitions=3") as (process, line):
        address = ready.read_text().strip()
        assert line == f"kafkawire broker listens on {address}\n"
        host, _, port = address.rpartition(":")
        socket.create_connection((host, int(port)), timeout=10).close()
        process.send_signal(number)
        output, errors = process.communicate(timeout=20)
    assert (process.returncode, output, errors) == (exit_code, "", "")
    assert "node.id=7\n" in (tmp_path / "data" / "meta.properties").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "server.properties"]


def test_the_use_of_quotas_is_in_a_file_while_it_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "quotas.jsonl"
    with started("--quota-metrics-file", f"{file}") as (process, _):
        assert main(["quotas", "metrics", f"{file}"]) == ExitCode.DONE
        assert capsys.readouterr().err == "no client has used a quota\n"
        process.terminate()
        assert process.wait(20) == ExitCode.DONE
    assert not list(tmp_path.iterdir())


def test_a_twin_begins_with_the_state_at_a_date(capsys: pytest.CaptureFixture[str]) -> None:
    logs = f"{FIXTURES / 'logs'}"
    with (
        started("--from-log", logs, "--as-of", "2026-11-21T08:37:00Z") as (_, line),
        BlockingAdminClient(line.split()[-1]) as admin,
    ):
        assert "late.topic" not in admin.list_topics()
    assert main(["broker", "--port", "0", "--from-log", logs, "--as-of", "2026-01-01"]) == ExitCode.FAILED
    assert "it is known from 2026-11-21T08:36:27.157+00:00 on" in capsys.readouterr().err


def test_a_ready_file_of_a_broker_that_crashed_is_removed_at_the_start(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    with started("--ready-file", f"{ready}") as (process, line):
        process.kill()
        process.wait(20)
    assert ready.read_text() in line, "a killed broker cannot remove it"
    with socket.create_server(("127.0.0.1", 0)) as other:
        assert main(["broker", "--port", f"{other.getsockname()[1]}", "--ready-file", f"{ready}"]) == ExitCode.FAILED
    assert not ready.exists()


def test_the_ready_file_of_another_broker_stays(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    with started("--ready-file", f"{ready}") as (first, _), started("--ready-file", f"{ready}") as (_, line):
        first.terminate()
        assert first.wait(20) == 0
        assert f"kafkawire broker listens on {ready.read_text()}" == line


def test_the_folder_of_the_ready_file_must_be_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["broker", "--port", "0", "--ready-file", f"{tmp_path / 'no' / 'ready'}"]) == ExitCode.USAGE
    assert (
        capsys.readouterr().err == f"kafkawire: --ready-file: there is no folder {tmp_path / 'no'}; create it first\n"
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Invalid properties files in the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("wrong.properties").write_text("a=\\u12\n")
    Path("binary.properties").write_bytes(b"\xff")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "exit_code", "message"),
    [
        (["--config", "num.partitions"], ExitCode.USAGE, "--config num.partitions: write it as NAME=VALUE"),
        (["--config", "=1"], ExitCode.USAGE, "--config : write it as NAME=VALUE"),
        (["--config", "num.partitions=x"], ExitCode.USAGE, "Invalid value x for configuration num.partitions"),
        (["--properties", "no-such-file"], ExitCode.USAGE, "no-such-file: No such file or directory"),
        (["--properties", "wrong.properties"], ExitCode.USAGE, "wrong.properties: the value of a has \\u without"),
        (["--properties", "binary.properties"], ExitCode.USAGE, "binary.properties: it is not UTF-8"),
        (["--data-dir", "wrong.properties"], ExitCode.USAGE, "--data-dir: wrong.properties is not a directory"),
        (["--properties", "folder"], ExitCode.USAGE, "folder: Is a directory"),
        (["--quota-metrics-file", "no/file"], ExitCode.USAGE, "--quota-metrics-file: there is no folder no; create"),
        (["--as-of", "2026-03-01"], ExitCode.USAGE, "--as-of is the time of a state in a log; add --from-log DIR"),
        (["--from-log", "folder", "--as-of", "x"], ExitCode.USAGE, "--as-of: 'x' is not a time such as 2026-03-01"),
        (["--from-log", "nowhere"], ExitCode.USAGE, "--from-log: nowhere is not a directory"),
        (["--from-log", "folder"], ExitCode.FAILED, "folder: it has no metadata log; give the data directory"),
        (["--host", "nosuch.invalid"], ExitCode.USAGE, "--host: 'nosuch.invalid' cannot be resolved: "),
        (["--port", "70000"], ExitCode.USAGE, "65535"),
    ],
)
def test_errors_are_printed(
    capsys: pytest.CaptureFixture[str], arguments: list[str], exit_code: int, message: str
) -> None:
    assert main(["broker", "--port", "0", *arguments]) == exit_code
    assert message in capsys.readouterr().err


def test_a_port_that_is_taken_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert main(["broker", "--port", f"{port}"]) == ExitCode.FAILED
    errors = capsys.readouterr().err
    assert f"Address already in use (while attempting to bind on address ('127.0.0.1', {port}))" in errors
    assert "--port 0 a free port" in errors


def test_a_directory_that_another_broker_has_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with started("--data-dir", f"{tmp_path}"):
        assert main(["broker", "--port", "0", "--data-dir", f"{tmp_path}"]) == ExitCode.FAILED
    assert f"{tmp_path}: another broker uses the directory (.lock is locked); stop it" in capsys.readouterr().err


def test_a_damaged_log_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with started("--data-dir", f"{tmp_path}") as (process, _):
        process.terminate()
        process.wait(20)
    (segment,) = (tmp_path / "__cluster_metadata-0").glob("*.log")
    content = bytearray(segment.read_bytes())
    content[40] ^= 1
    segment.write_bytes(content)
    assert main(["broker", "--port", "0", "--data-dir", f"{tmp_path}"]) == ExitCode.FAILED
    assert f"{segment}: damaged at byte 0, where offset 0 should be" in capsys.readouterr().err
