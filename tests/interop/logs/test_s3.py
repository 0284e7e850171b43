"""Logs in an object store are found, planned, read and streamed over S3's protocol as from local files."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyarrow import fs
from tests.apache_spark.prerequisites import require_spark
from tests.kafka_logs.dumps import FIXTURES
from tests.servers.s3 import S3Server, running_s3_server

from kafkawire.cli.app import main
from kafkawire.logs import Accounts, ArrowStore, LogReadError, find_log_files, read_table
from kafkawire.logs.planning import find_logs
from kafkawire.report.log_ends import Partition, log_ends

pytestmark = pytest.mark.extended

LOGS = FIXTURES / "logs"
COLUMNS = "log_offset,record_type,json,_error"
ROOT = "bucket/logs"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    require_spark()  # the server comes with it
    with running_s3_server(tmp_path_factory.mktemp("s3") / "log") as running:
        running.put_folder("bucket", LOGS)
        yield running


@pytest.fixture(autouse=True)
def known_server(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)


def test_tables_equal_those_of_local_copies() -> None:
    assert rows("records", f"s3://{ROOT}") == rows("records", str(LOGS))
    assert rows("topic_history", f"s3a://{ROOT}/__cluster_metadata-0") == rows("topic_history", str(LOGS))


def test_a_history_names_its_log_by_address() -> None:
    (batch,) = read_table("topic_history", f"s3a://{ROOT}/__cluster_metadata-0")
    assert set(batch.column("log").to_pylist()) == {f"s3a://{ROOT}/__cluster_metadata-0"}


@pytest.mark.parametrize(
    "pattern",
    [
        "s3://bucket/*/__consumer*",
        "s3://bucket/*/__consumer*/",
        "s3://bucket/**/__consumer_offsets-?/*.log",
        "s3a://bucket/**/__con*/**",
        "s3a://bucket/**/__con*/**/",
    ],
)
def test_patterns_find_the_same_files_as_on_this_machine(pattern: str) -> None:
    here = pattern.partition("bucket")[2].replace("/*/", f"/{LOGS.name}/", 1)
    found = find_log_files([pattern], store=ArrowStore())
    assert [file.path.partition("/logs")[2] for file in found] == [
        file.path.partition(str(LOGS))[2] for file in find_log_files([f"{LOGS.parent}{here}"])
    ]
    assert len(found) == 2


def test_tasks_read_parts_of_objects_and_leave_their_accounts() -> None:
    from kafkawire.spark.planned_read import make_reading  # noqa: PLC0415 as above
    from kafkawire.spark.task_accounts import read_accounts  # noqa: PLC0415 PySpark may be missing

    accounts = f"s3a://{ROOT}-accounts"
    options = {"path": f"s3a://{ROOT}", "table": "records", "columns": COLUMNS, "accountsPath": accounts}
    reading = make_reading({**options, "maxPartitionBytes": "8k"})
    parts = reading.partitions()
    found = [
        tuple(row.values())
        for part in parts
        for batch in pickle.loads(pickle.dumps(reading)).batches(pickle.loads(pickle.dumps(part)), Accounts())  # noqa: S301 our own
        for row in batch.to_pylist()
    ]
    total, tasks = read_accounts(accounts)
    assert found == rows("records", str(LOGS))
    assert (tasks, total.bytes_read) == (len(parts), sum(file.size for file in find_log_files([str(LOGS)])))
    assert tasks > 10
    assert total.balanced


def test_a_stream_continues_when_objects_grow_and_arrive(server: S3Server) -> None:
    from tests.apache_spark.following import Followed, rows_at_once  # noqa: PLC0415 PySpark may be missing

    log = "s3://growing/logs/__cluster_metadata-0"
    segments = sorted((LOGS / "__cluster_metadata-0").glob("*.log"))
    query = Followed(log)
    for segment in segments:
        content = segment.read_bytes()
        for size in (len(content) // 2, len(content)):
            server.put("growing", f"logs/__cluster_metadata-0/{segment.name}", content[:size])
            assert query.look()
    assert query.look() == []
    assert query.rows == rows_at_once(log)


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ("s3://bucket/nowhere", "there is no such file, folder or bucket"),
        ("s3://nobodys/logs", "there is no such file, folder or bucket"),
        ("s3a://nobodys/*/logs", "there is no such file, folder or bucket"),
        ("s3://bucket/logs/*.txt", "nothing matches the pattern"),
        ("s3://bucket/logs/*/*.log/", "nothing matches the pattern"),
        ("s3://*/logs", "but not a host or bucket"),
        ("s3:///logs", "Missing bucket name"),
    ],
)
def test_a_missing_object_is_reported(path: str, complaint: str) -> None:
    with pytest.raises(LogReadError, match=complaint) as raised:
        read_table("records", path)
    assert (raised.value.code, raised.value.path) == ("unreadable", path)


def test_an_error_of_access_names_the_sources_of_credentials(server: S3Server) -> None:
    with server.known_users_only(), pytest.raises(LogReadError, match=r"ACCESS_DENIED.*AWS_ACCESS_KEY_ID"):
        read_table("records", f"s3a://{ROOT}")


def rows(table: str, path: str) -> list[tuple[object, ...]]:
    without = {"cluster", "file", "log"}
    names = COLUMNS.split(",") if table == "records" else None
    return [
        tuple(value for name, value in row.items() if (name in names if names else name not in without))
        for batch in read_table(table, path)
        for row in batch.to_pylist()
    ]


def test_a_table_replaces_another_in_an_object_store(server: S3Server) -> None:
    from kafkawire.spark.replacing import place_of, written_beside  # noqa: PLC0415 PySpark may be missing

    for name in ("old", "_SUCCESS"):
        server.put("tables", f"out/{name}", b"old")
    place = place_of("s3a://tables/out/")

    def content() -> dict[str, bytes]:
        infos = place.system.get_file_info(fs.FileSelector("tables", recursive=True))
        return {each.path: place.system.open_input_stream(each.path).read() for each in infos if each.is_file}

    before = content()

    def write(*, fail: bool) -> None:
        with written_beside(place) as part:
            for name in ("part-0", "_accounts/part-0.json"):
                server.put("tables", f"{part.path.partition('/')[2]}/{name}", b"new")
            if fail:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(fail=True)
    assert content() == before
    write(fail=False)
    assert content() == {
        "tables/out/part-0": b"new",
        "tables/out/_accounts/part-0.json": b"new",
        "tables/out/_SUCCESS": b"",
    }


def test_a_report_has_the_ends_of_logs(server: S3Server, tmp_path: Path) -> None:
    """From the batches and the time index of the partition's own log, as with local files."""
    logs = tmp_path / "reported"
    shutil.copytree(LOGS / "__consumer_offsets-0", logs / "__consumer_offsets-0")
    shutil.copytree(LOGS / "__consumer_offsets-1", logs / "billing.events-1")  # ends at offset 373
    (segment,) = (logs / "billing.events-1").glob("*.log")
    segment.with_suffix(".timeindex").write_bytes((1_795_250_000_000).to_bytes(8, "big") + (99).to_bytes(4, "big"))
    server.put_folder("reports", logs)
    found, here = (log_ends(find_logs([path])) for path in ("s3://reports/reported", str(logs)))
    assert found == here
    end = found[Partition(None, "billing.events", 1)]
    assert end.offset == 373
    assert end.points[0] == (1_795_250_000_000, 100)
    page = tmp_path / "report.html"
    assert main(["report", "logs", "s3://reports/reported", "--out", str(page)]) == 0
    assert page.stat().st_size
