"""The error for a store that Arrow cannot reach names what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.made.segments import write_segment

from kafkawire.logs import LogReadError, find_log_files, read_table, store_for


@pytest.fixture
def no_hadoop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without Hadoop, even if this one has it."""
    for name in ("JAVA_HOME", "HADOOP_HOME", "ARROW_LIBHDFS_DIR"):
        monkeypatch.setenv(name, "/nowhere")


@pytest.mark.usefixtures("no_hadoop")
def test_hdfs_needs_hadoops_library() -> None:
    with pytest.raises(LogReadError, match=r"ARROW_LIBHDFS_DIR.*CLASSPATH.*fsspec") as raised:
        read_table("records", "hdfs://namenode:8020/logs")
    assert "\n" not in str(raised.value)


def test_other_file_systems_need_fsspec() -> None:  # which is not installed here
    with pytest.raises(LogReadError, match="`fsspec` is required"):
        read_table("records", "fsspec+webhdfs://namenode:9870/logs")


def test_an_unknown_scheme_is_named() -> None:
    with pytest.raises(LogReadError, match="no file system is known for gopher://; give a path, or a URI with s3://"):
        read_table("records", "gopher://host/logs")


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*/", ["a-0", "b-0"]),
        ("*//", ["a-0", "b-0"]),
        ("a*/", ["a-0"]),
        ("**/", ["a-0", "b-0"]),
        ("*", ["a-0", "b-0"]),
        ("*/*.log", ["a-0", "b-0"]),
        ("*/*.log/", []),
        ("c*/", []),
    ],
)
def test_a_pattern_that_ends_with_a_slash_matches_folders(tmp_path: Path, pattern: str, names: list[str]) -> None:
    for name in ("a-0", "b-0"):
        write_segment(tmp_path / name, b"")
    for path in (f"file://{tmp_path}/{pattern}", f"{tmp_path}/{pattern}"):
        if names:
            assert [file.log for file in find_log_files([path], store=store_for(path))] == names, path
        else:
            with pytest.raises(LogReadError, match="nothing matches the pattern"):
                find_log_files([path], store=store_for(path))
