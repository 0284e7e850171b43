"""CreateTopics, DeleteTopics and CreatePartitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.item_errors import ItemError
from kafkawire.broker.requests import Call, Refused
from kafkawire.broker.resource_configs.descriptions import ConfigDescriptions
from kafkawire.broker.served_apis import ServedApi
from kafkawire.broker.topic_names import METADATA_TOPIC
from kafkawire.broker.topics.creation import CreatedTopic
from kafkawire.broker.topics.deletion import DeletedTopic, TopicDeletion
from kafkawire.broker.topics.growth import TopicGrowth
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.model.configs.resources import ConfigEntry
from kafkawire.protocol import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire import Message

_STRICT_CREATION: Final = 6
_STRICT_DELETION: Final = 5
_STRICT_GROWTH: Final = 3
_DELETION_DISABLED_HAS_A_CODE: Final = 3
_DUPLICATE: Final = "Duplicate topic name."

_Result = CreateTopicsResponse.CreatableTopicResult


class TopicHandlers:
    """Create, delete and extend topics."""

    def __init__(self, context: HandlerContext) -> None:
        self._creation = context.creation
        self._controller = context.controller
        self._growth = TopicGrowth(context.controller, context.placement)
        self._descriptions = ConfigDescriptions(context.configuration, context.controller.image.configs)
        self._access = context.access
        self._mutations = context.quotas.mutations
        self._configuration = context.configuration
        self.apis = (
            ServedApi(CreateTopicsRequest, self._create_topics, 2, 7),
            ServedApi(DeleteTopicsRequest, self._delete_topics, 1, 6),
            ServedApi(CreatePartitionsRequest, self._create_partitions, 0, 3),
        )

    async def _create_topics(self, request: CreateTopicsRequest, call: Call) -> Message | Refused:
        if request.timeout_ms <= 0:
            return Refused(ErrorCode.REQUEST_TIMED_OUT)
        twice = _twice(topic.name for topic in request.topics)
        refused = {name: ItemError(ErrorCode.INVALID_REQUEST, _DUPLICATE) for name in twice}
        async for topic in in_slices(request.topics):
            if topic.name not in refused and (error := self._refused_creation(topic.name, call)) is not None:
                refused[topic.name] = error
        quota = self._mutations.quota_of(call, strict_since=_STRICT_CREATION)
        allowed = [topic for topic in request.topics if topic.name not in refused]
        outcomes = await self._creation.create(allowed, quota.take, validate_only=request.validate_only)
        configs = _DescribedConfigs(self._descriptions)
        created = [self._created(topic.name, outcomes[topic.name], call, configs) async for topic in in_slices(allowed)]
        others = [_refused(name, error) for name, error in refused.items()]
        return CreateTopicsResponse(quota.throttle_time_ms, (*created, *others))

    def _refused_creation(self, name: str, call: Call) -> ItemError | None:
        if name == METADATA_TOPIC:
            return ItemError(ErrorCode.INVALID_REQUEST, f"Creation of internal topic {METADATA_TOPIC} is prohibited.")
        session, create = call.session, AclOperation.CREATE
        if self._access.allows_on_cluster(session, create):
            return None
        if self._access.allows(session, create, ResourceType.TOPIC, name):
            return None
        return ItemError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, "Authorization failed.")

    def _created(self, name: str, outcome: CreatedTopic | ItemError, call: Call, configs: _DescribedConfigs) -> _Result:
        if isinstance(outcome, ItemError):
            return _refused(name, outcome)
        if not self._access.allows(call.session, AclOperation.DESCRIBE_CONFIGS, ResourceType.TOPIC, name):
            code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            return _Result(name, outcome.topic_id, error_message=None, topic_config_error_code=code)
        return _Result(
            name,
            outcome.topic_id,
            error_message=None,
            num_partitions=len(outcome.places),
            replication_factor=len(outcome.places[0]),
            configs=configs.of(outcome.configs),
        )

    async def _delete_topics(self, request: DeleteTopicsRequest, call: Call) -> Message | Refused:
        if not self._configuration.boolean("delete.topic.enable"):
            if call.version < _DELETION_DISABLED_HAS_A_CODE:
                return Refused(ErrorCode.INVALID_REQUEST, "Topic deletion is disabled.")
            return Refused(ErrorCode.TOPIC_DELETION_DISABLED)
        if request.timeout_ms <= 0:
            return Refused(ErrorCode.REQUEST_TIMED_OUT)
        quota = self._mutations.quota_of(call, strict_since=_STRICT_DELETION)
        results = await TopicDeletion(self._controller, self._access, call.session, quota.take).delete(request)
        return DeleteTopicsResponse(quota.throttle_time_ms, tuple(map(_deleted, results)))

    async def _create_partitions(self, request: CreatePartitionsRequest, call: Call) -> Message | Refused:
        if request.timeout_ms <= 0:
            return Refused(ErrorCode.REQUEST_TIMED_OUT)
        quota = self._mutations.quota_of(call, strict_since=_STRICT_GROWTH)
        twice = _twice(topic.name for topic in request.topics)
        refused = {name: ItemError(ErrorCode.INVALID_REQUEST, _DUPLICATE) for name in twice}
        async for topic in in_slices(request.topics):
            name = topic.name
            if name in refused:
                continue
            if not self._access.allows(call.session, AclOperation.ALTER, ResourceType.TOPIC, name):
                refused[name] = ItemError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        allowed = [topic for topic in request.topics if topic.name not in refused]
        outcomes = await self._growth.grow(allowed, quota.take, validate_only=request.validate_only)
        result = CreatePartitionsResponse.CreatePartitionsTopicResult
        results = (
            result(name, error_message=None) if error is None else result(name, error.code, error.message)
            for name, error in {**refused, **outcomes}.items()
        )
        return CreatePartitionsResponse(quota.throttle_time_ms, tuple(results))


class _DescribedConfigs:
    """The described configurations of the topics of one request, of which many are the same."""

    def __init__(self, descriptions: ConfigDescriptions) -> None:
        self._descriptions = descriptions
        self._known: dict[tuple[tuple[str, str], ...], tuple[CreateTopicsResponse.CreatableTopicConfigs, ...]] = {}

    def of(self, own: Mapping[str, str]) -> tuple[CreateTopicsResponse.CreatableTopicConfigs, ...]:
        """The described configuration of a topic for which these values are set."""
        key = tuple(own.items())
        if key not in self._known:
            self._known[key] = tuple(map(_config, self._descriptions.topic_in_creation(own)))
        return self._known[key]


def _twice(names: Iterable[str]) -> list[str]:
    return [name for name, times in Counter(names).items() if times > 1]


def _refused(name: str, error: ItemError) -> _Result:
    return _Result(name, error_code=error.code, error_message=error.message)


def _config(entry: ConfigEntry) -> CreateTopicsResponse.CreatableTopicConfigs:
    return CreateTopicsResponse.CreatableTopicConfigs(
        entry.name, entry.value, entry.is_read_only, entry.source, entry.is_sensitive
    )


def _deleted(topic: DeletedTopic) -> DeleteTopicsResponse.DeletableTopicResult:
    error = topic.error
    if error is None:
        return DeleteTopicsResponse.DeletableTopicResult(topic.name, topic.topic_id, error_message=None)
    return DeleteTopicsResponse.DeletableTopicResult(topic.name, topic.topic_id, error.code, error.message)
