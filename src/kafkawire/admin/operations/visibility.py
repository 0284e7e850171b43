"""Waiting until changes are visible on every broker: brokers learn of changes one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import asdict

from kafkawire import protocol
from kafkawire.admin.engine.operation import K, Operation, Outcomes, R, Request
from kafkawire.admin.engine.route import OnNode, Route
from kafkawire.admin.first_versions import metadata_request
from kafkawire.admin.needs import needs
from kafkawire.admin.operations.acl_listing import AclListing
from kafkawire.admin.operations.acl_messages import describe_acls_request, lowest_version
from kafkawire.admin.operations.every_node import EveryNodeFamily, ItemOnNode
from kafkawire.admin.operations.quotas import WantedQuotas, described_quotas, filter_components, wanted_quotas
from kafkawire.admin.results import Results
from kafkawire.model.acls.bindings import AclBinding, AclBindingFilter
from kafkawire.model.acls.validation import refusal_of_binding
from kafkawire.model.quotas.entities import ClientQuotaAlteration, ClientQuotaEntity, ClientQuotaFilter
from kafkawire.model.quotas.validation import refusal_of_alteration
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import (
    DuplicateResourceError,
    InvalidTopicError,
    LeaderNotAvailableError,
    ResourceNotFoundError,
    error_of,
)
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import KafkaError


class _See(Operation[ItemOnNode[K], None, R]):
    """Fails, and is tried again, for items that the metadata of a node does not yet show as they should be."""

    def route_of(self, item: ItemOnNode[K]) -> Route:
        return OnNode(item.node)


class SeeTopics(_See[str, "protocol.MetadataResponse"]):
    """Fails, and so is tried again, while a topic is unknown or one of its partitions has no leader."""

    name = "wait_for_topics"
    api = ApiKey.METADATA
    needs = ("allow_auto_topic_creation",)
    retried_codes = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.LEADER_NOT_AVAILABLE})

    def validate(self, item: ItemOnNode[str]) -> KafkaError | None:
        return None if item.item else InvalidTopicError("the name of a topic must not be empty")

    def build(self, request: Request[ItemOnNode[str]]) -> Message:
        return metadata_request(request.version, (item.item for item in request.items))

    def read(
        self, request: Request[ItemOnNode[str]], response: protocol.MetadataResponse
    ) -> Outcomes[ItemOnNode[str], None]:
        node = request.items[0].node
        return {ItemOnNode(topic.name, node): _missing(topic) for topic in response.topics if topic.name is not None}


def _missing(topic: protocol.MetadataResponse.MetadataResponseTopic) -> KafkaError | None:
    if topic.error_code:
        return error_of(topic.error_code)
    leaderless = sum(partition.leader_id < 0 for partition in topic.partitions)
    return LeaderNotAvailableError(f"{leaderless} partitions have no leader") if leaderless else None


class SeeAcls(_See[AclBinding, AclListing]):
    """Fails, and so is tried again, while a node does not have an ACL, or still has it.

    Args:
        deleted: whether to wait until the ACLs are gone.
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

    def response_class(self) -> type[AclListing]:
        return AclListing

    def build(self, request: Request[ItemOnNode[AclBinding]]) -> Message:
        return describe_acls_request(_filter_of([item.item for item in request.items]), request.version)

    def read(
        self, request: Request[ItemOnNode[AclBinding]], response: AclListing
    ) -> Outcomes[ItemOnNode[AclBinding], None]:
        there = set(response.resources)
        return {item: self._not_yet(item.item in there) for item in request.items}

    def _not_yet(self, is_there: bool) -> KafkaError | None:
        if is_there != self._deleted:
            return None
        return DuplicateResourceError("the ACL is still there") if is_there else ResourceNotFoundError("no such ACL")


def _filter_of(acls: Sequence[AclBinding]) -> AclBindingFilter:
    """The narrowest filter that matches all of these ACLs: their common values, and anything elsewhere."""
    wanted = asdict(acls[0].to_filter())
    common = {name: value for name, value in wanted.items() if all(getattr(acl, name) == value for acl in acls)}
    return AclBindingFilter(**common)


class SeeClientQuotas(_See[ClientQuotaEntity, "protocol.DescribeClientQuotasResponse"]):
    """Fails, and so is tried again, while an alteration is not visible on a node.

    Args:
        wanted: the alteration of each entity.
    """

    name = "wait_for_client_quotas"
    api = ApiKey.DESCRIBE_CLIENT_QUOTAS
    lacks = "filters"
    retried_codes = frozenset({ErrorCode.RESOURCE_NOT_FOUND})

    def __init__(self, wanted: WantedQuotas) -> None:
        self._wanted = wanted

    def validate(self, item: ItemOnNode[ClientQuotaEntity]) -> KafkaError | None:
        return self._wanted.refused.get(item.item) or refusal_of_alteration(self._wanted.values[item.item])

    def build(self, request: Request[ItemOnNode[ClientQuotaEntity]]) -> Message:
        first, *others = request.items
        wanted = ClientQuotaFilter() if others else ClientQuotaFilter.of_entity(first.item)
        return protocol.DescribeClientQuotasRequest(filter_components(wanted), wanted.strict)

    def read(
        self, request: Request[ItemOnNode[ClientQuotaEntity]], response: protocol.DescribeClientQuotasResponse
    ) -> Outcomes[ItemOnNode[ClientQuotaEntity], None]:
        there = described_quotas(response.entries or ())
        return {item: self._not_yet(item.item, there.get(item.item, {})) for item in request.items}

    def _not_yet(self, entity: ClientQuotaEntity, there: Mapping[str, float]) -> KafkaError | None:
        others = sorted(key for key, value in self._wanted.values[entity].values.items() if there.get(key) != value)
        return ResourceNotFoundError(f"the node has another value, or none, of {', '.join(others)}") if others else None


class VisibilityOperations(EveryNodeFamily):
    """Whether changes are visible on every broker."""

    @needs(SeeTopics, rights="DESCRIBE TOPIC")
    async def wait_for_topics(self, topics: Iterable[str], *, timeout: float | None = None) -> Results[str, None]:
        """Wait until topics are visible on all live brokers and each of their partitions has a leader.

        A new topic is not visible on every broker at once: a producer may still get
        `UnknownTopicOrPartitionError`.

        Args:
            topics: names.
            timeout: the longest time to wait, in seconds; ``call_timeout`` of the settings by default.

        Returns:
            Topic name to None, or to the last error of one of the brokers: `OperationTimeoutError`, caused by
            `UnknownTopicOrPartitionError` or `LeaderNotAvailableError`; `TopicAuthorizationFailedError` at once ...

        Raises:
            KafkaError: if no broker lists the brokers.

        Example:
            ```python
            (await admin.create_topics([NewTopic("clicks", num_partitions=6)])).all()
            (await admin.wait_for_topics(["clicks"], timeout=30)).all()  # producers can write from here on
            ```
        """
        return await self._wait_on_every_node(SeeTopics(), list(topics), timeout)

    @needs(SeeAcls, rights="DESCRIBE CLUSTER")
    async def wait_for_acls(
        self, acls: Iterable[AclBinding], *, deleted: bool = False, timeout: float | None = None
    ) -> Results[AclBinding, None]:
        """Wait until all live brokers have ACLs that were created, or have them no more.

        A change is not visible on every broker at once: one of them may still refuse what is allowed now, or allow
        what is no longer allowed.

        Args:
            acls: the ACLs.
            deleted: wait until they are gone.
            timeout: the longest time to wait, in seconds; ``call_timeout`` of the settings by default.

        Returns:
            Each ACL to None, or to the last error of one of the brokers: `OperationTimeoutError`, caused by
            `ResourceNotFoundError`, or `DuplicateResourceError` if it is still there; `SecurityDisabledError`,
            `ClusterAuthorizationFailedError` at once ...

        Raises:
            KafkaError: if no broker lists the brokers.

        Example:
            ```python
            acls = AclBinding.consumer("User:reports", topics=["orders"], groups=["reports"])
            (await admin.create_acls(acls)).all()
            (await admin.wait_for_acls(acls)).all()
            ```
        """
        return await self._wait_on_every_node(SeeAcls(deleted=deleted), list(acls), timeout)

    @needs(SeeClientQuotas, rights="DESCRIBE_CONFIGS CLUSTER")
    async def wait_for_client_quotas(
        self, alterations: Iterable[ClientQuotaAlteration], *, timeout: float | None = None
    ) -> Results[ClientQuotaEntity, None]:
        """Wait until alterations are visible on all live brokers: the new values, and the absence of removed ones.

        New quotas are not visible on every broker at once.

        Args:
            alterations: what `alter_client_quotas` was given.
            timeout: the longest time to wait, in seconds; ``call_timeout`` of the settings by default.

        Returns:
            Each entity to None, or to the last error of one of the brokers: `OperationTimeoutError`, caused
            by `ResourceNotFoundError`; `ClusterAuthorizationFailedError` at once ...

        Raises:
            KafkaError: if no broker lists the brokers.

        Example:
            ```python
            alteration = ClientQuotaAlteration(ClientQuotaEntity(user="reports"), {CONSUMER_BYTE_RATE: 1_000_000})
            (await admin.alter_client_quotas([alteration])).all()
            (await admin.wait_for_client_quotas([alteration])).all()
            ```
        """
        wanted = wanted_quotas(alterations)
        return await self._wait_on_every_node(SeeClientQuotas(wanted), wanted.items, timeout)
