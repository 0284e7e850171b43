"""A plan as values: what would become of each item, and who has checked it."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

import msgspec

from kafkawire.model.acls.bindings import AclBinding
from kafkawire.model.configs.resources import ConfigResource
from kafkawire.model.quotas.entities import ClientQuotaEntity
from kafkawire.model.scram import UserMechanism


class Kind(StrEnum):
    """The kinds of items; one can be planned and applied alone."""

    TOPICS = "topics"
    CONFIGS = "configs"
    ACLS = "acls"
    QUOTAS = "quotas"
    USERS = "users"


class Action(StrEnum):
    """What is to be done with an item."""

    CREATE = "create"
    CHANGE = "change"
    DELETE = "delete"
    UNCHANGED = "unchanged"
    IMPOSSIBLE = "impossible"
    """Kafka cannot do it, or not in this way: partitions down, replication; the reason names the command that can."""


class Check(StrEnum):
    """Who has checked an item."""

    BROKERS = "validated by the brokers"
    SIMULATED = "simulated"
    NONE = "not checked"


Item: TypeAlias = str | ConfigResource | AclBinding | ClientQuotaEntity | UserMechanism
"""A topic by name, a resource with configs, an ACL, a quota's entity, a credential."""


class ValueChange(msgspec.Struct, frozen=True):
    """A value of an item.

    Attributes:
        name: partitions, replication_factor, a config or quota key, iterations, password.
        before: None if it is not set.
        after: None if it will not be set. Secrets are ``(hidden)`` on both sides.
    """

    name: str
    before: str | None
    after: str | None


class PlannedItem(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done with an item.

    Attributes:
        kind: of the item.
        item: which.
        action: what is to be done.
        changes: its values that change; all of them where it is created or deleted.
        reason: why it is deleted, unchanged or impossible; may be empty.
        check: who has checked it.
        error: what the check has found; None if it is fine.
        where: ``file:line:column`` of its declaration; None if there is none.
    """

    kind: Kind
    item: Item
    action: Action
    changes: tuple[ValueChange, ...] = ()
    reason: str = ""
    check: Check = Check.NONE
    error: str | None = None
    where: str | None = None


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done to bring a cluster to a declared state.

    Attributes:
        cluster_id: of the cluster.
        items: all items, unchanged ones included, in the order in which they are carried out.
    """

    cluster_id: str | None
    items: tuple[PlannedItem, ...]
