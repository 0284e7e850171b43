"""``kafkawire specs``."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.made.release_jars import Releases, field, message

from kafkawire.cli.app import main

NAME = field("Name", "string", "0+")


@pytest.fixture
def releases(tmp_path: Path) -> Releases:
    made = Releases(tmp_path)
    made.add("1.0", [message(f"M{number}", "0-1", [NAME]) for number in range(30)])
    made.add("2.0", [message("M1", "1-2", [field("Title", "string", "0+")])], pinned=False)
    return made


def import_(releases: Releases, *words: str) -> int:
    paths = ["--sources", str(releases.sources), "--specs", str(releases.specs), "--offline-jars", str(releases.jars)]
    return main(["specs", "import", *paths, *words])


def test_import_prints_what_it_did(releases: Releases, capsys: pytest.CaptureFixture[str]) -> None:
    assert import_(releases, "--pin") == 0

    printed = capsys.readouterr().out
    rows = [line.split() for line in printed.splitlines()]
    assert ["1.0", "30", "0", "60", "59", "1", "0", "0"] in rows
    assert ["2.0", "1", "0", "2", "2", "0", "0", "0"] in rows
    assert ["merged", "30", "61"] in rows
    assert "1.0 M1 1 renamed: Name is now Title" in printed
    assert "pinned the sha256 of org.example:one:2.0" in printed
    assert "wrote 12 more files" in printed
    assert "32 files written, 0 removed, 0 unchanged" in printed


def test_import_again_prints_that_nothing_changed(releases: Releases, capsys: pytest.CaptureFixture[str]) -> None:
    import_(releases, "--pin")
    capsys.readouterr()

    assert import_(releases) == 0
    assert "0 files written, 0 removed, 32 unchanged" in capsys.readouterr().out


def test_the_summary_uses_the_singular_for_one_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = Releases(tmp_path)
    made.add("1.0", [message(f"M{number}", "0", [field("Name", "string", "0+")]) for number in range(20)])
    import_(made, "--pin")
    assert "wrote 1 more file\n" in capsys.readouterr().out
    (made.specs / "clients" / "M0.json").unlink()
    import_(made)
    assert "\n1 file written, 0 removed, 21 unchanged" in capsys.readouterr().out


def test_a_failed_import_ends_with_1_and_the_reasons(releases: Releases, capsys: pytest.CaptureFixture[str]) -> None:
    assert import_(releases) == 1

    printed = capsys.readouterr().err
    assert "kafkawire: the import failed:\n  org.example:one:2.0 has no sha256 in the sources" in printed
    assert "Traceback" not in printed
    assert not (releases.specs / "clients").exists()


def test_check_compares_definitions_with_their_releases(releases: Releases, capsys: pytest.CaptureFixture[str]) -> None:
    import_(releases, "--pin")
    capsys.readouterr()

    assert main(["specs", "check", "--specs", str(releases.specs)]) == 0
    assert capsys.readouterr().out == "30 messages hold 62 versions of 1.0, 2.0 unchanged\n"

    changed = releases.specs / "clients" / "M2.json"
    changed.write_text(changed.read_text().replace("string", "bytes"))
    assert main(["specs", "check", "--specs", str(releases.specs)]) == 1
    assert "1.0 M2 0: the layout of M2 0 is not that of the release" in capsys.readouterr().err


def test_check_needs_a_record_of_releases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "A.json").write_text("{}")

    assert main(["specs", "check", "--specs", str(tmp_path)]) == 1
    assert "has no record of releases" in capsys.readouterr().err


def add(releases: Releases, version: str, *words: str) -> int:
    where = ["--specs", str(releases.specs), "--offline-jars", str(releases.jars)]
    return main(["specs", "add", version, *where, *words])


def test_add_imports_generates_and_lists_what_is_new(
    releases: Releases, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import_(releases, "--pin")
    capsys.readouterr()
    pair = [
        message(f"List{part}", "0-1", [NAME], type=part.lower(), apiKey=1, **more)
        for part, more in (("Request", {"listeners": ["broker"]}), ("Response", {}))
    ]
    releases.publish(
        "3.0", [message("M1", "2-4", [field("Title", "string", "0+")]), message("New", "0", [NAME]), *pair]
    )

    assert add(releases, "3.0", "--package", "acme.protocol", "--out", str(tmp_path / "out")) == 0

    said = capsys.readouterr().out.splitlines()
    assert said[:-1] == [
        f"Apache Kafka 3.0 was added to {releases.specs}",
        "not published: two",
        "new APIs: 1 List",
        "other new messages: New",
        "new versions: M1 3-4",
        "dropped versions: M1 1",
        "1 digest pinned, 6 files of definitions written",
    ]
    assert re.fullmatch(r"\d+ generated files written, 0 unchanged", said[-1])
    assert (tmp_path / "out" / "acme" / "protocol" / "clients" / "list_request.py").is_file()


def test_add_without_a_folder_generates_nothing_and_prints_a_notice(
    releases: Releases, capsys: pytest.CaptureFixture[str]
) -> None:
    import_(releases, "--pin")
    releases.publish("3.0", [message("M1", "1-2", [field("Title", "string", "0+")])])

    assert add(releases, "3.0") == 0
    assert "nothing was generated: run kafkawire generate, or add --package and --out" in capsys.readouterr().out


def test_add_lists_the_fields_that_need_a_sentence(
    releases: Releases, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import_(releases, "--pin")
    meanings = releases.specs / "field-meanings.toml"
    sentences = '[fields]\nName = "The name."\nTitle = "The title."\n'
    meanings.write_text(sentences)
    releases.publish("3.0", [message("M1", "1-3", [field("Title", "string", "0+"), field("Rank", "int8", "3+")])])
    capsys.readouterr()

    assert add(releases, "3.0", "--package", "acme.protocol", "--out", str(tmp_path / "out")) == 0
    printed = capsys.readouterr().out
    assert f"1 field without a meaning; add a sentence for each to {meanings}:\n  M1.Rank\n" in printed
    assert meanings.read_text() == sentences, "the import leaves the file as it is"
    assert "title: The title.\n" in (tmp_path / "out/acme/protocol/clients/m1.py").read_text()


def test_add_prints_the_warnings_about_definitions(releases: Releases, capsys: pytest.CaptureFixture[str]) -> None:
    import_(releases, "--pin")
    capsys.readouterr()
    doubtful = message("New", "0-1", [field("Title", "string", "1+", nullableVersions="0+")])
    releases.publish("3.0", [message("M1", "1-2", [field("Title", "string", "0+")]), doubtful])

    assert add(releases, "3.0") == 0
    shown = capsys.readouterr().err
    assert f"{releases.specs}/clients/New.json" in shown
    assert "warning[gap-nullable-outside]: New.Title" in shown
    assert shown.endswith("1 warning in the definitions\n")


def test_a_release_that_definitions_do_not_allow_is_not_added(
    releases: Releases, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The release has the version that a proposal uses."""
    import_(releases, "--pin")
    proposal = message("M1", "3", [field("Title", "string", "0+")])
    (releases.specs / "proposals" / "kip").mkdir(parents=True)
    (releases.specs / "proposals" / "kip" / "M1.json").write_text(json.dumps(proposal))
    before = {path: path.read_bytes() for path in releases.specs.rglob("*") if path.is_file()}
    capsys.readouterr()
    releases.publish("3.0", [message("M1", "1-3", [field("Title", "string", "0+")])])

    assert add(releases, "3.0", "--package", "acme.protocol", "--out", str(tmp_path / "out")) == 1

    printed = capsys.readouterr()
    assert "proposal-version-taken" in printed.out
    assert "3.0 was not added, and nothing was changed" in printed.err
    assert {path: path.read_bytes() for path in releases.specs.rglob("*") if path.is_file()} == before
    assert not (tmp_path / "out").exists()


def test_needed_decisions_are_printed_as_toml(releases: Releases, capsys: pytest.CaptureFixture[str]) -> None:
    import_(releases, "--pin")
    capsys.readouterr()
    releases.publish("3.0", [message("M1", "1-2", [field("Title", "bytes", "0+")])])

    assert add(releases, "3.0") == 1

    printed = capsys.readouterr().err
    assert "2.0 and 3.0 disagree about M1 2, Title: string and bytes" in printed
    assert '\n[[decisions]]\nmessage = "M1"\nversion = 2\nolder = "2.0"\nnewer = "3.0"\nreason = ""\n' in printed
