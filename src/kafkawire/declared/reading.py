"""The current state of a cluster: everything that documents can declare, read with as many calls at once as can be."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import TypeAlias, TypeVar

import msgspec

from kafkawire.admin import AdminClient, Results
from kafkawire.admin.event_loop import together
from kafkawire.declared.planned import Kind
from kafkawire.declared.scope import EVERYTHING, ReadScope
from kafkawire.declared.state import ClusterState, CredentialState, TopicState
from kafkawire.declared.unread import Unread
from kafkawire.model.acls.bindings import AclBinding, AclOperation
from kafkawire.model.cluster import ClusterDescription
from kafkawire.model.configs.resources import ConfigEntry, ConfigResource, ConfigResourceType, ConfigSource
from kafkawire.model.quotas.entities import ClientQuotaEntity
from kafkawire.model.scram import ScramCredentialInfo, UserMechanism
from kafkawire.model.topics import TopicDescription
from kafkawire.protocol.errors import (
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    InvalidGroupIdError,
    InvalidRequestError,
    InvalidTopicError,
    ResourceNotFoundError,
    SecurityDisabledError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from kafkawire.wire.kafka_errors import KafkaError

K = TypeVar("K")
V = TypeVar("V")

ReadProgress: TypeAlias = Callable[[Kind, int, int], None]
"""Called with a kind, the number of its items that have been read, and of those that are to be read."""

Configs: TypeAlias = Mapping[str, str | None]

_TOPICS_OF_A_PORTION = 500
_PORTIONS_AT_ONCE = 4
"""A description of a topic has all of its configs; few of them are kept."""

_SOURCES: Mapping[ConfigResourceType, ConfigSource] = {
    ConfigResourceType.TOPIC: ConfigSource.DYNAMIC_TOPIC_CONFIG,
    ConfigResourceType.BROKER: ConfigSource.DYNAMIC_BROKER_CONFIG,
    ConfigResourceType.BROKER_LOGGER: ConfigSource.DYNAMIC_BROKER_LOGGER_CONFIG,
    ConfigResourceType.CLIENT_METRICS: ConfigSource.DYNAMIC_CLIENT_METRICS_CONFIG,
    ConfigResourceType.GROUP: ConfigSource.DYNAMIC_GROUP_CONFIG,
}

_NOT_THERE = (UnknownTopicOrPartitionError, InvalidTopicError, ResourceNotFoundError, InvalidGroupIdError)
_REFUSED = (
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    SecurityDisabledError,
    TopicAuthorizationFailedError,
    UnsupportedVersionError,
)


class ReadCluster(msgspec.Struct, frozen=True, kw_only=True):
    """What has been read of a cluster.

    Attributes:
        cluster_id: of the cluster; None from brokers that do not return it.
        state: what it has.
        unread: what it may have besides.
    """

    cluster_id: str | None
    state: ClusterState
    unread: tuple[Unread, ...] = ()


async def read_cluster(
    client: AdminClient,
    scope: ReadScope = EVERYTHING,
    *,
    timeout: float | None = None,
    progress: ReadProgress | None = None,
) -> ReadCluster:
    """Read the state of a cluster, all kinds at the same time.

    Topics have the configs that are set on themselves, brokers those that are set dynamically. What the caller may not
    read is data, not an error. With a `BlockingAdminClient`: ``client.run(lambda admin: read_cluster(admin))``.

    Args:
        client: of the cluster.
        scope: what to read.
        timeout: seconds that each call to the cluster may take; by default ``call_timeout`` of the settings.
        progress: called after each portion.

    Returns:
        The state, and what of it could not be read. Internal topics are included; their ``is_internal`` says so.

    Raises:
        KafkaError: the cluster does not answer, or not in time.

    Example:
        ```python
        from kafkawire.declared import ReadScope, read_cluster

        read = await read_cluster(admin, ReadScope(topics=frozenset({"orders"})))
        print(read.state.topics["orders"].configs)
        for unread in read.unread:
            print(unread)
        ```
    """
    reader = _Reader(client, scope, timeout, progress or (lambda _kind, _done, _total: None))
    return await reader.read()


class _Reader:
    """Reads a cluster once.

    Args:
        client, scope, timeout, progress: as `read_cluster`.
    """

    def __init__(self, client: AdminClient, scope: ReadScope, timeout: float | None, progress: ReadProgress) -> None:
        self._client = client
        self._scope = scope
        self._timeout = timeout
        self._progress = progress
        self._unread: list[Unread] = []

    async def read(self) -> ReadCluster:
        cluster = await self._describe_cluster()
        async with together() as tasks:
            topics = tasks.create_task(self._topics())
            configs = tasks.create_task(self._configs(cluster))
            acls = tasks.create_task(self._acls())
            quotas = tasks.create_task(self._quotas())
            credentials = tasks.create_task(self._credentials(cluster))
        state = ClusterState(
            topics=topics.result(),
            configs=configs.result(),
            acls=acls.result(),
            quotas=quotas.result(),
            credentials=credentials.result(),
        )
        return ReadCluster(cluster_id=cluster.cluster_id, state=state, unread=tuple(self._unread))

    async def _describe_cluster(self) -> ClusterDescription:
        return await self._client.describe_cluster(
            include_authorized_operations=Kind.USERS in self._scope.kinds, timeout=self._timeout
        )

    async def _topics(self) -> dict[str, TopicState]:
        if Kind.TOPICS not in self._scope.kinds:
            return {}
        names = await self._names_of_topics()
        total = len(names)
        self._progress(Kind.TOPICS, 0, total)
        found: dict[str, TopicState] = {}
        at_once = asyncio.Semaphore(_PORTIONS_AT_ONCE)

        async def read(portion: Sequence[str]) -> None:
            async with at_once:
                found.update(await self._portion_of_topics(portion))
            self._progress(Kind.TOPICS, len(found), total)

        async with together() as tasks:
            for at in range(0, total, _TOPICS_OF_A_PORTION):
                tasks.create_task(read(names[at : at + _TOPICS_OF_A_PORTION]))
        return {name: found[name] for name in names if name in found}

    async def _names_of_topics(self) -> list[str]:
        wanted, prefixes = self._scope.topics, self._scope.topic_prefixes
        if wanted is not None and not prefixes:
            return sorted(wanted)
        listed = await self._client.list_topics(include_internal=True, timeout=self._timeout)
        return sorted(name for name in listed if wanted is None or name in wanted or name.startswith(prefixes))

    async def _portion_of_topics(self, names: Sequence[str]) -> dict[str, TopicState]:
        described, configs = await asyncio.gather(
            self._client.describe_topics(names, timeout=self._timeout),
            self._client.describe_configs(map(ConfigResource.topic, names), timeout=self._timeout),
        )
        topics = self._found(described, Kind.TOPICS, lambda name: f"topic {name}")
        configs_of = self._found(configs, Kind.TOPICS, lambda resource: f"configs of topic {resource.name}")
        found = {}
        for topic in topics.values():
            resource = ConfigResource.topic(topic.name)
            found[topic.name] = _topic(topic, _set_configs(resource, configs_of.get(resource, {})))
        return found

    async def _configs(self, cluster: ClusterDescription) -> dict[ConfigResource, Configs]:
        if Kind.CONFIGS not in self._scope.kinds:
            return {}
        resources = self._scope.configs
        if resources is None:
            brokers = (ConfigResource.broker(member.node.id) for member in cluster.nodes)
            resources = frozenset((ConfigResource.broker_default(), *brokers, *await self._listed_resources()))
        asked = self._running(resources, cluster)
        self._progress(Kind.CONFIGS, 0, len(asked))
        described = await self._client.describe_configs(asked, timeout=self._timeout)
        found = self._found(described, Kind.CONFIGS, _words_of_resource)
        self._progress(Kind.CONFIGS, len(found), len(asked))
        set_on = {resource: _set_configs(resource, entries) for resource, entries in found.items()}
        return {resource: configs for resource, configs in set_on.items() if configs}

    async def _listed_resources(self) -> tuple[ConfigResource, ...]:
        """Groups and metrics subscriptions that have configs. Before 3.7 there are no such subscriptions."""
        subscriptions, groups = await asyncio.gather(
            self._listed(ConfigResourceType.CLIENT_METRICS), self._listed(ConfigResourceType.GROUP)
        )
        if not isinstance(subscriptions, UnsupportedVersionError):
            self._note(subscriptions, "metrics subscriptions", ConfigResourceType.CLIENT_METRICS)
        if not isinstance(groups, UnsupportedVersionError) or await self._groups_have_configs():
            self._note(groups, "configs of groups", ConfigResourceType.GROUP)
        return tuple(chain.from_iterable(each for each in (subscriptions, groups) if isinstance(each, tuple)))

    async def _groups_have_configs(self) -> bool:
        """Whether groups may have configs, of a broker that does not list them: 4.0. Any group is described then."""
        any_group = ConfigResource.group("any")
        described = await self._client.describe_configs([any_group], timeout=self._timeout)
        return not any(isinstance(error, InvalidRequestError) for error in described.errors().values())

    async def _listed(self, resource_type: ConfigResourceType) -> tuple[ConfigResource, ...] | KafkaError:
        try:
            return await self._client.list_config_resources([resource_type], timeout=self._timeout)
        except _REFUSED as error:
            return error

    def _note(self, outcome: object, what: str, resource_type: ConfigResourceType) -> None:
        if isinstance(outcome, KafkaError):
            self._unread.append(Unread(Kind.CONFIGS, what, outcome, resource_type=resource_type))

    def _running(self, resources: Iterable[ConfigResource], cluster: ClusterDescription) -> list[ConfigResource]:
        """The resources without those of brokers that do not run: a description would wait for them."""
        running = {member.node.id for member in cluster.nodes}
        asked = []
        for resource in sorted(resources):
            if resource.node is None or resource.node in running:
                asked.append(resource)
            else:
                error = KafkaError(f"broker {resource.name} is not running")
                self._unread.append(Unread(Kind.CONFIGS, _words_of_resource(resource), error, resource))
        return asked

    async def _acls(self) -> frozenset[AclBinding]:
        if Kind.ACLS not in self._scope.kinds:
            return frozenset()
        described = await self._client.describe_acls(self._scope.acls, timeout=self._timeout)
        found = self._found(described, Kind.ACLS, lambda _filter: "ACLs", is_item=False)
        acls = frozenset(chain.from_iterable(found.values()))
        self._progress(Kind.ACLS, len(acls), len(acls))
        return acls

    async def _quotas(self) -> dict[ClientQuotaEntity, Mapping[str, float]]:
        if Kind.QUOTAS not in self._scope.kinds:
            return {}
        described = await self._client.describe_client_quotas(self._scope.quotas, timeout=self._timeout)
        found = self._found(described, Kind.QUOTAS, lambda _filter: "quotas", is_item=False)
        quotas = {entity: values for of_filter in found.values() for entity, values in of_filter.items() if values}
        self._progress(Kind.QUOTAS, len(quotas), len(quotas))
        return quotas

    async def _credentials(self, cluster: ClusterDescription) -> dict[UserMechanism, CredentialState]:
        if Kind.USERS not in self._scope.kinds:
            return {}
        operations = cluster.authorized_operations
        if operations is not None and AclOperation.DESCRIBE not in operations:
            # Without the right, Kafka 4.3.1 never answers a request for all users, and one for some without names.
            refused = ClusterAuthorizationFailedError("to describe users needs the right to DESCRIBE the cluster")
            self._unread.append(Unread(Kind.USERS, "SCRAM users", refused))
            return {}
        try:
            described = await self._client.describe_user_scram_credentials(self._scope.users, timeout=self._timeout)
        except _REFUSED as error:
            self._unread.append(Unread(Kind.USERS, "SCRAM users", error))
            return {}
        found = self._found(described, Kind.USERS, lambda user: f"SCRAM user {user}", is_item=False)
        self._progress(Kind.USERS, len(found), len(found))
        return dict(_credentials(found))

    def _found(
        self, results: Results[K, V], kind: Kind, what: Callable[[K], str], *, is_item: bool = True
    ) -> dict[K, V]:
        """The items that are there; those that cannot be read are noted.

        Raises:
            KafkaError: an item has another error, such as a timeout.
        """
        found: dict[K, V] = {}
        for item, outcome in results.items():
            if not isinstance(outcome, KafkaError):
                found[item] = outcome
            elif isinstance(outcome, _REFUSED) or _is_unsupported_type(item, outcome):
                named = item if is_item and isinstance(item, str | ConfigResource) else None
                unread = Unread(kind, what(item), outcome, named)
                if unread.item is not None or all(unread.what != each.what for each in self._unread):
                    self._unread.append(unread)
            elif not isinstance(outcome, _NOT_THERE):
                raise outcome
        return found


def _is_unsupported_type(item: object, error: KafkaError) -> bool:
    """Whether a broker does not know a type of resource, which an older one says in this way (G4)."""
    new_types = {ConfigResourceType.GROUP, ConfigResourceType.CLIENT_METRICS}
    return (
        isinstance(item, ConfigResource) and item.resource_type in new_types and isinstance(error, InvalidRequestError)
    )


def _words_of_resource(resource: ConfigResource) -> str:
    if resource == ConfigResource.broker_default():
        return "configs of all brokers"
    return f"configs of {str(resource.resource_type).lower().replace('_', ' ')} {resource.name}"


def _set_configs(resource: ConfigResource, entries: Mapping[str, ConfigEntry]) -> dict[str, str | None]:
    """What is set on a resource itself, by names in order.

    With eligible leader replicas, topics and brokers show ``min.insync.replicas`` of the default of all brokers (G2).
    """
    is_default = resource == ConfigResource.broker_default()
    source = ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG if is_default else _SOURCES.get(resource.resource_type)
    return {name: entry.value for name, entry in sorted(entries.items()) if entry.source is source}


def _topic(topic: TopicDescription, configs: Configs) -> TopicState:
    assignments = {partition.partition: partition.replicas for partition in topic.partitions}
    return TopicState.of_assignments(assignments, configs, is_internal=topic.is_internal)


def _credentials(
    users: Mapping[str, Iterable[ScramCredentialInfo]],
) -> Iterable[tuple[UserMechanism, CredentialState]]:
    for user, credentials in sorted(users.items()):
        for credential in credentials:
            yield (user, credential.mechanism), CredentialState(iterations=credential.iterations)
