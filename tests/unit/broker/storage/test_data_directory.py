"""The data directory: one broker at a time, always the same identity."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.embedded.synced_paths import synced_paths

from kafkawire.broker.storage.data_directory import METADATA_FOLDER, DataDirectory
from kafkawire.broker.storage.errors import DataDirectoryError
from kafkawire.layout.uuid import Uuid


def test_a_new_directory_gets_an_identity_and_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "data"
    first = DataDirectory(path, 1)
    first.close()
    again = DataDirectory(path, 1)
    again.close()
    assert len(first.cluster_id) == 22
    assert (again.cluster_id, again.directory_id) == (first.cluster_id, first.directory_id)
    assert (path / "meta.properties").read_text() == (
        f"version=1\ncluster.id={first.cluster_id}\nnode.id=1\ndirectory.id={first.directory_id}\n"
    )


def test_the_identity_that_kafka_gave_is_taken_over(tmp_path: Path) -> None:
    meta = tmp_path / "meta.properties"
    text = (
        "#\n#Sat Nov 21 22:52:44 UTC 2026\nnode.id=3\ndirectory.id=z9a6gXO6NVdj-1_OCQvaMA\nversion=1\ncluster.id=mine\n"
    )
    meta.write_text(text)
    directory = DataDirectory(tmp_path, 3)
    directory.close()
    assert (directory.cluster_id, str(directory.directory_id)) == ("mine", "z9a6gXO6NVdj-1_OCQvaMA")
    assert meta.read_text() == text


def test_a_missing_directory_id_is_added(tmp_path: Path) -> None:
    (tmp_path / "meta.properties").write_text("version=1\ncluster.id=mine\nnode.id=1\n")
    first, again = DataDirectory(tmp_path, 1), None
    first.close()
    again = DataDirectory(tmp_path, 1)
    again.close()
    assert first.directory_id == again.directory_id != bytes(16)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("version=0\n", r"meta\.properties: version 0; only version 1 can be read"),
        ("version=1\ncluster.id=c\nnode.id=2\n", r"belongs to node 2, this is node 1; set node\.id accordingly or use"),
        ("version=1\ncluster.id=c\nnode.id=1\ndirectory.id=none\n", r"not a uuid in Kafka's base64 form.*restore the"),
        ("version=\\u12\n", r"restore the file, or delete it"),
        ("", r"meta\.properties: it has no version and no cluster\.id and no node\.id; restore the file, or delete it"),
        ("hello world\n", r"it has no version and no cluster\.id and no node\.id; restore the file, or delete it"),
        ("version=1\ncluster.id=\nnode.id=1\n", r"it has no cluster\.id; restore the file, or delete it"),
    ],
)
def test_an_identity_that_cannot_be_is_refused_and_the_directory_let_go(
    tmp_path: Path, text: str, message: str
) -> None:
    meta = tmp_path / "meta.properties"
    meta.write_text(text)
    with pytest.raises(DataDirectoryError, match=message):
        DataDirectory(tmp_path, 1)
    meta.unlink()
    DataDirectory(tmp_path, 1).close()


def test_one_broker_has_it_at_a_time(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path, 1)
    for _ in range(2):
        with pytest.raises(DataDirectoryError, match=r"another broker uses the directory \(\.lock is locked\)"):
            DataDirectory(tmp_path, 1)
    directory.close()
    DataDirectory(tmp_path, 1).close()


def test_kafka_in_another_process_is_kept_out_too(tmp_path: Path) -> None:
    """Java locks the process (``FileChannel.tryLock``), the broker the open file: each sees the other's lock."""
    directory = DataDirectory(tmp_path, 1)
    child = os.fork()
    if not child:
        descriptor = os.open(tmp_path / ".lock", os.O_RDWR)
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os._exit(17)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    directory.close()
    assert os.waitstatus_to_exitcode(status) == 17


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(DataDirectoryError, match="it is not a directory; use another one"):
            DataDirectory(path, 1)


@pytest.fixture
def used(tmp_path: Path) -> Path:
    """A directory with a log and without ``meta.properties``."""
    (tmp_path / METADATA_FOLDER).mkdir()
    (tmp_path / METADATA_FOLDER / "00000000000000000000.log").touch()
    return tmp_path


def test_a_directory_with_logs_does_not_get_a_new_identity(used: Path) -> None:
    directory_id = Uuid.random()
    with pytest.raises(DataDirectoryError) as refused:
        DataDirectory(used, 1, lambda: {1: directory_id})
    assert not (used / "meta.properties").exists()
    said = str(refused.value)
    assert said.startswith(
        f"{used}/meta.properties: the file is missing, though the directory has logs ({METADATA_FOLDER});"
    )
    assert said.endswith(f'"node.id=1", "directory.id={directory_id}"')


@pytest.mark.parametrize(("registered", "node_id"), [({7: Uuid(b"7" * 16)}, 7), ({7: Uuid(), 8: Uuid()}, 1), ({}, 1)])
def test_the_node_that_the_log_names_is_the_one_that_is_proposed(
    used: Path, registered: Mapping[int, Uuid], node_id: int
) -> None:
    with pytest.raises(DataDirectoryError, match=f'"node.id={node_id}"'):
        DataDirectory(used, 1, lambda: registered)


def test_partitions_without_a_metadata_log_are_refused(tmp_path: Path) -> None:
    (tmp_path / "meta.properties").write_text("version=1\ncluster.id=mine\nnode.id=1\n")
    (tmp_path / "orders-0").mkdir()
    (tmp_path / "orders-0" / "partition.metadata").touch()
    with pytest.raises(
        DataDirectoryError, match=r"has partitions \(orders-0\) but no metadata log .*put the folder back"
    ):
        DataDirectory(tmp_path, 1)


@pytest.mark.parametrize("name", ["backup-2026", "lost+found", "orders-0"])
def test_folders_without_a_log_are_ignored(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "notes.txt").touch()
    DataDirectory(tmp_path, 1).close()
    assert (tmp_path / "meta.properties").exists()


def test_kafkas_mark_of_a_clean_stop_is_taken_away(tmp_path: Path) -> None:
    """Else Kafka would trust its indexes and epochs, which do not know what is written from now on."""
    mark = tmp_path / ".kafka_cleanshutdown"
    mark.write_text("{}")
    DataDirectory(tmp_path, 1).close()
    assert not mark.exists()


def test_the_name_of_a_new_directory_is_durable(tmp_path: Path) -> None:
    with synced_paths() as synced:
        DataDirectory(tmp_path / "new" / "data", 1).close()
    assert {tmp_path, tmp_path / "new"} <= synced


def test_the_name_of_a_directory_that_a_crash_has_left_is_durable(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.mkdir()
    with synced_paths() as synced:
        DataDirectory(path, 1).close()
    assert tmp_path in synced
