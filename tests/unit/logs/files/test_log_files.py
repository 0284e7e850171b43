"""Log files are found by their names and returned in the order of their log."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from tests.kafka_logs.dumps import FIXTURES

from kafkawire.logs import LOCAL, FileKind, LogReadError, find_log_files, store_for

LOGS = FIXTURES / "logs"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder of ``log.dirs`` with every kind of file that Kafka writes there."""
    tmp_path = tmp_path / "lib" / "kafka"
    metadata = tmp_path / "__cluster_metadata-0"
    for name in (
        "00000000000000000000.log",
        "00000000000000000000.index",
        "00000000000000000159.log",
        "00000000000000000159-0000000001.checkpoint",
        "00000000000000000100-0000000001.checkpoint.deleted",
        "00000000000000000170-0000000001.checkpoint.part",
        "bootstrap.checkpoint",
        "leader-epoch-checkpoint",
        "partition.metadata",
        "quorum-state",
    ):
        write(metadata / name)
    offsets = tmp_path / "__consumer_offsets-12"
    for name in (
        "00000000000000000000.log",
        "00000000000000000000.log.deleted",
        "00000000000000000000.log.swap",
        "00000000000000000000.log.cleaned",
        "00000000000000000000.timeindex",
        "00000000000000000000.snapshot",
        "00000000000000000700.log",
    ):
        write(offsets / name)
    write(tmp_path / "orders-3.0123456789abcdef0123456789abcdef-delete" / "00000000000000000000.log")
    write(tmp_path / "orders-3.0123456789abcdef0123456789abcdef-future" / "00000000000000000000.log")
    write(tmp_path / "meta.properties", "version=1\ncluster.id=QbAJD0HyQ2-OvjRrxrxs9g\nnode.id=1\n")
    write(tmp_path / "cleaner-offset-checkpoint")
    return tmp_path


def test_segments_and_snapshots_in_log_order(root: Path) -> None:
    found = find_log_files([str(root)])
    assert [(file.log, file.path.rpartition("/")[2], file.kind, file.base_offset, file.epoch) for file in found] == [
        ("__cluster_metadata-0", "bootstrap.checkpoint", FileKind.SNAPSHOT, 0, None),
        ("__cluster_metadata-0", "00000000000000000000.log", FileKind.SEGMENT, 0, None),
        ("__cluster_metadata-0", "00000000000000000159-0000000001.checkpoint", FileKind.SNAPSHOT, 159, 1),
        ("__cluster_metadata-0", "00000000000000000159.log", FileKind.SEGMENT, 159, None),
        ("__consumer_offsets-12", "00000000000000000000.log", FileKind.SEGMENT, 0, None),
        ("__consumer_offsets-12", "00000000000000000700.log", FileKind.SEGMENT, 700, None),
    ]
    assert {file.topic for file in found} == {"__cluster_metadata", "__consumer_offsets"}
    assert {file.cluster for file in found} == {"QbAJD0HyQ2-OvjRrxrxs9g"}


def test_folders_files_parents_and_patterns_find_the_same_files(root: Path) -> None:
    every = find_log_files([str(root)])
    assert find_log_files([str(root.parent)]) == every
    assert find_log_files([f"{root}/*-0", f"{root}/__consumer*"]) == every
    assert find_log_files([f"{root}/__consumer_offsets-12/", str(root)]) == every
    assert find_log_files([file.path for file in every]) == every
    assert find_log_files([str(root)], recursive=False) == every


def test_a_file_found_by_several_paths_is_read_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Backups often have a link to the newest one."""
    (root.parent / "latest").symlink_to(root)
    monkeypatch.chdir(root.parent)
    every = find_log_files(["kafka"])
    assert find_log_files(["kafka", "./kafka", str(root), "kafka/../latest"]) == every
    alike = find_log_files([f"./{every[1].path}", "../lib/*"])
    assert sorted({file.folder for file in alike}) == ["../lib/kafka/__consumer_offsets-12", f"./{every[1].folder}"]
    assert len(alike) == len(every)
    monkeypatch.chdir(every[1].folder)
    name = every[1].path.rpartition("/")[2]
    assert [file.path for file in find_log_files([name, f"./{name}", str(Path(name).resolve())])] == [name]


def test_a_folder_name_may_contain_wildcards(root: Path) -> None:
    odd = root.parent / "kafka[1]"
    root.rename(odd)
    assert find_log_files([f"{odd}/"]) == find_log_files([str(odd.parent)])
    with pytest.raises(LogReadError, match="nothing matches the pattern"):
        find_log_files([f"{root}[2]"])


def test_lost_and_found_is_skipped(root: Path) -> None:
    every = find_log_files([str(root)])
    write(root / "lost+found" / "orders-0" / "00000000000000000000.log")
    assert find_log_files([str(root)]) == every


def test_files_and_folders_deleted_during_listing_are_skipped(root: Path) -> None:
    listing = LOCAL.list(str(root), recursive=True)
    first = next(listing)
    shutil.rmtree(root)
    assert [each.path for each in (first, *listing)] == [first.path]


def test_names_that_are_not_utf_8_are_escaped(tmp_path: Path) -> None:
    path = write(tmp_path / os.fsdecode(b"caf\xe9-0") / "00000000000000000000.log")
    (file,) = find_log_files([str(tmp_path)])
    assert (file.path, file.shown_path) == (str(path), f"{tmp_path}/caf\\xe9-0/{path.name}")
    for uri in (f"file://{tmp_path}", f"file://{path}"):
        with pytest.raises(LogReadError, match="is not UTF-8"):
            find_log_files([uri], store=store_for(uri))


def test_other_files_that_match_a_pattern_are_left_out(root: Path) -> None:
    (log,) = {file.folder for file in find_log_files([f"{root}/__cluster*"])}
    write(Path(log) / "leader-epoch-checkpoint")
    assert find_log_files([f"{log}/*"]) == find_log_files([log])
    assert find_log_files([f"{root}/**"]) == find_log_files([str(root)])


def test_the_last_segment_of_each_log_is_known(root: Path) -> None:
    segments = [file for file in find_log_files([str(root)]) if file.kind is FileKind.SEGMENT]
    assert {file.folder: file.path for file in segments} == {
        file.folder: file.path for file in segments if file.is_last
    }
    assert sum(file.is_last for file in segments) == len({file.folder for file in segments}) < len(segments)


def test_a_filter_of_names(root: Path) -> None:
    found = find_log_files([str(root)], path_glob_filter="*.checkpoint")
    assert [file.kind for file in found] == [FileKind.SNAPSHOT] * 2


def test_a_copy_under_another_name_is_recognized_by_its_content(tmp_path: Path) -> None:
    copy = tmp_path / "backup of monday"
    for each in (LOGS / "__cluster_metadata-0").iterdir():
        write(copy / each.name)
    write(tmp_path / "other" / "00000000000000000000.log")
    assert {file.topic for file in find_log_files([str(copy)])} == {"__cluster_metadata"}
    assert [file.topic for file in find_log_files([str(tmp_path / "other")])] == [None]


def test_a_single_file_may_have_any_name(tmp_path: Path) -> None:
    (file,) = find_log_files([str(write(tmp_path / "copied.log"))])
    assert (file.kind, file.base_offset) == (FileKind.SEGMENT, 0)
    with pytest.raises(LogReadError, match=r"segments end in \.log"):
        find_log_files([str(write(tmp_path / "notes.txt"))])


def test_a_pipe_and_an_empty_path_are_unreadable(tmp_path: Path) -> None:
    """Opening a pipe would wait for its other end."""
    os.mkfifo(tmp_path / "pipe.log")
    with pytest.raises(LogReadError, match="neither a folder nor a regular file"):
        find_log_files([str(tmp_path / "pipe.log")])
    with pytest.raises(LogReadError, match="the path is empty"):
        find_log_files([""])


@pytest.mark.parametrize("path", ["nowhere", "nowhere/*.log"])
def test_missing_files_are_unreadable(tmp_path: Path, path: str) -> None:
    with pytest.raises(LogReadError) as raised:
        find_log_files([str(tmp_path / path)])
    assert raised.value.code == "unreadable"


def test_arrow_finds_the_same_by_uri(root: Path) -> None:
    uri = f"file://{root}"
    store = store_for(uri)
    by_uri = find_log_files([uri], store=store)
    here = find_log_files([str(root)])
    assert [file.path for file in by_uri] == [f"file://{file.path}" for file in here]
    assert [(file.size, file.cluster) for file in by_uri] == [(file.size, file.cluster) for file in here]
    assert [file.path for file in find_log_files([f"file://{root}/__consumer*"], store=store)] == [
        file.path for file in by_uri if "__consumer" in file.path
    ]
    with pytest.raises(LogReadError):
        find_log_files([f"file://{root}/nowhere"], store=store)


def write(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path
