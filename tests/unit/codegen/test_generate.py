"""The generator as a whole: refusals, what is written when, and that its output depends on its input alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.made.packages import Json, field, generated, message, quiet, write_definitions

from kafkawire.codegen.emit.output import MANIFEST
from kafkawire.codegen.generate import DefinitionsRefusedError, ForeignFilesError, Target, checked_specs, stale_files
from kafkawire.codegen.parse.load import load_definitions

FIRST = message("First", field("A", "int32"), field("B", "[]Inner", fields=[field("C", "string")]))
SECOND = message("Second", field("A", "int64"))


def target(folder: Path, *messages: Json, tests: bool = True) -> Target:
    """Definitions in a folder, to be generated beside it."""
    specs = write_definitions(folder / "specs", *messages)
    return Target(specs, "acme.protocol", folder / "out", folder / "tests" if tests else None)


def times(folder: Path) -> dict[str, int]:
    return {
        str(path.relative_to(folder)): path.stat().st_mtime_ns
        for path in folder.rglob("*")
        if path.is_file() and path.name != MANIFEST
    }


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_first_run_tells_what_it_made(tmp_path: Path) -> None:
    summary = generated(target(tmp_path, FIRST, SECOND))
    assert summary is not None
    assert (summary.messages, summary.versions, summary.layouts) == (2, 4, 4)
    assert (summary.struct_layouts, summary.fields) == (6, 8)
    assert summary.lines == sum(
        text.count(b"\n") for path, text in contents(tmp_path / "out").items() if MANIFEST not in path
    )
    assert len(summary.package.written) == len(contents(tmp_path / "out")) - 1
    assert summary.tests.written == ("test_messages.py",)


def test_an_unchanged_run_does_nothing(tmp_path: Path) -> None:
    made = target(tmp_path, FIRST, SECOND)
    generated(made)
    before = times(tmp_path)
    said: list[str] = []
    assert generated(made) is None
    assert times(tmp_path) == before
    assert stale_files(made, checked_specs(made.specs, quiet), lambda what, *_: said.append(what)) == []
    assert "formatting" in said


def test_one_changed_definition_rewrites_its_files_only(tmp_path: Path) -> None:
    made = target(tmp_path, FIRST, SECOND)
    generated(made)
    before = times(tmp_path)
    write_definitions(made.specs, message("Second", field("A", "int64"), field("B", "int8", "1+")))
    stale = stale_files(made, checked_specs(made.specs, quiet), quiet)
    assert [Path(path).name for path in stale] == ["second.py", "second.py"]
    summary = generated(made)
    assert summary is not None
    assert summary.package.written == ("second.py", "_layouts/second.py")
    assert summary.tests.written == ()
    after = times(tmp_path)
    assert {path for path in after if after[path] != before[path]} - {"specs/Second.json"} == {
        "out/acme/protocol/second.py", "out/acme/protocol/_layouts/second.py",
    }  # fmt: skip


def test_a_definition_that_is_gone_takes_its_files_with_it(tmp_path: Path) -> None:
    made = target(tmp_path, FIRST, SECOND)
    generated(made)
    (made.specs / "Second.json").unlink()
    summary = generated(made)
    assert summary is not None
    assert summary.package.removed == ("_layouts/second.py", "second.py")
    assert "Second" not in (made.package_folder / "__init__.py").read_text()


def test_the_text_of_a_message_depends_on_its_definition_alone(tmp_path: Path) -> None:
    both, alone = target(tmp_path / "both", FIRST, SECOND), target(tmp_path / "alone", SECOND)
    generated(both)
    generated(alone)
    for name in ("second.py", "_layouts/second.py"):
        assert (both.package_folder / name).read_bytes() == (alone.package_folder / name).read_bytes()


RUN = """
import sys
from pathlib import Path
from tests.made.packages import generated
from kafkawire.codegen.generate import Target
generated(Target(Path(sys.argv[1]), "acme.protocol", Path(sys.argv[2]), Path(sys.argv[2], "tests")))
"""


def test_output_is_the_same_for_any_order_of_files_and_any_hash_seed(tmp_path: Path) -> None:
    golden = Path(__file__).parents[2] / "golden" / "codegen" / "definitions"
    outputs = []
    for seed in ("0", "42"):
        specs, out = tmp_path / f"specs{seed}", tmp_path / f"out{seed}"
        paths = sorted(golden.rglob("*.*"), key=lambda path: hash((seed, path.name)))
        for path in paths:
            copied = specs / path.relative_to(golden)
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copied)
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[3])}
        subprocess.run([sys.executable, "-c", RUN, str(specs), str(out)], check=True, env=environment)
        outputs.append(contents(out))
    assert outputs[0] == outputs[1]
    assert len(outputs[0]) > 30


def test_definitions_with_errors_are_refused_with_the_findings_of_lint(tmp_path: Path) -> None:
    made = target(tmp_path, FIRST)
    generated(made)
    before = contents(tmp_path)
    bad = message(
        "Second", field("A", "int23"), field("B", "string", nullableVersions="0+", default="x" * 3), field("A", "int8")
    )
    write_definitions(made.specs, bad)
    with pytest.raises(DefinitionsRefusedError, match="errors in the definitions: nothing is generated") as caught:
        generated(made)
    assert caught.value.findings == load_definitions(made.specs).findings
    assert {finding.rule for finding in caught.value.findings} >= {"field-type-unknown", "struct-field-name-unique"}
    assert set(caught.value.sources) == {str(made.specs / "First.json"), str(made.specs / "Second.json")}
    (made.specs / "Second.json").unlink()
    assert contents(tmp_path) == before


def test_one_error_is_reported_in_the_singular(tmp_path: Path) -> None:
    with pytest.raises(DefinitionsRefusedError, match=r"^1 error in the definitions: nothing is generated$"):
        generated(target(tmp_path, message("First", field("A", "int23"))))


def test_warnings_do_not_stop_generation(tmp_path: Path) -> None:
    made = target(tmp_path, message("First", field("A", "int8", "5+")))
    assert [finding.rule for finding in load_definitions(made.specs).findings] == ["gap-field-outside-valid"]
    assert generated(made) is not None


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    made = target(tmp_path, FIRST)
    made.package_folder.mkdir(parents=True)
    (made.package_folder / "mine.py").write_text("print()\n")
    with pytest.raises(ForeignFilesError, match=r"1 file that kafkawire did not generate, mine\.py for one"):
        generated(made)
    assert [path.name for path in made.package_folder.iterdir()] == ["mine.py"]


def test_a_foreign_file_in_the_way_of_a_new_one_is_refused(tmp_path: Path) -> None:
    made = target(tmp_path, FIRST)
    generated(made)
    (made.package_folder / "second.py").write_text("print()\n")
    write_definitions(made.specs, SECOND)
    with pytest.raises(ForeignFilesError, match=r"second\.py"):
        generated(made)
    assert (made.package_folder / "second.py").read_text() == "print()\n"


def test_an_empty_file_in_the_way_is_no_obstacle(tmp_path: Path) -> None:
    made = target(tmp_path, FIRST)
    made.package_folder.mkdir(parents=True)
    for name in ("__init__.py", "py.typed", "first.py"):
        (made.package_folder / name).touch()
    assert generated(made) is not None
    assert "class First" in (made.package_folder / "first.py").read_text()


def test_a_lost_manifest_is_written_again(tmp_path: Path) -> None:
    made = target(tmp_path, FIRST)
    generated(made)
    before = contents(made.out)
    (made.package_folder / MANIFEST).unlink()
    summary = generated(made)
    assert summary is not None
    assert summary.package.written == ()
    assert contents(made.out) == before


def test_tests_that_cannot_be_written_leave_the_package_as_it_was(tmp_path: Path) -> None:
    made = target(tmp_path, FIRST)
    (tmp_path / "tests").write_text("in the way")
    with pytest.raises(OSError, match="tests"):
        generated(made)
    assert not made.out.exists()


CLASHES = {
    "class": ([("a", FIRST), ("b", FIRST)], "First: the class First is that of First in .*a.First.json already"),
    "strategy": ([("", message("KRaft")), ("", message("Kraft"))], "the strategy kraft is that of KRaft"),
    "json": (
        [("", message("M", field("At", "int8"), field("at", "int8")))],
        "at and At would be one key of the JSON form",
    ),
    "digit": ([("1st", FIRST)], 'the folder "1st" cannot be a Python package'),
    "keyword": ([("class", FIRST)], 'the folder "class" cannot be a Python package'),
    "blank": ([("my specs", FIRST)], 'the folder "my specs" cannot be a Python package'),
    "dot": ([("a.b", FIRST)], 'the folder "a.b" cannot be a Python package'),
    "folders": ([("a-b", FIRST), ("a_b", SECOND)], 'the folders "a_b" and "a-b" would be one Python package'),
    "module": ([("first", SECOND), ("", FIRST)], 'the folder "first" and the message First would be one Python module'),
}


@pytest.mark.parametrize("case", CLASHES)
def test_names_that_cannot_stand_in_one_package_are_refused(tmp_path: Path, case: str) -> None:
    files, text = CLASHES[case]
    for folder, definition in files:
        write_definitions(tmp_path / "specs" / folder, definition)
    with pytest.raises(DefinitionsRefusedError) as caught:
        generated(Target(tmp_path / "specs", "acme.protocol", tmp_path / "out"))
    errors = [finding for finding in caught.value.findings if finding.severity == "error"]
    assert len(errors) == 1
    assert re.search(text, errors[0].message)
    assert errors[0].remedy
    assert errors[0].span.line == 1


def api(key: int, name: str) -> tuple[Json, Json]:
    request = message(f"{name}Request", apiKey=key, type="request")
    return request, message(f"{name}Response", apiKey=key, type="response")


def test_apis_of_several_folders_share_one_table(tmp_path: Path) -> None:
    write_definitions(tmp_path / "specs" / "a", *api(1, "One"))
    write_definitions(tmp_path / "specs" / "b", *api(2, "Two"))
    made = Target(tmp_path / "specs", "acme.protocol", tmp_path / "out")
    assert generated(made) is not None
    write_definitions(tmp_path / "specs" / "b", *api(1, "Two"))
    with pytest.raises(DefinitionsRefusedError) as caught:
        generated(made)
    assert "TwoRequest: the API key 1 is that of OneRequest" in caught.value.findings[0].message
    write_definitions(tmp_path / "specs" / "b", *api(3, "Two"), *api(4, ""))
    with pytest.raises(DefinitionsRefusedError) as caught:
        generated(made)
    assert [finding.message for finding in caught.value.findings] == ["Request: the API has no name"]


def test_each_folder_has_a_module_of_tests(tmp_path: Path) -> None:
    for folder, name in (("", "First"), ("messages", "Second"), ("a/b", "Third"), ("a_b", "Fourth")):
        write_definitions(tmp_path / "specs" / folder, message(name, field("A", "int8")))
    made = Target(tmp_path / "specs", "acme.protocol", tmp_path / "out", tmp_path / "tests")
    summary = generated(made)
    assert summary is not None
    assert sorted(summary.tests.written) == [
        "test_a_b.py", "test_a_b_.py", "test_messages.py", "test_messages_.py",
    ]  # fmt: skip


def test_specs_without_versions_give_no_classes(tmp_path: Path) -> None:
    retired = {"type": "request", "apiKey": 4, "name": "OldRequest", "validVersions": "none"}
    response = retired | {"type": "response", "name": "OldResponse"}
    summary = generated(target(tmp_path, retired, response, FIRST))
    assert summary is not None
    assert summary.messages == 1
    assert json.loads((tmp_path / "specs" / "OldRequest.json").read_text()) == retired
