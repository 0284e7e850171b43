"""What has changed in a cluster since a plan was made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from kafkawire.declared.planned import Action, Item, Kind, Plan, PlannedItem, ValueChange
from kafkawire.declared.planned_topics import REPLICAS, topic_values
from kafkawire.declared.planned_values import config_values, number, quota_values
from kafkawire.declared.planning import PASSWORD, removable_configs
from kafkawire.declared.scope import ReadScope
from kafkawire.declared.state import ClusterState
from kafkawire.declared.wording import HIDDEN
from kafkawire.model.acls.bindings import AclBinding
from kafkawire.model.configs.resources import ConfigResource
from kafkawire.model.quotas.entities import ClientQuotaEntity

_CAN_HAVE_NO_VALUES = frozenset({Kind.CONFIGS, Kind.QUOTAS})
ALREADY = "already as planned"


class DriftedItem(msgspec.Struct, frozen=True):
    """An item that has changed since a plan was made.

    Attributes:
        kind: of the item.
        item: which.
        reason: in words, if it was created or deleted; else empty.
        values: the values that differ, from those that the plan saw to those of now.
    """

    kind: Kind
    item: Item
    reason: str = ""
    values: tuple[ValueChange, ...] = ()


class Comparison(NamedTuple):
    """A plan compared with the state of now.

    Attributes:
        plan: the plan; an item that is already as planned is unchanged in it, so that a plan can be carried on with.
        drifted: the items that are neither as the plan saw them nor as planned.
    """

    plan: Plan
    drifted: tuple[DriftedItem, ...]


def scope_of_plan(plan: Plan) -> ReadScope:
    """What must be read of a cluster to find its drift."""
    items = [item for item in plan.items if _is_carried_out(item)]
    return ReadScope(
        kinds=frozenset(item.kind for item in items),
        topics=frozenset(item.item for item in items if isinstance(item.item, str)),
        configs=frozenset(item.item for item in items if isinstance(item.item, ConfigResource)),
        users=frozenset(item.item[0] for item in items if isinstance(item.item, tuple)),
    )


def compare_with_now(plan: Plan, current: ClusterState) -> Comparison:
    """Hold the items that a plan would change against the state of now.

    Args:
        plan: made before.
        current: the state of the cluster now, of `scope_of_plan` at least.
    """
    drifted = []
    items = []
    for item in plan.items:
        values = _values_of(item.item, current) if _is_carried_out(item) else None
        if _is_carried_out(item) and _is_as_planned(item, values):
            items.append(msgspec.structs.replace(item, action=Action.UNCHANGED, changes=(), reason=ALREADY))
            continue
        items.append(item)
        found = _drift(item, values) if _is_carried_out(item) else None
        if found is not None:
            drifted.append(found)
    return Comparison(msgspec.structs.replace(plan, items=tuple(items)), tuple(drifted))


def _is_carried_out(item: PlannedItem) -> bool:
    return item.action in {Action.CREATE, Action.CHANGE, Action.DELETE}


def _values_of(item: Item, current: ClusterState) -> Mapping[str, str | None] | None:
    """The values of an item now; None if it does not exist."""
    match item:
        case str():
            return topic_values(item, current.topics[item]) if item in current.topics else None
        case ConfigResource():
            return config_values(item, removable_configs(item, current.configs.get(item, {}))) or None
        case AclBinding():
            return {} if item in current.acls else None
        case ClientQuotaEntity():
            return quota_values(current.quotas.get(item, {})) or None
        case _:
            known = current.credentials.get(item)
            return None if known is None else {"iterations": number(known.iterations)}


def _is_as_planned(item: PlannedItem, values: Mapping[str, str | None] | None) -> bool:
    if item.action is Action.DELETE:
        return values is None
    if values is None:
        return item.kind in _CAN_HAVE_NO_VALUES and all(change.after is None for change in item.changes)
    changed = [change for change in item.changes if change.before != change.after]
    again = [change for change in item.changes if change.before == change.after == HIDDEN]
    if (item.changes and not changed) or (again and item.kind is not Kind.USERS):
        return False  # a secret that is to be set again, and nothing shows whether it was
    return all(_now(values, change) == change.after for change in changed)


def _now(values: Mapping[str, str | None], change: ValueChange) -> str | None:
    """The value of now; passwords and the brokers of partitions are not compared."""
    skipped = change.name == PASSWORD or change.name.startswith(REPLICAS)
    return change.after if skipped else values.get(change.name)


def _drift(item: PlannedItem, values: Mapping[str, str | None] | None) -> DriftedItem | None:
    if values is None:
        if item.action is Action.CREATE:
            return None
        if item.kind not in _CAN_HAVE_NO_VALUES:
            return DriftedItem(item.kind, item.item, "does not exist any longer")
        values = {}
    elif item.action is Action.CREATE and item.kind not in _CAN_HAVE_NO_VALUES:
        return DriftedItem(item.kind, item.item, "exists by now")
    seen = {change.name: change.before for change in item.changes if change.name != PASSWORD}
    names = {**seen, **values} if item.action is Action.DELETE else seen
    changes = tuple(_changed(seen, values, names))
    return DriftedItem(item.kind, item.item, values=changes) if changes else None


def _changed(
    seen: Mapping[str, str | None], values: Mapping[str, str | None], names: Iterable[str]
) -> Iterable[ValueChange]:
    for name in names:
        before, now = seen.get(name), values.get(name)
        if before != now and not name.startswith(REPLICAS):
            yield ValueChange(name, before, now)
