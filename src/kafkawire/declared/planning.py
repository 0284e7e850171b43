"""What is to be done to bring a cluster from its current state to a declared one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TypeAlias, TypeVar

import msgspec

from kafkawire.declared.planned import Action, Item, Kind, Plan, PlannedItem, ValueChange
from kafkawire.declared.planned_topics import planned_topic, topic_values
from kafkawire.declared.planned_values import Configs, SecretKey, changed_configs, config_values, number, quota_values
from kafkawire.declared.stages import stage_of
from kafkawire.declared.state import ClusterState, CredentialState
from kafkawire.declared.unread import Unread
from kafkawire.declared.wording import HIDDEN, item_in_words
from kafkawire.model.configs.resources import ConfigResource
from kafkawire.model.quotas.entities import ClientQuotaEntity
from kafkawire.model.scram import MINIMUM_ITERATIONS, UserMechanism

Keyed = TypeVar("Keyed", ClientQuotaEntity, UserMechanism)

MayDelete: TypeAlias = Callable[[Kind, Item], bool]
"""Whether an item that is not declared may be deleted."""

Where: TypeAlias = Callable[[Kind, Item], str | None]
"""Where an item is declared."""

DELETED = "not declared, and in the scope of deletions"
AS_DECLARED = "as declared"
SAME_CREDENTIAL = "mechanism and iterations are as declared; a password cannot be read back"
PASSWORD = "password"  # noqa: S105 the name of a value
_KAFKAS_OWN = "__"
_SET_BY_KAFKA = "min.insync.replicas"


def _nothing(_kind: Kind, _item: Item) -> bool:
    return False


def _nowhere(_kind: Kind, _item: Item) -> str | None:
    return None


def plan_of(
    declared: ClusterState,
    current: ClusterState,
    *,
    cluster_id: str | None = None,
    kinds: Collection[Kind] = frozenset(Kind),
    may_delete: MayDelete = _nothing,
    secrets: Collection[SecretKey] = frozenset(),
    set_secrets: bool = False,
    unread: Iterable[Unread] = (),
    where: Where = _nowhere,
) -> Plan:
    """What is to be done to bring a cluster to a declared state. Nothing is read or changed.

    A declared item owns the configs and quotas that it names; others stay as they are, and None removes one. A
    credential is unchanged if mechanism and iterations are: no one can read a password back. The same holds for the
    value of a sensitive config.

    Args:
        declared: the state that is wanted.
        current: the state of the cluster: of declared items, and of those that may be deleted.
        cluster_id: of the cluster.
        kinds: the kinds to plan; the others are left out.
        may_delete: whether an item that is not declared may be deleted; by default none. Kafka's own topics never are.
        secrets: the credentials and sensitive configs whose secret is known.
        set_secrets: whether these are set again where they are set already.
        unread: what could not be read of the cluster; nothing is planned for it.
        where: the place of a declaration.

    Returns:
        All items in the order in which they are carried out; `Stage` says why it is this one.

    Example:
        ```python
        from kafkawire.declared import ClusterState, TopicState, plan_of

        plan = plan_of(ClusterState(topics={"orders": TopicState(partitions=6)}), ClusterState())
        assert [(item.item, item.action) for item in plan.items] == [("orders", "create")]
        ```
    """
    planner = _Planner(declared, current, may_delete, frozenset(secrets), set_secrets=set_secrets)
    each_kind: Mapping[Kind, Callable[[], Iterator[PlannedItem]]] = {
        Kind.TOPICS: planner.topics,
        Kind.CONFIGS: planner.configs,
        Kind.QUOTAS: planner.quotas,
        Kind.USERS: planner.users,
        Kind.ACLS: planner.acls,
    }
    limits = _Unread(unread)
    items = [
        limits.applied(item if item.action is Action.DELETE else _placed(item, where))
        for kind, planned in each_kind.items()
        if kind in kinds
        for item in planned()
    ]
    items.sort(key=lambda item: stage_of(item.kind, item.item, item.action))
    return Plan(cluster_id=cluster_id, items=tuple(items))


def is_kafkas_own(name: str, *, is_internal: bool) -> bool:
    """Whether Kafka itself uses a topic, or another of its parts does; their names begin with two underscores."""
    return is_internal or name.startswith(_KAFKAS_OWN)


def removable_configs(resource: ConfigResource, configs: Configs) -> dict[str, str | None]:
    """The configs of a resource without that which Kafka sets for all brokers, and refuses to remove (G2)."""
    is_default = resource == ConfigResource.broker_default()
    return {name: value for name, value in configs.items() if not (is_default and name == _SET_BY_KAFKA)}


def _placed(item: PlannedItem, where: Where) -> PlannedItem:
    place = where(item.kind, item.item)
    return item if place is None else msgspec.structs.replace(item, where=place)


class _Unread:
    """What could not be read, and so cannot be planned."""

    def __init__(self, unread: Iterable[Unread]) -> None:
        self._items: dict[Item, str] = {}
        self._types: dict[object, str] = {}
        self._kinds: dict[Kind, str] = {}
        for each in unread:
            reason = f"not read: {each.reason}"
            if each.item is not None:
                self._items[each.item] = reason
            elif each.resource_type is not None:
                self._types[each.resource_type] = reason
            else:
                self._kinds[each.kind] = reason

    def applied(self, item: PlannedItem) -> PlannedItem:
        """The item, impossible if it could not be read."""
        reason = self._kinds.get(item.kind) or self._items.get(item.item)
        if reason is None and isinstance(item.item, str):
            reason = self._items.get(ConfigResource.topic(item.item))
        if reason is None and isinstance(item.item, ConfigResource):
            reason = self._types.get(item.item.resource_type)
        return item if reason is None else msgspec.structs.replace(item, action=Action.IMPOSSIBLE, reason=reason)


class _Planner:
    """Plans each kind by itself."""

    def __init__(
        self,
        declared: ClusterState,
        current: ClusterState,
        may_delete: MayDelete,
        secrets: frozenset[SecretKey],
        *,
        set_secrets: bool,
    ) -> None:
        self._declared = declared
        self._current = current
        self._may_delete = may_delete
        self._secrets = secrets
        self._set_secrets = set_secrets

    def topics(self) -> Iterator[PlannedItem]:
        """Topics, with their partitions and configs."""
        declared, current = self._declared.topics, self._current.topics
        for name in sorted(declared):
            yield from planned_topic(
                name, declared[name], current.get(name), self._secrets, set_secrets=self._set_secrets
            )
        for name in sorted(current.keys() - declared.keys()):
            topic = current[name]
            if not is_kafkas_own(name, is_internal=topic.is_internal) and self._may_delete(Kind.TOPICS, name):
                yield _deleted(Kind.TOPICS, name, topic_values(name, topic))

    def configs(self) -> Iterator[PlannedItem]:
        """Configs of everything except topics."""
        declared, current = self._declared.configs, self._current.configs
        for resource in sorted(declared):
            before = current.get(resource, {})
            changes = tuple(
                changed_configs(resource, declared[resource], before, self._secrets, set_secrets=self._set_secrets)
            )
            yield _changed(Kind.CONFIGS, resource, changes, is_new=not before)
        for resource in sorted(current.keys() - declared.keys()):
            removable = removable_configs(resource, current[resource])
            if removable and self._may_delete(Kind.CONFIGS, resource):
                yield _deleted(Kind.CONFIGS, resource, config_values(resource, removable))

    def quotas(self) -> Iterator[PlannedItem]:
        """Quotas by entity."""
        declared, current = self._declared.quotas, self._current.quotas
        for entity in _by_words(declared):
            before = current.get(entity, {})
            yield _changed(Kind.QUOTAS, entity, tuple(_changed_quotas(declared[entity], before)), is_new=not before)
        for entity in _by_words(current.keys() - declared.keys()):
            if self._may_delete(Kind.QUOTAS, entity):
                yield _deleted(Kind.QUOTAS, entity, quota_values(current[entity]))

    def users(self) -> Iterator[PlannedItem]:
        """SCRAM credentials."""
        declared, current = self._declared.credentials, self._current.credentials
        for credential in _by_words(declared):
            yield self._user(credential, declared[credential], current.get(credential))
        for credential in _by_words(current.keys() - declared.keys()):
            if self._may_delete(Kind.USERS, credential):
                yield _deleted(Kind.USERS, credential, {"iterations": number(current[credential].iterations)})

    def _user(self, item: UserMechanism, wanted: CredentialState, before: CredentialState | None) -> PlannedItem:
        has_password = wanted.password is not None or item in self._secrets
        iterations = wanted.iterations
        changes: tuple[ValueChange, ...]
        if before is None:
            after = str(iterations or MINIMUM_ITERATIONS)
            changes = (ValueChange("iterations", None, after), ValueChange(PASSWORD, None, HIDDEN))
        elif iterations is not None and iterations != before.iterations:
            changed = ValueChange("iterations", number(before.iterations), str(iterations))
            changes = (changed, ValueChange(PASSWORD, HIDDEN, HIDDEN))
        elif self._set_secrets and has_password:
            kept = number(before.iterations)
            changes = (ValueChange("iterations", kept, kept), ValueChange(PASSWORD, HIDDEN, HIDDEN))
        else:
            return PlannedItem(kind=Kind.USERS, item=item, action=Action.UNCHANGED, reason=SAME_CREDENTIAL)
        if not has_password:
            reason = "no password is declared, and a credential cannot be made without one; name its secret"
            return PlannedItem(kind=Kind.USERS, item=item, action=Action.IMPOSSIBLE, changes=changes, reason=reason)
        action = Action.CREATE if before is None else Action.CHANGE
        return PlannedItem(kind=Kind.USERS, item=item, action=action, changes=changes)

    def acls(self) -> Iterator[PlannedItem]:
        """ACLs."""
        declared, current = self._declared.acls, self._current.acls
        for acl in sorted(declared):
            if acl in current:
                yield PlannedItem(kind=Kind.ACLS, item=acl, action=Action.UNCHANGED, reason=AS_DECLARED)
            else:
                yield PlannedItem(kind=Kind.ACLS, item=acl, action=Action.CREATE)
        for acl in sorted(acl for acl in current - declared if self._may_delete(Kind.ACLS, acl)):
            yield _deleted(Kind.ACLS, acl, {})


def _by_words(items: Iterable[Keyed]) -> list[Keyed]:
    return sorted(items, key=item_in_words)


def _changed(kind: Kind, item: Item, changes: tuple[ValueChange, ...], *, is_new: bool) -> PlannedItem:
    """An item whose values are changed; new if nothing was set on it."""
    if not changes:
        return PlannedItem(kind=kind, item=item, action=Action.UNCHANGED, reason=AS_DECLARED)
    return PlannedItem(kind=kind, item=item, action=Action.CREATE if is_new else Action.CHANGE, changes=changes)


def _deleted(kind: Kind, item: Item, values: Mapping[str, str | None]) -> PlannedItem:
    changes = tuple(ValueChange(name, value, None) for name, value in values.items())
    return PlannedItem(kind=kind, item=item, action=Action.DELETE, changes=changes, reason=DELETED)


def _changed_quotas(declared: Mapping[str, float | None], current: Mapping[str, float | None]) -> Iterator[ValueChange]:
    before, after = quota_values(current), quota_values(declared)
    for key in sorted(declared):
        if before.get(key) != after[key]:
            yield ValueChange(key, before.get(key), after[key])
