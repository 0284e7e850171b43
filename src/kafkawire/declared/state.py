"""The state of a cluster as values: what documents declare, and what a cluster, a log or a file has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from kafkawire.model.acls.bindings import AclBinding
from kafkawire.model.configs.resources import ConfigResource
from kafkawire.model.quotas.entities import ClientQuotaEntity
from kafkawire.model.redaction import Redacted
from kafkawire.model.scram import UserMechanism


class TopicState(msgspec.Struct, frozen=True, kw_only=True):
    """A topic.

    Attributes:
        partitions: how many; None if a document does not say.
        replication_factor: replicas of each partition; None if a document does not say, or if they differ.
        assignments: partition to the ids of its brokers, the preferred leader first; None if a document does not say.
        configs: of a document, the keys that it owns, others stay as they are, and None for one that must not be
            set; of a cluster, those set on it.
        is_internal: whether Kafka itself uses it.
    """

    partitions: int | None = None
    replication_factor: int | None = None
    assignments: Mapping[int, tuple[int, ...]] | None = None
    configs: Mapping[str, str | None] = {}
    is_internal: bool = False

    @classmethod
    def of_assignments(
        cls, assignments: Mapping[int, tuple[int, ...]], configs: Mapping[str, str | None], *, is_internal: bool
    ) -> TopicState:
        """A topic of a cluster, whose partitions are known."""
        factors = {len(replicas) for replicas in assignments.values()}
        return cls(
            partitions=len(assignments),
            replication_factor=factors.pop() if len(factors) == 1 else None,
            assignments=assignments,
            configs=configs,
            is_internal=is_internal,
        )


class CredentialState(Redacted, frozen=True, kw_only=True):
    """A SCRAM credential of a user for one mechanism.

    Attributes:
        iterations: how often the password is hashed; None if a document does not say.
        password: of a document; None if it has none, or where the credential comes from a cluster, which gives none.
    """

    UNSHOWN: ClassVar[frozenset[str]] = frozenset({"password"})

    iterations: int | None = None
    password: str | None = None


class ClusterState(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that documents can declare.

    Attributes:
        topics: by name.
        configs: of brokers, of all brokers, of groups and of metrics subscriptions: the values set on each. Those of
            topics are in ``topics``. A sensitive value of a cluster is None.
        acls: all ACLs, in an order that has no meaning.
        quotas: values by key of each entity; of a document, the keys that it owns, None for one that must not be set.
        credentials: by user and mechanism.
    """

    topics: Mapping[str, TopicState] = {}
    configs: Mapping[ConfigResource, Mapping[str, str | None]] = {}
    acls: frozenset[AclBinding] = frozenset()
    quotas: Mapping[ClientQuotaEntity, Mapping[str, float | None]] = {}
    credentials: Mapping[UserMechanism, CredentialState] = {}
