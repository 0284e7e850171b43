"""The order in which a plan is carried out.

What others refer to comes first, what takes away comes last: topics, their configs, quotas, credentials, ACLs; then
deletions the other way round. So a client that gains access is limited before it has it, and nothing is deleted while
an ACL still lets somebody use it.

ACLs: new denials, new permissions, then permissions that go, and last denials that go. Between any two of these steps
each client has only rights that it has before or after the whole change, and every right that it has both before and
after: a permission that takes the place of another is there before the other goes, and a denial outlives the
permissions that it holds back.
"""

from __future__ import annotations

from enum import IntEnum

from kafkawire.declared.planned import Action, Item, Kind
from kafkawire.model.acls.bindings import AclBinding, AclPermissionType


class Stage(IntEnum):
    """The steps in their order."""

    TOPICS = 1
    CONFIGS = 2
    QUOTAS = 3
    USERS = 4
    NEW_DENIALS = 5
    NEW_PERMISSIONS = 6
    OLD_PERMISSIONS = 7
    OLD_DENIALS = 8
    OLD_USERS = 9
    OLD_QUOTAS = 10
    OLD_CONFIGS = 11
    OLD_TOPICS = 12

    @property
    def deletes(self) -> bool:
        """Whether it takes something away."""
        return self >= Stage.OLD_PERMISSIONS


_NEW = {Kind.TOPICS: Stage.TOPICS, Kind.CONFIGS: Stage.CONFIGS, Kind.QUOTAS: Stage.QUOTAS, Kind.USERS: Stage.USERS}
_OLD = {
    Kind.TOPICS: Stage.OLD_TOPICS,
    Kind.CONFIGS: Stage.OLD_CONFIGS,
    Kind.QUOTAS: Stage.OLD_QUOTAS,
    Kind.USERS: Stage.OLD_USERS,
}


def stage_of(kind: Kind, item: Item, action: Action) -> Stage:
    """The step that an item belongs to."""
    deleted = action is Action.DELETE
    if isinstance(item, AclBinding):
        if item.permission_type is AclPermissionType.DENY:
            return Stage.OLD_DENIALS if deleted else Stage.NEW_DENIALS
        return Stage.OLD_PERMISSIONS if deleted else Stage.NEW_PERMISSIONS
    return (_OLD if deleted else _NEW)[kind]
