"""Effects of quota changes in words."""

from __future__ import annotations

from kafkawire.model.quotas.effects import quota_effects, quota_effects_in_words
from kafkawire.model.quotas.entities import ClientQuotaEntity

BYTES = "producer_byte_rate"
DEFAULT = {ClientQuotaEntity(user=None): {BYTES: 1000.0}}


def test_a_thousand_users_are_one_sentence() -> None:
    users = {ClientQuotaEntity(user=f"u{n:04}"): {BYTES: 5000.0} for n in range(1000)}
    assert quota_effects_in_words(quota_effects(DEFAULT, {**DEFAULT, **users})) == [
        "users u0000, u0001, u0002 and 997 more: producer_byte_rate 1000 (default user) → 5000 (its own)"
    ]


def test_a_default_leaves_out_those_with_quotas_of_their_own() -> None:
    own = {
        ClientQuotaEntity(user="alice"): {BYTES: 5.0},
        ClientQuotaEntity(user="bob", client_id="app"): {BYTES: 7.5},
    }
    assert quota_effects_in_words(quota_effects(own, {**own, **DEFAULT})) == [
        "all users except alice, bob: producer_byte_rate no limit → 1000 (default user)",
        "user bob with all client ids except app: producer_byte_rate no limit → 1000 (default user)",
    ]


def test_addresses() -> None:
    before = {ClientQuotaEntity(ip="10.0.0.1"): {"connection_creation_rate": 5.0}}
    after = {ClientQuotaEntity(ip=None): {"connection_creation_rate": 7.0}}
    assert quota_effects_in_words(quota_effects(before, after)) == [
        "all addresses except 10.0.0.1: connection_creation_rate no limit → 7 (default ip)",
        "address 10.0.0.1: connection_creation_rate 5 (its own) → 7 (default ip)",
    ]
