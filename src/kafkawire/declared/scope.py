"""Which part of a cluster's state is read: kinds, and the names of each kind."""

from __future__ import annotations

import msgspec

from kafkawire.declared.planned import Kind
from kafkawire.model.acls.bindings import AclBindingFilter
from kafkawire.model.configs.resources import ConfigResource
from kafkawire.model.quotas.entities import ClientQuotaFilter


class ReadScope(msgspec.Struct, frozen=True, kw_only=True):
    """What to read of a cluster; by default everything.

    A change of ten topics on a cluster that has 50 000 reads ten.

    Attributes:
        kinds: the kinds to read; the others stay empty.
        topics: names of topics to read, besides those with a prefix; None for all topics.
        topic_prefixes: the topics whose names begin so; they count where ``topics`` is not None.
        configs: resources whose configs to read; None for all brokers, groups and metrics subscriptions that have some.
        acls: filters of the ACLs to read.
        quotas: filters of the quotas to read.
        users: the users whose credentials to read; None for all.
    """

    kinds: frozenset[Kind] = frozenset(Kind)
    topics: frozenset[str] | None = None
    topic_prefixes: tuple[str, ...] = ()
    configs: frozenset[ConfigResource] | None = None
    acls: tuple[AclBindingFilter, ...] = (AclBindingFilter(),)
    quotas: tuple[ClientQuotaFilter, ...] = (ClientQuotaFilter(),)
    users: frozenset[str] | None = None


EVERYTHING = ReadScope()
"""All kinds, all names."""
