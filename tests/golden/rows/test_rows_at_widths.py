"""Rows as a terminal of three widths shows them, as a pipe gets them, and in the forms for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

import pytest
from rich.cells import cell_len

from kafkawire.cli.access.changes import OutcomeRow, Status
from kafkawire.cli.rows.formats import RowFormat
from kafkawire.cli.rows.rendering import Page, text_for_programs
from kafkawire.cli.rows.row import Row
from kafkawire.column_roles import ColumnRole

HERE = Path(__file__).parent


class MemberRow(Row, frozen=True):
    """A member, one of each kind of cell.

    Attributes:
        name: who.
        member_id: its id.
        is_static: whether it has a name of its own.
        lag: how far back it is.
        share: of the whole.
        seen: when.
        partitions: their numbers.
        labels: words about it.
        error: what is wrong.
    """

    name: str
    member_id: str
    is_static: bool | None
    lag: int | None
    share: float
    seen: datetime
    partitions: tuple[int, ...] = ()
    labels: Mapping[str, str] = {}
    error: str | None = None

    ROLES: ClassVar[Mapping[str, ColumnRole]] = {
        "member_id": ColumnRole.DETAIL,
        "seen": ColumnRole.TIME,
        "error": ColumnRole.ERROR,
    }


class GroupRow(Row, frozen=True):
    """A group.

    Attributes:
        group: its name.
        state: what it does.
        members: who is in it.
    """

    group: str
    state: str
    members: tuple[MemberRow, ...]


SEEN = datetime(2026, 3, 1, 12, 30, 15, 250000, tzinfo=UTC)
MEMBERS = (
    MemberRow("billing", "1c9e", True, 1_234_567, 0.5, SEEN, (0, 1, 2), {"rack": "a", "zone": "eu"}),
    MemberRow("=SUM(A1)", "77", False, None, 1234567.25, SEEN, error='says "no", \x1b[31mred'),
    MemberRow("日本" * 12, "", None, 0, 1.0, SEEN.replace(microsecond=0), tuple(range(30))),
)
GROUPS = (GroupRow("billing", "Stable", MEMBERS[:2]), GroupRow("audit", "Empty", ()))
OUTCOMES = (
    OutcomeRow("orders", "topic", "create", Status.DONE),
    OutcomeRow(
        "payments-of-the-european-union",
        "topic",
        "create",
        Status.FAILED,
        "POLICY_VIOLATION",
        "The topic payments-of-the-european-union needs at least 3 replicas; it would have 1.",
    ),
)
SAMPLES: Mapping[str, tuple[Sequence[Row], type[Row]]] = {
    "members": (MEMBERS, MemberRow),
    "groups": (GROUPS, GroupRow),
    "outcomes": (OUTCOMES, OutcomeRow),
}


def at_width(width: int | None) -> str:
    text = ""
    for name, (rows, row_class) in SAMPLES.items():
        page = Page(width=width)
        table = page.table(rows, row_class)
        assert width is None or all(cell_len(line) <= width for line in table.splitlines())
        text += "\n".join((f"# {name}", "", table + "\n".join(page.notes), "", ""))
    return text


@pytest.mark.parametrize("width", [60, 80, 200, None])
def test_rows_fit_the_terminal_and_a_pipe_gets_all_columns(width: int | None, update_golden: bool) -> None:
    compare(HERE / f"{width or 'pipe'}.txt", at_width(width), update=update_golden)


@pytest.mark.parametrize("form", [form for form in RowFormat if not form.is_for_people])
def test_forms_for_programs(form: RowFormat, update_golden: bool) -> None:
    text = "".join(text_for_programs(*sample, form, is_terminal=False) for sample in SAMPLES.values())
    compare(HERE / f"programs.{form}", text, update=update_golden)


def compare(golden: Path, text: str, *, update: bool) -> None:
    if update:
        golden.write_text(text, "utf-8")
    assert text == golden.read_text("utf-8"), "pytest tests/golden --update-golden writes the file; read its diff"
