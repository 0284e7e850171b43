"""The nodes of the tests are formatted once for each configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.apache_kafka import storage

RELEASE = "4.3.1"


class Formatted:
    """Counts how often folders are formatted."""

    def __init__(self) -> None:
        self.count = 0

    def format(self, properties: Mapping[str, str], arguments: tuple[str, ...] = ()) -> list[str]:
        """The lines of ``meta.properties`` in each folder."""
        storage.format_once(RELEASE, properties, arguments, lambda: self._write(properties))
        return [(folder / "meta.properties").read_text("utf-8") for folder in storage.log_dirs(properties)]

    def _write(self, properties: Mapping[str, str]) -> None:
        self.count += 1
        for folder in storage.log_dirs(properties):
            folder.mkdir(parents=True)
            (folder / "meta.properties").write_text("version=1\ndirectory.id=FIRST\nnode.id=1\n", "utf-8")


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Formatted:
    monkeypatch.setattr(storage, "CACHE", tmp_path / "kept")
    (tmp_path / "kept").mkdir()
    return Formatted()


def properties(home: Path, port: int, **further: str) -> dict[str, str]:
    listeners = f"PLAINTEXT://127.0.0.1:{port}"
    return {"node.id": "1", "listeners": listeners, "log.dirs": f"{home}/a,{home}/b", **further}


def test_nodes_on_other_ports_and_folders_get_copies_with_ids_of_their_own(tmp_path: Path, kept: Formatted) -> None:
    first = kept.format(properties(tmp_path / "1", 9092))
    others = kept.format(properties(tmp_path / "2", 9094))
    others += kept.format(properties(tmp_path / "3", 9096, **{"num.partitions": "3"}))
    assert kept.count == 1
    assert all("directory.id=FIRST\n" in text for text in first)
    assert len(set(others)) == len(others)
    assert all(text.startswith("version=1\ndirectory.id=") and text.endswith("\nnode.id=1\n") for text in others)


def test_other_properties_folders_and_arguments_are_formatted(tmp_path: Path, kept: Formatted) -> None:
    kept.format(properties(tmp_path / "1", 9092))
    kept.format(properties(tmp_path / "2", 9092, **{"unstable.feature.versions.enable": "true"}))
    kept.format({**properties(tmp_path / "3", 9092), "log.dirs": f"{tmp_path}/4"})
    kept.format(properties(tmp_path / "5", 9092), ("--release-version", "3.9"))
    assert kept.count == 4
