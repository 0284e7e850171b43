"""Client quotas as configs of users and clients (KIP-248)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from kafkawire.model.quotas.entities import (
    CLIENT_ID,
    CONSUMER_BYTE_RATE,
    CONTROLLER_MUTATION_RATE,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
    USER,
    ClientQuotaEntity,
)
from kafkawire.model.tolerant_enums import TolerantEnum
from kafkawire.protocol.errors import InvalidRequestError
from kafkawire.wire.kafka_errors import ApiError

DEFAULT_NAME = "<default>"
"""The name of the default user and of the default client (C2)."""


class QuotaResourceType(TolerantEnum):
    """The types of resources of KIP-248 (C2); only users and clients have quotas."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    BROKER = 4
    USER = 5
    CLIENT = 6


class QuotaResource(msgspec.Struct, frozen=True):
    """All users or all clients, or one of them.

    Attributes:
        resource_type: ``USER`` or ``CLIENT``.
        name: ``<default>`` for the default; None for all.
    """

    resource_type: QuotaResourceType
    name: str | None = None


class QuotaConfig(msgspec.Struct, frozen=True):
    """One quota as a config.

    Attributes:
        name: ``producer_byte_rate`` ...
        value: the number as text.
        read_only: whether it cannot be altered.
        is_default: whether nothing is set, so that the value is Kafka's own: no limit.
        is_sensitive: whether the value is a secret.
    """

    name: str
    value: str
    read_only: bool = False
    is_default: bool = False
    is_sensitive: bool = False


UNLIMITED: Mapping[str, str] = {
    CONSUMER_BYTE_RATE: str(2**63 - 1),
    CONTROLLER_MUTATION_RATE: str(2**31 - 1),
    PRODUCER_BYTE_RATE: str(2**63 - 1),
    REQUEST_PERCENTAGE: str(2**31 - 1),
}
"""The values that brokers have for quotas that are not set."""


def quota_entity(user: str | None, client_id: str | None) -> ClientQuotaEntity:
    """A user, a client, or a client of a user; ``<default>`` is the default of either, None for no part.

    Raises:
        ValueError: if there is neither.
    """
    named = {type_: name for type_, name in ((USER, user), (CLIENT_ID, client_id)) if name is not None}
    if not named:
        raise ValueError("give a user, a client_id or both; '<default>' is the default of either")
    return ClientQuotaEntity({type_: None if name == DEFAULT_NAME else name for type_, name in named.items()})


def refusal_of_entity(entity: ClientQuotaEntity) -> ApiError | None:
    """Why an entity has no name in KIP-248, or None if it has one."""
    if not entity or not set(entity) <= {USER, CLIENT_ID}:
        return InvalidRequestError("Quota configs belong to a user, a client or both.")
    if DEFAULT_NAME in entity.values():
        return InvalidRequestError(f"{DEFAULT_NAME} is not a name: use None for the default.")
    return None


def number_in_words(value: str | float) -> str:
    """A number as the shortest text: ``1024`` for 1024.0. Other texts stay as they are."""
    text = str(value)
    if text.isdecimal():
        return text
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else repr(number)
