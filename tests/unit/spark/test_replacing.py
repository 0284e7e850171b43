"""A table is replaced as a whole, in folders and in object stores, and a run that fails changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from kafkawire.spark.options import OptionError
from kafkawire.spark.replacing import Place, place_of, written_beside


def content_of(folder: Path) -> dict[str, str]:
    return {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*") if file.is_file()}


def write(part: Place, text: str) -> None:
    part.system.create_dir(f"{part.path}/inner")
    for name in ("part-0", "inner/part-1"):
        with part.system.open_output_stream(f"{part.path}/{name}") as stream:
            stream.write(text.encode())


WRITTEN = {"part-0": "new", "inner/part-1": "new", "_SUCCESS": ""}


@pytest.mark.parametrize("form", ["{}/out", "{}/out/", "file:{}/out", "file://{}/out", "{}/x/../out"])
@pytest.mark.parametrize("there", [True, False])
def test_a_complete_table_replaces_the_old_folder(tmp_path: Path, form: str, *, there: bool) -> None:
    (tmp_path / "x").mkdir()
    out = tmp_path / "out"
    if there:
        out.mkdir()
        (out / "old").write_text("old")
    with written_beside(place_of(form.format(tmp_path))) as part:
        write(part, "new")
        assert content_of(out) == ({"old": "old"} if there else {})
    assert content_of(out) == WRITTEN
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "x"]


@pytest.mark.parametrize("failure", [OSError("full"), KeyboardInterrupt()])
def test_a_run_that_fails_changes_nothing(tmp_path: Path, failure: BaseException) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "old").write_text("old")

    def fail() -> None:
        with written_beside(place_of(str(out))) as part:
            write(part, "new")
            raise failure

    with pytest.raises(type(failure)):
        fail()
    assert content_of(out) == {"old": "old"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_the_previous_table_is_restored_if_no_new_one_is_written(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "old").write_text("old")
    with pytest.raises(OSError, match="part"), written_beside(place_of(str(out))):
        """Nothing is written, so there is nothing to move."""
    assert content_of(out) == {"old": "old"}


def test_relative_paths_become_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert place_of("out").uri == str(tmp_path / "out")


@pytest.mark.parametrize("out", ["/", "file:///"])
def test_the_root_of_a_file_system_cannot_be_replaced(out: str) -> None:
    with pytest.raises(OptionError, match="is not a folder that a table can replace"):
        place_of(out)
