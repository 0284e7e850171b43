"""What ``kafkawire schema diff`` prints, letter by letter: of made-up definitions, and of two releases of Apache Kafka.

``pytest tests/golden --update-golden`` writes ``diff/expected`` and ``releases`` again; read the difference before
committing it.
"""

from __future__ import annotations

import json
from pathlib import Path

import markdown
import pytest
from tests.apache_kafka.definitions import side_of_release
from tests.made.packages import message, write_definitions

from kafkawire.cli.app import main
from kafkawire.codegen.evolve.change import SchemaDiff
from kafkawire.codegen.evolve.message_changes import diff_sides
from kafkawire.codegen.evolve.origin import load_side
from kafkawire.codegen.evolve.render.as_json import diff_json
from kafkawire.codegen.evolve.render.as_markdown import diff_markdown
from kafkawire.codegen.evolve.render.as_text import diff_lines

FOLDER = Path(__file__).parent
FORMATS = {"text": "txt", "markdown": "md", "json": "json"}


def printed(diff: SchemaDiff, format_: str) -> str:
    match format_:
        case "markdown":
            return diff_markdown(diff)
        case "json":
            return diff_json(diff)
        case _:
            return "".join(f"{line.text}\n" for line in diff_lines(diff))


@pytest.fixture(scope="module")
def made_up() -> SchemaDiff:
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(FOLDER / "diff")
        return diff_sides(load_side("older"), load_side("newer"))


@pytest.fixture(scope="module")
def releases() -> SchemaDiff:
    return diff_sides(side_of_release("3.9.2"), side_of_release("4.3.1"))


def hold(text: str, expected: Path, *, update: bool) -> None:
    if update:
        expected.parent.mkdir(exist_ok=True)
        expected.write_text(text)
    assert text == expected.read_text()


@pytest.mark.parametrize("format_", FORMATS)
def test_made_up_definitions(made_up: SchemaDiff, format_: str, update_golden: bool) -> None:
    expected = FOLDER / "diff" / "expected" / f"diff.{FORMATS[format_]}"
    hold(printed(made_up, format_), expected, update=update_golden)


@pytest.mark.conformance
@pytest.mark.parametrize("format_", FORMATS)
def test_two_releases(releases: SchemaDiff, format_: str, update_golden: bool) -> None:
    expected = FOLDER / "releases" / f"diff-3.9.2-4.3.1.{FORMATS[format_]}"
    hold(printed(releases, format_), expected, update=update_golden)


@pytest.mark.parametrize("format_", FORMATS)
def test_the_command_prints_it(
    made_up: SchemaDiff, format_: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(FOLDER / "diff")
    assert main(["schema", "diff", "older", "newer", "--format", format_]) == 0
    assert capsys.readouterr().out == printed(made_up, format_)


@pytest.mark.usefixtures("no_cover")
@pytest.mark.conformance
def test_known_facts_of_two_releases(releases: SchemaDiff) -> None:
    """The facts that the import found in the layouts of both releases: versions that changed where both have them."""
    in_place = {
        (message.name, str(versions))
        for message in releases.messages
        for change in message.changes
        if change.kind in ("field-added", "field-removed", "field-type", "nullable", "tag", "field-order", "flexible")
        for versions in change.in_place
    }
    assert in_place == {
        ("ConsumerGroupCurrentMemberAssignmentValue", "0"),
        ("ConsumerGroupMetadataValue", "0"),
        ("ConsumerGroupTargetAssignmentMetadataValue", "0"),
        ("OffsetCommitValue", "4"),
        ("ReadShareGroupStateSummaryResponse", "0"),
        ("RemoteLogSegmentMetadataRecord", "0"),
        ("RemoteLogSegmentMetadataSnapshotRecord", "0"),
        ("ShareGroupMetadataValue", "0"),
        ("TransactionLogValue", "1"),
    }
    lost = [
        message
        for message in releases.messages
        if message.older is not None
        and message.newer is not None
        and set(message.older.valid_versions) - set(message.newer.valid_versions)
    ]
    assert len(lost) == 57
    renamed = {m.name for m in releases.messages for change in m.changes if change.kind == "message-renamed"}
    assert renamed == {"ListConfigResourcesRequest", "ListConfigResourcesResponse"}


def test_json_is_one_document_with_a_number_of_its_form(made_up: SchemaDiff) -> None:
    document = json.loads(diff_json(made_up))
    assert list(document) == ["form", "older", "newer", "summary", "missing", "messages"]
    assert document["form"] == 1
    assert {tuple(message) for message in document["messages"]} == {("name", "status", "older", "newer", "changes")}


def test_words_of_definitions_are_never_markup(made_up: SchemaDiff) -> None:
    page = markdown.markdown(diff_markdown(made_up), extensions=["tables", "fenced_code", "md_in_html"])
    assert "``` &lt;/details&gt; @all | &lt;b&gt;#1&lt;/b&gt;" in page
    assert page.count("<h4>") == sum(message.status == "changed" for message in made_up.messages)


def test_a_long_page_ends_where_a_comment_must(made_up: SchemaDiff) -> None:
    whole = diff_markdown(made_up)
    assert "left out" not in whole
    for limit in (600, 900, len(whole.encode()) - 1):
        page = diff_markdown(made_up, limit)
        assert len(page.encode()) <= limit
        assert f"of {len(made_up.messages)} messages are left out" in page


@pytest.mark.parametrize(("number", "is_folded"), [(10, False), (11, True)])
def test_many_messages_of_a_kind_are_folded(tmp_path: Path, number: int, is_folded: bool) -> None:
    for folder, count in (("older", 1), ("newer", 1 + number)):
        write_definitions(tmp_path / folder, *(message(f"M{index}") for index in range(count)))
    diff = diff_sides(load_side(str(tmp_path / "older")), load_side(str(tmp_path / "newer")))
    page = diff_markdown(diff)
    title = f"{number} messages added"
    assert (f"<summary>{title}</summary>" in page, f"**{title}**" in page) == (is_folded, not is_folded)
    cut = diff_markdown(diff, len(page.encode()) - 1)
    assert cut.count("<details>") == cut.count("</details>") == is_folded
    assert cut.endswith("messages are left out, for a comment cannot be longer. The text output has all.*\n")


def test_a_page_about_nothing_says_so(made_up: SchemaDiff) -> None:
    nothing = SchemaDiff("older", "newer", (), made_up.unchanged)
    assert diff_markdown(nothing).endswith("\n\nNo change of meaning in 1 message.\n")
