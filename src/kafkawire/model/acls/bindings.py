"""Access control lists as data (KIP-140, with the patterns of KIP-290 and the USER resource of KIP-373)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

import msgspec

from kafkawire.arguments.checks import checked
from kafkawire.model.tolerant_enums import MembersByCode, TolerantEnum

CLUSTER_NAME = "kafka-cluster"
"""The only name that the resource of type ``CLUSTER`` may have (A18)."""

WILDCARD = "*"
"""As a literal name: every resource of the type. As a host: every host. After ``User:``: every user."""


class ResourceType(TolerantEnum):
    """What an ACL protects (A1)."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class PatternType(TolerantEnum):
    """How the name of an ACL is compared with that of a resource; ``ANY`` and ``MATCH`` are for filters (A1)."""

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class AclOperation(TolerantEnum):
    """What an ACL allows or denies (A1)."""

    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class AclPermissionType(TolerantEnum):
    """Whether an ACL allows or denies (A1)."""

    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


RESOURCE_TYPE_OF: Final = MembersByCode(ResourceType)
PATTERN_TYPE_OF: Final = MembersByCode(PatternType)
OPERATION_OF: Final = MembersByCode(AclOperation)
PERMISSION_TYPE_OF: Final = MembersByCode(AclPermissionType)
"""The members by their numbers, as messages and records have them."""


class AclBinding(msgspec.Struct, frozen=True, gc=False, order=True):
    """An ACL and the resources that it is bound to. ACLs are ordered by their attributes in this order.

    Attributes:
        resource_type: type of the resources.
        resource_name: their name, a prefix of their names, or ``*``; ``kafka-cluster`` for the cluster.
        principal: ``User:alice``; ``User:*`` for every user.
        operation: the operation.
        permission_type: whether it is allowed or denied.
        host: address of the client, ``*``, or since 4.4 a range, ``10.0.0.0/8``; names match nothing (A23).
        pattern_type: whether ``resource_name`` is a name or a prefix.
    """

    resource_type: ResourceType
    resource_name: str
    principal: str
    operation: AclOperation
    permission_type: AclPermissionType = AclPermissionType.ALLOW
    host: str = WILDCARD
    pattern_type: PatternType = PatternType.LITERAL

    @classmethod
    def of_cluster(
        cls,
        principal: str,
        operation: AclOperation,
        permission_type: AclPermissionType = AclPermissionType.ALLOW,
        host: str = WILDCARD,
    ) -> AclBinding:
        """An ACL of the cluster, whose name is fixed.

        Example:
            ```python
            acl = AclBinding.of_cluster("User:deployment", AclOperation.ALTER_CONFIGS)
            (await admin.create_acls([acl])).all()
            ```
        """
        return cls(ResourceType.CLUSTER, CLUSTER_NAME, principal, operation, permission_type, host)

    @classmethod
    @checked
    def producer(
        cls,
        principal: str,
        topics: Iterable[str],
        *,
        transactional_ids: Iterable[str] = (),
        idempotent: bool = False,
        host: str = WILDCARD,
        pattern_type: PatternType = PatternType.LITERAL,
    ) -> tuple[AclBinding, ...]:
        """The ACLs that a producer needs, as ``kafka-acls --producer`` makes them.

        WRITE, DESCRIBE and CREATE on each topic; WRITE and DESCRIBE on each transactional id; IDEMPOTENT_WRITE on the
        cluster if it is idempotent. From Kafka 2.8 on the right to write to any topic is enough for that (KIP-679).

        Args:
            principal: ``User:alice``.
            topics: names of the topics, or prefixes of names; ``*`` for all.
            transactional_ids: the same of transactional ids.
            idempotent: whether the producer is idempotent without being transactional.
            host: address of the client, or ``*``.
            pattern_type: whether ``topics`` and ``transactional_ids`` are names or prefixes.

        Raises:
            TypeError: an argument is something else, such as one name instead of many.

        Example:
            ```python
            acls = AclBinding.producer("User:shop", topics=["orders"], transactional_ids=["shop-1"])
            (await admin.create_acls(acls)).all()
            ```
        """
        names = {
            ResourceType.TOPIC: (topics, (AclOperation.WRITE, AclOperation.DESCRIBE, AclOperation.CREATE)),
            ResourceType.TRANSACTIONAL_ID: (transactional_ids, (AclOperation.WRITE, AclOperation.DESCRIBE)),
        }
        acls = cls._product(principal, names, host, pattern_type)
        if idempotent:
            acls.append(cls.of_cluster(principal, AclOperation.IDEMPOTENT_WRITE, host=host))
        return tuple(acls)

    @classmethod
    @checked
    def consumer(
        cls,
        principal: str,
        topics: Iterable[str],
        groups: Iterable[str],
        *,
        host: str = WILDCARD,
        pattern_type: PatternType = PatternType.LITERAL,
    ) -> tuple[AclBinding, ...]:
        """The ACLs that a consumer needs, as ``kafka-acls --consumer`` makes them.

        READ and DESCRIBE on each topic, READ on each group.

        Args:
            principal: ``User:alice``.
            topics: names of the topics, or prefixes of names; ``*`` for all.
            groups: the same of groups.
            host: address of the client, or ``*``.
            pattern_type: whether ``topics`` and ``groups`` are names or prefixes.

        Raises:
            TypeError: an argument is something else, such as one name instead of many.

        Example:
            ```python
            acls = AclBinding.consumer("User:billing", topics=["orders"], groups=["billing"])
            (await admin.create_acls(acls)).all()
            ```
        """
        names = {
            ResourceType.TOPIC: (topics, (AclOperation.READ, AclOperation.DESCRIBE)),
            ResourceType.GROUP: (groups, (AclOperation.READ,)),
        }
        return tuple(cls._product(principal, names, host, pattern_type))

    @classmethod
    def _product(
        cls,
        principal: str,
        names: Mapping[ResourceType, tuple[Iterable[str], Iterable[AclOperation]]],
        host: str,
        pattern_type: PatternType,
    ) -> list[AclBinding]:
        """An ACL for each operation on each name, of every type of resource."""
        return [
            cls(resource_type, name, principal, operation, host=host, pattern_type=pattern_type)
            for resource_type, (of_type, operations) in names.items()
            for name in dict.fromkeys(of_type)
            for operation in operations
        ]

    @property
    def is_unknown(self) -> bool:
        """Whether only newer brokers have one of its values; this client cannot create such an ACL (A14)."""
        return _has_unknown(self.resource_type, self.operation, self.permission_type, self.pattern_type)

    def to_filter(self) -> AclBindingFilter:
        """The filter that matches only this ACL.

        Example:
            ```python
            for acl in (await admin.describe_acls()).union():
                if acl.principal == "User:billing" and acl.operation is AclOperation.WRITE:
                    (await admin.delete_acls([acl.to_filter()])).all()
            ```
        """
        return AclBindingFilter(
            self.resource_type,
            self.resource_name,
            self.principal,
            self.operation,
            self.permission_type,
            self.host,
            self.pattern_type,
        )


class AclBindingFilter(msgspec.Struct, frozen=True, gc=False):
    """A filter matches the ACLs that agree with every attribute; by default all ACLs.

    Attributes:
        resource_type: ``ANY`` for every type.
        resource_name: None for every name; ``*`` is the name that some ACLs have, not a wildcard of the filter.
        principal: None for every principal; ``User:*`` finds the ACLs of ``User:*``.
        operation: ``ANY`` for every operation; ``ALL`` finds the ACLs for ``ALL``.
        permission_type: ``ANY`` for both.
        host: None for every host.
        pattern_type: ``LITERAL`` or ``PREFIXED`` for ACLs of that pattern, ``ANY`` for both, and ``MATCH`` for the ACLs
            that concern the resource whose name is ``resource_name``.
    """

    resource_type: ResourceType = ResourceType.ANY
    resource_name: str | None = None
    principal: str | None = None
    operation: AclOperation = AclOperation.ANY
    permission_type: AclPermissionType = AclPermissionType.ANY
    host: str | None = None
    pattern_type: PatternType = PatternType.ANY

    @property
    def is_unknown(self) -> bool:
        """Whether only newer brokers have one of its values; such a filter cannot be sent (A11)."""
        parts = (self.resource_type, self.operation, self.permission_type, self.pattern_type)
        return any(part.is_unknown for part in parts)


OPERATIONS_OF_RESOURCES: Mapping[ResourceType, frozenset[AclOperation]] = MappingProxyType(
    {
        resource_type: frozenset({AclOperation.ALL, *operations})
        for resource_type, operations in {
            ResourceType.TOPIC: (
                AclOperation.READ,
                AclOperation.WRITE,
                AclOperation.CREATE,
                AclOperation.DESCRIBE,
                AclOperation.DELETE,
                AclOperation.ALTER,
                AclOperation.DESCRIBE_CONFIGS,
                AclOperation.ALTER_CONFIGS,
            ),
            ResourceType.GROUP: (
                AclOperation.READ,
                AclOperation.DESCRIBE,
                AclOperation.DELETE,
                AclOperation.DESCRIBE_CONFIGS,
                AclOperation.ALTER_CONFIGS,
            ),
            ResourceType.CLUSTER: (
                AclOperation.CREATE,
                AclOperation.CLUSTER_ACTION,
                AclOperation.DESCRIBE_CONFIGS,
                AclOperation.ALTER_CONFIGS,
                AclOperation.IDEMPOTENT_WRITE,
                AclOperation.ALTER,
                AclOperation.DESCRIBE,
            ),
            ResourceType.TRANSACTIONAL_ID: (
                AclOperation.DESCRIBE,
                AclOperation.WRITE,
                AclOperation.TWO_PHASE_COMMIT,
            ),
            ResourceType.DELEGATION_TOKEN: (AclOperation.DESCRIBE,),
            ResourceType.USER: (AclOperation.CREATE_TOKENS, AclOperation.DESCRIBE_TOKENS),
        }.items()
    }
)
"""The operations that brokers check on each type of resource; an ACL for another one has no effect (A24)."""


@cache
def _has_unknown(*parts: TolerantEnum) -> bool:
    return any(part.is_unknown for part in parts)


_NOT_REQUESTED = -0x8000_0000


def authorized_operations(bits: int) -> frozenset[AclOperation] | None:
    """The operations in the bit field of an answer, or None if they were not requested (A26)."""
    if bits == _NOT_REQUESTED:
        return None
    return frozenset(AclOperation(code) for code in range(32) if bits >> code & 1)
