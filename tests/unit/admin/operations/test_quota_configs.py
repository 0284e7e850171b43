"""The calls of KIP-248: over its own requests and without them, with the same answers (C2 to C5)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

import pytest
from msgspec.structs import replace
from tests.stand_ins.cluster import FAST, StandInCluster
from tests.stand_ins.embedded_state import EmbeddedState

from kafkawire.admin.client import AdminClient
from kafkawire.broker.sessions import Principal
from kafkawire.model.quotas.configs import (
    DEFAULT_NAME,
    QuotaConfig,
    QuotaResourceType,
    number_in_words,
    quota_entity,
)
from kafkawire.model.quotas.entities import (
    CONSUMER_BYTE_RATE,
    CONTROLLER_MUTATION_RATE,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
    ClientQuotaEntity,
)
from kafkawire.protocol import AlterQuotasRequest, DescribeQuotasRequest
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.errors import ClusterAuthorizationFailedError, InvalidRequestError

PROPOSALS = replace(FAST, proposals=True)
OWN_REQUESTS: Mapping[int, range] = {
    ApiKey.LIST_QUOTAS: range(1, 2),
    ApiKey.DESCRIBE_QUOTAS: range(1, 2),
    ApiKey.ALTER_QUOTAS: range(1),
}

ALICE = ClientQuotaEntity.of_user("alice")
LOADER = ClientQuotaEntity.of_user_and_client("alice", "loader")
QUOTAS = {
    ALICE: {PRODUCER_BYTE_RATE: 1024.0, REQUEST_PERCENTAGE: 12.5},
    LOADER: {PRODUCER_BYTE_RATE: 1.0},
    ClientQuotaEntity.of_user_and_client("alice", None): {PRODUCER_BYTE_RATE: 2.0},
    ClientQuotaEntity.of_user_and_client("bob", "loader"): {PRODUCER_BYTE_RATE: 3.0},
    ClientQuotaEntity.of_user(None): {PRODUCER_BYTE_RATE: 4.0},
    ClientQuotaEntity.of_client("reader"): {CONSUMER_BYTE_RATE: 5.0},
    ClientQuotaEntity.of_ip("10.0.0.1"): {"connection_creation_rate": 5.0},
}

USER, CLIENT = QuotaResourceType.USER, QuotaResourceType.CLIENT


@pytest.fixture
def stand_in() -> EmbeddedState:
    return EmbeddedState(quotas=QUOTAS)


@pytest.fixture(params=["own requests", "switched off", "not offered"])
async def cluster(request: pytest.FixtureRequest, stand_in: EmbeddedState) -> AsyncIterator[StandInCluster]:
    """A cluster that has the requests of KIP-248, or has not."""
    handlers = {**stand_in.handlers, **(stand_in.kip_248_handlers if request.param != "not offered" else {})}
    offered = OWN_REQUESTS if request.param != "not offered" else None
    async with StandInCluster(1, handlers, versions=offered) as cluster:
        yield cluster


@pytest.fixture
async def client(cluster: StandInCluster, request: pytest.FixtureRequest) -> AsyncIterator[AdminClient]:
    switched_off = request.node.callspec.params["cluster"] == "switched off"
    async with cluster.client(FAST if switched_off else PROPOSALS) as client:
        yield client


async def test_users_and_clients_are_listed(client: AdminClient) -> None:
    """C2."""
    assert await client.list_quotas(USER) == (DEFAULT_NAME, "alice", "bob")
    assert await client.list_quotas(CLIENT) == (DEFAULT_NAME, "loader", "reader")


async def test_with_a_name_the_entities_below_it_are_listed(client: AdminClient) -> None:
    """C2."""
    assert await client.list_quotas(USER, "alice") == (DEFAULT_NAME, "loader")
    assert await client.list_quotas(CLIENT, "loader") == ("alice", "bob")
    assert await client.list_quotas(CLIENT, DEFAULT_NAME) == ("alice",)
    assert await client.list_quotas(USER, "nobody") == ()


async def test_quotas_of_other_resources_than_users_and_clients_are_refused(client: AdminClient) -> None:
    """C2."""
    with pytest.raises(InvalidRequestError, match="not of a TOPIC"):
        await client.list_quotas(QuotaResourceType.TOPIC)


async def test_quotas_are_described_as_configs_including_unset_ones(client: AdminClient) -> None:
    """C5."""
    described = await client.describe_quotas("alice")
    assert described.all() == {
        ALICE: {
            CONSUMER_BYTE_RATE: QuotaConfig(CONSUMER_BYTE_RATE, "9223372036854775807", is_default=True),
            CONTROLLER_MUTATION_RATE: QuotaConfig(CONTROLLER_MUTATION_RATE, "2147483647", is_default=True),
            PRODUCER_BYTE_RATE: QuotaConfig(PRODUCER_BYTE_RATE, "1024"),
            REQUEST_PERCENTAGE: QuotaConfig(REQUEST_PERCENTAGE, "12.5"),
        }
    }
    assert list(described[ALICE]) == sorted(described[ALICE])


@pytest.mark.parametrize(
    ("user", "client_id", "value"),
    [
        ("alice", "loader", "1"),
        ("alice", DEFAULT_NAME, "2"),
        ("bob", "loader", "3"),
        (DEFAULT_NAME, None, "4"),
        ("nobody", None, "9223372036854775807"),
    ],
)
async def test_quotas_of_each_kind_of_entity_are_described(
    client: AdminClient, user: str, client_id: str | None, value: str
) -> None:
    """C5."""
    entity = quota_entity(user, client_id)
    described = await client.describe_quotas(user, client_id, [PRODUCER_BYTE_RATE, "no_such_config"])
    assert described[entity] == {
        PRODUCER_BYTE_RATE: QuotaConfig(PRODUCER_BYTE_RATE, value, is_default=user == "nobody")
    }


async def test_an_entity_needs_a_user_or_a_client(client: AdminClient) -> None:
    """C5."""
    with pytest.raises(ValueError, match="give a user, a client_id or both"):
        await client.describe_quotas()


async def test_named_quotas_are_altered_and_the_others_stay(client: AdminClient, stand_in: EmbeddedState) -> None:
    """C5."""
    reader = ClientQuotaEntity.of_client("reader")
    results = await client.alter_quotas(
        {
            ALICE: {PRODUCER_BYTE_RATE: "2048", CONSUMER_BYTE_RATE: 10, REQUEST_PERCENTAGE: None},
            ClientQuotaEntity.of_user_and_client("carol", None): {PRODUCER_BYTE_RATE: 1.0},
            reader: {CONSUMER_BYTE_RATE: None},
        }
    )
    assert len(results.all()) == 3
    assert stand_in.quotas[ALICE] == {PRODUCER_BYTE_RATE: 2048.0, CONSUMER_BYTE_RATE: 10.0}
    assert stand_in.quotas[ClientQuotaEntity.of_user_and_client("carol", None)] == {PRODUCER_BYTE_RATE: 1.0}
    assert reader not in stand_in.quotas
    assert stand_in.quotas[LOADER] == QUOTAS[LOADER]


async def test_validate_only_changes_nothing(client: AdminClient, stand_in: EmbeddedState) -> None:
    """C3."""
    (await client.alter_quotas({ALICE: {PRODUCER_BYTE_RATE: "2048"}}, validate_only=True)).all()
    assert stand_in.quotas == QUOTAS


async def test_wrong_alterations_fail_alone(client: AdminClient, stand_in: EmbeddedState) -> None:
    """C5."""
    wrong: dict[ClientQuotaEntity, dict[str, str | float | None]] = {
        ClientQuotaEntity.of_ip("10.0.0.1"): {"connection_creation_rate": 5},
        ClientQuotaEntity.of_user(DEFAULT_NAME): {PRODUCER_BYTE_RATE: 5},
        ClientQuotaEntity.of_user("bob"): {PRODUCER_BYTE_RATE: "fast"},
        ClientQuotaEntity.of_user("carol"): {PRODUCER_BYTE_RATE: ""},
        ClientQuotaEntity.of_user("dave"): {PRODUCER_BYTE_RATE: "-1"},
    }
    results = await client.alter_quotas({**wrong, ALICE: {PRODUCER_BYTE_RATE: "7"}})
    assert list(results.values()) == [ALICE]
    assert [type(error) for error in results.errors().values()] == [InvalidRequestError] * len(wrong)
    assert stand_in.quotas[ALICE][PRODUCER_BYTE_RATE] == 7.0


async def test_missing_rights_are_an_error_of_every_call(client: AdminClient, stand_in: EmbeddedState) -> None:
    """C3."""
    stand_in.principal = Principal("mallory")
    with pytest.raises(ClusterAuthorizationFailedError):
        await client.list_quotas(USER)
    described = await client.describe_quotas("alice")
    altered = await client.alter_quotas({ALICE: {PRODUCER_BYTE_RATE: "7"}})
    for error in (described.errors()[ALICE], altered.errors()[ALICE]):
        assert isinstance(error, ClusterAuthorizationFailedError)


async def test_own_requests_are_sent_only_if_the_broker_offers_them_and_proposals_are_enabled(
    client: AdminClient, cluster: StandInCluster, request: pytest.FixtureRequest
) -> None:
    """C4."""
    await client.list_quotas(USER)
    await client.describe_quotas("alice")
    await client.alter_quotas({ALICE: {PRODUCER_BYTE_RATE: "7"}})
    keys = {request.API_KEY for _, request in cluster.asked}
    is_own = request.node.callspec.params["cluster"] == "own requests"
    assert keys == (set(OWN_REQUESTS) if is_own else {ApiKey.DESCRIBE_CLIENT_QUOTAS, ApiKey.ALTER_CLIENT_QUOTAS})


@pytest.mark.parametrize(
    ("value", "text"),
    [(1024.0, "1024"), (12.5, "12.5"), ("1024.0", "1024"), ("9223372036854775807", "9223372036854775807"),
     ("many", "many"), ("nan", "nan"), (float("inf"), "inf"), (7, "7")],
)  # fmt: skip
def test_numbers_are_written_in_one_way(value: str | float, text: str) -> None:
    assert number_in_words(value) == text


async def test_a_client_of_a_user_is_the_child_on_the_wire(stand_in: EmbeddedState) -> None:
    handlers = stand_in.kip_248_handlers
    async with StandInCluster(1, handlers, versions=OWN_REQUESTS) as cluster, cluster.client(PROPOSALS) as client:
        await client.describe_quotas("alice", DEFAULT_NAME)
        await client.alter_quotas({ClientQuotaEntity.of_client("reader"): {CONSUMER_BYTE_RATE: None}})
        (_, described), (_, altered) = cluster.asked
        assert isinstance(described, DescribeQuotasRequest)
        assert isinstance(altered, AlterQuotasRequest)
        (resource,) = described.resources
        assert (resource.quota_config_resource.type, resource.quota_config_resource.name) == (USER, "alice")
        child = resource.child_quota_config_resource
        assert (child.type, child.name) == (CLIENT, DEFAULT_NAME)
        assert resource.config_names is None
        (changed,) = altered.resources
        assert (changed.quota_config_resource.type, changed.child_quota_config_resource.type) == (CLIENT, 0)
        assert [(config.config_name, config.config_value) for config in changed.configs] == [(CONSUMER_BYTE_RATE, "")]
