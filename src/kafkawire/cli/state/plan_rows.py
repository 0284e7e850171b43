"""The rows of plans: their stable schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from kafkawire.cli.rows.row import Row
from kafkawire.column_roles import ColumnRole
from kafkawire.declared.planned import Action, Check, Kind, Plan, ValueChange
from kafkawire.declared.wording import item_in_words


class PlanRow(Row, frozen=True):
    """What would become of an item.

    Attributes:
        kind: of the item.
        item: its name, or the ACL in words.
        action: what is to be done.
        changes: its values before and after; null where none is set.
        reason: why it is deleted, unchanged or impossible.
        check: who has checked it.
        error: what the check has found.
        where: file, line and column of its declaration.
    """

    kind: Kind
    item: str
    action: Action
    changes: tuple[ValueChange, ...] = ()
    reason: str | None = None
    check: Check = Check.NONE
    error: str | None = None
    where: str | None = None

    ROLES: ClassVar[Mapping[str, ColumnRole]] = {
        "item": ColumnRole.KEY,
        "action": ColumnRole.KEY,
        "changes": ColumnRole.DETAIL,
        "check": ColumnRole.DETAIL,
        "error": ColumnRole.ERROR,
        "where": ColumnRole.DETAIL,
    }

    @property
    def row_name(self) -> str:
        """The item."""
        return self.item


def plan_rows(plan: Plan, *, with_unchanged: bool) -> Iterator[PlanRow]:
    """The rows of a plan, in the order in which it is carried out."""
    for item in plan.items:
        if with_unchanged or item.action is not Action.UNCHANGED:
            yield PlanRow(
                item.kind,
                item_in_words(item.item),
                item.action,
                item.changes,
                item.reason or None,
                item.check,
                item.error,
                item.where,
            )
