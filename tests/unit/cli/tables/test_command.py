"""``kafkawire tables`` on the logs of a real cluster: formats, options, accounts, exit codes and errors."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow.parquet
import pytest
from tests.made.packages import field, message, write_definitions
from tests.made.segments import batches_of, write_segment

from kafkawire.cli.app import main
from kafkawire.cli.tables.formats import Format
from kafkawire.logs import table_names

LOGS = Path(__file__).parents[3] / "fixtures" / "kafka-4.3.1" / "logs"
METADATA = LOGS / "__cluster_metadata-0"
FIRST_SEGMENT = METADATA / "00000000000000000000.log"


def tables(*words: str | Path) -> int:
    return main(["tables", *map(str, words)])


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """The first segment with a flipped bit in its second batch."""
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    content = bytearray(FIRST_SEGMENT.read_bytes())
    second = 12 + int.from_bytes(content[8:12], "big")
    content[second + 70] ^= 1
    (folder / FIRST_SEGMENT.name).write_bytes(content)
    return folder


def test_json_has_one_object_per_acl(capsys: pytest.CaptureFixture[str]) -> None:
    assert tables("--log", LOGS, "--table", "acl_history") == 0
    shown = capsys.readouterr()
    rows = [json.loads(line) for line in shown.out.splitlines()]
    assert len(rows) == 39
    assert rows[-1]["principal"]
    assert all(row["valid_from"].endswith("Z") for row in rows if row["valid_from"])
    (accounts,) = shown.err.splitlines()
    assert accounts.startswith("bytes read 29235 = 29235 decoded + 0 skipped;")
    assert accounts.endswith("errors 0")


def test_formats_hold_the_same_rows(tmp_path: Path) -> None:
    for suffix in ("csv", "jsonl", "json", "parquet"):
        assert tables("--log", LOGS, "--table", "topic_history", "--out", tmp_path / f"t.{suffix}") == 0
    parquet = pyarrow.parquet.read_table(tmp_path / "t.parquet")
    lines = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text("utf-8").splitlines()]
    assert json.loads((tmp_path / "t.json").read_bytes()) == lines
    with (tmp_path / "t.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(lines) == parquet.num_rows == 19
    for name in ("topic_id", "name"):
        assert [row[name] for row in rows] == [line[name] for line in lines] == parquet[name].to_pylist()
    assert [row["valid_to"] or None for row in rows] == [line["valid_to"] for line in lines]


def test_the_table_of_a_date_has_the_state_at_that_date(capsys: pytest.CaptureFixture[str]) -> None:
    assert tables("--log", METADATA, "--table", "topic_history", "--as-of", "2026-11-21T08:36:35Z") == 0
    names = {json.loads(line)["name"] for line in capsys.readouterr().out.splitlines()}
    assert "payments.events" in names
    assert "late.topic" not in names


def test_options_choose_columns_record_types_and_ranges(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--record-types", "TOPIC_RECORD,REMOVE_TOPIC_RECORD", "--columns", "log_offset, record_type")
    assert tables("--log", FIRST_SEGMENT, "--table", "records", *words, "--from-offset", "50") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {row["record_type"] for row in rows} == {"TOPIC_RECORD", "REMOVE_TOPIC_RECORD"}
    assert min(row["log_offset"] for row in rows) >= 50
    assert set(rows[0]) == {"log_offset", "record_type"}


def test_records_of_types_without_a_name_can_be_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--record-types", "UNKNOWN(77),KRAFT_VERSION,OFFSET_COMMIT", "--columns", "record_type")
    assert tables("--log", LOGS, "--table", "records", *words) == 0
    assert set(capsys.readouterr().out.splitlines()) == {
        '{"record_type":"KRAFT_VERSION"}',
        '{"record_type":"OFFSET_COMMIT"}',
    }


def test_the_format_table_has_headings_and_rows(tmp_path: Path) -> None:
    out = tmp_path / "acl.txt"
    assert tables("--log", LOGS, "--table", "acl_history", "--out", out) == 0
    headings, *rows = [line.split() for line in out.read_text("utf-8").splitlines() if line.strip()]
    assert headings[:3] == ["valid_from", "valid_to", "_error"]
    assert len(rows) == 1 + 39


def test_standard_output_has_a_name_as_a_file(capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> None:
    with contextlib.chdir(tmp_path):
        assert tables("--log", LOGS, "--table", "topic", "--columns", "name", "--out", "-", "-o", "csv") == 0
        assert capsysbinary.readouterr().out.startswith(b'"name"\n"orders.events"\n')
        assert tables("--log", LOGS, "--table", "topic", "--columns", "name", "--out", "-") == 0
        assert capsysbinary.readouterr().out.startswith(b'{"name":"orders.events"}\n')
    assert list(tmp_path.iterdir()) == []


def test_binary_forms_go_to_a_pipe(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert tables("--log", LOGS, "--table", "topic", "--out", "-", "-o", "parquet") == 0
    assert pyarrow.parquet.read_table(io.BytesIO(capsysbinary.readouterr().out)).num_rows == 30


def test_the_list_of_tables_has_the_forms_of_rows(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert tables("--list", "-o", "json") == 0
    assert [each["table"] for each in json.loads(capsys.readouterr().out)] == list(table_names())
    assert tables("--list", "--out", tmp_path / "tables.csv") == 0
    assert (tmp_path / "tables.csv").read_text().startswith('"table","purpose"\n"batches",')


@pytest.mark.parametrize(("form", "draws"), [("json", False), ("csv", False), ("table", True)])
def test_bar_is_not_drawn_across_rows(
    form: str, draws: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """JSON and CSV rows are printed during reading, a table only after it."""
    monkeypatch.setenv("TERM", "xterm")
    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    assert tables("--log", METADATA, "--table", "topic", "--columns", "name", "--format", form) == 0
    assert ("\x1b[" in capsys.readouterr().err) is draws


def test_no_ops_or_their_type_keeps_no_op_records(capsys: pytest.CaptureFixture[str]) -> None:
    counts = []
    for words in ((), ("--no-ops",)):
        assert tables("--log", METADATA, "--table", "records", *words) == 0
        counts.append(len(capsys.readouterr().out.splitlines()))
    assert counts[1] - counts[0] == 20
    assert tables("--log", METADATA, "--table", "records", "--record-types", "NO_OP_RECORD") == 0
    assert len(capsys.readouterr().out.splitlines()) == 20


def test_a_batch_that_is_still_being_written_is_no_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = FIRST_SEGMENT.read_bytes()
    write_segment(tmp_path / METADATA.name, content + content[:100])
    assert tables("--log", tmp_path, "--table", "acl_history", "--max-errors", "0") == 0
    assert "100 skipped (truncated_batch 100)" in capsys.readouterr().err


def test_several_processes_print_what_one_prints(capsys: pytest.CaptureFixture[str]) -> None:
    shown = []
    for processes in ("1", "2"):
        assert tables("--log", LOGS, "--table", "batches", "--processes", processes) == 0
        assert tables("--log", LOGS, "--table", "offset_commits", "--processes", processes) == 0
        shown.append(capsys.readouterr())
    assert shown[0].out
    assert shown[0] == shown[1]
    assert tables("--log", LOGS, "--table", "batches", "--processes", "0") == 2


def test_errors_set_the_exit_code(damaged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tables("--log", damaged, "--table", "batches") == 3
    shown = capsys.readouterr()
    assert "bad_crc 1" in shown.err
    assert sum('"_error":"bad_crc"' in line for line in shown.out.splitlines()) == 1
    assert tables("--log", damaged, "--table", "batches", "--max-errors", "1") == 3
    assert tables("--log", damaged, "--table", "batches", "--mode", "dropmalformed") == 3
    assert '"bad_crc"' not in capsys.readouterr().out.splitlines()[-1]


def test_too_many_errors_fail_and_leave_the_old_file(
    damaged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "batches.csv"
    out.write_text("old")
    assert tables("--log", damaged, "--table", "batches", "--max-errors", "0", "--out", out) == 1
    assert "more errors than --max-errors 0 allows: bad_crc 1" in capsys.readouterr().err
    assert out.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["__cluster_metadata-0", "batches.csv"]


def test_failfast_names_the_file_and_the_error(damaged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tables("--log", damaged, "--table", "records", "--mode", "FAILFAST") == 1
    output = capsys.readouterr().err
    assert str(damaged / FIRST_SEGMENT.name) in output
    assert "bad_crc" in output


def test_an_option_turns_off_verification_of_checksums(damaged: Path) -> None:
    assert tables("--log", damaged, "--table", "batches", "--no-verify-checksums") == 0


def test_list_names_every_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert tables("--list") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(table_names())
    assert all(len(line.split()) > 3 for line in lines)


def test_record_types_of_the_user_have_tables_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    greeting = message("GreetingRecord", field("Text", "string"), type="metadata", apiKey=900)
    definitions = write_definitions(tmp_path / "definitions", greeting)
    record = b"\x01\x84\x07\x01" + b"\x06hello\x00"  # of frame version 1, type 900, version 1
    write_segment(tmp_path / "__cluster_metadata-0", batches_of([[record]]))
    own = ("--schema-dir", definitions)
    assert tables(*own, "--list") == 0
    assert "\ngreeting " in capsys.readouterr().out
    assert tables(*own, "--log", tmp_path / "__cluster_metadata-0", "--table", "greeting", "--columns", "text") == 0
    assert capsys.readouterr().out == '{"text":"hello"}\n'
    assert tables("--log", tmp_path / "__cluster_metadata-0", "--table", "records") == 3
    assert '"_error":"unknown_type"' in capsys.readouterr().out
    assert tables("--schema-dir", tmp_path / "none", "--list") == 2
    assert "is not a folder of definitions" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (("--log", LOGS), "--log DIR and --table NAME are needed"),
        (("--table", "records"), "--log DIR and --table NAME are needed"),
        (("--log", LOGS, "--table", "acl_histroy"), "did you mean acl_history"),
        (("--log", LOGS, "--table", "ACL"), "there is no table 'ACL'; did you mean acl_history?"),
        (("--log", LOGS, "--table", "records", "--columns", "offset"), "did you mean log_offset?"),
        (("--log", LOGS, "--table", "records", "--record-types", "TOPIC"), "'TOPIC'; did you mean TOPIC_RECORD?"),
        (("--log", LOGS, "--table", "topic", "--no-ops"), "--no-ops: it is for table 'records', not for 'topic'"),
        (
            ("--log", LOGS, "--table", "records", "--from-offset", "9", "--until-offset", "2"),
            "--until-offset: 2 is before 9, where the range begins",
        ),
        (("--log", LOGS, "--table", "topic", "--max-frame-bytes", "64x"), "such as 65536, 64m, 64MiB or 1g"),
        (("--log", LOGS, "--table", "zzz"), "there is no table 'zzz'; there are "),
        (("--log", LOGS, "--table", "batches", "--columns", "size,colour"), "has no column 'colour'"),
        (("--log", LOGS, "--table", "records", "--as-of", "2026-01-01"), "--as-of: it needs a history"),
        (
            ("--log", LOGS, "--table", "records", "--columns", "json", "--as-of", "2026-01-01"),
            "--as-of: it needs a history",
        ),
        (("--log", LOGS, "--table", "batches", "--columns", " , "), "--columns: ' , ' is not a list of names"),
        (("--log", LOGS, "--table", "records", "--record-types", ""), "--record-types: '' is not a list of names"),
        (("--log", LOGS, "--table", "records", "--record-types", "topic_record"), "did you mean TOPIC_RECORD?"),
        (
            ("--log", LOGS, "--table", "topic", "--record-types", "TOPIC_RECORD"),
            "it is for table 'records'",
        ),
        (("--log", "", "--table", "records"), "--log DIR and --table NAME are needed"),
        (("--log", LOGS, "--log", "s3://bucket/logs", "--table", "records"), "cannot be read together"),
        (
            ("--log", LOGS, "--table", "acl_history", "--as-of", "soon"),
            "--as-of: 'soon' is not a time such",
        ),
        (
            ("--log", LOGS, "--table", "acl_history", "--as-of", "2020-01-01"),
            "the whole state is known since 2026-11-21T08:36:27.044000+00:00",
        ),
        (("--log", LOGS, "--table", "batches", "--out", "batches.xls"), "say the form with -o"),
    ],
)
def test_usage_errors_say_what_to_do(words: tuple[str, ...], output: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert tables(*words) == 2
    assert output in capsys.readouterr().err


def test_a_path_without_logs_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tables("--log", tmp_path / "none", "--table", "records") == 2
    assert f"{tmp_path / 'none'}: there is no such folder or file" in capsys.readouterr().err
    assert tables("--log", tmp_path, "--table", "records") == 2
    assert (
        f"{tmp_path}: no segment (.log) and no snapshot (.checkpoint) of Kafka is there: give a folder"
        in capsys.readouterr().err
    )
    assert tables("--log", LOGS / "__consumer_offsets-0", "--table", "acl_history") == 2
    assert "needs a log of __cluster_metadata, and only __consumer_offsets-0 is there" in capsys.readouterr().err
    assert tables("--log", f"{tmp_path}/*.log", "--table", "records") == 2
    assert "nothing matches the pattern" in capsys.readouterr().err


@contextmanager
def running(*words: str | Path, temporary: Path | None = None) -> Iterator[subprocess.Popen[str]]:
    """The command in its own process, with a folder for its temporary files."""
    program = "import sys; from kafkawire.cli.app import main; sys.exit(main())"
    with subprocess.Popen(
        [sys.executable, "-c", program, "tables", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ if temporary is None else {**os.environ, "TMPDIR": str(temporary)},
    ) as process:
        yield process


@pytest.fixture
def started(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """The command with more rows than fit into a pipe."""
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    for number in range(30):
        shutil.copy(FIRST_SEGMENT, folder / f"{number * 159:020}.log")
    with running("--log", folder, "--table", "records") as process:
        yield process


def test_the_command_ends_when_its_reader_stops(started: subprocess.Popen[str]) -> None:
    assert started.stdout is not None
    assert started.stderr is not None
    assert started.stdout.readline().startswith("{")
    started.stdout.close()
    assert "Traceback" not in started.stderr.read()
    assert started.wait() == 0


@pytest.mark.parametrize("form", list(Format))
def test_a_closed_pipe_ends_the_command(form: Format, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with suppress(BrokenPipeError), open(writing, "w", encoding="utf-8") as pipe:  # noqa: PTH123 it has no path
        monkeypatch.setattr(sys, "stdout", pipe)
        assert tables("--log", METADATA, "--table", "batches", "--format", form) == 0


@pytest.mark.parametrize("form", list(Format))
@pytest.mark.parametrize("buffering", [-1, 0])
def test_a_full_disk_is_reported(form: Format, buffering: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without a buffer; without one Python may write only a part."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with (tmp_path / "rows").open("wb", buffering) as file:
        text = io.TextIOWrapper(file, write_through=True)
        monkeypatch.setattr(sys, "stdout", text)
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
            code = tables("--log", METADATA, "--table", "batches", "--format", form)
            output = tables("--log", METADATA, "--table", "batches", "--out", tmp_path / "rows.csv")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            text.detach()
            with suppress(OSError):
                file.close()
    assert (code, output) == (1, 1)


@pytest.mark.usefixtures("ctrl_c")
def test_interrupt_ends_the_command_with_130(started: subprocess.Popen[str]) -> None:
    assert started.stdout is not None
    assert started.stdout.readline().startswith("{")
    started.send_signal(signal.SIGINT)
    _, output = started.communicate()
    assert started.returncode == 130
    assert "Traceback" not in output


@pytest.mark.extended
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM that a program can handle")
@pytest.mark.parametrize("name", ["t", "too-long-for-the-path-of-a-socket" * 4])
def test_sigterm_leaves_no_temporary_files(name: str, tmp_path: Path) -> None:
    """Also where the processes are spawned, since a fork server has a socket in the temporary folder."""
    with tempfile.TemporaryDirectory() as short:
        _sigterm_leaves_nothing_in(Path(short) / name, tmp_path / "logs")


def _sigterm_leaves_nothing_in(temporary: Path, logs: Path) -> None:
    temporary.mkdir()
    for number in range(8):
        shutil.copytree(LOGS / "__consumer_offsets-1", logs / f"__consumer_offsets-{number}")
    with running("--log", logs, "--table", "offset_commits", "--processes", "2", temporary=temporary) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("{")
        assert any(temporary.iterdir())
        process.terminate()
        _, output = process.communicate()
    assert process.returncode == 128 + signal.SIGTERM
    assert "Traceback" not in output
    assert not any(temporary.iterdir())


@pytest.mark.parametrize("words", [("tables", "--list"), ("report", "logs", "x", "--out", "y")])
def test_a_missing_library_is_named_with_its_extra(words: tuple[str, ...]) -> None:
    program = "import sys; sys.modules['pyarrow'] = None; from kafkawire.cli.app import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "the library pyarrow is missing: pip install 'kafkawire[cli,tables]'" in done.stderr
