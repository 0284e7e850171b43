"""``kafkawire replicas``: rows, exit codes, and what a merge leaves alone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from kafkawire.cli.app import main
from kafkawire.logs import find_replicas, merge_replicas

LOGS = Path(__file__).parents[3] / "fixtures" / "kafka-4.3.1" / "logs"
METADATA = "__cluster_metadata-0"
SECOND = "00000000000000000159.log"


@pytest.fixture
def brokers(tmp_path: Path) -> list[Path]:
    folders = [tmp_path / f"broker-{number}" for number in range(2)]
    for folder in folders:
        shutil.copytree(LOGS / METADATA, folder / METADATA)
        (folder / "meta.properties").write_text("cluster.id=abc\n", "utf-8")
    return folders


def replicas(command: str, brokers: list[Path], *words: str) -> int:
    return main(["replicas", command, *(word for broker in brokers for word in ("--log", str(broker))), *words])


def break_last_batch(broker: Path) -> None:
    segment = broker / METADATA / SECOND
    segment.write_bytes(segment.read_bytes()[:-1] + b"\xff")


def test_replicas_that_agree_have_exit_code_0(brokers: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert replicas("compare", brokers, "-o", "json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["finding"], row["first_offset"], row["last_offset"]) for row in rows] == [
        ("same", 0, 400),
        ("ends", 0, 400),
        ("ends", 0, 400),
    ]
    assert rows[0]["replicas"] == [str(broker / METADATA) for broker in brokers]


def test_damage_has_exit_code_3_and_a_difference_1(brokers: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    break_last_batch(brokers[1])
    assert replicas("compare", brokers) == 3
    assert "bad_crc" in capsys.readouterr().out
    (brokers[1] / METADATA / SECOND).unlink()
    assert replicas("compare", brokers) == 1
    assert "has nothing there" in capsys.readouterr().out


def test_a_merge_is_the_sound_log_and_changes_no_source(
    brokers: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    break_last_batch(brokers[0])
    before = {path: path.read_bytes() for broker in brokers for path in broker.rglob("*") if path.is_file()}
    out = tmp_path / "merged"
    assert replicas("merge", brokers, "--out", str(out), "-o", "json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["batches"], row["snapshots"], row["lost"]) == (102, 2, [])
    assert list(row["taken"].values()) == [101, 1]
    names = {path.name for path in (out / METADATA).iterdir()}
    assert names == {path.name for path in (LOGS / METADATA).iterdir() if path.suffix in {".log", ".checkpoint"}}
    assert all((out / METADATA / name).read_bytes() == (LOGS / METADATA / name).read_bytes() for name in names)
    assert "cluster.id=abc" in (out / "meta.properties").read_text("utf-8")
    assert before == {path: path.read_bytes() for path in before}
    assert sorted(path.name for path in out.iterdir()) == [METADATA, "meta.properties"]


def test_offsets_that_none_has_have_exit_code_3(
    brokers: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for broker in brokers:
        break_last_batch(broker)
    assert replicas("merge", brokers, "--out", str(tmp_path / "merged"), "-o", "json") == 3
    (row,) = json.loads(capsys.readouterr().out)
    assert row["lost"] == ["288-314"]


def test_an_output_that_is_there_or_in_a_source_is_refused(
    brokers: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for out in (brokers[0], brokers[0] / METADATA / "merged"):
        assert replicas("merge", brokers, "--out", str(out)) == 2
        assert "only read" in capsys.readouterr().err
    assert not (brokers[0] / METADATA / "merged").exists()
    (log,), _ = find_replicas(brokers)
    merge_replicas(log, tmp_path / "merged")
    with pytest.raises(FileExistsError):
        merge_replicas(log, tmp_path / "merged")
    with pytest.raises(FileExistsError, match="in the replica"):
        merge_replicas(log, brokers[0] / METADATA / "merged")
    assert replicas("merge", brokers, "--out", str(tmp_path / "merged")) == 1


def test_a_failed_merge_leaves_nothing(brokers: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (log,), _ = find_replicas(brokers)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("kafkawire.logs.replicas.merging._copy_snapshots", fail)
    with pytest.raises(OSError, match="No space left"):
        merge_replicas(log, tmp_path / "merged")
    assert list((tmp_path / "merged").iterdir()) == []


def test_one_broker_is_not_enough(brokers: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert replicas("compare", brokers[:1]) == 2
    assert "two brokers" in capsys.readouterr().err
