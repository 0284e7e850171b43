"""``kafkawire generate`` with the user's own definitions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.made.packages import field, message, write_definitions

from kafkawire.cli.app import main
from kafkawire.codegen.merge.released_versions import RELEASES_FILE, ReleasedVersion, format_released_versions

DEFINITIONS = (
    message("PingRequest", field("Text", "string"), apiKey=900, type="request"),
    message("PingResponse", field("Text", "string", nullableVersions="0+"), apiKey=900, type="response"),
    message("Note", field("Lines", "[]string"), field("Author", "Author", fields=[field("Id", "uuid")])),
)

PROGRAM = """
from acme.protocol import Note, PingRequest, from_json, to_json
note = Note(lines=("one", "two"))
assert Note.decode(note.encode(1), 1) == note == from_json(Note, to_json(note, 1), 1)
assert PingRequest(text="hi").encode(0) == b"\\x00\\x02hi"
print(note)
"""

FEW_EXAMPLES = """
from hypothesis import settings
settings.register_profile("few", max_examples=5)
settings.load_profile("few")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with definitions in ``specs``."""
    write_definitions(tmp_path / "specs", *DEFINITIONS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def generate(*more: str, specs: str = "specs", package: str = "acme.protocol", out: str = "src") -> int:
    return main(["generate", "--specs", specs, "--package", package, "--out", out, *more])


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_users_own_package_is_generated_with_tests(folder: Path) -> None:
    arguments = ["generate", "--specs", "specs", "--package", "acme.protocol", "--out", "src", "--tests", "checks"]
    done = run(folder, str(Path(sys.executable).with_name("kafkawire")), *arguments)
    assert (done.returncode, done.stdout) == (0, "")
    assert "acme.protocol in src/acme/protocol\n" in done.stderr
    assert {"messages", "3", "6", "files", "written"} <= set(done.stderr.split())
    used = run(folder, sys.executable, "-c", PROGRAM)
    assert (used.returncode, used.stdout) == (0, ("Note(lines=('one', 'two'), author=Note.Author(id=Uuid.from_text('"
                                                 "AAAAAAAAAAAAAAAAAAAAAA')))\n")), used.stderr  # fmt: skip
    (folder / "conftest.py").write_text(FEW_EXAMPLES)
    tested = run(folder, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "checks")
    assert tested.returncode == 0, tested.stdout
    assert "18 passed" in tested.stdout, "three laws for three messages of two versions"


def test_a_second_run_changes_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert generate() == 0
    before = tree(folder)
    capsys.readouterr()
    assert generate() == 0
    assert "src/acme/protocol is up to date" in capsys.readouterr().err
    assert tree(folder) == before


def test_definitions_with_errors_are_reported_and_no_file_changes(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert generate("--tests", "checks") == 0
    write_definitions(folder / "specs", message("Note", field("Lines", "[]strin"), field("Lines", "int8")))
    before = tree(folder)
    capsys.readouterr()
    assert generate("--tests", "checks") == 1
    shown = capsys.readouterr()
    assert "specs/Note.json:1:" in shown.err
    assert "error[field-type-unknown]" in shown.err
    assert "error[struct-field-name-unique]" in shown.err
    assert "^^^" in shown.err
    assert shown.err.endswith("\nkafkawire: 2 errors in the definitions: nothing is generated\n")
    assert shown.out == ""
    assert tree(folder) == before


@pytest.mark.parametrize("type_", ["String", "[]Lien"])
def test_a_misspelt_type_generates_nothing(folder: Path, capsys: pytest.CaptureFixture[str], type_: str) -> None:
    line = field("Lines", "[]Line", fields=[field("Article", "string")])
    write_definitions(folder / "specs", message("Note", line, field("Text", type_)))
    assert generate() == 1
    shown = capsys.readouterr().err
    assert "error[struct-undeclared]: Note.Text" in shown
    assert f'did you mean "{"string" if type_ == "String" else "Line"}"?' in shown
    assert not (folder / "src").exists()


@pytest.mark.parametrize("more", [(), ("--check",)], ids=["generate", "check"])
def test_warnings_are_always_shown(folder: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...]) -> None:
    write_definitions(folder / "specs", message("Note", field("Text", "string", "03")))
    assert generate() == 0
    for _ in range(2):
        shown = capsys.readouterr().err
        assert 'warning[gap-leading-zero]: Note.Text: versions "03" is read as "3"' in shown
        assert "warning[gap-field-outside-valid]" in shown
        assert "2 warnings in the definitions\n" in shown
        assert generate(*more) == 0


def test_check_reports_outdated_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert generate("--check") == 1
    assert not (folder / "src").exists()
    assert generate() == 0
    assert generate("--check") == 0
    capsys.readouterr()
    (folder / "src" / "acme" / "protocol" / "note.py").write_text("edited")
    before = tree(folder)
    assert generate("--check") == 1
    assert capsys.readouterr().err.splitlines() == [
        "src/acme/protocol/note.py",
        "kafkawire: 1 generated file is not up to date; run the command without --check, and keep the result",
    ]
    assert tree(folder) == before


@pytest.mark.parametrize(
    "package", ["", "acme.", "acme..protocol", "1acme", "acme protocol", "acme.class", "acme/protocol"]
)
def test_a_package_name_that_cannot_be_imported_is_refused(
    package: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert generate(package=package) == 2
    assert capsys.readouterr().err == (
        f"kafkawire: --package: {package!r} is not the name of a package; give one such as acme.protocol\n"
    )
    assert not (folder / "src").exists()


def test_definitions_must_be_a_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert generate(specs="nowhere") == 2
    assert generate(specs="specs/Note.json") == 2
    assert capsys.readouterr().err.splitlines() == [
        "kafkawire: --specs: nowhere is not a folder; give the folder that holds the definitions",
        "kafkawire: --specs: specs/Note.json is not a folder; give the folder that holds the definitions",
    ]
    assert not (folder / "src").exists()


def test_a_folder_without_definitions_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "empty").mkdir()
    assert generate(specs="empty") == 1
    assert "no *.json file in this folder or below" in capsys.readouterr().err


def test_the_users_own_package_needs_a_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "--specs", "specs", "--package", "acme.protocol"]) == 2
    assert main(["generate", "--package", "acme.protocol"]) == 2
    assert capsys.readouterr().err == "kafkawire: --out is missing; give the folder that will hold the package\n" * 2
    assert sorted(path.name for path in folder.iterdir()) == ["specs"]


@pytest.mark.parametrize(
    ("out", "tests", "refused"),
    [
        ("specs", "checks", "specs/acme/protocol is inside the folder of the definitions"),
        ("src", "specs/checks", "specs/checks is inside the folder of the definitions"),
        ("src", "src/acme/protocol", "src/acme/protocol is inside the folder of the package"),
    ],
)
def test_nested_folders_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], out: str, tests: str, refused: str
) -> None:
    assert generate("--tests", tests, out=out) == 2
    assert capsys.readouterr().err == f"kafkawire: {folder / refused}; name another one\n"
    assert sorted(path.name for path in folder.iterdir()) == ["specs"]


@pytest.mark.parametrize("package", ["kafkawire.protocol", "kafkawire", "kafkawire.acme"])
def test_own_definitions_never_replace_kafkawires_packages(
    folder: Path, capsys: pytest.CaptureFixture[str], package: str
) -> None:
    assert generate(package=package) == 2
    assert main(["generate", "--specs", "specs", "--out", "src"]) == 2, "without --package it is Kafka's own"
    first, _ = capsys.readouterr().err.splitlines()
    assert first == (
        f"kafkawire: {package} belongs to kafkawire itself, which would no longer find its own messages: "
        "name a package of your own, such as --package acme.protocol"
    )
    assert sorted(path.name for path in folder.iterdir()) == ["specs"]


def test_the_users_own_package_does_not_mention_kafka(folder: Path) -> None:
    pair = [message(f"Ping{kind.title()}", type=kind, apiKey=1) for kind in ("request", "response")]
    record = message("PingRecord", type="metadata", apiKey=2)
    write_definitions(folder / "specs", *pair, record)
    assert generate("--docs", "pages") == 0
    package = folder / "src" / "acme" / "protocol"
    texts = [path.read_text() for path in (*package.rglob("*.py"), *(folder / "pages").rglob("*.md"))]
    assert not [text for text in texts if "Kafka protocol" in text or "Kafka's own" in text or "What Kafka" in text]
    assert "Messages of acme.protocol. Each is imported when" in (package / "__init__.py").read_text()
    assert "The APIs of acme.protocol" in (package / "api_table.py").read_text()


def test_files_that_were_not_generated_are_left_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "checks").mkdir()
    (folder / "checks" / "test_mine.py").write_text("def test(): pass\n")
    assert generate("--tests", "checks") == 1
    assert "checks holds 1 file that kafkawire did not generate, test_mine.py for one" in capsys.readouterr().err
    assert not (folder / "src").exists()


def test_a_broken_table_of_error_codes_is_reported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "specs" / "error-codes.csv").write_text("code,name\n")
    assert generate() == 1
    assert capsys.readouterr().err.startswith("kafkawire: specs/error-codes.csv:1: the heading must be ")


def test_a_folder_that_cannot_be_written_is_reported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "src").mkdir(exist_ok=True)
    (folder / "src" / "acme").write_text("a file")
    assert generate() == 1
    assert capsys.readouterr().err.startswith("kafkawire: src")
    assert (folder / "src" / "acme").read_text() == "a file"


def test_a_file_in_place_of_the_folder_is_wrong_usage(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "src").write_text("a file")
    assert generate() == 2
    assert capsys.readouterr().err == "kafkawire: --out: src is not a folder; give another one\n"
    assert (folder / "src").read_text() == "a file"


def test_definitions_may_have_comments_and_their_about_texts_are_kept(folder: Path) -> None:
    text = "// A licence.\n" + json.dumps(message("Note", field("Lines", "[]string", about="What is noted.")))
    (folder / "specs" / "Note.json").write_text(text)
    assert generate() == 0
    lines = [line.strip() for line in (folder / "src/acme/protocol/note.py").read_text().splitlines()]
    at = lines.index("lines: What is noted.")
    assert lines[at + 1] == "Type []string; versions 0+."


def test_sentences_of_a_file_are_kept_and_problems_of_it_are_shown(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "specs" / "Note.json").write_text(json.dumps(message("Note", field("Lines", "[]string"))))
    meanings = folder / "specs" / "field-meanings.toml"
    meanings.write_text('[fields]\nLines = "What is noted."\nLinse = "A slip."\n')
    assert generate() == 0
    assert "lines: What is noted.\n" in (folder / "src/acme/protocol/note.py").read_text()
    assert "field-meanings.toml:3:1: warning[meaning-unknown-name]: Linse" in capsys.readouterr().err

    meanings.write_text('[fields]\nLines = "What was noted."\n')
    assert generate("--check") == 1, "a new sentence is a change of what is generated"
    meanings.write_text("[fields]\nLines\n")
    assert generate() == 1
    assert "field-meanings.toml:2:6: error[meaning-file]: invalid TOML" in capsys.readouterr().err


@pytest.mark.usefixtures("no_cover")
def test_kafkas_own_protocol_is_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "--check"]) == 0
    # Some definitions of the releases cause warnings (gap-nullable-outside), but they cannot be changed.
    assert capsys.readouterr().err == "all generated files are up to date\n"


def test_warnings_about_own_definitions_beside_imported_ones_are_shown(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    late_null = field("Text", "string", "1+", nullableVersions="0+")
    write_definitions(folder / "specs", message("Note", late_null), message("Memo", late_null))
    row = ReleasedVersion("4.4.0", "", "Note", 0, "", "Note", 0, "same", ())
    (folder / "specs" / RELEASES_FILE).write_text(format_released_versions([row]))
    assert generate() == 0
    shown = capsys.readouterr().err
    assert "warning[gap-nullable-outside]: Memo.Text" in shown
    assert "Note.Text" not in shown
    assert "1 warning in the definitions\n" in shown
