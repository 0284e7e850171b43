"""Several processes give the rows, the order and the accounts of one. A process that ends early is an error."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.util import get_temp_dir
from pathlib import Path

import pytest
from tests.kafka_logs.dumps import FIXTURES
from tests.made.segments import OFFSETS, real_segment, write_segment

from kafkawire.logs import LOCAL, Accounts, LogReadError, ReadMode, ReadOptions, find_log_files, plan, table_named
from kafkawire.logs.files.store import LocalStore, OpenFile
from kafkawire.logs.planning import DEFAULT_PARTITION_BYTES
from kafkawire.logs.table_stream import read_parts

LOGS = FIXTURES / "logs"


class StoreOfKilledProcesses(LocalStore):
    """Files whose opening kills the process, as a system without memory does."""

    def open(self, path: str) -> OpenFile:
        os._exit(9)


class StoreOfOneKilledProcess(LocalStore):
    """The same for the second log, after the first one was read."""

    def open(self, path: str) -> OpenFile:
        if "__consumer_offsets-1/" in path:
            time.sleep(1)
            os._exit(9)
        return super().open(path)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files, without that of multiprocessing, which outlives a test."""
    get_temp_dir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def read(
    table: str,
    folder: Path,
    processes: int,
    options: ReadOptions | None = None,
    max_partition_bytes: int = DEFAULT_PARTITION_BYTES,
) -> tuple[list[dict[str, object]], Accounts]:
    given, accounts = options or ReadOptions(), Accounts()
    bound = table_named(table, given)
    parts = plan(bound, find_log_files([folder]), max_partition_bytes=max_partition_bytes, options=given)
    assert len(parts) > processes
    batches = read_parts(bound, parts, given, accounts, store=LOCAL, processes=processes)
    return [row for batch in batches for row in batch.to_pylist()], accounts


@pytest.mark.parametrize(("table", "size"), [("records", 4_000), ("topic", 4_000), ("offset_commits", 1 << 20)])
def test_rows_order_and_accounts_are_those_of_one_process(table: str, size: int, tmp_path: Path) -> None:
    shutil.copytree(LOGS, tmp_path / "logs")
    for copy in range(1, 4):
        shutil.copytree(LOGS / OFFSETS, tmp_path / "logs" / f"__consumer_offsets-9{copy}")
    in_this, counted_here = read(table, tmp_path / "logs", 1, max_partition_bytes=size)
    in_others, counted_there = read(table, tmp_path / "logs", 2, max_partition_bytes=size)
    assert in_this
    assert in_others == in_this
    assert counted_there == counted_here
    assert counted_there.balanced


def test_processes_begin_without_pandas_which_stays_usable() -> None:
    program = """
import sys
import kafkawire.logs.worker_imports
assert "pandas" not in sys.modules
import pyarrow as pa
pa.array([1])
assert "pandas" not in sys.modules
import pandas
assert pa.table({"a": [1]}).to_pandas()["a"].tolist() == [1]
"""
    pytest.importorskip("pandas", reason="pandas comes with PySpark")
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(("chosen", "expected"), [(None, "jemalloc"), ("system", "system")])
def test_processes_take_memory_from_jemalloc_unless_another_allocator_is_chosen(
    chosen: str | None, expected: str
) -> None:
    program = """
import kafkawire.logs.worker_imports
import pyarrow as pa
print(pa.default_memory_pool().backend_name, *pa.supported_memory_backends())
"""
    environment = {name: value for name, value in os.environ.items() if name != "ARROW_DEFAULT_MEMORY_POOL"}
    if chosen is not None:
        environment["ARROW_DEFAULT_MEMORY_POOL"] = chosen
    command = [sys.executable, "-c", program]
    used, *supported = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=True, env=environment
    ).stdout.split()
    if expected not in supported:
        pytest.skip(f"Arrow was built without {expected}")
    assert used == expected


def test_the_error_of_a_process_has_its_place(tmp_path: Path) -> None:
    content = real_segment(OFFSETS)
    for number in range(3):
        damage = b"tail" * 40 if number == 1 else b""
        write_segment(tmp_path / f"__consumer_offsets-{number}", content + damage)
    with pytest.raises(LogReadError) as caught:
        read("offset_commit", tmp_path, 2, ReadOptions(mode=ReadMode.FAILFAST), max_partition_bytes=len(content))
    assert caught.value.path.startswith(f"{tmp_path}/__consumer_offsets-1/")
    assert caught.value.position == len(content)


def test_a_killed_process_is_an_error_and_leaves_no_files(temporary: Path) -> None:
    table, options = table_named("records"), ReadOptions()
    parts = plan(table, find_log_files([LOGS]), max_partition_bytes=4_000)
    rows = read_parts(table, parts, options, Accounts(), store=StoreOfKilledProcesses(), processes=2)
    with pytest.raises(LogReadError, match="unreadable: the process that read it was killed: memory may be short"):
        list(rows)
    assert list(temporary.iterdir()) == []


def test_a_process_killed_while_rows_are_used_is_an_error(tmp_path: Path) -> None:
    for number in range(5):
        write_segment(tmp_path / f"__consumer_offsets-{number}", real_segment(OFFSETS))
    table, options = table_named("offset_commits"), ReadOptions()
    parts = plan(table, find_log_files([tmp_path]))
    rows = read_parts(table, parts, options, Accounts(), store=StoreOfOneKilledProcess(), processes=2)
    next(rows)
    time.sleep(2)
    with pytest.raises(LogReadError, match="unreadable: the process that read it was killed: memory may be short"):
        list(rows)


def test_a_script_that_does_not_ask_for_its_name_is_an_error_that_says_so(tmp_path: Path) -> None:
    for number in range(2):
        write_segment(tmp_path / f"__consumer_offsets-{number}", real_segment(OFFSETS))
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nfrom kafkawire.logs import read_table\n"
        "for batch in read_table('offset_commits', sys.argv[1], processes=2): pass\n"
    )
    done = subprocess.run([sys.executable, str(script), str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith('or this is a script without `if __name__ == "__main__":`\n')


@pytest.mark.parametrize(("number", "expected"), [(errno.EBADF, LogReadError), (errno.EMFILE, OSError)])
def test_a_process_that_ends_while_the_next_one_starts_is_an_error(
    number: int, expected: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pool closes the pipes that the next one is to get; other errors of the system stay what they are."""

    def fail(*_: object) -> None:
        raise OSError(number, "no")

    monkeypatch.setattr(ProcessPoolExecutor, "submit", fail)
    table, options = table_named("records"), ReadOptions()
    parts = plan(table, find_log_files([LOGS]), max_partition_bytes=4_000)
    with pytest.raises(expected):
        list(read_parts(table, parts, options, Accounts(), store=LOCAL, processes=2))


def test_rows_that_are_not_read_to_the_end_leave_no_files(temporary: Path) -> None:
    table, options = table_named("records"), ReadOptions()
    parts = plan(table, find_log_files([LOGS]), max_partition_bytes=4_000)
    rows = read_parts(table, parts, options, Accounts(), store=LOCAL, processes=2)
    assert isinstance(rows, Generator)
    next(rows)
    assert [each.name.startswith("kafkawire-") for each in temporary.iterdir()] == [True]
    rows.close()
    assert list(temporary.iterdir()) == []
