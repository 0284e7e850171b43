"""What a plan means: who gains and who loses what, and whose limits change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from kafkawire.declared.planned import Action, Kind, Plan
from kafkawire.declared.requests_of_plan import quota_alteration
from kafkawire.declared.state import ClusterState
from kafkawire.model.acls.authority import Authority
from kafkawire.model.acls.bindings import AclBinding
from kafkawire.model.acls.effects import AclEffects, acl_effects
from kafkawire.model.quotas.effects import QuotaEffect, quota_effects
from kafkawire.model.quotas.entities import ClientQuotaEntity

_Quotas: TypeAlias = dict[ClientQuotaEntity, dict[str, float]]


class PlanEffects(msgspec.Struct, frozen=True):
    """What a plan means.

    Attributes:
        access: who gains and who loses what.
        quotas: for whom other limits hold.
    """

    access: AclEffects = AclEffects(effects=())
    quotas: tuple[QuotaEffect, ...] = ()


def changed_acls(plan: Plan) -> frozenset[AclBinding]:
    """The ACLs that a plan creates or deletes."""
    return _acls(plan, Action.CREATE) | _acls(plan, Action.DELETE)


def effects_of_plan(plan: Plan, current: ClusterState, authority: Authority) -> PlanEffects:
    """What a plan means if all of it is carried out.

    Args:
        plan: the plan.
        current: the state of the cluster; all ACLs and quotas, if the plan has items of these kinds.
        authority: what decides beside ACLs.
    """
    return PlanEffects(_access(plan, current, authority), _quotas(plan, current))


def _access(plan: Plan, current: ClusterState, authority: Authority) -> AclEffects:
    created, deleted = _acls(plan, Action.CREATE), _acls(plan, Action.DELETE)
    if not created and not deleted:
        return AclEffects(effects=())

    return acl_effects(
        current.acls,
        current.acls - deleted | created,
        super_users=authority.super_users,
        allow_everyone_if_no_acl=authority.allow_everyone_if_no_acl,
        ranges=authority.ranges,
    )


def _acls(plan: Plan, action: Action) -> frozenset[AclBinding]:
    return frozenset(item.item for item in plan.items if item.action is action and isinstance(item.item, AclBinding))


def _quotas(plan: Plan, current: ClusterState) -> tuple[QuotaEffect, ...]:
    changed = [
        item
        for item in plan.items
        if item.kind is Kind.QUOTAS and item.action in {Action.CREATE, Action.CHANGE, Action.DELETE}
    ]
    if not changed:
        return ()

    before: _Quotas = {entity: _set(values) for entity, values in current.quotas.items()}
    after = dict(before)
    for alteration in map(quota_alteration, changed):
        after[alteration.entity] = _set({**after.get(alteration.entity, {}), **alteration.values})
    return tuple(quota_effects(before, after))


def _set(values: Mapping[str, float | None]) -> dict[str, float]:
    return {key: value for key, value in values.items() if value is not None}
