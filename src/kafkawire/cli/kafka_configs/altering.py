"""What kafka-configs alters, and what it refuses to alter (C15 to C20)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

from kafkawire.admin import BlockingAdminClient, Results
from kafkawire.broker.handlers.quota_alterations import Alteration, QuotaAlterations
from kafkawire.broker.image.client_quotas import ClientQuotasImage
from kafkawire.cli.kafka_configs import kafka_words as words
from kafkawire.cli.kafka_configs.describing import QUOTA_TYPES, RESOURCE_TYPES, quotas_of, resource_configs
from kafkawire.cli.kafka_configs.java_order import in_properties, in_scala_map
from kafkawire.cli.kafka_configs.java_words import is_of_controllers
from kafkawire.cli.kafka_configs.kafka_words import Entity, is_integer
from kafkawire.cli.kafka_configs.refusals import JavaFailureError, RefusedError
from kafkawire.model.configs.checks import InvalidValueError
from kafkawire.model.configs.resources import ConfigChange, ConfigResource
from kafkawire.model.configs.values import parse
from kafkawire.model.quotas.entities import CLIENT_KEYS, IP_KEYS, ClientQuotaAlteration, ClientQuotaEntity
from kafkawire.model.scram import (
    MAXIMUM_ITERATIONS,
    MINIMUM_ITERATIONS,
    ScramAlteration,
    ScramDeletion,
    ScramMechanism,
    ScramUpsertion,
)
from kafkawire.protocol.errors import (
    DuplicateResourceError,
    InvalidRequestError,
    MismatchedEndpointTypeError,
    UnacceptableCredentialError,
    UnsupportedVersionError,
)

MECHANISMS: Final = {"SCRAM-SHA-256": ScramMechanism.SCRAM_SHA_256, "SCRAM-SHA-512": ScramMechanism.SCRAM_SHA_512}
"""The names that are credentials of users, not quotas."""

_NOT_SUPPORTED: Final = (
    "The INCREMENTAL_ALTER_CONFIGS API is not supported by the cluster. The API is supported starting from version "
    "2.3.0. You may want to use an older version of this tool to interact with your cluster, or upgrade your brokers "
    "to version 2.3.0 or newer to avoid this error."
)
K = TypeVar("K")
_CREDENTIAL: Final = re.compile(r"(?:iterations=(-?[0-9]*),)?password=([^\n\r\u0085\u2028\u2029]*)")


class Changes(NamedTuple):
    """What a command line changes.

    Attributes:
        added: name to value, in the order in which Apache's tool goes through them.
        deleted: names.
    """

    added: Mapping[str, str]
    deleted: Sequence[str]


def in_order(added: Mapping[str, str]) -> dict[str, str]:
    """Configs in the order in which Apache's tool goes through them."""
    return {key: added[key] for key in in_scala_map(in_properties(added))}


def altered(client: BlockingAdminClient, entity: Entity, changes: Changes, *, as_kafka: bool) -> str:
    """Alter what a command line names.

    Args:
        client: of the cluster.
        entity: whose configs are altered.
        changes: the changes.
        as_kafka: whether two credentials of a user are refused, as Kafka refuses them in one request.

    Returns:
        The line that says so.

    Raises:
        RefusedError: something else than configs of the entity would be altered.
        KafkaError: a call fails.
    """
    first, name = entity.types[0], entity.names[0]
    if first == words.BROKER_LOGGERS:
        _alter_loggers(client, name, changes)
    elif first in RESOURCE_TYPES:
        _alter_resource(client, first, name, changes)
    elif first == words.IPS:
        _check_ip_keys(changes)
        _alter_quotas(client, entity, changes)
    else:
        _alter_user_or_client(client, entity, changes, as_kafka=as_kafka)
    if name:
        return f"Completed updating config for {first[:-1]} {name}."
    return f"Completed updating default config for {first} in the cluster."


def _alter_resource(client: BlockingAdminClient, type_: str, name: str, changes: Changes) -> None:
    if type_ == words.BROKERS and name and not is_integer(name):
        raise RefusedError(f"The entity name for {type_} must be a valid integer broker id, found: {name}")
    try:
        _alter_configs(client, ConfigResource(RESOURCE_TYPES[type_], name), changes)
    except (MismatchedEndpointTypeError, UnsupportedVersionError) as error:
        if isinstance(error, UnsupportedVersionError) or is_of_controllers(error):
            raise RefusedError(_NOT_SUPPORTED, str(error)) from error
        raise


def _alter_loggers(client: BlockingAdminClient, name: str, changes: Changes) -> None:
    known = {entry.name for entry in resource_configs(client, words.BROKER_LOGGERS, name)}
    unknown = [key for key in (*changes.deleted, *changes.added) if key not in known]
    if unknown:
        raise RefusedError(f"Invalid broker logger(s): {','.join(unknown)}")
    _alter_configs(client, ConfigResource(RESOURCE_TYPES[words.BROKER_LOGGERS], name), changes)


def _alter_configs(client: BlockingAdminClient, resource: ConfigResource, changes: Changes) -> None:
    names = [*changes.deleted, *changes.added]
    if len(set(names)) < len(names):
        raise InvalidRequestError("Error due to duplicate config keys")
    deleted = [ConfigChange.delete(key) for key in changes.deleted]
    added = [ConfigChange.set(key, value) for key, value in changes.added.items()]
    _raise_first(client.incremental_alter_configs({resource: [*deleted, *added]}))


def _check_ip_keys(changes: Changes) -> None:
    unknown = [key for key in dict.fromkeys((*changes.added, *changes.deleted)) if key not in IP_KEYS]
    if unknown:
        raise RefusedError(
            "Only connection quota configs can be added for 'ips' using --bootstrap-server. "
            f"Unexpected config names: {','.join(unknown)}"
        )


def _alter_user_or_client(client: BlockingAdminClient, entity: Entity, changes: Changes, *, as_kafka: bool) -> None:
    _check_keys_of_users(entity, changes)
    if any(key in CLIENT_KEYS for key in (*changes.added, *changes.deleted)):
        _alter_quotas(client, entity, changes)
    elif len(entity.names) != 1:
        listed = ", ".join(entity.names)
        raise JavaFailureError(
            "java.lang.IllegalStateException: Altering user SCRAM credentials should never occur for more zero or "
            f"multiple users: List({listed})",
            "nothing is to be added or deleted: give a quota",
        )
    else:
        _alter_credentials(client, entity.names[0], changes, as_kafka=as_kafka)


def _check_keys_of_users(entity: Entity, changes: Changes) -> None:
    of_clients = words.CLIENTS in entity.types
    _check_known_keys(in_scala_map(changes.added), "added", "Set", of_clients=of_clients)
    _check_known_keys(changes.deleted, "deleted", "ArrayBuffer", of_clients=of_clients)
    keys = [*changes.added, *changes.deleted]
    if not any(key in MECHANISMS for key in keys):
        return
    if "" in entity.names:
        raise RefusedError(
            "The use of --entity-default or --user-defaults is not allowed with User SCRAM Credentials "
            "using --bootstrap-server."
        )
    if any(key in CLIENT_KEYS for key in keys):
        raise RefusedError(
            "Cannot alter both quota and SCRAM credential configs simultaneously for 'users' using --bootstrap-server.",
            "quotas and passwords cannot be altered together; use two commands",
        )


def _check_known_keys(keys: Sequence[str], verb: str, collection: str, *, of_clients: bool) -> None:
    """Refuse keys that are neither quotas nor credentials; clients have no credentials.

    Args:
        keys: the keys, in the order in which Apache's tool lists them.
        verb: what is done with them.
        collection: what Apache's tool, which shows a collection of Scala, calls it.
        of_clients: whether they are of clients.
    """
    unknown = [key for key in keys if key not in CLIENT_KEYS and key not in MECHANISMS]
    if of_clients:
        unknown += [key for key in keys if key in MECHANISMS]
    if not unknown:
        return
    kinds, type_ = ("quota", words.CLIENTS) if of_clients else ("quota and SCRAM credential", words.USERS)
    listed = ", ".join(in_scala_map(unknown) if collection == "Set" else unknown)
    known = CLIENT_KEYS if of_clients else (*CLIENT_KEYS, *MECHANISMS)
    raise RefusedError(
        f"Only {kinds} configs can be {verb} for '{type_}' using --bootstrap-server. "
        f"Unexpected config names: {collection}({listed})",
        f"{', '.join(unknown)}: no such config of {type_}; use {', '.join(known)}",
    )


def _alter_quotas(client: BlockingAdminClient, entity: Entity, changes: Changes) -> None:
    described = quotas_of(client, entity)
    present = next(iter(described.values()), {})
    invalid = [key for key in changes.deleted if key not in present]
    if invalid:
        raise RefusedError(f"Invalid config(s): {','.join(invalid)}")
    whom = ClientQuotaEntity(
        {QUOTA_TYPES[type_]: name or None for type_, name in zip(entity.types, entity.names, strict=True)}
    )
    values = [*((key, _number(key, value)) for key, value in changes.added.items()), *_removals(changes.deleted)]
    _check_quotas(whom, values)
    _raise_first(client.alter_client_quotas([ClientQuotaAlteration(whom, dict(values))]))


def _removals(keys: Iterable[str]) -> list[tuple[str, float | None]]:
    return [(key, None) for key in keys]


def _number(key: str, text: str) -> float | None:
    try:
        return float(str(parse(key, "double", text)))
    except InvalidValueError:
        raise RefusedError(f"Cannot parse quota configuration value for {key}: {text}") from None


def _check_quotas(whom: ClientQuotaEntity, values: Sequence[tuple[str, float | None]]) -> None:
    """Refuse what brokers refuse, in their words: the client has words of its own."""
    alterations = QuotaAlterations(ClientQuotasImage(), ())
    alterations.add(Alteration(whom, tuple(values)))
    reason = alterations.refusals[whom]
    if reason is not None:
        raise InvalidRequestError(reason)


def _alter_credentials(client: BlockingAdminClient, user: str, changes: Changes, *, as_kafka: bool) -> None:
    alterations: list[ScramAlteration] = [ScramDeletion(user, MECHANISMS[key]) for key in changes.deleted]
    alterations += [_upsertion(user, key, value) for key, value in changes.added.items()]
    if as_kafka:
        _check_as_one_request(alterations)
    _raise_first(client.alter_user_scram_credentials(alterations))


def _check_as_one_request(alterations: Sequence[ScramAlteration]) -> None:
    """Refuse what a broker refuses of one request; the client would send a request for each credential (C29)."""
    if any(isinstance(each, ScramUpsertion) and each.iterations > MAXIMUM_ITERATIONS for each in alterations):
        raise UnacceptableCredentialError("Too many iterations")
    if len(alterations) > 1:
        raise DuplicateResourceError("A user credential cannot be altered twice in the same request")


def _raise_first(results: Results[K, None]) -> None:
    for error in results.errors().values():
        raise error


def _upsertion(user: str, mechanism: str, value: str) -> ScramUpsertion:
    found = _CREDENTIAL.fullmatch(value)
    if found is None:
        raise RefusedError(
            f"Invalid credential property {mechanism.replace('-', '_')}=[hidden]",
            f"{mechanism}: the value must be [password=...] or [iterations=N,password=...]",
        )
    iterations = _iterations(found[1])
    if iterations < MINIMUM_ITERATIONS:
        raise RefusedError(
            f"Iterations {iterations} is less than the minimum {MINIMUM_ITERATIONS} required for {mechanism}"
        )
    return ScramUpsertion(user, MECHANISMS[mechanism], found[2], iterations)


def _iterations(text: str | None) -> int:
    if text is None or text == "-1":
        return MINIMUM_ITERATIONS
    if not is_integer(text):
        raise RefusedError(
            f'For input string: "{text}"', f"iterations must be a number of at least {MINIMUM_ITERATIONS}"
        )
    return int(text)
