"""Topics: create, delete, add partitions (admin-topics)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import attrgetter

from kafkawire import protocol
from kafkawire.admin.engine.lookups import FindLeaders
from kafkawire.admin.engine.operation import Operation, Outcomes, Progress, Request, failure
from kafkawire.admin.engine.route import CONTROLLER
from kafkawire.admin.engine.wanted import Wanted
from kafkawire.admin.family import OperationFamily
from kafkawire.admin.first_versions import first_version
from kafkawire.admin.needs import needs
from kafkawire.admin.operations.record_limit import MAXIMUM_RECORDS
from kafkawire.admin.operations.topic_names import Topic, unnamed
from kafkawire.admin.results import Results
from kafkawire.layout import Uuid
from kafkawire.model.configs.resources import source_of
from kafkawire.model.topics import CreatedTopic, CreatedTopicConfig, NewPartitions, NewTopic
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.errors import (
    InvalidRequestError,
    PolicyViolationError,
)
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import KafkaError


class CreateTopics(Operation[str, CreatedTopic, "protocol.CreateTopicsResponse"]):
    """KIP-4, KIP-108 (validation), KIP-464 (defaults), KIP-525 (configs), KIP-516 (ids)."""

    name = "create_topics"
    api = ApiKey.CREATE_TOPICS
    route = CONTROLLER
    mutates = True
    batch = MAXIMUM_RECORDS

    def __init__(self, wanted: Wanted[str, NewTopic], *, validate_only: bool) -> None:
        self._wanted = wanted
        self._topics = wanted.values
        self._validate_only = validate_only
        self.needs = ("validate_only",) if validate_only else ()  # B7: an older broker would really create

    def lowest_version(self, item: str) -> int:
        return 4 if _takes_defaults(self._topics[item]) else 0  # KIP-464

    def validate(self, item: str) -> KafkaError | None:
        return self._wanted.refused.get(item) or unnamed(item)

    def weight(self, item: str) -> int:
        topic = self._topics[item]
        return 1 + max(topic.num_partitions, len(topic.replica_assignments or ()), 1) + len(topic.configs)

    def build(self, request: Request[str]) -> Message:
        return protocol.CreateTopicsRequest(
            topics=tuple(self._topics[name].to_request() for name in request.items),
            timeout_ms=request.timeout_ms,
            validate_only=self._validate_only,
        )

    def read(self, request: Request[str], response: protocol.CreateTopicsResponse) -> Outcomes[str, CreatedTopic]:
        return {
            result.name: failure(result.error_code, result.error_message)
            or _created(result, is_real=not self._validate_only)
            for result in response.topics
        }


def _refused_together(one: NewTopic, _: NewTopic) -> NewTopic | KafkaError:
    """Two topics of one name: Kafka refuses both, equal or not (B5)."""
    return InvalidRequestError(f"the topic {one.name!r} is given twice; give each name once")


def _takes_defaults(topic: NewTopic) -> bool:
    return not topic.replica_assignments and min(topic.num_partitions, topic.replication_factor) < 0


def _created(result: protocol.CreateTopicsResponse.CreatableTopicResult, *, is_real: bool) -> CreatedTopic:
    return CreatedTopic(
        name=result.name,
        topic_id=result.topic_id if is_real and result.topic_id != Uuid() else None,
        num_partitions=result.num_partitions if result.num_partitions >= 0 else None,
        replication_factor=result.replication_factor if result.replication_factor >= 0 else None,
        configs=None
        if result.configs is None or result.topic_config_error_code
        else tuple(
            CreatedTopicConfig(
                config.name,
                None if config.is_sensitive else config.value,
                config.read_only,
                config.is_sensitive,
                source_of(config.config_source),
            )
            for config in result.configs
        ),
    )


class DeleteTopics(Operation[Topic, None, "protocol.DeleteTopicsResponse"]):
    """KIP-4, KIP-516 (ids)."""

    name = "delete_topics"
    api = ApiKey.DELETE_TOPICS
    route = CONTROLLER
    mutates = True
    batch = MAXIMUM_RECORDS

    def lowest_version(self, item: Topic) -> int:
        return first_version(protocol.DeleteTopicsRequest, "topics") if isinstance(item, Uuid) else 0

    def validate(self, item: Topic) -> KafkaError | None:
        return unnamed(item)

    def build(self, request: Request[Topic]) -> Message:
        if request.version < first_version(protocol.DeleteTopicsRequest, "topics"):
            names = tuple(item for item in request.items if not isinstance(item, Uuid))
            return protocol.DeleteTopicsRequest(topic_names=names, timeout_ms=request.timeout_ms)
        state = protocol.DeleteTopicsRequest.DeleteTopicState
        return protocol.DeleteTopicsRequest(
            topics=tuple(
                state(topic_id=item) if isinstance(item, Uuid) else state(name=item) for item in request.items
            ),
            timeout_ms=request.timeout_ms,
        )

    def read(self, request: Request[Topic], response: protocol.DeleteTopicsResponse) -> Outcomes[Topic, None]:
        outcomes: dict[Topic, KafkaError | None] = {}
        for result in response.responses:
            outcome = failure(result.error_code, result.error_message)
            # A result by id also has the name, if the caller may describe the topic.
            outcomes[result.topic_id] = outcome
            if result.name is not None:
                outcomes[result.name] = outcome
        return outcomes


class CreatePartitions(Operation[str, None, "protocol.CreatePartitionsResponse"]):
    """KIP-195."""

    name = "create_partitions"
    api = ApiKey.CREATE_PARTITIONS
    route = CONTROLLER
    mutates = True
    # Above the limit of records 4.3.1 adds partitions and says that it failed, so requests stay below it.
    batch = MAXIMUM_RECORDS

    def __init__(
        self, partitions: Mapping[str, NewPartitions], refused: Mapping[str, KafkaError], *, validate_only: bool
    ) -> None:
        self._partitions = partitions
        self._refused = refused
        self._validate_only = validate_only

    def validate(self, item: str) -> KafkaError | None:
        return self._refused.get(item)

    def weight(self, item: str) -> int:
        return max(1, self._partitions[item].total)

    def build(self, request: Request[str]) -> Message:
        return protocol.CreatePartitionsRequest(
            topics=tuple(_growing(name, self._partitions[name]) for name in request.items),
            timeout_ms=request.timeout_ms,
            validate_only=self._validate_only,
        )

    def read(self, request: Request[str], response: protocol.CreatePartitionsResponse) -> Outcomes[str, None]:
        return {result.name: failure(result.error_code, result.error_message) for result in response.results}


def _growing(name: str, partitions: NewPartitions) -> protocol.CreatePartitionsRequest.CreatePartitionsTopic:
    request = protocol.CreatePartitionsRequest
    assignments = partitions.new_assignments
    return request.CreatePartitionsTopic(
        name=name,
        count=partitions.total,
        assignments=None
        if assignments is None
        else tuple(request.CreatePartitionsAssignment(tuple(brokers)) for brokers in assignments),
    )


class TopicOperations(OperationFamily):
    """Topics and their partitions."""

    @needs(CreateTopics, rights="CREATE TOPIC or CREATE CLUSTER")
    async def create_topics(
        self,
        topics: Iterable[NewTopic],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[str, CreatedTopic]:
        """Create topics, or check whether they could be created.

        Args:
            topics: what to create. A name that is given twice is refused, as Kafka does, and the others are created.
            validate_only: create nothing, but run all checks, the broker's create-topic policy included (KIP-108).
            timeout, progress: see `AdminClient`.

        Returns:
            Topic name to the topic, or to what went wrong: `TopicAlreadyExistsError`, `InvalidTopicError`,
            `PolicyViolationError`, `InvalidRequestError` (the name is given twice) ...

        Example:
            ```python
            results = await admin.create_topics(
                [NewTopic("clicks", num_partitions=6, configs={"retention.ms": "86400000"}), NewTopic("refunds")]
            )
            for name, error in results.errors().items():
                print(name, error)
            for topic in results.values().values():
                print(topic.name, topic.topic_id, topic.num_partitions)
            ```
        """
        wanted = Wanted(topics, attrgetter("name"), _refused_together)
        return await self._each(CreateTopics(wanted, validate_only=validate_only), wanted.items, timeout, progress)

    @needs(DeleteTopics, rights="DELETE TOPIC")
    async def delete_topics(
        self, topics: Iterable[Topic], *, timeout: float | None = None, progress: Progress | None = None
    ) -> Results[Topic, None]:
        """Delete topics by name (str) or by id (`Uuid`).

        Args:
            topics: names, ids, or both; ids need a broker of 2.8 or newer.
            timeout, progress: see `AdminClient`.

        Returns:
            Each topic to None, or to what went wrong: `UnknownTopicOrPartitionError`, `UnknownTopicIdError`,
            `TopicDeletionDisabledError` ...

        Example:
            ```python
            results = await admin.delete_topics(["orders", "invoices"])
            for topic, error in results.errors().items():
                print(topic, error)
            ```
        """
        return await self._each(DeleteTopics(), topics, timeout, progress)

    @needs(CreatePartitions, rights="ALTER TOPIC")
    async def create_partitions(
        self,
        partitions: Mapping[str, NewPartitions | int],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[str, None]:
        """Add partitions to topics.

        Args:
            partitions: topic name to the new total, or to `NewPartitions` to assign them to brokers.
            validate_only: change nothing, but run all checks.
            timeout, progress: see `AdminClient`.

        Returns:
            Topic name to None, or to what went wrong: `InvalidPartitionsError`, `UnknownTopicOrPartitionError` ...

        Example:
            ```python
            results = await admin.create_partitions({"orders": 12, "invoices": 6})
            for name, error in results.errors().items():
                print(name, error)
            ```
        """
        wanted = {name: NewPartitions(to) if isinstance(to, int) else to for name, to in partitions.items()}
        deadline = self._deadline(timeout)
        operation = CreatePartitions(wanted, await self._too_many(wanted, deadline), validate_only=validate_only)
        return await self._until(deadline, operation, wanted, progress)

    async def _too_many(self, wanted: Mapping[str, NewPartitions], deadline: float) -> dict[str, KafkaError]:
        """Topics that would get more partitions at once than a request may make records.

        A controller of 4.3.1 adds as many as it can and says that it failed; so the request is not sent.
        """
        large = [name for name, to in wanted.items() if to.total > MAXIMUM_RECORDS]
        if not large:
            return {}
        present = (await self._until(deadline, FindLeaders(), large)).values()
        return {
            name: PolicyViolationError(f"more than {MAXIMUM_RECORDS} new partitions at once; add them in several calls")
            for name, leaders in present.items()
            if wanted[name].total - len(leaders) > MAXIMUM_RECORDS
        }
