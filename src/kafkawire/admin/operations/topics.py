"""Topics: create, delete, list (section 1.2 of the admin reference)."""

from __future__ import annotations

from collections.abc import Iterable

from kafkawire import protocol
from kafkawire.admin.engine.call import Progress
from kafkawire.admin.engine.operation import Operation, Outcomes, Request
from kafkawire.admin.engine.route import CONTROLLER, Route
from kafkawire.admin.family import OperationFamily
from kafkawire.admin.results import Results
from kafkawire.admin.topics import CreatedTopic, CreatedTopicConfig, NewTopic
from kafkawire.layout import Uuid
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.errors import InvalidTopicError, error_of
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import KafkaError

MAXIMUM_RECORDS = 10_000
"""A request that makes more metadata records than this is refused whole (section 1.1 of the admin reference)."""

_VALIDATE_ONLY_SINCE = 1
_DEFAULTS_SINCE = 4


class CreateTopics(Operation[str, CreatedTopic, "protocol.CreateTopicsResponse"]):
    """KIP-4, KIP-108 (validation), KIP-464 (defaults), KIP-525 (configs), KIP-516 (ids)."""

    name = "create_topics"
    api = ApiKey.CREATE_TOPICS
    mutates = True
    batch = MAXIMUM_RECORDS

    def __init__(self, topics: Iterable[NewTopic], *, validate_only: bool) -> None:
        self._topics = {topic.name: topic for topic in topics}
        self._validate_only = validate_only
        if any(_takes_defaults(topic) for topic in self._topics.values()):
            self.minimum_version = _DEFAULTS_SINCE
        elif validate_only:
            self.minimum_version = _VALIDATE_ONLY_SINCE  # B7: an older broker would really create

    def validate(self, item: str) -> KafkaError | None:
        return None if item else InvalidTopicError("the name of a topic must not be empty")

    def weight(self, item: str) -> int:
        topic = self._topics[item]
        return 1 + max(topic.num_partitions, len(topic.replica_assignments or ()), 1)

    def route(self, item: str) -> Route:
        return CONTROLLER

    def build(self, request: Request[str]) -> Message:
        return protocol.CreateTopicsRequest(
            topics=tuple(_creatable(self._topics[name]) for name in request.items),
            timeout_ms=request.timeout_ms,
            validate_only=self._validate_only,
        )

    def read(self, request: Request[str], response: protocol.CreateTopicsResponse) -> Outcomes[str, CreatedTopic]:
        return {
            result.name: error_of(result.error_code, result.error_message)
            if result.error_code
            else _created(result, is_real=not self._validate_only)
            for result in response.topics
        }


def _takes_defaults(topic: NewTopic) -> bool:
    return not topic.replica_assignments and min(topic.num_partitions, topic.replication_factor) < 0


def _creatable(topic: NewTopic) -> protocol.CreateTopicsRequest.CreatableTopic:
    request = protocol.CreateTopicsRequest
    return request.CreatableTopic(
        name=topic.name,
        num_partitions=topic.num_partitions,
        replication_factor=topic.replication_factor,
        assignments=tuple(
            request.CreatableReplicaAssignment(partition, tuple(brokers))
            for partition, brokers in (topic.replica_assignments or {}).items()
        ),
        configs=tuple(request.CreatableTopicConfig(name, value) for name, value in topic.configs.items()),
    )


def _created(result: protocol.CreateTopicsResponse.CreatableTopicResult, *, is_real: bool) -> CreatedTopic:
    return CreatedTopic(
        name=result.name,
        topic_id=result.topic_id if is_real and result.topic_id != Uuid() else None,
        num_partitions=result.num_partitions if result.num_partitions >= 0 else None,
        replication_factor=result.replication_factor if result.replication_factor >= 0 else None,
        configs=None
        if result.configs is None or result.topic_config_error_code
        else tuple(
            CreatedTopicConfig(c.name, c.value, c.read_only, c.is_sensitive, c.config_source) for c in result.configs
        ),
    )


class TopicOperations(OperationFamily):
    """Topics and their partitions."""

    async def create_topics(
        self,
        topics: Iterable[NewTopic],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[str, CreatedTopic]:
        """Create topics, or find out whether they could be created.

        Args:
            topics: what to create; of several with one name the last counts.
            validate_only: create nothing, but run all checks, the broker's create-topic policy included (KIP-108).
            timeout: seconds for the whole call; ``call_timeout`` of the settings by default.
            progress: told after each outcome how many of how many topics have one.

        Returns:
            Topic name to the topic, or to what went wrong: `TopicAlreadyExistsError`, `InvalidTopicError`,
            `PolicyViolationError` ...
        """
        wanted = list(topics)
        operation = CreateTopics(wanted, validate_only=validate_only)
        return await self._each(operation, (topic.name for topic in wanted), timeout, progress)
