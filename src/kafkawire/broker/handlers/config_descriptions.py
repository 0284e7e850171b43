"""DescribeConfigs and ListConfigResources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final

from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.handlers.config_resources import broker_id, is_allowed, unauthorized
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.item_errors import ItemError
from kafkawire.broker.refusals import MALFORMED
from kafkawire.broker.requests import Call, Refused
from kafkawire.broker.resource_configs.descriptions import ConfigDescriptions
from kafkawire.broker.served_apis import ServedApi
from kafkawire.broker.topic_names import check_topic_name
from kafkawire.model.acls.bindings import AclOperation
from kafkawire.model.configs.resources import ConfigEntry, ConfigResourceType, ConfigSource
from kafkawire.protocol import (
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire import Message

_LISTS_OTHER_TYPES: Final = 1

_Asked = DescribeConfigsRequest.DescribeConfigsResource
_Result = DescribeConfigsResponse.DescribeConfigsResult
_Described = DescribeConfigsResponse.DescribeConfigsResourceResult
_Synonym = DescribeConfigsResponse.DescribeConfigsSynonym
_Listed = ListConfigResourcesResponse.ConfigResource


class ConfigDescriptionHandlers:
    """Describe configurations, and list the resources that have one."""

    def __init__(self, context: HandlerContext) -> None:
        self._image = context.controller.image
        self._node = context.cluster.node_id
        self._nodes = context.nodes
        self._configuration = context.configuration
        self._descriptions = ConfigDescriptions(context.configuration, self._image.configs)
        self._loggers = context.loggers
        self._access = context.access
        self._describers: Mapping[int, Callable[[str], list[ConfigEntry]]] = MappingProxyType(
            {
                ConfigResourceType.TOPIC: self._topic,
                ConfigResourceType.BROKER: self._broker,
                ConfigResourceType.BROKER_LOGGER: self._broker_logger,
                ConfigResourceType.CLIENT_METRICS: self._client_metrics,
                ConfigResourceType.GROUP: self._group,
            }
        )
        self.apis = (
            ServedApi(DescribeConfigsRequest, self._describe, 1, 4),
            ServedApi(ListConfigResourcesRequest, self._list, 0, 1),
        )

    async def _describe(self, request: DescribeConfigsRequest, call: Call) -> Message | Refused:
        for resource in request.resources:
            if resource.resource_type not in self._describers:
                return Refused(ErrorCode.INVALID_REQUEST, MALFORMED)
        allowed, refused = [], []
        async for resource in in_slices(request.resources):
            kind, name = resource.resource_type, resource.resource_name
            if is_allowed(self._access, call.session, AclOperation.DESCRIBE_CONFIGS, kind, name):
                allowed.append(self._result(resource, with_synonyms=request.include_synonyms))
            else:
                error = unauthorized(kind)
                refused.append(_Result(error.code, error.message, kind, name))
        return DescribeConfigsResponse(0, (*allowed, *refused))

    def _result(self, resource: _Asked, *, with_synonyms: bool) -> _Result:
        kind, name = resource.resource_type, resource.resource_name
        try:
            entries = self._describers[kind](name)
        except ItemError as error:
            return _Result(error.code, error.message, kind, name)
        if resource.configuration_keys:
            by_name = {entry.name: entry for entry in entries}
            entries = [by_name[key] for key in dict.fromkeys(resource.configuration_keys) if key in by_name]
        described = (_entry(entry, with_synonyms=with_synonyms) for entry in entries)
        return _Result(resource_type=kind, resource_name=name, configs=tuple(described))

    def _topic(self, name: str) -> list[ConfigEntry]:
        check_topic_name(name)
        if name not in self._image.topics.by_name:
            raise ItemError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "")
        return self._descriptions.topic(name)

    def _broker(self, name: str) -> list[ConfigEntry]:
        if not name:
            return self._descriptions.all_brokers()
        number = self._broker_id(name)
        if not self._nodes.has(number):
            expected = f"expected {self._node} or empty string, but received {name}"
            raise ItemError(ErrorCode.INVALID_REQUEST, f"Unexpected broker id, {expected}")
        if number == self._node:
            return self._descriptions.broker()
        return ConfigDescriptions(self._configuration.of_node(number), self._image.configs).broker()

    def _broker_logger(self, name: str) -> list[ConfigEntry]:
        if not name:
            raise ItemError(ErrorCode.INVALID_REQUEST, "Broker id must not be empty")
        if not self._nodes.has(self._broker_id(name)):
            expected = f"expected {self._node} but received {name}"
            raise ItemError(ErrorCode.INVALID_REQUEST, f"Unexpected broker id, {expected}")
        source = ConfigSource.DYNAMIC_BROKER_LOGGER_CONFIG
        return [ConfigEntry(logger, level, source) for logger, level in self._loggers.levels().items()]

    def _client_metrics(self, name: str) -> list[ConfigEntry]:
        if not name:
            raise ItemError(ErrorCode.INVALID_REQUEST, "Client metrics subscription name must not be empty")
        return self._descriptions.client_metrics(name)

    def _group(self, name: str) -> list[ConfigEntry]:
        if not name:
            raise ItemError(ErrorCode.INVALID_REQUEST, "Group name must not be empty")
        return self._descriptions.group(name)

    def _broker_id(self, name: str) -> int:
        number = broker_id(name)
        if number is None:
            raise ItemError(ErrorCode.INVALID_REQUEST, f"Broker id must be an integer, but it is: {name}")
        return number

    def _list(self, request: ListConfigResourcesRequest, call: Call) -> Message | Refused:
        if not self._access.allows_on_cluster(call.session, AclOperation.DESCRIBE_CONFIGS):
            return Refused(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
        supported = (
            list(self._describers) if call.version >= _LISTS_OTHER_TYPES else [ConfigResourceType.CLIENT_METRICS]
        )
        wanted = request.resource_types or supported
        if not set(wanted) <= set(supported):
            return Refused(ErrorCode.UNSUPPORTED_VERSION)
        listed = (_Listed(name, kind) for kind in dict.fromkeys(wanted) for name in self._names(kind))
        return ListConfigResourcesResponse(config_resources=tuple(listed))

    def _names(self, kind: int) -> Iterable[str]:
        match kind:
            case ConfigResourceType.TOPIC:
                return self._image.topics.by_name
            case ConfigResourceType.BROKER | ConfigResourceType.BROKER_LOGGER:
                return [str(node.node_id) for node in self._nodes.all()]
        return [name for of_type, name in self._image.configs.resources() if of_type == kind]


def _entry(entry: ConfigEntry, *, with_synonyms: bool) -> _Described:
    synonyms = entry.synonyms if with_synonyms else ()
    return _Described(
        entry.name,
        entry.value,
        entry.is_read_only,
        config_source=entry.source,
        is_sensitive=entry.is_sensitive,
        synonyms=tuple(_Synonym(synonym.name, synonym.value, synonym.source) for synonym in synonyms),
        config_type=entry.config_type,
        documentation=None,
    )
