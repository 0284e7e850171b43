"""Manifests: what they say about inputs and results, and what a changed file looks like to them."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import pytest

from kafkawire.logs import (
    MANIFEST_FORM,
    Accounts,
    FileState,
    LogReadError,
    Manifest,
    ManifestError,
    VerifiedFile,
    check_unchanged,
    describe_inputs,
    describe_result,
    find_log_files,
    make_manifest,
    read_table,
    verify_manifest,
)
from kafkawire.logs.evidence.digests import shown_place

METADATA = Path(__file__).parents[3] / "fixtures" / "kafka-4.3.1" / "logs" / "__cluster_metadata-0"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return Path(shutil.copytree(METADATA, tmp_path / "data" / METADATA.name))


def manifest_of(log: Path) -> Manifest:
    files = find_log_files([log])
    inputs, accounts = describe_inputs(files), Accounts()
    result = log.parents[1] / "rows.txt"
    rows = [row for batch in read_table("topic_history", log, accounts=accounts) for row in batch.to_pylist()]
    result.write_text("\n".join(map(str, rows)), "utf-8")
    return make_manifest("topic_history", {}, inputs, accounts, describe_result(result, len(rows)))


def states(files: list[VerifiedFile]) -> dict[str, FileState]:
    return {Path(file.path).name: file.state for file in files if file.state is not FileState.SAME}


def test_an_input_has_the_digest_and_the_counts_of_its_file(log: Path) -> None:
    manifest = manifest_of(log)
    for each in manifest.inputs:
        assert each.sha256 == hashlib.sha256(Path(each.path).read_bytes()).hexdigest()
        assert each.size == each.bytes_decoded + sum(each.bytes_skipped.values()) == Path(each.path).stat().st_size
    segments = [each for each in manifest.inputs if each.kind == "segment"]
    assert [(each.first_offset, each.last_offset) for each in segments] == [(0, 158), (159, 314), (315, 400)]
    assert sum(each.size for each in segments) == manifest.accounts.bytes_read, "no snapshot is needed"
    assert manifest.result.rows == manifest.accounts.rows == 19


def test_damage_is_skipped_with_its_code(log: Path) -> None:
    segment = log / "00000000000000000159.log"
    content = bytearray(segment.read_bytes())
    content[-1] ^= 1
    segment.write_bytes(content)
    (damaged,) = (each for each in describe_inputs(find_log_files([log])) if each.bytes_skipped)
    assert damaged.path.endswith(segment.name)
    assert damaged.bytes_skipped.keys() == {"bad_crc"}
    assert damaged.batches == 44
    assert damaged.size == damaged.bytes_decoded + damaged.bytes_skipped["bad_crc"]


def test_only_the_listed_bytes_of_a_growing_file_count(log: Path) -> None:
    files = find_log_files([log])
    last = log / "00000000000000000315.log"
    expected = hashlib.sha256(last.read_bytes()).hexdigest()
    with last.open("ab") as file:
        file.write((log / "00000000000000000159.log").read_bytes())
    inputs = describe_inputs(files)
    assert inputs[-1].sha256 == expected
    assert inputs[-1].last_offset == 400
    check_unchanged(files)


@pytest.mark.parametrize("change", ["replaced", "truncated", "deleted"])
def test_a_file_that_changed_after_it_was_listed_is_an_error(log: Path, change: str) -> None:
    files = find_log_files([log])
    last = Path(files[-1].path)
    if change == "replaced":
        os.utime(last, ns=(1, 1))
    elif change == "truncated":
        last.write_bytes(last.read_bytes()[:-1])
    else:
        last.unlink()
    code = "unreadable" if change == "deleted" else "file_changed"
    for check in (describe_inputs, check_unchanged):
        with pytest.raises(LogReadError) as failure:
            check(files)
        assert failure.value.code == code


def test_it_is_the_same_after_it_was_written_and_read(log: Path) -> None:
    manifest = manifest_of(log)
    assert Manifest.decode(manifest.encode()) == manifest


def test_unchanged_files_are_the_same(log: Path) -> None:
    files = list(verify_manifest(manifest_of(log)))
    assert states(files) == {}
    assert [file.is_result for file in files] == [False] * 5 + [True]


def test_each_change_has_its_state(log: Path) -> None:
    manifest = manifest_of(log)
    first, second, third = sorted(log.glob("*.log"))
    first.write_bytes(bytes(first.stat().st_size))
    second.unlink()
    with third.open("ab") as file:
        file.write(b"more")
    with (log.parents[1] / "rows.txt").open("ab") as file:
        file.write(b"more")
    assert states(list(verify_manifest(manifest))) == {
        first.name: FileState.DIFFERS,
        second.name: FileState.MISSING,
        third.name: FileState.GREW,
        "rows.txt": FileState.DIFFERS,
    }


def test_files_are_found_where_they_have_moved(log: Path, tmp_path: Path) -> None:
    manifest = manifest_of(log)
    (tmp_path / "data").rename(tmp_path / "copies")
    assert set(states(list(verify_manifest(manifest))).values()) == {FileState.MISSING}
    moved = {str(tmp_path / "da"): "/nowhere", str(tmp_path / "data"): str(tmp_path / "copies")}
    assert states(list(verify_manifest(manifest, moved=moved))) == {}


@pytest.mark.parametrize(
    ("octets", "reason"),
    [
        (b"{", "not a manifest"),
        (b'{"form": 2}', "form 2"),
        (b'{"form": %d}' % MANIFEST_FORM, "missing required field"),
        (b"[1]", "not a manifest"),
    ],
)
def test_what_is_no_manifest_is_refused(octets: bytes, reason: str) -> None:
    with pytest.raises(ManifestError, match=reason):
        Manifest.decode(octets)


def test_users_and_parameters_of_uris_are_left_out() -> None:
    assert shown_place("s3://key:secret@bucket/logs/a.log") == "s3://bucket/logs/a.log"
    assert shown_place("s3://bucket/logs?secret_key=x") == "s3://bucket/logs"
    assert shown_place("s3://bucket/logs/user@host") == "s3://bucket/logs/user@host"
