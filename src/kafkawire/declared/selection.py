"""The part of a state that a command is about: kinds, prefixes of topics, principals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

import msgspec

from kafkawire.declared.planned import Kind
from kafkawire.declared.scope import ReadScope
from kafkawire.declared.state import ClusterState
from kafkawire.model.acls.bindings import AclBindingFilter
from kafkawire.model.quotas.entities import USER, ClientQuotaFilter, ClientQuotaFilterComponent

K = TypeVar("K")
V = TypeVar("V")

_USER_PRINCIPAL: Final = "User:"


class StateSelection(msgspec.Struct, frozen=True, kw_only=True):
    """Which items of a state are meant; by default all except Kafka's internal topics.

    Attributes:
        kinds: the kinds; the others become empty.
        topic_prefixes: topics whose names begin so; empty for all topics. Other kinds are not affected.
        principals: ``User:alice``: the ACLs of these principals, and the quotas and credentials of these users; empty
            for those of all. Topics and configs are not affected.
        internal: whether the topics in which Kafka keeps its own state are meant too.
    """

    kinds: frozenset[Kind] = frozenset(Kind)
    topic_prefixes: tuple[str, ...] = ()
    principals: frozenset[str] = frozenset()
    internal: bool = False

    @property
    def users(self) -> frozenset[str]:
        """The names of the users among the principals."""
        names = (each.removeprefix(_USER_PRINCIPAL) for each in self.principals if each.startswith(_USER_PRINCIPAL))
        return frozenset(names)

    def scope(self) -> ReadScope:
        """What must be read of a cluster for it."""
        everything = ReadScope(kinds=self.kinds)
        if self.topic_prefixes:
            everything = msgspec.structs.replace(everything, topics=frozenset(), topic_prefixes=self.topic_prefixes)
        if not self.principals:
            return everything
        return msgspec.structs.replace(
            everything,
            acls=tuple(AclBindingFilter(principal=each) for each in sorted(self.principals)),
            quotas=tuple(
                ClientQuotaFilter((ClientQuotaFilterComponent.exact(USER, name),)) for name in sorted(self.users)
            ),
            users=self.users,
        )

    def of(self, state: ClusterState) -> ClusterState:
        """The selected part of a state."""
        users = self.users
        return ClusterState(
            topics={
                name: topic
                for name, topic in self._of_kind(Kind.TOPICS, state.topics).items()
                if (self.internal or not topic.is_internal)
                and (not self.topic_prefixes or name.startswith(self.topic_prefixes))
            },
            configs=self._of_kind(Kind.CONFIGS, state.configs),
            acls=frozenset(
                acl for acl in state.acls if Kind.ACLS in self.kinds and self._is_of(acl.principal, self.principals)
            ),
            quotas={
                entity: values
                for entity, values in self._of_kind(Kind.QUOTAS, state.quotas).items()
                if self._is_of(entity.get(USER), users)
            },
            credentials={
                (user, mechanism): credential
                for (user, mechanism), credential in self._of_kind(Kind.USERS, state.credentials).items()
                if self._is_of(user, users)
            },
        )

    def _of_kind(self, kind: Kind, items: Mapping[K, V]) -> Mapping[K, V]:
        return items if kind in self.kinds else {}

    def _is_of(self, name: str | None, names: frozenset[str]) -> bool:
        return not self.principals or name in names


def kinds_in(state: ClusterState) -> frozenset[Kind]:
    """The kinds that a state has items of."""
    items = {
        Kind.TOPICS: state.topics,
        Kind.CONFIGS: state.configs,
        Kind.ACLS: state.acls,
        Kind.QUOTAS: state.quotas,
        Kind.USERS: state.credentials,
    }
    return frozenset(kind for kind, of_kind in items.items() if of_kind)
