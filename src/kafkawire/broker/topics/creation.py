"""Creation of topics: the checks of B5 in their order, the policy, the quota, and the records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from kafkawire.broker.configuration.broker_configuration import Values
from kafkawire.broker.controller import MAXIMUM_RECORDS, TOO_LARGE_BATCH, Controller
from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.item_errors import ItemError, item_errors
from kafkawire.broker.plugins.create_topic_policy import CreateTopicPolicy, RequestMetadata
from kafkawire.broker.resource_configs.alterations import ConfigAlterations
from kafkawire.broker.topic_names import check_topic_name
from kafkawire.broker.topics.placement import Placement
from kafkawire.layout.uuid import Uuid
from kafkawire.model.configs.resources import ConfigResource, ConfigResourceType
from kafkawire.protocol import CreateTopicsRequest, TopicRecord
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import PolicyViolationError
from kafkawire.wire import Message

_LEFT_TO_BROKER: Final = -1


@dataclass(frozen=True, slots=True)
class CreatedTopic:
    """A topic that is created or validated.

    Attributes:
        topic_id: its new id.
        places: the ids of the brokers of each partition.
        configs: its configuration.
        records: the records that create it.
    """

    topic_id: Uuid
    places: Sequence[tuple[int, ...]]
    configs: Mapping[str, str]
    records: Sequence[Message] = field(repr=False)


class TopicCreation:
    """Creates topics.

    Args:
        controller: commits the records.
        configuration: the broker's, with the defaults for topics.
        alterations: validates the configurations of topics.
        placement: where partitions go.
        policy: the user's policy; None if there is none.
    """

    def __init__(
        self,
        controller: Controller,
        configuration: Values,
        alterations: ConfigAlterations,
        placement: Placement,
        policy: CreateTopicPolicy | None = None,
    ) -> None:
        self._controller = controller
        self._configuration = configuration
        self._alterations = alterations
        self._placement = placement
        self._policy = policy

    async def create(
        self,
        topics: Sequence[CreateTopicsRequest.CreatableTopic],
        take: Callable[[int], None],
        *,
        validate_only: bool = False,
    ) -> dict[str, CreatedTopic | ItemError]:
        """Create topics, all valid ones in one commit.

        Args:
            topics: each name once.
            take: takes a number of partitions from a quota; raises ThrottlingQuotaExceededError.
            validate_only: whether to do everything except the creation (B7).

        Returns:
            For each name, in the order of the topics, the created topic or the error.

        Raises:
            PolicyViolationError: they have too many partitions or records together; none is created.
        """
        self._check_total(topics)
        outcomes: dict[str, CreatedTopic | ItemError] = {}
        async with self._controller.turn:
            async for topic in in_slices(topics):
                try:
                    with item_errors(f"creating the topic {topic.name}"):  # errors of policies are those of topics (B4)
                        outcomes[topic.name] = self._created(topic, take)
                except ItemError as error:
                    outcomes[topic.name] = error.as_result()
            created = [outcome for outcome in outcomes.values() if isinstance(outcome, CreatedTopic)]
            records = [record for topic in created for record in topic.records]
            if len(records) > MAXIMUM_RECORDS:
                raise PolicyViolationError(TOO_LARGE_BATCH)
            if not validate_only:
                self._controller.commit(records)
        return outcomes

    def _check_total(self, topics: Sequence[CreateTopicsRequest.CreatableTopic]) -> None:
        if len(topics) > MAXIMUM_RECORDS:
            raise PolicyViolationError("Excessively large number of topics per request.")
        default = self._configuration.integer("num.partitions")
        total = 0
        for topic in topics:
            wanted = default if topic.num_partitions == _LEFT_TO_BROKER else topic.num_partitions
            total += len(topic.assignments) or wanted
        if total > MAXIMUM_RECORDS:
            raise PolicyViolationError("Excessively large number of partitions per request.")

    def _created(self, topic: CreateTopicsRequest.CreatableTopic, take: Callable[[int], None]) -> CreatedTopic:
        self._check_name(topic.name)
        configs = _configs(topic)
        config_records: Sequence[Message] = ()
        if configs:
            resource = ConfigResource(ConfigResourceType.TOPIC, topic.name)
            config_records = self._alterations.records_of_new(resource, configs)
        places = self._assigned(topic, configs) if topic.assignments else self._placed(topic, configs)
        take(len(places))
        topic_id = Uuid.random()
        records = (
            TopicRecord(topic.name, topic_id),
            *config_records,
            *self._placement.records(topic_id, places),
        )
        return CreatedTopic(topic_id, places, configs, records)

    def _check_name(self, name: str) -> None:
        topics = self._controller.image.topics
        if name in topics.by_name:
            raise ItemError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
        check_topic_name(name)
        existing = topics.colliding(name)
        if existing is not None:
            message = f"Topic '{name}' collides with existing topic: {existing}"
            raise ItemError(ErrorCode.INVALID_TOPIC_EXCEPTION, message)

    def _assigned(
        self, topic: CreateTopicsRequest.CreatableTopic, configs: Mapping[str, str]
    ) -> Sequence[tuple[int, ...]]:
        """The brokers of the partitions of a topic whose replicas the request assigns (8a)."""
        specified = "A manual partition assignment was specified, but"
        if topic.replication_factor != _LEFT_TO_BROKER:
            raise ItemError(ErrorCode.INVALID_REQUEST, f"{specified} replication factor was not set to -1.")
        if topic.num_partitions != _LEFT_TO_BROKER:
            raise ItemError(ErrorCode.INVALID_REQUEST, f"{specified} numPartitions was not set to -1.")
        places: dict[int, tuple[int, ...]] = {}
        replication_factor = None
        for assignment in topic.assignments:
            partition, brokers = assignment.partition_index, tuple(assignment.broker_ids)
            if partition in places:
                message = f"Found multiple manual partition assignments for partition {partition}"
                raise ItemError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
            self._placement.check_assignment(brokers, replication_factor)
            replication_factor = len(brokers)
            places[partition] = brokers
        if any(partition not in places for partition in range(len(places))):
            message = "partitions should be a consecutive 0-based integer sequence"
            raise ItemError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
        in_order = dict(sorted(places.items()))
        for partition, brokers in in_order.items():
            self._placement.check_live(partition, brokers)
        self._ask_policy(RequestMetadata(topic.name, None, None, in_order, configs))
        return tuple(in_order.values())

    def _placed(
        self, topic: CreateTopicsRequest.CreatableTopic, configs: Mapping[str, str]
    ) -> Sequence[tuple[int, ...]]:
        """The brokers of the partitions of a topic whose replicas the broker assigns (8b)."""
        partitions, replication_factor = topic.num_partitions, topic.replication_factor
        if replication_factor < _LEFT_TO_BROKER or replication_factor == 0:
            message = "Replication factor must be larger than 0, or -1 to use the default value."
            raise ItemError(ErrorCode.INVALID_REPLICATION_FACTOR, message)
        if partitions < _LEFT_TO_BROKER or partitions == 0:
            message = "Number of partitions was set to an invalid non-positive value."
            raise ItemError(ErrorCode.INVALID_PARTITIONS, message)
        if partitions == _LEFT_TO_BROKER:
            partitions = self._configuration.integer("num.partitions")
        if replication_factor == _LEFT_TO_BROKER:
            replication_factor = self._configuration.integer("default.replication.factor")
        self._placement.check_replication_factor(replication_factor)
        self._ask_policy(RequestMetadata(topic.name, partitions, replication_factor, None, configs))
        return self._placement.places(partitions, replication_factor)

    def _ask_policy(self, request: RequestMetadata) -> None:
        if self._policy is not None:
            self._policy.validate(request)


def _configs(topic: CreateTopicsRequest.CreatableTopic) -> dict[str, str]:
    """The configuration in a request; if a name is given twice, the last value counts (7)."""
    configs = {config.name: config.value for config in topic.configs}
    nothing = [name for name, value in configs.items() if value is None]
    if nothing:
        message = f"Null value not supported for topic configs: {','.join(nothing)}"
        raise ItemError(ErrorCode.INVALID_CONFIG, message)
    return {name: value for name, value in configs.items() if value is not None}
