"""The decision of Kafka's own authorizer over described ACLs, with the ACL that decides (A25)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from kafkawire.arguments.checks import checked
from kafkawire.model.acls.bindings import (
    WILDCARD,
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)
from kafkawire.model.acls.hosts import is_within
from kafkawire.model.acls.matching import AclIndex

EVERYBODY = "User:*"
"""The principal in ACLs that matches every principal of any type."""

IMPLIED_BY: dict[AclOperation, frozenset[AclOperation]] = {
    AclOperation.DESCRIBE: frozenset({AclOperation.READ, AclOperation.WRITE, AclOperation.DELETE, AclOperation.ALTER}),
    AclOperation.DESCRIBE_CONFIGS: frozenset({AclOperation.ALTER_CONFIGS}),
}
"""Operation to others that imply it where they are allowed; a denial implies nothing."""


class Reason(Enum):
    """The reason of a decision."""

    SUPER_USER = "super user"
    DENIED = "an ACL denies it"
    ALLOWED = "an ACL allows it"
    NO_ACL_ON_RESOURCE = "no ACL concerns the resource"
    NO_ACL_APPLIES = "no ACL of the resource speaks of this principal, host and operation"


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision of an authorizer.

    Attributes:
        allowed: whether the operation is allowed.
        reason: the reason.
        acl: the ACL that decides; None if none does.
        unclear: ACLs that brokers of other releases may read otherwise. Those whose kind of pattern or permission this
            client does not know were left out of the decision. Those of a range of addresses that has the host were
            not: brokers before 4.4 let a range match no client.
    """

    allowed: bool
    reason: Reason
    acl: AclBinding | None = None
    unclear: tuple[AclBinding, ...] = ()


class AclEvaluator:
    """The authorizer of a cluster whose ACLs were described.

    Args:
        acls: all ACLs of the cluster.
        super_users: principals of the broker's ``super.users``.
        allow_everyone_if_no_acl: the broker's ``allow.everyone.if.no.acl.found``.
        ranges: whether the host of an ACL may be a range of addresses, as from ``metadata.version`` 4.4-IV1 on; else a
            range matches no client.

    Example:
        ```python
        from kafkawire.admin import AclBinding, AclEvaluator, AclOperation, ResourceType

        acls = AclBinding.consumer("User:billing", topics=["orders"], groups=["billing"])
        evaluator = AclEvaluator(acls, super_users=["User:admin"])
        decision = evaluator.decide("User:billing", AclOperation.WRITE, ResourceType.TOPIC, "orders", "10.0.0.7")
        assert not decision.allowed
        print(decision.reason.value)
        ```
    """

    @checked
    def __init__(
        self,
        acls: Iterable[AclBinding],
        *,
        super_users: Iterable[str] = (),
        allow_everyone_if_no_acl: bool = False,
        ranges: bool = True,
    ) -> None:
        self._applies = applies_since_4_4 if ranges else applies
        self._index = AclIndex(acls)
        self._of_unknown_pattern = _of_unknown_pattern(self._index.acls)
        self._super_users = frozenset(super_users)
        self._allow_everyone_if_no_acl = allow_everyone_if_no_acl

    def __repr__(self) -> str:
        return f"<AclEvaluator of {len(self._index.acls)} ACLs, {len(self._super_users)} super users>"

    def decide(
        self, principal: str, operation: AclOperation, resource_type: ResourceType, resource_name: str, host: str
    ) -> Decision:
        """Whether ``principal`` may do ``operation`` on a resource from the address ``host``.

        Any ACL that denies wins, the first of them is named; otherwise the first one that allows.

        Raises:
            ValueError: the operation or the type is one of filters or of ACLs, such as ``ANY`` or ``ALL``.

        Example:
            ```python
            evaluator = AclEvaluator((await admin.describe_acls()).union())
            read_orders = evaluator.decide("User:billing", AclOperation.READ, ResourceType.TOPIC, "orders", "10.0.0.7")
            print(read_orders.allowed, "because of", read_orders.acl)
            ```
        """
        if operation in (AclOperation.UNKNOWN, AclOperation.ANY, AclOperation.ALL):
            raise ValueError(f"{operation} is not an operation of a client")
        if resource_type in (ResourceType.UNKNOWN, ResourceType.ANY):
            raise ValueError(f"{resource_type} is not a type of resources")
        if principal in self._super_users:
            return Decision(allowed=True, reason=Reason.SUPER_USER)
        concerning = self._index.matching(
            AclBindingFilter(resource_type, resource_name, pattern_type=PatternType.MATCH)
        )
        applying = [acl for acl in concerning if self._applies(acl, principal, operation, host)]
        unclear = self._unclear(applying, principal, operation, resource_type, host)
        deciding = deciding_acl(applying)
        if deciding is not None:
            allowed = deciding.permission_type == AclPermissionType.ALLOW
            reason = Reason.ALLOWED if allowed else Reason.DENIED
            return Decision(allowed=allowed, reason=reason, acl=deciding, unclear=unclear)
        if concerning:
            return Decision(allowed=False, reason=Reason.NO_ACL_APPLIES, unclear=unclear)
        return Decision(allowed=self._allow_everyone_if_no_acl, reason=Reason.NO_ACL_ON_RESOURCE, unclear=unclear)

    def _unclear(
        self,
        applying: Iterable[AclBinding],
        principal: str,
        operation: AclOperation,
        resource_type: ResourceType,
        host: str,
    ) -> tuple[AclBinding, ...]:
        of_permission = [acl for acl in applying if acl.permission_type.is_unknown or acl.host not in (host, WILDCARD)]
        of_pattern = [
            acl
            for acl in self._of_unknown_pattern
            if acl.resource_type == resource_type and self._applies(acl, principal, operation, host)
        ]
        return (*of_permission, *of_pattern)


def applies(acl: AclBinding, principal: str, operation: AclOperation, host: str) -> bool:
    """Whether an ACL of a resource applies to a principal, an operation and a host; implied operations count (A25).

    Brokers before 4.4 decide so: a range of addresses has no clients.
    """
    if acl.principal not in (principal, EVERYBODY) or acl.host not in (host, WILDCARD):
        return False
    if acl.operation in (operation, AclOperation.ALL):
        return True
    return acl.permission_type == AclPermissionType.ALLOW and acl.operation in IMPLIED_BY.get(operation, ())


def applies_since_4_4(acl: AclBinding, principal: str, operation: AclOperation, host: str) -> bool:
    """The same at brokers since 4.4, where a range of addresses has clients (A23)."""
    if "/" not in acl.host:
        return applies(acl, principal, operation, host)
    return is_within(host, acl.host) and applies(acl, principal, operation, acl.host)


def deciding_acl(applying: Iterable[AclBinding]) -> AclBinding | None:
    """The first of them that denies, else the first that allows; None if there is neither."""
    allowing = None
    for acl in applying:
        if acl.permission_type == AclPermissionType.DENY:
            return acl
        if allowing is None and acl.permission_type == AclPermissionType.ALLOW:
            allowing = acl
    return allowing


def _of_unknown_pattern(acls: Iterable[AclBinding]) -> tuple[AclBinding, ...]:
    unknown = {pattern_type for pattern_type in {acl.pattern_type for acl in acls} if pattern_type.is_unknown}
    return tuple(acl for acl in acls if acl.pattern_type in unknown) if unknown else ()
