"""Configurations: describe, alter and list what has one (admin-configs)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Generic, TypeAlias, TypeVar

from kafkawire import protocol
from kafkawire.admin.engine.operation import Operation, Outcomes, Progress, R, Request, V, failure
from kafkawire.admin.engine.route import ANY_NODE, OnNode, Route
from kafkawire.admin.family import OperationFamily
from kafkawire.admin.first_versions import first_version
from kafkawire.admin.needs import needs
from kafkawire.admin.operations.record_limit import MAXIMUM_RECORDS
from kafkawire.admin.results import Results
from kafkawire.model.configs.resources import (
    ConfigChange,
    ConfigEntry,
    ConfigOperation,
    ConfigResource,
    ConfigResourceType,
    described_entries,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.errors import InvalidRequestError, UnsupportedVersionError
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import KafkaError

_RESOURCES_OF_A_DESCRIPTION = 250
"""A topic with synonyms and documentation takes some 15 kB of an answer."""

_RESOURCES_OF_A_REPLACEMENT = 100
"""The number of values that a replacement removes is unknown, and each is a record too."""


class _OfResources(Operation[ConfigResource, V, R]):
    """Base of the operations on configurations; some resources belong to one node (G4)."""

    on_controllers = True

    def validate(self, item: ConfigResource) -> KafkaError | None:
        if item.is_of_one_node and item.node is None:
            return InvalidRequestError(f"the name of a {item.resource_type} must be the id of a node")
        return None

    def route_of(self, item: ConfigResource) -> Route:
        return ANY_NODE if item.node is None else OnNode(item.node)


class DescribeConfigs(_OfResources[dict[str, ConfigEntry], "protocol.DescribeConfigsResponse"]):
    """KIP-133, KIP-226 (synonyms), KIP-569 (documentation)."""

    name = "describe_configs"
    api = ApiKey.DESCRIBE_CONFIGS
    batch = _RESOURCES_OF_A_DESCRIPTION

    def __init__(self, keys: Sequence[str] | None, *, synonyms: bool, documentation: bool) -> None:
        self._keys = keys
        self._synonyms = synonyms
        self._documentation = documentation
        self.needs = ("include_documentation",) if documentation else ("include_synonyms",) if synonyms else ()

    def group_key(self, item: ConfigResource) -> Hashable:
        # G4: a type that the broker does not support fails all resources of the request.
        return item.resource_type

    def build(self, request: Request[ConfigResource]) -> Message:
        message = protocol.DescribeConfigsRequest
        return message(
            resources=tuple(
                message.DescribeConfigsResource(resource.resource_type, resource.name, self._keys)
                for resource in request.items
            ),
            include_synonyms=self._synonyms,
            include_documentation=self._documentation,
        )

    def read(
        self, request: Request[ConfigResource], response: protocol.DescribeConfigsResponse
    ) -> Outcomes[ConfigResource, dict[str, ConfigEntry]]:
        return {
            _resource(result.resource_type, result.resource_name): failure(result.error_code, result.error_message)
            or described_entries(result.configs)
            for result in response.results
        }


T = TypeVar("T")
_Altered: TypeAlias = "protocol.AlterConfigsResponse | protocol.IncrementalAlterConfigsResponse"


class _Alter(_OfResources[None, _Altered], Generic[T]):
    """The common part of both ways to alter configurations.

    Args:
        configs: resource to what is requested for it.
        validate_only: whether nothing changes and everything is checked.
    """

    mutates = True

    def __init__(self, configs: Mapping[ConfigResource, T], *, validate_only: bool) -> None:
        self._configs = configs
        self._validate_only = validate_only

    def read(self, request: Request[ConfigResource], response: _Altered) -> Outcomes[ConfigResource, None]:
        return {
            _resource(result.resource_type, result.resource_name): failure(result.error_code, result.error_message)
            for result in response.responses
        }


class IncrementalAlterConfigs(_Alter[Sequence[ConfigChange]]):
    """KIP-339. Answers come in no useful order; they are assigned by their resource (G5)."""

    name = "incremental_alter_configs"
    api = ApiKey.INCREMENTAL_ALTER_CONFIGS
    batch = MAXIMUM_RECORDS

    def validate(self, item: ConfigResource) -> KafkaError | None:
        return super().validate(item) or _refusal_of_changes(self._configs[item])

    def weight(self, item: ConfigResource) -> int:
        return max(1, len(self._configs[item]))

    def build(self, request: Request[ConfigResource]) -> Message:
        message = protocol.IncrementalAlterConfigsRequest
        config = message.AlterableConfig
        return message(
            tuple(
                message.AlterConfigsResource(
                    item.resource_type,
                    item.name,
                    tuple(config(change.name, change.operation, change.value) for change in self._configs[item]),
                )
                for item in request.items
            ),
            self._validate_only,
        )


class AlterConfigs(_Alter[Mapping[str, str]]):
    """KIP-133. A request must not have a resource twice: Kafka 4.3.1 never answers it."""

    name = "alter_configs"
    api = ApiKey.ALTER_CONFIGS
    batch = _RESOURCES_OF_A_REPLACEMENT

    def build(self, request: Request[ConfigResource]) -> Message:
        message = protocol.AlterConfigsRequest
        return message(
            tuple(
                message.AlterConfigsResource(
                    item.resource_type,
                    item.name,
                    tuple(message.AlterableConfig(*config) for config in self._configs[item].items()),
                )
                for item in request.items
            ),
            self._validate_only,
        )


class ListConfigResources(Operation[None, tuple[ConfigResource, ...], "protocol.ListConfigResourcesResponse"]):
    """KIP-1000 (client metrics), KIP-1142 (all types)."""

    name = "list_config_resources"
    api = ApiKey.LIST_CONFIG_RESOURCES

    def __init__(self, types: frozenset[ConfigResourceType]) -> None:
        self._types = types
        self.needs = () if types == {ConfigResourceType.CLIENT_METRICS} else ("resource_types",)

    def build(self, request: Request[None]) -> Message:
        message = protocol.ListConfigResourcesRequest
        if request.version < first_version(message, "resource_types"):
            return message()
        return message(resource_types=tuple(sorted(self._types)))

    def read(
        self, request: Request[None], response: protocol.ListConfigResourcesResponse
    ) -> Outcomes[None, tuple[ConfigResource, ...]]:
        return {
            None: tuple(_resource(listed.resource_type, listed.resource_name) for listed in response.config_resources)
        }

    def error(self, code: int, message: str | None) -> KafkaError:
        error = super().error(code, message)
        if not isinstance(error, UnsupportedVersionError):
            return error
        wanted = ", ".join(map(str, sorted(self._types))) or "all types"
        return UnsupportedVersionError(f"the broker cannot list resources of {wanted}")


def _resource(type_: int, name: str) -> ConfigResource:
    return ConfigResource(ConfigResourceType(type_), name)


def _refusal_of_changes(changes: Sequence[ConfigChange]) -> KafkaError | None:
    """Why a broker would refuse all changes of a resource, where that is known without it (G5, G6)."""
    names: set[str] = set()
    for change in changes:
        if change.name in names:
            return InvalidRequestError(f"{change.name} is changed twice")
        if change.value is None and change.operation is not ConfigOperation.DELETE:
            return InvalidRequestError(f"{change.operation.name} needs a value for {change.name}; DELETE removes it")
        names.add(change.name)
    return None


class ConfigOperations(OperationFamily):
    """Configurations of topics, brokers, loggers, groups and subscriptions to client metrics."""

    @needs(DescribeConfigs, rights="DESCRIBE_CONFIGS TOPIC or DESCRIBE_CONFIGS CLUSTER or DESCRIBE_CONFIGS GROUP")
    async def describe_configs(
        self,
        resources: Iterable[ConfigResource],
        *,
        keys: Iterable[str] | None = None,
        include_synonyms: bool = False,
        include_documentation: bool = False,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[ConfigResource, dict[str, ConfigEntry]]:
        """Describe configurations. Each broker describes its own; the brokers are queried at the same time.

        Args:
            resources: the resources to describe.
            keys: names of the configs wanted; None or none for all. Names that a resource does not have are left out.
            include_synonyms: whether to include the values from all sources; needs a broker of 1.1 or newer.
            include_documentation: whether to include the documentation of configs; needs a broker of 2.6 or newer.
            timeout, progress: see `AdminClient`.

        Returns:
            Resource to its configs by name, or to what went wrong: `UnknownTopicOrPartitionError`,
            `TopicAuthorizationFailedError`, `InvalidRequestError` (a type that the broker does not support) ... For a
            broker that is not in the cluster at the moment, the call waits until it times out.

        Example:
            ```python
            orders = ConfigResource.topic("orders")
            results = await admin.describe_configs([orders], keys=["retention.ms", "cleanup.policy"])
            for name, config in results[orders].items():
                print(name, config.value, "by default" if config.is_default else config.source)
            ```
        """
        wanted = None if keys is None else tuple(dict.fromkeys(keys))
        # G4: no keys mean all to newer brokers; older ones would describe nothing.
        operation = DescribeConfigs(wanted or None, synonyms=include_synonyms, documentation=include_documentation)
        return await self._each(operation, resources, timeout, progress)

    @needs(IncrementalAlterConfigs, rights="ALTER_CONFIGS TOPIC or ALTER_CONFIGS CLUSTER or ALTER_CONFIGS GROUP")
    async def incremental_alter_configs(
        self,
        changes: Mapping[ConfigResource, Iterable[ConfigChange]],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[ConfigResource, None]:
        """Change some configs and leave the others as they are. Needs brokers of 2.3 or newer.

        Args:
            changes: resource to its changes, which are made all or none; each config once.
            validate_only: change nothing, but run all checks, the broker's alter-config policy included.
            timeout, progress: see `AdminClient`.

        Returns:
            Resource to None, or to what went wrong: `InvalidConfigError` (unknown name or bad value),
            `InvalidRequestError` (a config twice, no value, one that cannot be changed while the broker runs),
            `UnknownTopicOrPartitionError`, `PolicyViolationError` ...

        Example:
            ```python
            orders = ConfigResource.topic("orders")
            changes = [ConfigChange.set("retention.ms", "604800000"), ConfigChange.append("cleanup.policy", "compact")]
            results = await admin.incremental_alter_configs({orders: changes})
            for resource, error in results.errors().items():
                print(resource.name, error)
            ```
        """
        wanted = {resource: tuple(some) for resource, some in changes.items()}
        return await self._each(IncrementalAlterConfigs(wanted, validate_only=validate_only), wanted, timeout, progress)

    @needs(AlterConfigs, rights="ALTER_CONFIGS TOPIC or ALTER_CONFIGS CLUSTER or ALTER_CONFIGS GROUP")
    async def alter_configs(
        self,
        configs: Mapping[ConfigResource, Mapping[str, str]],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[ConfigResource, None]:
        """Replace whole configurations: **what is not given is removed**, passwords included.

        Only for brokers older than 2.3. For all others use `incremental_alter_configs`, which cannot undo the
        changes of another client.

        Args:
            configs: resource to its whole new configuration.
            validate_only: change nothing, but run all checks.
            timeout, progress: see `AdminClient`.

        Returns:
            Resource to None, or to what went wrong, as for `incremental_alter_configs`.

        Example:
            ```python
            orders = ConfigResource.topic("orders")
            described = (await admin.describe_configs([orders]))[orders]
            whole = {
                config.name: config.value
                for config in described.values()
                if config.source is ConfigSource.DYNAMIC_TOPIC_CONFIG and config.value is not None
            }
            (await admin.alter_configs({orders: {**whole, "retention.ms": "604800000"}})).all()
            ```
        """
        wanted = {resource: dict(all_of_it) for resource, all_of_it in configs.items()}
        return await self._each(AlterConfigs(wanted, validate_only=validate_only), wanted, timeout, progress)

    @needs(ListConfigResources, rights="DESCRIBE_CONFIGS CLUSTER")
    async def list_config_resources(
        self, types: Iterable[ConfigResourceType] = (), *, timeout: float | None = None
    ) -> tuple[ConfigResource, ...]:
        """List the resources that have a configuration.

        Args:
            types: the types to list; empty for all types that the broker has. A broker older than 4.1 lists only
                ``CLIENT_METRICS``, alone.
            timeout: see `AdminClient`.

        Raises:
            UnsupportedVersionError: if the broker cannot list one of the types, or nothing at all (before 3.7).

        Example:
            ```python
            for resource in await admin.list_config_resources([ConfigResourceType.CLIENT_METRICS]):
                print("subscription to metrics of clients:", resource.name)
            ```
        """
        return await self._only(ListConfigResources(frozenset(types)), None, timeout)
