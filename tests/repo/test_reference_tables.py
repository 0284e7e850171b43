"""Tables of the reference pages that repeat code equal the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafkawire.admin import AclOperation, AclPermissionType, PatternType, ResourceType
from kafkawire.codegen.parse.attributes import FIELD_ATTRIBUTES, MESSAGE_ATTRIBUTES, AttributeTable
from kafkawire.layout import ENTITY_TYPES, FIELD_TYPES
from kafkawire.protocol.error_codes import ErrorCode

NUMBERED = re.compile(r"\| (-?\d+) \| ([A-Z_]+) (?=\|)")
IN_BACKTICKS = re.compile(r"`([^`]+)`")


def section(root: Path, page: str, heading: str) -> str:
    """The text below a heading, up to the next one."""
    text = (root / "docs" / "reference" / page).read_text("utf-8")
    _, found, rest = text.partition(f"\n{heading}")
    assert found, f"{page} has no heading {heading}"
    return re.split(r"^#", rest, maxsplit=1, flags=re.MULTILINE)[0]


def first_cells(text: str) -> list[list[str]]:
    """What stands in backticks in the first cell of each row."""
    cells = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    return [IN_BACKTICKS.findall(cell) for cell in cells]


@pytest.mark.parametrize(("heading", "table"), [("## Messages", MESSAGE_ATTRIBUTES), ("## Fields", FIELD_ATTRIBUTES)])
def test_every_attribute_has_a_row(root: Path, heading: str, table: AttributeTable) -> None:
    listed = {name for names in first_cells(section(root, "definition-language.md", heading)) for name in names}
    assert sorted(table.attributes.keys() - listed) == []


def test_every_type_and_entity_type_is_listed(root: Path) -> None:
    types = {name for names in first_cells(section(root, "definition-language.md", "## Types")) for name in names}
    assert sorted(FIELD_TYPES.keys() - types) == []
    fields = section(root, "definition-language.md", "## Fields")
    assert [name for name, base in ENTITY_TYPES.items() if not re.search(rf"`{name}`.*\| `{base}` \|", fields)] == []


def test_the_table_of_types_states_what_their_records_do(root: Path) -> None:
    for line in section(root, "definition-language.md", "## Types").splitlines():
        names = (
            [name for name in IN_BACKTICKS.findall(line.split("|")[1]) if name in FIELD_TYPES] if "|" in line else []
        )
        if not names:
            continue
        _, _, sizes, nullable, _ = (cell.strip() for cell in line.strip("|").split("|"))
        types = [FIELD_TYPES[name] for name in names]
        assert sizes == (", ".join(str(type_.size) for type_ in types) if types[0].size else "variable")
        assert {type_.nullable for type_ in types} == {nullable == "yes"}


def test_the_numbers_of_errors_are_theirs(root: Path) -> None:
    text = (root / "docs" / "reference" / "admin-behaviour.md").read_text("utf-8")
    table, _, _ = text.partition("\n## ")
    numbered = {name: int(number) for number, name in NUMBERED.findall(table)}
    assert len(numbered) > 15
    assert numbered == {name: ErrorCode[name].value for name in numbered}


def test_the_numbers_of_acls_are_theirs(root: Path) -> None:
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in section(root, "admin-behaviour.md", "## ACLs").splitlines()
        if re.match(r"\| \d \|", line)
    ]
    kinds = (ResourceType, PatternType, AclOperation, AclPermissionType)
    listed = [(kind, int(row[0]), name) for row in rows for kind, name in zip(kinds, row[1:], strict=True) if name]
    assert len(listed) == 8 + 5 + 8 + 4
    assert [(kind, number, name) for kind, number, name in listed if kind(number).name != name] == []
