"""``kafkawire schema check``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.made.release_jars import Json, field, message

from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode

ID = field("Id", "int64", "0+")
NOTE = field("Note", "string", "0+")
BREAKING = "evo-pair-missing-old"


def write(folder: Path, *definitions: Json) -> str:
    folder.mkdir()
    for definition in definitions:
        (folder / f"{definition['name']}.json").write_text(json.dumps(definition))
    return str(folder)


@pytest.fixture
def sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder ``old``, and changed copies: ``broken`` (a new field, not tagged), ``risky`` and ``safe``."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "old", message("Order", "0-1", [ID]))
    write(tmp_path / "broken", message("Order", "0-1", [ID, NOTE]))
    write(tmp_path / "risky", message("Order", "1", [ID]))
    write(tmp_path / "safe", message("Order", "0-1", [field("Key", "int64", "0+")]))
    return tmp_path


def allow(folder: Path, *lines: str) -> str:
    (folder / "allow.toml").write_text("\n".join(["[[accepted]]", *lines, ""]))
    return "allow.toml"


ENTRY = (f'rule = "{BREAKING}"', 'message = "Order"', 'reason = "it is not in use yet"')


@pytest.mark.parametrize(
    ("new", "exit_code", "summary"),
    [
        ("old", ExitCode.DONE, "0 breaking, 0 risky, 0 safe: old -> old"),
        ("safe", ExitCode.DONE, "0 breaking, 0 risky, 1 safe: old -> safe"),
        ("risky", ExitCode.DONE, "0 breaking, 1 risky, 0 safe: old -> risky"),
        ("broken", ExitCode.FAILED, "1 breaking, 0 risky, 0 safe: old -> broken"),
    ],
)
@pytest.mark.usefixtures("sides")
def test_only_breaking_changes_fail(
    new: str, exit_code: ExitCode, summary: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["schema", "check", "old", new]) == exit_code
    assert capsys.readouterr().out.splitlines()[-1] == summary


@pytest.mark.parametrize(
    "arguments",
    [
        ["old"],
        ["old", "missing"],
        ["old", "safe", "--allow", "missing.toml"],
        ["old", "safe", "--profile", "other"],
        ["old", "safe", "--format", "xml"],
    ],
)
@pytest.mark.usefixtures("sides")
def test_wrong_usage(arguments: list[str]) -> None:
    assert main(["schema", "check", *arguments]) == ExitCode.USAGE


def test_a_side_with_errors_is_wrong_usage(sides: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(sides / "faulty", message("Order", "0+", [ID]))
    assert main(["schema", "check", "old", "faulty"]) == ExitCode.USAGE
    assert "message-max-version-required" in capsys.readouterr().err


@pytest.mark.usefixtures("sides")
def test_the_text_shows_place_rule_and_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    main(["schema", "check", "old", "broken"])
    text = capsys.readouterr().out
    assert f"breaking[{BREAKING}]: Order 0-1 Note: " in text
    assert "bytes: Order 0-1: old to new incompatible" in text
    assert "bytes: 2 versions of 1 message are valid on both sides, 0 of them compatible both ways" in text


def test_accepted_findings_are_shown_with_their_reason_and_pass(
    sides: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["schema", "check", "old", "broken", "--allow", allow(sides, *ENTRY)]) == ExitCode.DONE
    text = capsys.readouterr().out
    assert f"accepted[{BREAKING}]" in text
    assert "accepted: it is not in use yet" in text
    assert text.endswith("0 breaking, 0 risky, 0 safe, 1 accepted: old -> broken\n")


def test_an_entry_that_matches_nothing_is_reported_and_does_not_fail(
    sides: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["schema", "check", "old", "old", "--allow", allow(sides, *ENTRY)]) == ExitCode.DONE
    assert f"accepted (line 1), but no longer found: {BREAKING} Order\n" in capsys.readouterr().out


def test_a_faulty_file_is_wrong_usage_and_names_the_line(sides: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = allow(sides, *ENTRY, 'because = "so"')
    assert main(["schema", "check", "old", "old", "--allow", file]) == ExitCode.USAGE
    assert "allow.toml:5: unknown key 'because'" in capsys.readouterr().err


def test_json_has_everything(sides: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = allow(sides, *ENTRY, 'versions = "0"')
    assert main(["schema", "check", "old", "broken", "--allow", file, "--format", "json"]) == ExitCode.FAILED
    printed = json.loads(capsys.readouterr().out)
    assert {name: printed[name] for name in ("form", "profile", "older", "newer", "summary")} == {
        "form": 1,
        "profile": "kafkawire",
        "older": "old",
        "newer": "broken",
        "summary": {"breaking": 1, "risky": 0, "safe": 0, "accepted": 0},
    }
    (finding,) = printed["findings"]
    assert list(finding) == [
        "rule", "severity", "message", "path", "versions", "reason", "file", "line", "column", "end_line", "end_column",
        "accepted",
    ]  # fmt: skip
    assert (finding["rule"], finding["path"], finding["versions"]) == (BREAKING, "Note", "0-1")
    assert printed["unused"] == [
        {
            "rule": BREAKING,
            "message": "Order",
            "path": None,
            "versions": "0",
            "reason": "it is not in use yet",
            "line": 1,
        }
    ]
    (order,) = printed["bytes"]
    assert [version["version"] for version in order["versions"]] == [0, 1]
    obstacle = {"path": "Note", "verdict": "incompatible", "reason": "only the reader has this field in line"}
    assert order["versions"][0]["old_to_new"] == {"verdict": "incompatible", "obstacles": [obstacle]}


def test_github_and_sarif_show_the_severity_as_a_level(sides: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["schema", "check", "old", "broken", "--format", "github"])
    assert capsys.readouterr().out.startswith("::error file=broken/Order.json,line=1,")
    main(["schema", "check", "old", "risky", "--format", "github"])
    assert capsys.readouterr().out.startswith("::warning ")
    main(["schema", "check", "old", "broken", "--allow", allow(sides, *ENTRY), "--format", "sarif"])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    (result,) = run["results"]
    assert (result["level"], result["ruleId"]) == ("note", BREAKING)
    assert result["message"]["text"].endswith("accepted: it is not in use yet")


@pytest.mark.usefixtures("sides")
def test_markdown_has_a_table_for_each_severity(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "check", "old", "broken", "--format", "markdown"]) == ExitCode.FAILED
    page = capsys.readouterr().out
    assert "### Schema check: `old` → `broken`\n\n**Failed**: 1 breaking, 0 risky, 0 safe.\n" in page
    assert (
        f"#### Breaking (1)\n\n| rule | where | why |\n| --- | --- | --- |\n| `{BREAKING}` | `Order 0-1 Note` |" in page
    )


def test_the_upstream_profile_refuses_the_same_as_kafka(sides: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tagged = field("Note", "string", "0+", taggedVersions="0+", tag=0)
    write(sides / "flexible", message("Order", "0-1", [ID], flexibleVersions="0+"))
    write(sides / "tagged", message("Order", "0-1", [ID, tagged], flexibleVersions="0+"))
    assert main(["schema", "check", "flexible", "tagged"]) == ExitCode.DONE
    assert main(["schema", "check", "flexible", "tagged", "--profile", "upstream"]) == ExitCode.FAILED
    assert f"breaking[{BREAKING}]" in capsys.readouterr().out
