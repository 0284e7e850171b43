"""The effective quota of a client (D7 to D11, D18)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kafkawire.model.quotas.effective import BucketTags, EffectiveQuota, EffectiveQuotas
from kafkawire.model.quotas.entities import CLIENT_KEYS, ClientQuotaEntity

KEY = "producer_byte_rate"
of_user, of_client, of_both = (
    ClientQuotaEntity.of_user,
    ClientQuotaEntity.of_client,
    ClientQuotaEntity.of_user_and_client,
)

D7 = [
    (of_both("U", "C"), BucketTags("U", "C")),
    (of_both("U", None), BucketTags("U", "C")),
    (of_user("U"), BucketTags("U", "")),
    (of_both(None, "C"), BucketTags("U", "C")),
    (of_both(None, None), BucketTags("U", "C")),
    (of_user(None), BucketTags("U", "")),
    (of_client("C"), BucketTags("", "C")),
    (of_client(None), BucketTags("", "C")),
]


def resolved(described: Mapping[ClientQuotaEntity, float], user: str = "U", client_id: str = "C") -> EffectiveQuota:
    quotas = EffectiveQuotas({entity: {KEY: value} for entity, value in described.items()})
    return quotas.of_client(user, client_id)[KEY]


@pytest.mark.parametrize("level", range(1, 9))
def test_the_quota_of_the_nearest_entity_applies(level: int) -> None:
    """D7."""
    from_here = {entity: float(n) for n, (entity, _) in enumerate(D7, 1) if n >= level}
    entity, bucket = D7[level - 1]
    assert resolved(from_here) == EffectiveQuota(KEY, float(level), entity, level, bucket)
    assert resolved({entity: float(level)}) == resolved(from_here)


def test_without_a_matching_quota_there_is_no_limit() -> None:
    """D7."""
    others = {of_both("U", "other"): 1.0, of_both("other", "C"): 2.0, of_user("other"): 3.0, of_client("other"): 4.0}
    assert resolved(others) == EffectiveQuota(KEY, None, None, None, BucketTags("", "C"))


def test_each_key_is_resolved_by_itself() -> None:
    """D7."""
    quotas = EffectiveQuotas(
        {
            of_both("U", "C"): {"consumer_byte_rate": 1.0},
            of_user(None): {KEY: 2.0, "consumer_byte_rate": 3.0},
            of_client(None): {"request_percentage": 4.0},
        }
    ).of_client("U", "C")
    assert list(quotas) == list(CLIENT_KEYS)
    assert {key: (quota.value, quota.level) for key, quota in quotas.items()} == {
        KEY: (2.0, 6),
        "consumer_byte_rate": (1.0, 1),
        "request_percentage": (4.0, 8),
        "controller_mutation_rate": (None, None),
    }


def test_the_quota_decides_which_clients_share_a_bucket() -> None:
    """D8."""

    def buckets(entity: ClientQuotaEntity) -> list[BucketTags]:
        pairs = (("U", "C"), ("U", "D"), ("V", "C"))
        return [resolved({entity: 1.0}, user, client_id).bucket for user, client_id in pairs]

    one, two, three = buckets(of_user(None))
    assert one == two != three
    one, two, three = buckets(of_client(None))
    assert one == three != two
    assert len(set(buckets(of_both(None, None)))) == 3


@pytest.mark.parametrize(
    ("described", "bucket"),
    [
        ({}, BucketTags("", "C")),
        ({of_client("other"): 1.0}, BucketTags("", "C")),
        ({of_user("other"): 1.0}, BucketTags("U", "")),
        ({of_both("other", None): 1.0}, BucketTags("U", "C")),
        ({of_user("other"): 1.0, of_client("other"): 1.0}, BucketTags("", "C")),
        ({of_user("other"): 1.0, of_both("other", None): 1.0}, BucketTags("", "C")),
    ],
)
def test_the_bucket_of_clients_without_a_limit_follows_from_the_kinds_of_quotas_in_use(
    described: dict[ClientQuotaEntity, float], bucket: BucketTags
) -> None:
    """D10."""
    assert resolved(described) == EffectiveQuota(KEY, None, None, None, bucket)


def test_the_kinds_of_quotas_in_use_are_those_of_the_key() -> None:
    """D10."""
    quotas = EffectiveQuotas({of_user("other"): {KEY: 1.0}, of_client("other"): {"request_percentage": 1.0}})
    buckets = {key: quota.bucket for key, quota in quotas.of_client("U", "C").items()}
    assert buckets[KEY] == BucketTags("U", "")
    assert buckets["request_percentage"] == buckets["consumer_byte_rate"] == BucketTags("", "C")


@pytest.mark.parametrize(
    ("user", "escaped"),
    [("a b:c", "a%20b%3Ac"), ("CN=é*,O=~", "CN%3D%C3%A9%2A%2CO%3D%7E"), ("A-z_0.9", "A-z_0.9"), ("a/b+c", "a%2Fb%2Bc")],
)
def test_users_are_percent_encoded_in_tags_and_client_ids_are_not(user: str, escaped: str) -> None:
    """D11."""
    assert resolved({of_both(None, None): 1.0}, user, "c d").bucket == BucketTags(escaped, "c d")


def test_an_address_has_its_own_connection_rate_or_the_default() -> None:
    """D18."""
    rate = "connection_creation_rate"
    quotas = EffectiveQuotas(
        {
            ClientQuotaEntity.of_ip("10.0.0.1"): {rate: 7.0},
            ClientQuotaEntity.of_ip("0:0:0:0:0:0:0:1"): {rate: 8.0},
            ClientQuotaEntity.of_ip("localhost"): {rate: 1.0},
            ClientQuotaEntity.of_ip("10.0.0.3"): {},
            ClientQuotaEntity.of_ip(None): {rate: 9.0},
            of_user("10.0.0.2"): {KEY: 1.0},
        }
    )
    rates = [quotas.connection_rate(address) for address in ("10.0.0.1", "::1", "127.0.0.1", "10.0.0.3")]
    assert rates == [7.0, 8.0, 9.0, 9.0]
    assert EffectiveQuotas({}).connection_rate("10.0.0.1") is None
    with pytest.raises(ValueError, match="localhost"):
        quotas.connection_rate("localhost")
