"""The effective quotas of a client: the precedence of Kafka's own quota callback over described quotas (D7 to D11)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import quote

from kafkawire.arguments.checks import checked
from kafkawire.model.quotas.entities import (
    CLIENT_ID,
    CLIENT_KEYS,
    CONNECTION_CREATION_RATE,
    IP,
    USER,
    ClientQuotaEntity,
)

_Address = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class BucketTags:
    """The tags of a bucket: on each broker, clients with equal tags share a quota (D8, D9).

    Attributes:
        user: name of the user, escaped as brokers do, or empty if all users share.
        client_id: the client id, or empty if all clients share.
    """

    user: str
    client_id: str


@dataclass(frozen=True, slots=True)
class EffectiveQuota:
    """The effective quota of a client.

    Attributes:
        key: which quota, ``producer_byte_rate``.
        value: the limit, or None for none.
        entity: the entity for which it is set; None if there is no limit.
        level: the precedence of the entity, 1 to 8 as in Kafka's documentation of quotas; None if there is no limit.
        bucket: the tags of the clients that share it.
    """

    key: str
    value: float | None
    entity: ClientQuotaEntity | None
    level: int | None
    bucket: BucketTags


class EffectiveQuotas:
    """The quotas of a cluster as its brokers resolve them.

    Tags are those of Kafka 4.3, where a kind of entity without quotas no longer counts; brokers before it remember
    until they are restarted. Limits do not depend on that (D10).

    Args:
        described: all quotas of the cluster, as a describe with the default filter gives them.

    Example:
        ```python
        quotas = EffectiveQuotas((await admin.describe_client_quotas()).union())
        for key, quota in quotas.of_client(user="billing", client_id="billing-1").items():
            print(key, quota.value, "from", quota.entity)
        print("connections a second:", quotas.connection_rate("10.0.0.7"))
        ```
    """

    @checked
    def __init__(self, described: Mapping[ClientQuotaEntity, Mapping[str, float]]) -> None:
        self._described = {entity: dict(values) for entity, values in described.items()}
        self._kinds = {
            key: frozenset(frozenset(entity) for entity, values in self._described.items() if key in values)
            for key in CLIENT_KEYS
        }
        self._connection_rates = dict(_connection_rates(self._described))

    def __repr__(self) -> str:
        return f"<EffectiveQuotas of {len(self._described)} entities>"

    def of_client(self, user: str, client_id: str) -> dict[str, EffectiveQuota]:
        """The quotas of a client by their keys, each found by itself.

        Args:
            user: name of the principal, without ``User:``.
            client_id: the client id.

        Example:
            ```python
            from kafkawire.admin import ClientQuotaEntity, EffectiveQuotas

            described = {
                ClientQuotaEntity(user=None): {"producer_byte_rate": 1_000_000.0},
                ClientQuotaEntity(user="billing"): {"producer_byte_rate": 5_000_000.0},
            }
            found = EffectiveQuotas(described).of_client(user="billing", client_id="billing-1")
            assert found["producer_byte_rate"].value == 5_000_000.0
            assert found["producer_byte_rate"].entity == ClientQuotaEntity(user="billing")
            ```
        """
        return {key: self._of_client(key, user, client_id) for key in CLIENT_KEYS}

    def _of_client(self, key: str, user: str, client_id: str) -> EffectiveQuota:
        for level, (entity, bucket) in enumerate(precedence(user, client_id), 1):
            value = self._described.get(entity, {}).get(key)
            if value is not None:
                return EffectiveQuota(key, value, entity, level, bucket)
        return EffectiveQuota(key, None, None, None, bucket_without_limit(self._kinds[key], user, client_id))

    def connection_rate(self, address: str) -> float | None:
        """Connections a second that an address may open on each broker, or None for no limit (D18).

        Raises:
            ValueError: it is not an address.

        Example:
            ```python
            from kafkawire.admin import ClientQuotaEntity, EffectiveQuotas

            quotas = EffectiveQuotas({ClientQuotaEntity(ip=None): {"connection_creation_rate": 20.0}})
            assert quotas.connection_rate("10.0.0.7") == 20.0
            ```
        """
        return self._connection_rates.get(ip_address(address), self._connection_rates.get(None))


def bucket_without_limit(kinds: Collection[frozenset[str]], user: str, client_id: str) -> BucketTags:
    """The bucket of a client without a quota.

    Args:
        kinds: the combinations of entity types that have the quota in question (D10).
        user, client_id: the client.
    """
    if len(kinds) == 1 and frozenset({USER}) in kinds:
        return BucketTags(escaped(user), "")
    if len(kinds) == 1 and frozenset({USER, CLIENT_ID}) in kinds:
        return BucketTags(escaped(user), client_id)
    return BucketTags("", client_id)


def precedence(user: str, client_id: str) -> Iterator[tuple[ClientQuotaEntity, BucketTags]]:
    """The entities that may have the quota of a client, in order of precedence, with their buckets (D7, D8)."""
    user_tag = escaped(user)
    both, of_user, of_client = BucketTags(user_tag, client_id), BucketTags(user_tag, ""), BucketTags("", client_id)
    yield ClientQuotaEntity.of_user_and_client(user, client_id), both
    yield ClientQuotaEntity.of_user_and_client(user, None), both
    yield ClientQuotaEntity.of_user(user), of_user
    yield ClientQuotaEntity.of_user_and_client(None, client_id), both
    yield ClientQuotaEntity.of_user_and_client(None, None), both
    yield ClientQuotaEntity.of_user(None), of_user
    yield ClientQuotaEntity.of_client(client_id), of_client
    yield ClientQuotaEntity.of_client(None), of_client


def escaped(user: str) -> str:
    """Percent signs for all but letters, digits and ``-_.`` (D11)."""
    return quote(user, safe="", errors="replace").replace("~", "%7E")


def _connection_rates(
    described: Mapping[ClientQuotaEntity, Mapping[str, float]],
) -> Iterator[tuple[_Address | None, float]]:
    for entity, values in described.items():
        if IP not in entity or CONNECTION_CREATION_RATE not in values:
            continue
        name = entity[IP]
        try:
            yield None if name is None else ip_address(name), values[CONNECTION_CREATION_RATE]
        except ValueError:
            continue  # a host name: brokers look up its address, this does not
