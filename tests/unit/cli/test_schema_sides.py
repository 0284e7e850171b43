"""Both sides of a comparison on the command line: a side that cannot be had ends with exit code 2."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.release_jars import Json, field, message

from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.schema.sides import load_sides


def write(folder: Path, definition: Json) -> None:
    folder.mkdir()
    (folder / f"{definition['name']}.json").write_text(json.dumps(definition))


@pytest.fixture(autouse=True)
def _folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "old", message("A", "0", [field("Name", "string", "0+")]))
    write(tmp_path / "new", message("A", "0-1", [field("Name", "string", "0+")]))
    write(tmp_path / "broken", message("A", "0+", []))
    write(tmp_path / "doubtful", message("A", "0", [], deprecatedVersions="2-1"))


def test_both_sides_are_read_in_their_order(capfd: pytest.CaptureFixture[str]) -> None:
    old, new = load_sides("old", "new")

    assert (old.name, new.name) == ("old", "new")
    assert (str(old.messages["A"].valid_versions), str(new.messages["A"].valid_versions)) == ("0", "0-1")
    assert capfd.readouterr() == ("", "")


def test_warnings_do_not_stop_a_comparison(capfd: pytest.CaptureFixture[str]) -> None:
    assert len(load_sides("doubtful", "new")[0].findings) == 1
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("sides", [("broken", "new"), ("old", "broken")])
def test_definitions_with_errors_are_shown_as_lint_shows_them(
    capfd: pytest.CaptureFixture[str], sides: tuple[str, str]
) -> None:
    with pytest.raises(CommandError) as failed:
        load_sides(*sides)

    assert failed.value.exit_code is ExitCode.USAGE
    assert failed.value.message.startswith("broken cannot be compared: its definitions have errors")
    printed = capfd.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("broken/A.json:1:48: error[message-max-version-required]: ")


@pytest.mark.parametrize("sides", [("missing", "new"), ("old", "missing")])
def test_a_side_that_is_not_there_is_wrong_usage(sides: tuple[str, str]) -> None:
    with pytest.raises(CommandError, match="there is no file or folder 'missing'") as failed:
        load_sides(*sides)

    assert failed.value.exit_code is ExitCode.USAGE
