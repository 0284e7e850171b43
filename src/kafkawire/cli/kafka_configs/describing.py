"""What kafka-configs prints of configs, quotas and SCRAM credentials (C21 to C25)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from kafkawire.admin import BlockingAdminClient
from kafkawire.broker.topic_names import check_topic_name
from kafkawire.cli.kafka_configs import kafka_words as words
from kafkawire.cli.kafka_configs.java_order import in_scala_map
from kafkawire.cli.kafka_configs.java_words import GroupsNotListedError, exception_name, java_message
from kafkawire.cli.kafka_configs.kafka_words import Command, Entity, is_integer
from kafkawire.cli.kafka_configs.refusals import RefusedError
from kafkawire.model.configs.java_numbers import java_double
from kafkawire.model.configs.resources import ConfigEntry, ConfigResource, ConfigResourceType, ConfigSource
from kafkawire.model.java_order import hash_order, in_java_order, int_hash, java_hash
from kafkawire.model.quotas.entities import (
    CLIENT_ID,
    IP,
    USER,
    ClientQuotaEntity,
    ClientQuotaFilter,
    ClientQuotaFilterComponent,
)
from kafkawire.model.quotas.map_order import entity_hash
from kafkawire.model.scram import ScramMechanism
from kafkawire.protocol.errors import (
    ClusterAuthorizationFailedError,
    ResourceNotFoundError,
    UnsupportedVersionError,
)
from kafkawire.wire.kafka_errors import KafkaError

RESOURCE_TYPES: Final[Mapping[str, ConfigResourceType]] = {
    words.TOPICS: ConfigResourceType.TOPIC,
    words.BROKERS: ConfigResourceType.BROKER,
    words.BROKER_LOGGERS: ConfigResourceType.BROKER_LOGGER,
    words.CLIENT_METRICS: ConfigResourceType.CLIENT_METRICS,
    words.GROUPS: ConfigResourceType.GROUP,
}
"""The entity types whose configs are those of resources; the others have quotas."""

QUOTA_TYPES: Final[Mapping[str, str]] = {words.USERS: USER, words.CLIENTS: CLIENT_ID, words.IPS: IP}
"""Entity type to its name in quotas."""

_DYNAMIC_SOURCES: Final[Mapping[str, ConfigSource]] = {
    words.TOPICS: ConfigSource.DYNAMIC_TOPIC_CONFIG,
    words.BROKERS: ConfigSource.DYNAMIC_BROKER_CONFIG,
    words.CLIENT_METRICS: ConfigSource.DYNAMIC_CLIENT_METRICS_CONFIG,
    words.GROUPS: ConfigSource.DYNAMIC_GROUP_CONFIG,
}
_WORDS_OF_QUOTA_TYPES: Final = {USER: "user-principal", CLIENT_ID: "client-id", IP: "ip"}


def described(client: BlockingAdminClient, command: Command) -> Iterator[str]:
    """The lines that describe what a command line names.

    Raises:
        RefusedError: a name is none.
        KafkaError: a call fails.
    """
    first, *_ = command.entity.types
    if first in RESOURCE_TYPES:
        name = next(iter(command.entity.names), None)
        yield from _described_resources(client, first, name, describes_all="all" in command.options)
        return
    yield from _described_quotas(client, command.entity)
    if first != words.IPS and words.CLIENTS not in command.entity.types and "" not in command.entity.names:
        yield from _described_credentials(client, command.entity.names)


def resource_configs(client: BlockingAdminClient, type_: str, name: str) -> list[ConfigEntry]:
    """The configs of a resource, sorted by name.

    Raises:
        RefusedError: the name is none.
        KafkaError: the call fails.
    """
    if type_ == words.TOPICS and name:
        check_topic_name(name)
    if type_ in {words.BROKERS, words.BROKER_LOGGERS} and name and not is_integer(name):
        raise RefusedError(f"The entity name for {type_} must be a valid integer broker id, found: {name}")
    resource = ConfigResource(RESOURCE_TYPES[type_], name)
    entries = client.describe_configs([resource], include_synonyms=True)[resource].values()
    return sorted(entries, key=lambda entry: entry.name)


def quotas_of(client: BlockingAdminClient, entity: Entity) -> Mapping[ClientQuotaEntity, Mapping[str, float]]:
    """The quotas of exactly the entities that a command line names, in the order of Java's map.

    Raises:
        RefusedError: there are more names than types.
        KafkaError: the call fails.
    """
    if len(entity.names) > len(entity.types):
        raise RefusedError("More entity names specified than entity types")
    component = ClientQuotaFilterComponent
    names: Sequence[str | None] = (*entity.names, *[None] * (len(entity.types) - len(entity.names)))
    components = [
        component.any(QUOTA_TYPES[type_])
        if name is None
        else component.exact(QUOTA_TYPES[type_], name)
        if name
        else component.default(QUOTA_TYPES[type_])
        for type_, name in zip(entity.types, names, strict=True)
    ]
    wanted = ClientQuotaFilter(tuple(components), strict=True)
    quotas = client.describe_client_quotas([wanted])[wanted]
    return {each: quotas[each] for each in hash_order(quotas, entity_hash, len(quotas))}


def _described_resources(
    client: BlockingAdminClient, type_: str, name: str | None, *, describes_all: bool
) -> Iterator[str]:
    if name is not None and not describes_all and not _exists(client, type_, name):
        yield f"The {type_[:-1]} '{name}' doesn't exist and doesn't have dynamic config."
        return
    for each in _existing(client, type_) if name is None else (name,):
        yield (
            f"{'All' if describes_all else 'Dynamic'} configs for {type_[:-1]} {each} are:"
            if each
            else f"Default configs for {type_} in the cluster are:"
        )
        entries = resource_configs(client, type_, each)
        yield from _lines(entries, None if describes_all else _dynamic_source(type_, each))


def _dynamic_source(type_: str, name: str) -> ConfigSource | None:
    """The source of the configs that are set; None for loggers, of which all count."""
    if type_ == words.BROKERS and not name:
        return ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG
    return _DYNAMIC_SOURCES.get(type_)


def _lines(entries: Iterable[ConfigEntry], source: ConfigSource | None) -> Iterator[str]:
    for entry in entries:
        if source is None or entry.source == source:
            synonyms = ", ".join(f"{each.source.name}:{each.name}={_text(each.value)}" for each in entry.synonyms)
            sensitive = "true" if entry.is_sensitive else "false"
            yield f"  {entry.name}={_text(entry.value)} sensitive={sensitive} synonyms={{{synonyms}}}"


def _text(value: str | None) -> str:
    return "null" if value is None else value


def _exists(client: BlockingAdminClient, type_: str, name: str) -> bool:
    match type_:
        case words.TOPICS:
            check_topic_name(name)
            return name in client.list_topics(include_internal=True)
        case words.BROKERS | words.BROKER_LOGGERS:
            return not name or name in map(str, _brokers(client))
        case words.GROUPS:
            groups = _groups(client)
            if name in groups:
                return True
            with_configs = _groups_with_configs(client)
            return with_configs is None or name in with_configs
        case _:
            return name in _listed(client, ConfigResourceType.CLIENT_METRICS)


def _existing(client: BlockingAdminClient, type_: str) -> Sequence[str]:
    """The names of all entities of a type, in the order of Java's maps; for brokers, the default of all comes last."""
    match type_:
        case words.TOPICS:
            topics = client.list_topics(include_internal=True)
            return in_java_order(topics)
        case words.BROKERS | words.BROKER_LOGGERS:
            brokers = _brokers(client)
            return [*map(str, hash_order(brokers, int_hash)), ""]
        case words.GROUPS:
            groups = _groups(client)
            return in_scala_map([*in_java_order(groups), *(_groups_with_configs(client) or ())])
        case _:
            return _listed(client, ConfigResourceType.CLIENT_METRICS)


def _brokers(client: BlockingAdminClient) -> list[int]:
    return [each.node.id for each in client.describe_cluster().nodes]


def _groups(client: BlockingAdminClient) -> list[str]:
    try:
        groups = client.list_groups()
    except KafkaError as failure:
        raise GroupsNotListedError(str(failure)) from failure
    for error in groups.errors().values():
        raise error
    return [group.group_id for group in groups.values()]


def _groups_with_configs(client: BlockingAdminClient) -> list[str] | None:
    """None if the brokers, before 4.1, cannot list them, or do not for this caller."""
    try:
        return _listed(client, ConfigResourceType.GROUP)
    except (ClusterAuthorizationFailedError, UnsupportedVersionError):
        return None


def _listed(client: BlockingAdminClient, type_: ConfigResourceType) -> list[str]:
    try:
        return [resource.name for resource in client.list_config_resources([type_])]
    except ClusterAuthorizationFailedError as error:
        raise ClusterAuthorizationFailedError from error  # without the text of this client


def _described_quotas(client: BlockingAdminClient, entity: Entity) -> Iterator[str]:
    for each, values in quotas_of(client, entity).items():
        parts = [_part(type_, each[type_]) for type_ in _WORDS_OF_QUOTA_TYPES if type_ in each]
        keys = hash_order(values, java_hash, len(values))
        pairs = ", ".join(f"{key}={java_double(values[key])}" for key in keys)
        yield f"Quota configs for {', '.join(parts)} are {pairs}"


def _part(type_: str, name: str | None) -> str:
    noun = _WORDS_OF_QUOTA_TYPES[type_]
    return f"the default {noun}" if name is None else f"{noun} '{name}'"


def _described_credentials(client: BlockingAdminClient, users: Sequence[str]) -> Iterator[str]:
    results = client.describe_user_scram_credentials(users or None)
    for user in results:
        try:
            credentials = results[user]
        except ResourceNotFoundError:
            continue
        except KafkaError as error:
            kind = exception_name(error).rpartition(".")[2]
            yield (
                f"Error retrieving SCRAM credential configs for user-principal '{user}': {kind}: {java_message(error)}"
            )
        else:
            infos = ", ".join(f"{_mechanism(info.mechanism)}=iterations={info.iterations}" for info in credentials)
            yield f"SCRAM credential configs for user-principal '{user}' are {infos}"


def _mechanism(mechanism: ScramMechanism) -> str:
    return mechanism.name.replace("_", "-")
