"""What Arrow cannot reach is told with what is missing."""

from __future__ import annotations

import pytest

from kafkawire.logs import LogReadError, read_table


@pytest.fixture
def no_hadoop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without Hadoop, whatever this one has."""
    for name in ("JAVA_HOME", "HADOOP_HOME", "ARROW_LIBHDFS_DIR"):
        monkeypatch.setenv(name, "/nowhere")


@pytest.mark.usefixtures("no_hadoop")
def test_hdfs_needs_hadoops_library() -> None:
    with pytest.raises(LogReadError, match=r"ARROW_LIBHDFS_DIR.*CLASSPATH.*fsspec") as raised:
        read_table("records", "hdfs://namenode:8020/logs")
    assert "\n" not in str(raised.value)


def test_other_file_systems_need_fsspec() -> None:  # which this environment has not
    with pytest.raises(LogReadError, match="`fsspec` is required"):
        read_table("records", "fsspec+webhdfs://namenode:9870/logs")


def test_a_scheme_that_nobody_knows_is_named() -> None:
    with pytest.raises(LogReadError, match="gopher"):
        read_table("records", "gopher://host/logs")
