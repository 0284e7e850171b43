"""Waiting until ACLs hold everywhere: brokers learn of changes one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import asdict

from kafkawire import protocol
from kafkawire.admin.engine.operation import Operation, Outcomes, Request
from kafkawire.admin.engine.route import OnNode, Route
from kafkawire.admin.operations.acl_messages import describe_acls_request, described_acls, lowest_version
from kafkawire.admin.operations.every_node import EveryNodeFamily, ItemOnNode
from kafkawire.admin.results import Results
from kafkawire.model.acls.bindings import AclBinding, AclBindingFilter
from kafkawire.model.acls.validation import refusal_of_binding
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import DuplicateResourceError, ResourceNotFoundError, error_of
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import KafkaError


class SeeAcls(Operation[ItemOnNode[AclBinding], None, "protocol.DescribeAclsResponse"]):
    """Fails, and so is tried again, while a node does not have an ACL, or still has it.

    Args:
        deleted: whether ACLs are to be there no more.
    """

    name = "wait_for_acls"
    api = ApiKey.DESCRIBE_ACLS
    lacks = "filters"
    retried_codes = frozenset({ErrorCode.RESOURCE_NOT_FOUND, ErrorCode.DUPLICATE_RESOURCE})

    def __init__(self, *, deleted: bool) -> None:
        self._deleted = deleted

    def validate(self, item: ItemOnNode[AclBinding]) -> KafkaError | None:
        return refusal_of_binding(item.item)

    def lowest_version(self, item: ItemOnNode[AclBinding]) -> int:
        return lowest_version(item.item)

    def route_of(self, item: ItemOnNode[AclBinding]) -> Route:
        return OnNode(item.node)

    def build(self, request: Request[ItemOnNode[AclBinding]]) -> Message:
        return describe_acls_request(_filter_of([item.item for item in request.items]), request.version)

    def read(
        self, request: Request[ItemOnNode[AclBinding]], response: protocol.DescribeAclsResponse
    ) -> Outcomes[ItemOnNode[AclBinding], None]:
        if response.error_code:
            return dict.fromkeys(request.items, error_of(response.error_code, response.error_message))
        there = set(described_acls(response.resources))
        return {item: self._not_yet(item.item in there) for item in request.items}

    def _not_yet(self, is_there: bool) -> KafkaError | None:
        if is_there != self._deleted:
            return None
        return DuplicateResourceError("the ACL is still there") if is_there else ResourceNotFoundError("no such ACL")


def _filter_of(acls: Sequence[AclBinding]) -> AclBindingFilter:
    """The narrowest filter that means all of these ACLs: what they have in common, and anything elsewhere."""
    wanted = asdict(acls[0].to_filter())
    common = {name: value for name, value in wanted.items() if all(getattr(acl, name) == value for acl in acls)}
    return AclBindingFilter(**common)


class AclVisibilityOperations(EveryNodeFamily):
    """Whether ACLs hold everywhere."""

    async def wait_for_acls(
        self, acls: Iterable[AclBinding], *, deleted: bool = False, timeout: float | None = None
    ) -> Results[AclBinding, None]:
        """Wait until all live brokers have ACLs that were created, or have them no more.

        An ACL that was just created or deleted is not known to every broker at once: one of them may still refuse what
        is allowed, or allow what is allowed no more.

        Args:
            acls: the ACLs.
            deleted: wait until they are gone.
            timeout: seconds to wait at most; ``call_timeout`` of the settings by default.

        Returns:
            Each ACL to None, or to what one of the brokers still said at the end: `OperationTimeoutError`, caused by
            `ResourceNotFoundError`, or `DuplicateResourceError` if it is still there; `SecurityDisabledError`,
            `ClusterAuthorizationFailedError` at once ...

        Raises:
            KafkaError: if no broker tells which there are.
        """
        return await self._wait_on_every_node(SeeAcls(deleted=deleted), list(acls), timeout)
