"""Validation of filters and alterations of quotas before they are sent (E6, E9, E11 to E13)."""

from __future__ import annotations

import math

import pytest

from kafkawire.admin.operations.quotas import wanted_quotas
from kafkawire.model.quotas.entities import (
    CLIENT_ID,
    CLIENT_KEYS,
    IP,
    IP_KEYS,
    USER,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    ClientQuotaFilter,
    ClientQuotaFilterComponent,
    QuotaMatch,
)
from kafkawire.model.quotas.validation import refusal_of_alteration, refusal_of_filter
from kafkawire.protocol.errors import InvalidRequestError, UnsupportedVersionError
from kafkawire.wire.kafka_errors import ApiError

Component = ClientQuotaFilterComponent
ALICE = ClientQuotaEntity.of_user("alice")


@pytest.mark.parametrize(
    ("components", "expected"),
    [
        ((Component.any(""),), InvalidRequestError),
        ((Component.any(USER), Component.exact(USER, "a")), InvalidRequestError),
        ((Component(USER, QuotaMatch.ANY, "a"),), InvalidRequestError),
        ((Component(USER, QuotaMatch.DEFAULT, ""),), InvalidRequestError),
        ((Component(USER, QuotaMatch.EXACT, None),), InvalidRequestError),
        ((Component(USER, QuotaMatch(3)),), InvalidRequestError),
        ((Component(USER, QuotaMatch(-1)),), InvalidRequestError),
        ((Component.any(IP), Component.any(USER)), InvalidRequestError),
        ((Component.any(CLIENT_ID), Component.any(IP)), InvalidRequestError),
        ((Component.any("tenant"),), UnsupportedVersionError),
        ((Component.any("User"),), UnsupportedVersionError),
        ((Component.any(IP), Component.any("tenant")), UnsupportedVersionError),
    ],
)
def test_filters_that_brokers_refuse_are_refused(components: tuple[Component, ...], expected: type[ApiError]) -> None:
    """E6."""
    for strict in (False, True):
        assert type(refusal_of_filter(ClientQuotaFilter(components, strict))) is expected


@pytest.mark.parametrize(
    "components",
    [
        (),
        (Component.exact(USER, ""),),
        (Component.exact(IP, "no address"),),
        (Component.default(CLIENT_ID), Component.any(USER)),
        (Component.default(IP),),
    ],
)
def test_filters_that_brokers_accept_are_accepted(components: tuple[Component, ...]) -> None:
    """E6."""
    assert refusal_of_filter(ClientQuotaFilter(components)) is None


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"tenant": "t"},
        {"User": "alice"},
        {USER: ""},
        {USER: "alice", CLIENT_ID: ""},
        {IP: "10.0.0.1", USER: "alice"},
        {IP: None, CLIENT_ID: None},
        {IP: "10.0.0.0/8"},
        {IP: "not a host"},
    ],
)
def test_entities_that_brokers_refuse_are_refused(parts: dict[str, str | None]) -> None:
    """E11."""
    assert isinstance(refusal_of_alteration(ClientQuotaAlteration(ClientQuotaEntity(parts), {})), InvalidRequestError)


@pytest.mark.parametrize("address", ["10.0.0.1", "::1", "localhost", "broker-1.example.com", None])
def test_addresses_and_host_names_are_accepted(address: str | None) -> None:
    """E11."""
    entity = ClientQuotaEntity.of_ip(address)
    assert refusal_of_alteration(ClientQuotaAlteration(entity, {"connection_creation_rate": 5})) is None


@pytest.mark.parametrize(
    ("entity", "key", "said"),
    [
        (ALICE, "connection_creation_rate", "request_percentage, controller_mutation_rate are."),
        (ALICE, "Producer_byte_rate", "are."),
        (ALICE, "", "are."),
        (ClientQuotaEntity.of_ip(None), "producer_byte_rate", "; connection_creation_rate is."),
    ],
)
def test_a_key_that_the_entity_cannot_have_can_only_be_removed(entity: ClientQuotaEntity, key: str, said: str) -> None:
    """E11."""
    refusal = refusal_of_alteration(ClientQuotaAlteration(entity, {key: 1.0}))
    assert isinstance(refusal, InvalidRequestError)
    assert str(refusal.message).endswith(said)
    assert refusal_of_alteration(ClientQuotaAlteration(entity, {key: None})) is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("producer_byte_rate", 0.0),
        ("request_percentage", -1.0),
        ("request_percentage", math.nan),
        ("controller_mutation_rate", math.inf),
        ("producer_byte_rate", 1.5),
        ("consumer_byte_rate", 1.00001),
        ("consumer_byte_rate", 0.9999999),
        ("producer_byte_rate", 2.0**64),
    ],
)
def test_values_that_brokers_refuse_are_refused(key: str, value: float) -> None:
    """E11."""
    error = refusal_of_alteration(ClientQuotaAlteration(ALICE, {"producer_byte_rate": 1.0, key: value}))
    assert isinstance(error, InvalidRequestError)
    assert error.message.startswith(f"{key} cannot be {value!r}: ")


def test_connection_rates_are_whole_numbers_of_32_bits() -> None:
    """E11."""
    for value, is_refused in ((2**31 - 1, False), (2**31, True), (0.5, True)):
        alteration = ClientQuotaAlteration(ClientQuotaEntity.of_ip(None), {"connection_creation_rate": value})
        assert (refusal_of_alteration(alteration) is not None) is is_refused


@pytest.mark.parametrize("value", [1, 1.0, 1.0000001, 1e-9, 2.0**63])
def test_whole_numbers_have_a_tolerance(value: float) -> None:
    """E11."""
    assert refusal_of_alteration(ClientQuotaAlteration(ALICE, {"producer_byte_rate": value})) is None


def test_every_key_can_be_set_and_removed() -> None:
    """E12, E13."""
    assert CLIENT_KEYS == (
        "producer_byte_rate",
        "consumer_byte_rate",
        "request_percentage",
        "controller_mutation_rate",
    )
    assert IP_KEYS == ("connection_creation_rate",)
    for parts in ({USER: "a"}, {USER: None, CLIENT_ID: "c"}, {CLIENT_ID: None}):
        entity = ClientQuotaEntity(parts)
        assert refusal_of_alteration(ClientQuotaAlteration(entity, dict.fromkeys(CLIENT_KEYS, 7.0))) is None
        assert refusal_of_alteration(ClientQuotaAlteration(entity, dict.fromkeys([*CLIENT_KEYS, "none"]))) is None


def test_alterations_of_an_entity_are_merged() -> None:
    """E9."""
    bob = ClientQuotaEntity.of_user("bob")
    together = wanted_quotas(
        [
            ClientQuotaAlteration(ALICE, {"producer_byte_rate": 1}),
            ClientQuotaAlteration(bob, {"producer_byte_rate": 5}),
            ClientQuotaAlteration(ALICE, {"consumer_byte_rate": None, "producer_byte_rate": 1}),
        ]
    )
    assert together.values == {
        ALICE: ClientQuotaAlteration(ALICE, {"producer_byte_rate": 1, "consumer_byte_rate": None}),
        bob: ClientQuotaAlteration(bob, {"producer_byte_rate": 5}),
    }


def test_contradicting_alterations_are_refused_with_all_others_of_their_entity() -> None:
    """E9."""
    bob = ClientQuotaEntity.of_user_and_client("bob", None)
    together = wanted_quotas(
        [
            ClientQuotaAlteration(ALICE, {"producer_byte_rate": 1}),
            ClientQuotaAlteration(ALICE, {"producer_byte_rate": None}),
            ClientQuotaAlteration(ALICE, {"consumer_byte_rate": 3}),
            ClientQuotaAlteration(bob, {"producer_byte_rate": 5}),
            ClientQuotaAlteration(bob, {"producer_byte_rate": 6}),
        ]
    )
    assert not together.values
    assert list(together.refused) == [ALICE, bob]
    assert [error.message for error in together.refused.values() if isinstance(error, InvalidRequestError)] == [
        "user 'alice' gets two values for producer_byte_rate.",
        "the default client-id, user 'bob' gets two values for producer_byte_rate.",
    ]
