"""The text of a plan: every action, what it means, counts; and it fits narrow and wide terminals."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from kafkawire.cli.state.comparison_text import folded
from kafkawire.cli.state.plan_text import plan_lines
from kafkawire.declared.effects_of_plan import effects_of_plan
from kafkawire.declared.planned import Action, Check, Kind, Plan, PlannedItem, ValueChange
from kafkawire.declared.state import ClusterState
from kafkawire.model.acls.authority import Authority
from kafkawire.model.acls.bindings import AclBinding, AclOperation, ResourceType
from kafkawire.model.quotas.entities import ClientQuotaEntity
from kafkawire.model.scram import ScramMechanism

READ = AclBinding(ResourceType.TOPIC, "orders", "User:billing", AclOperation.READ)
PLAN = Plan(
    cluster_id="c",
    items=(
        PlannedItem(
            kind=Kind.TOPICS,
            item="orders",
            action=Action.CREATE,
            changes=(ValueChange("partitions", None, "60"),),
            check=Check.BROKERS,
            error="POLICY_VIOLATION: orders would have 60 partitions; at most 12",
            where="cluster.yaml:2:3",
        ),
        PlannedItem(
            kind=Kind.TOPICS,
            item="payments",
            action=Action.IMPOSSIBLE,
            changes=(ValueChange("partitions", "6", "3"),),
            reason="Kafka removes no partitions; declare 6, or create another topic and copy the records",
        ),
        PlannedItem(
            kind=Kind.QUOTAS,
            item=ClientQuotaEntity(user="billing"),
            action=Action.CHANGE,
            changes=(ValueChange("producer_byte_rate", "1024", None),),
            check=Check.BROKERS,
        ),
        PlannedItem(
            kind=Kind.USERS,
            item=("etl", ScramMechanism.SCRAM_SHA_512),
            action=Action.CHANGE,
            changes=(ValueChange("iterations", "4096", "4096"), ValueChange("password", "(hidden)", "(hidden)")),
            check=Check.SIMULATED,
        ),
        PlannedItem(
            kind=Kind.ACLS,
            item=READ,
            action=Action.DELETE,
            reason="not declared, and in the scope of deletions",
            check=Check.SIMULATED,
        ),
        PlannedItem(kind=Kind.TOPICS, item="same\x1b[31m", action=Action.UNCHANGED, reason="as declared"),
    ),
)
BEFORE = ClusterState(
    acls=frozenset({READ}), quotas={ClientQuotaEntity(user="billing"): {"producer_byte_rate": 1024.0}}
)
EFFECTS = effects_of_plan(PLAN, BEFORE, Authority())

WHOLE = """\
Topics
  + create orders
      partitions: 60
      fails: POLICY_VIOLATION: orders would have 60 partitions; at most 12
      declared at cluster.yaml:2:3
  ! impossible payments
      partitions: 6 → 3
      Kafka removes no partitions; declare 6, or create another topic and copy the records

ACLs
  - delete User:billing may READ topic orders (not declared, and in the scope of deletions)

Quotas
  ~ change user billing
      producer_byte_rate: 1024 → not set

SCRAM users
  ~ change etl SCRAM-SHA-512
      password: set again

What this means for access
  User:billing can no longer READ and DESCRIBE topic orders

What this means for quotas
  user billing: producer_byte_rate 1024 (its own) → no limit

1 to create, 2 to change, 1 to delete, 1 impossible, 1 unchanged; 1 would fail
validated by the brokers: 1 topic, 1 quota; simulated: 1 acl, 1 user"""

AT_60 = """\
Topics
  + create orders
      partitions: 60
      fails: POLICY_VIOLATION: orders would have 60
        partitions; at most 12
      declared at cluster.yaml:2:3
  ! impossible payments
      partitions: 6 → 3
      Kafka removes no partitions; declare 6, or create
        another topic and copy the records

ACLs
  - delete User:billing may READ topic orders (not declared,
    and in the scope of deletions)
"""


def text(width: int | None = None, *, with_unchanged: bool = False) -> str:
    lines = plan_lines(PLAN, EFFECTS, with_unchanged=with_unchanged)
    return "\n".join(part for line in lines for part in ([line.text] if width is None else folded(line, width)))


def test_a_plan_has_its_items_by_kind_and_what_they_mean() -> None:
    assert text() == WHOLE
    assert text(200) == WHOLE


def test_a_narrow_terminal_folds_lines_at_blanks() -> None:
    assert text(60).startswith(AT_60)


@pytest.mark.parametrize("width", [60, 80, 200])
def test_every_line_fits(width: int) -> None:
    assert max(map(cell_len, text(width).splitlines())) <= width


def test_unchanged_items_are_listed_if_asked_and_control_characters_are_visible() -> None:
    (line,) = (line for line in text(with_unchanged=True).splitlines() if line.startswith("  ="))
    assert line.startswith("  = unchanged same")
    assert "\x1b" not in line
