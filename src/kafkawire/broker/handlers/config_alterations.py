"""IncrementalAlterConfigs and AlterConfigs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias, TypeVar

from kafkawire.broker.controller import MAXIMUM_RECORDS, TOO_LARGE_BATCH
from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.handlers.config_resources import broker_id, is_allowed, unauthorized
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.item_errors import ItemError
from kafkawire.broker.requests import Call
from kafkawire.broker.served_apis import ServedApi
from kafkawire.model.acls.bindings import AclOperation
from kafkawire.model.configs.resources import ConfigChange, ConfigOperation, ConfigResource, ConfigResourceType
from kafkawire.protocol import (
    AlterConfigsRequest,
    AlterConfigsResponse,
    ConfigRecord,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import PolicyViolationError

_Changed: TypeAlias = IncrementalAlterConfigsRequest.AlterConfigsResource
_Replaced: TypeAlias = AlterConfigsRequest.AlterConfigsResource
_Incremental: TypeAlias = IncrementalAlterConfigsResponse.AlterConfigsResourceResponse
_Legacy: TypeAlias = AlterConfigsResponse.AlterConfigsResourceResponse

R = TypeVar("R", _Changed, _Replaced)
_LOGGERS: Final = ConfigResourceType.BROKER_LOGGER
_OPERATIONS: Final = frozenset(ConfigOperation)
_STORED: Final = frozenset(
    {
        ConfigResourceType.TOPIC,
        ConfigResourceType.BROKER,
        ConfigResourceType.CLIENT_METRICS,
        ConfigResourceType.GROUP,
    }
)


class ConfigAlterationHandlers:
    """Change configurations."""

    def __init__(self, context: HandlerContext) -> None:
        self._controller = context.controller
        self._node = context.cluster.node_id
        self._nodes = context.nodes
        self._alterations = context.alterations
        self._loggers = context.loggers
        self._access = context.access
        self.apis = (
            ServedApi(IncrementalAlterConfigsRequest, self._change, 0, 1),
            ServedApi(AlterConfigsRequest, self._replace, 0, 2),
        )

    async def _change(self, request: IncrementalAlterConfigsRequest, call: Call) -> IncrementalAlterConfigsResponse:
        def records(resource: _Changed) -> Sequence[ConfigRecord]:
            return self._changed(resource, call, validate_only=request.validate_only)

        results = await self._altered(request.resources, records, validate_only=request.validate_only)
        return IncrementalAlterConfigsResponse(
            responses=tuple([_Incremental(*result) async for result in in_slices(results)])
        )

    async def _replace(self, request: AlterConfigsRequest, call: Call) -> AlterConfigsResponse:
        def records(resource: _Replaced) -> Sequence[ConfigRecord]:
            return self._replaced(resource, call)

        results = await self._altered(request.resources, records, validate_only=request.validate_only)
        return AlterConfigsResponse(responses=tuple([_Legacy(*result) async for result in in_slices(results)]))

    async def _altered(
        self, resources: Sequence[R], records_of: Callable[[R], Sequence[ConfigRecord]], *, validate_only: bool
    ) -> list[tuple[int, str | None, int, str]]:
        """Alter resources; error code, message, type and name of each. One that is there twice is not altered."""
        times = Counter((resource.resource_type, resource.resource_name) for resource in resources)
        results: list[tuple[int, str | None, int, str]] = []
        records: list[ConfigRecord] = []
        async with self._controller.turn:
            async for resource in in_slices(resources):
                kind, name = resource.resource_type, resource.resource_name
                if times[kind, name] > 1:
                    code, message = ErrorCode.INVALID_REQUEST, "Each resource must appear at most once."
                    results.append((code, message, kind, name))
                    continue
                try:
                    records += records_of(resource)
                    results.append((ErrorCode.NONE, None, kind, name))
                except ItemError as error:
                    results.append((error.code, error.message, kind, name))
            if len(records) > MAXIMUM_RECORDS:
                raise PolicyViolationError(TOO_LARGE_BATCH)
            if not validate_only:
                self._controller.commit(records)
        return results

    def _changed(self, changed: _Changed, call: Call, *, validate_only: bool) -> Sequence[ConfigRecord]:
        _check_names([config.name for config in changed.configs])
        _check_values({c.name: c.value for c in changed.configs if c.config_operation != ConfigOperation.DELETE})
        if changed.resource_type == _LOGGERS:
            self._change_loggers(changed, call, validate_only=validate_only)
            return ()
        resource = _stored(changed)
        changes = [_change(config, resource) for config in changed.configs]
        if resource.resource_type is ConfigResourceType.BROKER:
            self._check_node(resource.name)
            self._alterations.check_broker(resource, changes)
        self._check_access(resource, call)
        return self._alterations.records_of_changes(resource, changes)

    def _replaced(self, replaced: _Replaced, call: Call) -> Sequence[ConfigRecord]:
        _check_names([config.name for config in replaced.configs])
        _check_values({config.name: config.value for config in replaced.configs})
        resource = _stored(replaced)
        configs = {config.name: config.value or "" for config in replaced.configs}
        if resource.resource_type is ConfigResourceType.BROKER:
            self._check_node(resource.name)
            self._alterations.check_broker_configs(resource, configs)
        self._check_access(resource, call)
        return self._alterations.records_of_replacement(resource, configs)

    def _change_loggers(self, changed: _Changed, call: Call, *, validate_only: bool) -> None:
        if not self._access.allows_on_cluster(call.session, AclOperation.ALTER_CONFIGS):
            raise ItemError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
        self._check_node_of_loggers(changed.resource_name)
        for config in changed.configs:
            self._loggers.check(config.name, config.config_operation, config.value)
        for config in () if validate_only else changed.configs:
            removed = config.config_operation == ConfigOperation.DELETE
            self._loggers.apply(config.name, None if removed else config.value)

    def _check_node_of_loggers(self, name: str) -> None:
        if not self._nodes.has(_node_id(name)):
            message = f"Unexpected node id. Expected {self._node}, but received {name}"
            raise ItemError(ErrorCode.INVALID_REQUEST, message)

    def _check_node(self, name: str) -> None:
        if name and not self._nodes.has(_node_id(name)):
            message = f"Unexpected broker id, expected {self._node}, but received {name}"
            raise ItemError(ErrorCode.INVALID_REQUEST, message)

    def _check_access(self, resource: ConfigResource, call: Call) -> None:
        kind, operation = resource.resource_type, AclOperation.ALTER_CONFIGS
        if not is_allowed(self._access, call.session, operation, kind, resource.name):
            raise unauthorized(kind)


def _stored(resource: _Changed | _Replaced) -> ConfigResource:
    if resource.resource_type not in _STORED:
        raise ItemError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {resource.resource_type}")
    return ConfigResource(ConfigResourceType(resource.resource_type), resource.resource_name)


def _change(config: IncrementalAlterConfigsRequest.AlterableConfig, resource: ConfigResource) -> ConfigChange:
    if config.config_operation not in _OPERATIONS:
        if resource.resource_type is ConfigResourceType.BROKER:
            raise ItemError(ErrorCode.INVALID_REQUEST, f"Unknown operations type {config.config_operation}")
        raise ItemError(ErrorCode.UNKNOWN_SERVER_ERROR)
    return ConfigChange(config.name, ConfigOperation(config.config_operation), config.value)


def _node_id(name: str) -> int:
    number = broker_id(name)
    if number is None:
        raise ItemError(ErrorCode.INVALID_REQUEST, f"Node id must be an integer, but it is: {name}")
    return number


def _check_names(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        raise ItemError(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")


def _check_values(values: Mapping[str, str | None]) -> None:
    nothing = [name for name, value in values.items() if value is None]
    if nothing:
        raise ItemError(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {', '.join(nothing)}")
