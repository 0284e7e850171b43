"""Client quotas at real brokers: each row of the table of operations, documented failures, and thousands at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import get_args

import pytest
from tests.apache_kafka.broker import Broker
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.fixtures import SecureBrokers
from tests.apache_kafka.java_admin import JavaAdmin
from tests.apache_kafka.releases import broker_releases
from tests.apache_kafka.secure_broker import PASSWORDS, USER as POWERLESS

from kafkawire.admin.client import BlockingAdminClient
from kafkawire.admin.connection.sasl.credentials import PlainCredentials
from kafkawire.admin.operations.strategies import Strategy
from kafkawire.model.quotas.configs import DEFAULT_NAME, QuotaResourceType
from kafkawire.model.quotas.entities import (
    CLIENT_ID,
    CONNECTION_CREATION_RATE,
    CONSUMER_BYTE_RATE,
    CONTROLLER_MUTATION_RATE,
    IP,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
    USER,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    ClientQuotaFilter,
    ClientQuotaFilterComponent,
)
from kafkawire.protocol.errors import (
    ClusterAuthorizationFailedError,
    InvalidRequestError,
    UnsupportedEndpointTypeError,
    UnsupportedVersionError,
)

pytestmark = [pytest.mark.interop, pytest.mark.extended]

Quotas = Mapping[ClientQuotaEntity, Mapping[str, float]]

exact, default, any_of = (
    ClientQuotaFilterComponent.exact,
    ClientQuotaFilterComponent.default,
    ClientQuotaFilterComponent.any,
)

EVERYTHING = ClientQuotaFilter()
QUOTAS: Quotas = {
    ClientQuotaEntity.of_user("u1"): {PRODUCER_BYTE_RATE: 1024.0, REQUEST_PERCENTAGE: 12.5},
    ClientQuotaEntity.of_user(None): {CONSUMER_BYTE_RATE: 2048.0},
    ClientQuotaEntity.of_user_and_client("u1", "c1"): {CONTROLLER_MUTATION_RATE: 3.5},
    ClientQuotaEntity.of_user_and_client("u1", None): {PRODUCER_BYTE_RATE: 1.0},
    ClientQuotaEntity.of_client("c1"): {PRODUCER_BYTE_RATE: 9.0},
    ClientQuotaEntity.of_client("CN=a, b"): {PRODUCER_BYTE_RATE: 10.0},
    ClientQuotaEntity.of_ip("10.0.0.1"): {CONNECTION_CREATION_RATE: 7.0},
}
U1 = ClientQuotaEntity.of_user("u1")
FILTERS = (
    EVERYTHING,
    ClientQuotaFilter(strict=True),
    ClientQuotaFilter((exact(USER, "u1"),)),
    ClientQuotaFilter((exact(USER, "u1"),), strict=True),
    ClientQuotaFilter((default(USER),), strict=True),
    ClientQuotaFilter((any_of(USER),), strict=True),
    ClientQuotaFilter((any_of(USER),)),
    ClientQuotaFilter((any_of(USER), any_of(CLIENT_ID))),
    ClientQuotaFilter((exact(CLIENT_ID, "c1"),)),
    ClientQuotaFilter((exact(USER, "u1"), default(CLIENT_ID)), strict=True),
    ClientQuotaFilter((any_of(IP),)),
    ClientQuotaFilter((exact(USER, ""),)),
)
REFUSED = {
    ClientQuotaFilter((any_of("planet"),)): UnsupportedVersionError,
    ClientQuotaFilter((any_of(USER), any_of(USER))): InvalidRequestError,
    ClientQuotaFilter((any_of(USER), any_of(IP))): InvalidRequestError,
}


@pytest.fixture
def admin(broker: Broker) -> Iterator[BlockingAdminClient]:
    """There are no quotas before and after."""
    with BlockingAdminClient(broker.address) as client:
        remove_all(client)
        yield client
        remove_all(client)


def remove_all(admin: BlockingAdminClient) -> None:
    left = admin.describe_client_quotas([EVERYTHING])[EVERYTHING]
    admin.alter_client_quotas(ClientQuotaAlteration(one, dict.fromkeys(left[one])) for one in left).all()
    described(admin, {})


def alterations(quotas: Quotas) -> list[ClientQuotaAlteration]:
    return [ClientQuotaAlteration(entity, values) for entity, values in quotas.items()]


def described(admin: BlockingAdminClient, expected: Quotas) -> Quotas:
    """All quotas, as soon as they are as expected: a broker learns of changes a moment later (E14)."""
    return eventually(lambda: admin.describe_client_quotas([EVERYTHING])[EVERYTHING], lambda now: now == expected)


def test_quotas_are_altered_described_and_removed(
    admin: BlockingAdminClient, java_admin: JavaAdmin, broker: Broker
) -> None:
    assert admin.alter_client_quotas(alterations(QUOTAS)).all() == dict.fromkeys(QUOTAS)
    described(admin, QUOTAS)
    java = java_admin.client(broker.address).describe_client_quotas()
    assert {ClientQuotaEntity(found.entity): found.quotas for found in java} == QUOTAS
    changes = [
        ClientQuotaAlteration(U1, {PRODUCER_BYTE_RATE: None, CONSUMER_BYTE_RATE: 5.0}),
        ClientQuotaAlteration(ClientQuotaEntity.of_client("c1"), {PRODUCER_BYTE_RATE: None}),
        ClientQuotaAlteration(ClientQuotaEntity.of_client("never"), {PRODUCER_BYTE_RATE: None}),  # E12
    ]
    admin.alter_client_quotas(changes).all()
    expected = {**QUOTAS, U1: {CONSUMER_BYTE_RATE: 5.0, REQUEST_PERCENTAGE: 12.5}}
    del expected[ClientQuotaEntity.of_client("c1")]
    described(admin, expected)


def test_all_strategies_describe_the_same_quotas(admin: BlockingAdminClient) -> None:
    """E5, F4, F9."""
    admin.alter_client_quotas(alterations(QUOTAS)).all()
    described(admin, QUOTAS)
    ways: list[Strategy] = [way for way in get_args(Strategy) if way != "batch"]
    filters = [*FILTERS, *REFUSED, EVERYTHING]
    first, *others = [admin.describe_client_quotas(filters, strategy=strategy) for strategy in ways]
    assert all(other == first for other in others)
    assert {wanted: type(error) for wanted, error in first.errors().items()} == REFUSED  # E6
    assert [len(found) for found in first.values().values()] == [7, 0, 3, 1, 1, 2, 4, 2, 2, 1, 1, 0]


def test_no_release_offers_many_filters_in_one_request(admin: BlockingAdminClient) -> None:
    """F1."""
    outcome = admin.describe_client_quotas([EVERYTHING], strategy="batch")
    assert isinstance(outcome.errors()[EVERYTHING], UnsupportedVersionError)


def test_a_single_filter_still_works_with_a_deprecation_warning(admin: BlockingAdminClient) -> None:
    """F5."""
    with pytest.warns(DeprecationWarning, match="describe_client_quotas"):
        assert admin.describe_client_quotas(EVERYTHING) == {}


def test_validate_only_changes_no_quota(admin: BlockingAdminClient) -> None:
    """E8."""
    admin.alter_client_quotas(alterations(QUOTAS)).all()
    described(admin, QUOTAS)
    admin.alter_client_quotas([ClientQuotaAlteration(U1, {PRODUCER_BYTE_RATE: 1.0})], validate_only=True).all()
    marker = ClientQuotaEntity.of_user("marker")  # when this one is seen, the other would be
    admin.alter_client_quotas([ClientQuotaAlteration(marker, {PRODUCER_BYTE_RATE: 1.0})]).all()
    described(admin, {**QUOTAS, marker: {PRODUCER_BYTE_RATE: 1.0}})


def test_wrong_alterations_fail_alone_and_the_good_entity_is_altered(admin: BlockingAdminClient) -> None:
    """E9, E10, E11."""
    wrong: Quotas = {
        ClientQuotaEntity({}): {PRODUCER_BYTE_RATE: 1.0},
        ClientQuotaEntity({"planet": "mars"}): {PRODUCER_BYTE_RATE: 1.0},
        ClientQuotaEntity.of_user(""): {PRODUCER_BYTE_RATE: 1.0},
        ClientQuotaEntity({USER: "a", IP: "10.0.0.1"}): {PRODUCER_BYTE_RATE: 1.0},
        ClientQuotaEntity.of_ip("10.0.0.0/8"): {CONNECTION_CREATION_RATE: 1.0},
        ClientQuotaEntity.of_ip("no-such-host.invalid"): {CONNECTION_CREATION_RATE: 1.0},
        ClientQuotaEntity.of_user("a"): {CONNECTION_CREATION_RATE: 1.0},
        ClientQuotaEntity.of_user("b"): {PRODUCER_BYTE_RATE: 1.0, CONSUMER_BYTE_RATE: -1.0},
        ClientQuotaEntity.of_user("c"): {PRODUCER_BYTE_RATE: 1.5},
    }
    twice = ClientQuotaEntity.of_user("twice")
    contradiction = [ClientQuotaAlteration(twice, {PRODUCER_BYTE_RATE: value}) for value in (1.0, 2.0)]
    halves = [ClientQuotaAlteration(U1, {key: value}) for key, value in QUOTAS[U1].items()]
    results = admin.alter_client_quotas([*alterations(wrong), *contradiction, *halves])
    assert list(results.values()) == [U1]
    assert {entity: type(error) for entity, error in results.errors().items()} == dict.fromkeys(
        [*wrong, twice], InvalidRequestError
    )
    described(admin, {U1: QUOTAS[U1]})


@pytest.mark.parametrize("release", broker_releases())
def test_missing_rights_are_an_error_of_every_item(secure_kafka_brokers: SecureBrokers, release: str) -> None:
    secure = secure_kafka_brokers(release)
    address = f"{secure.broker.host}:{secure.sasl_plaintext_port}"
    with BlockingAdminClient(address, credentials=PlainCredentials(POWERLESS, PASSWORDS[POWERLESS])) as admin:
        for strategy in ("pipelined", "listing"):
            outcome = admin.describe_client_quotas(FILTERS, strategy=strategy)
            assert [type(error) for error in outcome.errors().values()] == [ClusterAuthorizationFailedError] * len(
                FILTERS
            )
        altered = admin.alter_client_quotas(alterations(QUOTAS))
        assert [type(error) for error in altered.errors().values()] == [ClusterAuthorizationFailedError] * len(QUOTAS)
        with pytest.raises(ClusterAuthorizationFailedError):
            admin.list_quotas(QuotaResourceType.USER)


def test_controllers_alter_quotas_but_do_not_describe_them(broker: Broker, admin: BlockingAdminClient) -> None:
    """E14."""
    with BlockingAdminClient(bootstrap_controllers=f"{broker.host}:{broker.controller_port}") as controllers:
        refused = controllers.describe_client_quotas([EVERYTHING]).errors()[EVERYTHING]
        assert isinstance(refused, UnsupportedEndpointTypeError)
        controllers.alter_client_quotas(alterations(QUOTAS)).all()
    described(admin, QUOTAS)


def test_a_thousand_users_with_two_quotas_each_in_one_call(admin: BlockingAdminClient) -> None:
    quotas: Quotas = {
        ClientQuotaEntity.of_user(f"user-{n}"): {PRODUCER_BYTE_RATE: 1024.0 + n, CONSUMER_BYTE_RATE: 2048.0 + n}
        for n in range(1_000)
    }
    reported: list[tuple[int, int]] = []
    results = admin.alter_client_quotas(alterations(quotas), progress=lambda *now: reported.append(now))
    assert results.all() == dict.fromkeys(quotas)
    assert reported[-1] == (1_000, 1_000)
    described(admin, quotas)
    filters = [ClientQuotaFilter.of_entity(entity) for entity in quotas]
    assert admin.describe_client_quotas(filters).union() == quotas


def test_more_quotas_than_one_request_may_alter(admin: BlockingAdminClient) -> None:
    quotas: Quotas = {
        ClientQuotaEntity.of_user(f"user-{n}"): {PRODUCER_BYTE_RATE: 1.0, CONSUMER_BYTE_RATE: 2.0} for n in range(5_001)
    }
    assert len(admin.alter_client_quotas(alterations(quotas)).all()) == 5_001
    described(admin, quotas)


def test_released_brokers_serve_the_calls_of_kip_248(admin: BlockingAdminClient) -> None:
    """C5."""
    users, clients = QuotaResourceType.USER, QuotaResourceType.CLIENT
    admin.alter_client_quotas(alterations(QUOTAS)).all()
    described(admin, QUOTAS)
    assert admin.list_quotas(users) == (DEFAULT_NAME, "u1")
    assert admin.list_quotas(users, "u1") == (DEFAULT_NAME, "c1")
    assert admin.list_quotas(clients, "c1") == ("u1",)
    configs = admin.describe_quotas("u1")[U1]
    assert (configs[PRODUCER_BYTE_RATE].value, configs[PRODUCER_BYTE_RATE].is_default) == ("1024", False)
    assert configs[REQUEST_PERCENTAGE].value == "12.5"
    assert configs[CONSUMER_BYTE_RATE].is_default
    u1_c1 = ClientQuotaEntity.of_user_and_client("u1", "c1")
    altered = admin.alter_quotas({U1: {PRODUCER_BYTE_RATE: "17", REQUEST_PERCENTAGE: None}, u1_c1: {"no_such": 1}})
    assert altered.values() == {U1: None}
    assert isinstance(altered.errors()[u1_c1], InvalidRequestError)
    described(admin, {**QUOTAS, U1: {PRODUCER_BYTE_RATE: 17.0}})
