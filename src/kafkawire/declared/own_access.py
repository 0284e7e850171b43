"""Keeps a plan from taking the rights away by which its caller carries it out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

import msgspec

from kafkawire.declared.planned import Action, Item, Kind, Plan
from kafkawire.model.acls.bindings import (
    CLUSTER_NAME,
    WILDCARD,
    AclBinding,
    AclOperation,
    AclPermissionType,
    ResourceType,
)
from kafkawire.model.acls.evaluation import EVERYBODY, AclEvaluator

RIGHTS: Final = (AclOperation.CREATE, AclOperation.ALTER, AclOperation.ALTER_CONFIGS, AclOperation.DESCRIBE)
"""The rights on the cluster that plans need."""

_USER: Final = "User:"
_SOME_HOST: Final = "192.0.2.1"
"""An address that no ACL names: it is for documentation."""


def keep_access(
    plan: Plan,
    acls: Iterable[AclBinding],
    caller: str,
    super_users: Collection[str] = (),
    *,
    allow_everyone_if_no_acl: bool = False,
) -> Plan:
    """A plan that leaves its caller the rights to carry it out, and to carry out the next one.

    Three kinds of items become impossible: deletions of SCRAM credentials of the caller, deletions of its own
    permissions, and whatever makes it lose a right on the cluster: CREATE, ALTER, ALTER_CONFIGS or DESCRIBE.

    Args:
        plan: from `plan_of`.
        acls: all ACLs of the cluster.
        caller: principal that carries the plan out, ``User:admin``.
        super_users: principals that need no ACLs.
        allow_everyone_if_no_acl: the broker's ``allow.everyone.if.no.acl.found``: the first ACL of the cluster takes
            the rights on it from all principals whom it does not allow.
    """
    plan = _with_reasons(plan, _own_credentials(plan, caller))
    if caller in super_users:
        return plan
    own = _with_reasons(plan, _own_permissions(plan, caller))
    before = frozenset(acl for acl in acls if acl.resource_type is ResourceType.CLUSTER)
    is_open = allow_everyone_if_no_acl
    lost = tuple(_lost(before, _after(own, before), caller, is_open=is_open))
    if not lost:
        return own
    reason = f"{caller}, who calls, would lose {', '.join(lost)} on the cluster; let another user do this"
    return _with_reasons(own, dict.fromkeys(_taking_away(own, caller, is_closing=is_open and not before), reason))


def may_take_access(plan: Plan, acls: Iterable[AclBinding], *, allow_everyone_if_no_acl: bool = False) -> str | None:
    """What of a plan could take the rights of its caller, who is not known; None if nothing could.

    Args:
        plan: from `plan_of`.
        acls: all ACLs of the cluster.
        allow_everyone_if_no_acl: the broker's ``allow.everyone.if.no.acl.found``.

    Returns:
        The beginning of a sentence, such as ``ACLs would be deleted``.
    """
    if any(_acl_items(plan, Action.DELETE)):
        return "ACLs would be deleted"
    created = [acl for acl in _acl_items(plan, Action.CREATE) if acl.resource_type is ResourceType.CLUSTER]
    if any(acl.permission_type is AclPermissionType.DENY for acl in created):
        return "rights on the cluster would be denied"
    if created and allow_everyone_if_no_acl and all(acl.resource_type is not ResourceType.CLUSTER for acl in acls):
        return "the cluster would get its first ACL, which takes the rights on it from everyone else"
    return None


def _own_credentials(plan: Plan, caller: str) -> dict[Item, str]:
    reason = f"{caller}, who calls, logs in with its credentials; let another user delete it"
    return {
        item.item: reason
        for item in plan.items
        if item.action is Action.DELETE and isinstance(item.item, tuple) and _USER + item.item[0] == caller
    }


def _own_permissions(plan: Plan, caller: str) -> dict[Item, str]:
    reason = f"{caller}, who calls, has its own rights by it; let another user delete it"
    return {
        acl: reason
        for acl in _acl_items(plan, Action.DELETE)
        if acl.principal == caller and acl.permission_type is AclPermissionType.ALLOW
    }


def _lost(before: frozenset[AclBinding], after: frozenset[AclBinding], caller: str, *, is_open: bool) -> Iterator[str]:
    """The rights that are lost from any address."""
    hosts = {_SOME_HOST, *(acl.host for acl in before | after if acl.host != WILDCARD)}
    had, has = (AclEvaluator(acls, allow_everyone_if_no_acl=is_open) for acls in (before, after))
    for operation in RIGHTS:
        if any(_may(had, caller, operation, host) and not _may(has, caller, operation, host) for host in hosts):
            yield operation.name


def _may(evaluator: AclEvaluator, caller: str, operation: AclOperation, host: str) -> bool:
    return evaluator.decide(caller, operation, ResourceType.CLUSTER, CLUSTER_NAME, host).allowed


def _after(plan: Plan, before: frozenset[AclBinding]) -> frozenset[AclBinding]:
    deleted = set(_acl_items(plan, Action.DELETE))
    created = {acl for acl in _acl_items(plan, Action.CREATE) if acl.resource_type is ResourceType.CLUSTER}
    return before - deleted | created


def _taking_away(plan: Plan, caller: str, *, is_closing: bool) -> Iterator[Item]:
    """Permissions that are deleted and denials that are created, which concern the caller on the cluster.

    The first ACLs of a cluster that is open without any are among them.
    """
    if is_closing:
        yield from (acl for acl in _acl_items(plan, Action.CREATE) if acl.resource_type is ResourceType.CLUSTER)
    for action, permission in ((Action.DELETE, AclPermissionType.ALLOW), (Action.CREATE, AclPermissionType.DENY)):
        for acl in _acl_items(plan, action):
            concerns = acl.resource_type is ResourceType.CLUSTER and acl.principal in {caller, EVERYBODY}
            if concerns and acl.permission_type is permission:
                yield acl


def _acl_items(plan: Plan, action: Action) -> Iterator[AclBinding]:
    for item in plan.items:
        if item.kind is Kind.ACLS and item.action is action and isinstance(item.item, AclBinding):
            yield item.item


def _with_reasons(plan: Plan, reasons: Mapping[Item, str]) -> Plan:
    """The plan with impossible items."""
    if not reasons:
        return plan
    items = (
        msgspec.structs.replace(item, action=Action.IMPOSSIBLE, reason=reasons[item.item])
        if item.item in reasons
        else item
        for item in plan.items
    )
    return msgspec.structs.replace(plan, items=tuple(items))
