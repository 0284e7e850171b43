"""Topics: list and describe (admin-topics)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import msgspec

from kafkawire import protocol
from kafkawire.admin.engine.operation import K, Operation, Outcomes, Progress, R, Request, TotalProgress, V
from kafkawire.admin.event_loop import together
from kafkawire.admin.family import OperationFamily
from kafkawire.admin.first_versions import creates_topics, metadata_request
from kafkawire.admin.needs import needs
from kafkawire.admin.operations.topic_names import Topic, unnamed
from kafkawire.admin.results import Results
from kafkawire.layout import Uuid
from kafkawire.model.acls.bindings import authorized_operations
from kafkawire.model.topics import PartitionDescription, TopicDescription, TopicListing, known_id, known_number
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.errors import InvalidTopicError, UnknownServerError, UnknownTopicOrPartitionError, error_of
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import KafkaError

_TOPICS_OF_A_CHAIN = 250
"""Pages follow each other, so a large number of topics is described in several chains of pages at the same time."""

_PARTITIONS_OF_A_PAGE = 2000

Cursor: TypeAlias = tuple[str, int]
Described: TypeAlias = TopicDescription | KafkaError


class Page(msgspec.Struct, frozen=True):
    """The parameters of one request for descriptions.

    Attributes:
        names: the topics, in order.
        cursor: the topic and partition to begin with; None for the first page.
    """

    names: tuple[str, ...]
    cursor: Cursor | None


class PageOfTopics(msgspec.Struct, frozen=True):
    """Its result.

    Attributes:
        topics: topic name to its description, with the partitions of this page only.
        next: where the next page begins; None after the last.
    """

    topics: Mapping[str, Described]
    next: Cursor | None


class _DescribeTopics(Operation[K, V, R]):
    """Base of the operations that describe topics.

    Args:
        authorized: whether to request the operations that the caller may perform on each topic.
    """

    name = "describe_topics"

    def __init__(self, *, authorized: bool) -> None:
        self._authorized = authorized


class DescribeTopicPages(_DescribeTopics[Page, PageOfTopics, "protocol.DescribeTopicPartitionsResponse"]):
    """KIP-966."""

    api = ApiKey.DESCRIBE_TOPIC_PARTITIONS
    batch = 1

    def build(self, request: Request[Page]) -> Message:
        message = protocol.DescribeTopicPartitionsRequest
        (page,) = request.items
        return message(
            topics=tuple(map(message.TopicRequest, page.names)),
            response_partition_limit=_PARTITIONS_OF_A_PAGE,
            cursor=None if page.cursor is None else message.Cursor(*page.cursor),
        )

    def read(
        self, request: Request[Page], response: protocol.DescribeTopicPartitionsResponse
    ) -> Outcomes[Page, PageOfTopics]:
        topics = {t.name: _described(t, self._authorized) for t in response.topics if t.name is not None}
        at = response.next_cursor
        return {request.items[0]: PageOfTopics(topics, None if at is None else (at.topic_name, at.partition_index))}

    def fallback(self) -> Operation[Page, PageOfTopics, protocol.MetadataResponse]:
        return DescribeTopicsInMetadata(authorized=self._authorized)


def _nodes(nodes: Sequence[int] | None) -> tuple[int, ...] | None:
    return None if nodes is None else tuple(nodes)


class DescribeTopicsInMetadata(_DescribeTopics[Page, PageOfTopics, "protocol.MetadataResponse"]):
    """The same from older brokers, all partitions in one page."""

    api = ApiKey.METADATA
    batch = 1

    def build(self, request: Request[Page]) -> Message:
        # A request for one topic could create it at an old broker; so all topics are requested.
        names = None if creates_topics(request.version) else request.items[0].names
        return metadata_request(request.version, names, topic_operations=self._authorized)

    def read(self, request: Request[Page], response: protocol.MetadataResponse) -> Outcomes[Page, PageOfTopics]:
        topics = {t.name: _described(t, self._authorized) for t in response.topics if t.name is not None}
        if creates_topics(request.version):
            unknown = UnknownTopicOrPartitionError("the topic is not in the list of all topics")
            topics = {name: topics.get(name, unknown) for name in request.items[0].names}
        return {request.items[0]: PageOfTopics(topics, None)}


class DescribeTopicIds(_DescribeTopics[Uuid, TopicDescription, "protocol.MetadataResponse"]):
    """KIP-516."""

    api = ApiKey.METADATA
    minimum_version = 12  # supports ids

    def validate(self, item: Uuid) -> KafkaError | None:
        return unnamed(item)

    def build(self, request: Request[Uuid]) -> Message:
        topic = protocol.MetadataRequest.MetadataRequestTopic
        return protocol.MetadataRequest(
            topics=tuple(topic(topic_id=item, name=None) for item in request.items),
            allow_auto_topic_creation=False,
            include_topic_authorized_operations=self._authorized,
        )

    def read(self, request: Request[Uuid], response: protocol.MetadataResponse) -> Outcomes[Uuid, TopicDescription]:
        return {topic.topic_id: _described(topic, self._authorized) for topic in response.topics}


class ListTopics(Operation[None, tuple[TopicListing, ...], "protocol.MetadataResponse"]):
    """All topics that the caller may see."""

    name = "list_topics"
    api = ApiKey.METADATA

    def build(self, request: Request[None]) -> Message:
        return metadata_request(request.version, None)

    def read(
        self, request: Request[None], response: protocol.MetadataResponse
    ) -> Outcomes[None, tuple[TopicListing, ...]]:
        return {
            None: tuple(
                TopicListing(topic.name, known_id(topic.topic_id), topic.is_internal)
                for topic in response.topics
                if topic.name is not None
            )
        }


def _described(
    topic: protocol.MetadataResponse.MetadataResponseTopic
    | protocol.DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic,
    authorized: bool,
) -> Described:
    """A topic as either API describes it; `authorized` says whether the caller's operations were requested."""
    if topic.error_code:
        return error_of(topic.error_code, None)
    partitions = (
        PartitionDescription(
            partition=partition.partition_index,
            leader=known_number(partition.leader_id),
            leader_epoch=known_number(partition.leader_epoch),
            replicas=tuple(partition.replica_nodes),
            isr=tuple(partition.isr_nodes),
            offline=tuple(partition.offline_replicas),
            eligible_leader_replicas=_nodes(getattr(partition, "eligible_leader_replicas", None)),
            last_known_eligible_leader_replicas=_nodes(getattr(partition, "last_known_elr", None)),
        )
        for partition in topic.partitions
    )
    return TopicDescription(
        name=topic.name or "",
        topic_id=known_id(topic.topic_id),
        is_internal=topic.is_internal,
        partitions=tuple(sorted(partitions, key=lambda partition: partition.partition)),
        authorized_operations=authorized_operations(topic.topic_authorized_operations) if authorized else None,
    )


class TopicDescriptionOperations(OperationFamily):
    """Lists and descriptions of topics."""

    @needs(ListTopics, rights="DESCRIBE TOPIC")
    async def list_topics(
        self, *, include_internal: bool = False, timeout: float | None = None
    ) -> dict[str, TopicListing]:
        """All topics that the caller may see, by name.

        Args:
            include_internal: whether to include the topics in which Kafka keeps its own state.
            timeout: see `AdminClient`.

        Raises:
            KafkaError: if no broker answers.

        Example:
            ```python
            for name, topic in (await admin.list_topics()).items():
                print(name, topic.topic_id)
            ```
        """
        listed = await self._only(ListTopics(), None, timeout)
        return {topic.name: topic for topic in listed if include_internal or not topic.is_internal}

    @needs(DescribeTopicPages, DescribeTopicsInMetadata, rights="DESCRIBE TOPIC")
    async def describe_topics(
        self,
        topics: Iterable[Topic],
        *,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[Topic, TopicDescription]:
        """Topics with their partitions, by name (str) or by id (`Uuid`). Topics are never created by this.

        Args:
            topics: names, ids, or both; ids need a broker of 3.1 or newer.
            include_authorized_operations: whether to include the operations that the caller may perform.
            timeout, progress: see `AdminClient`.

        Returns:
            Each topic to its description, or to what went wrong: `UnknownTopicOrPartitionError`,
            `UnknownTopicIdError`, `TopicAuthorizationFailedError` ...

        Example:
            ```python
            results = await admin.describe_topics(["orders", "invoices"])
            for topic in results.all().values():
                for partition in topic.partitions:
                    if len(partition.isr) < len(partition.replicas):
                        print(topic.name, partition.partition, "is under-replicated: in sync are only", partition.isr)
            ```
        """
        wanted = list(topics)
        names = sorted({topic for topic in wanted if not isinstance(topic, Uuid)})
        ids = {topic: None for topic in wanted if isinstance(topic, Uuid)}
        deadline = self._deadline(timeout)
        total = TotalProgress(progress, len(names) + len(ids))
        async with together() as tasks:
            chains = [
                tasks.create_task(
                    self._describe_names(
                        names[at : at + _TOPICS_OF_A_CHAIN], include_authorized_operations, deadline, total.one_more
                    )
                )
                for at in range(0, len(names), _TOPICS_OF_A_CHAIN)
            ]
            by_id = DescribeTopicIds(authorized=include_authorized_operations)
            of_ids = tasks.create_task(self._until(deadline, by_id, ids, total.one_more))
        found: dict[Topic, Described] = dict(of_ids.result().items())
        for chain in chains:
            found.update(chain.result())
        return Results(found, wanted)

    async def _describe_names(
        self, names: Sequence[str], authorized: bool, deadline: float, progress: Progress
    ) -> dict[str, Described]:
        """Topics page by page, partitions of one topic from several pages joined."""
        operation = DescribeTopicPages(authorized=authorized)
        found: dict[str, Described] = {
            name: InvalidTopicError("the name of a topic must not be empty") for name in names if not name
        }
        page: Page | None = Page(tuple(name for name in names if name), None)
        while page is not None and page.names:
            outcome = next(iter((await self._until(deadline, operation, (page,))).items()))[1]
            if isinstance(outcome, KafkaError):
                found.update((name, outcome) for name in page.names if name not in found or page.names[0] == name)
                break
            for name, topic in outcome.topics.items():
                found[name] = _joined(found.get(name), topic)
            page, unfinished = _following(page, outcome.next)
            found.update(unfinished)
        missing = error_of(-1, "the answer has no result for this topic")
        for _ in names:
            progress(0, 0)
        return {name: found.get(name, missing) for name in names}


def _joined(known: Described | None, more: Described) -> Described:
    if not isinstance(known, TopicDescription) or not isinstance(more, TopicDescription):
        return more
    return msgspec.structs.replace(known, partitions=(*known.partitions, *more.partitions))


def _following(page: Page, cursor: Cursor | None) -> tuple[Page | None, dict[str, KafkaError]]:
    """The next page, None after the last; and the topics that stay incomplete, if there is no valid next page."""
    if cursor is None:
        return None, {}
    if cursor[0] not in page.names or (page.cursor is not None and cursor <= page.cursor):
        lost = UnknownServerError(f"invalid next page: the broker continues at {cursor!r} after {page.cursor!r}")
        return None, dict.fromkeys(page.names, lost)
    return Page(tuple(name for name in page.names if name >= cursor[0]), cursor), {}
