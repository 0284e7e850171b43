"""Client quotas: describe and alter (E6 to E14, F1 to F9)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec.structs import replace
from tests.stand_ins.cluster import FAST, StandInCluster
from tests.stand_ins.embedded_state import EmbeddedState

from kafkawire.admin.client import AdminClient
from kafkawire.admin.operations.strategies import LISTING_FROM, Strategy
from kafkawire.admin.settings import AdminSettings
from kafkawire.model.quotas.entities import (
    CLIENT_ID,
    CONSUMER_BYTE_RATE,
    PRODUCER_BYTE_RATE,
    USER,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    ClientQuotaFilter,
    ClientQuotaFilterComponent,
)
from kafkawire.protocol import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import (
    ClusterAuthorizationFailedError,
    InvalidRequestError,
    UnknownServerError,
    UnsupportedEndpointTypeError,
    UnsupportedVersionError,
)
from kafkawire.rpc import Request

PROPOSALS = replace(FAST, proposals=True)
BATCHES: Mapping[int, range] = {ApiKey.DESCRIBE_CLIENT_QUOTAS: range(3)}

ALICE, BOB = ClientQuotaEntity.of_user("alice"), ClientQuotaEntity.of_user("bob")
LOADER = ClientQuotaEntity.of_user_and_client("alice", "loader")
QUOTAS = {ALICE: {PRODUCER_BYTE_RATE: 1024.0}, BOB: {CONSUMER_BYTE_RATE: 7.0}, LOADER: {PRODUCER_BYTE_RATE: 1.0}}

exact = ClientQuotaFilterComponent.exact
OF_ALICE, OF_BOB = ClientQuotaFilter((exact(USER, "alice"),)), ClientQuotaFilter((exact(USER, "bob"),))
ONLY_ALICE = ClientQuotaFilter.of_entity(ALICE)
EVERYTHING = ClientQuotaFilter()
NONSENSE = ClientQuotaFilter((exact(USER, "alice"), exact(USER, "bob")))


def cluster_of(state: EmbeddedState, versions: Mapping[int, range] | None = None) -> StandInCluster:
    return StandInCluster(1, state.handlers, versions=versions)


def asked_of(cluster: StandInCluster) -> list[DescribeClientQuotasRequest]:
    return [request for _, request in cluster.asked if isinstance(request, DescribeClientQuotasRequest)]


# Describe.


async def test_each_filter_is_one_request_to_released_brokers() -> None:
    """F4."""
    async with cluster_of(EmbeddedState(quotas=QUOTAS)) as cluster, cluster.client() as client:
        described = await client.describe_client_quotas([OF_ALICE, OF_BOB])
        assert described.all() == {
            OF_ALICE: {ALICE: QUOTAS[ALICE], LOADER: QUOTAS[LOADER]},
            OF_BOB: {BOB: QUOTAS[BOB]},
        }
        assert [[part.match for part in request.components] for request in asked_of(cluster)] == [["alice"], ["bob"]]


async def test_filters_that_differ_in_strictness_are_two_requests() -> None:
    """F3."""
    filters = [OF_ALICE, ONLY_ALICE, OF_BOB]
    async with cluster_of(EmbeddedState(quotas=QUOTAS), BATCHES) as cluster, cluster.client(PROPOSALS) as client:
        described = await client.describe_client_quotas(filters)
        assert list(described) == filters
        assert described[OF_ALICE] == {ALICE: QUOTAS[ALICE], LOADER: QUOTAS[LOADER]}
        assert described[ONLY_ALICE] == {ALICE: QUOTAS[ALICE]}
        assert [(request.strict, len(request.filters)) for request in asked_of(cluster)] == [(False, 2), (True, 1)]


@pytest.mark.parametrize(
    ("versions", "settings"), [(BATCHES, FAST), (None, PROPOSALS)], ids=["switched off", "not offered"]
)
async def test_a_proposed_version_is_sent_only_if_the_broker_offers_it_and_proposals_are_enabled(
    versions: Mapping[int, range] | None, settings: AdminSettings
) -> None:
    """F1."""
    async with cluster_of(EmbeddedState(quotas=QUOTAS), versions) as cluster, cluster.client(settings) as client:
        assert len((await client.describe_client_quotas([OF_ALICE, OF_BOB])).all()) == 2
        assert not any(request.filters for request in asked_of(cluster))
        forced = await client.describe_client_quotas([OF_ALICE, OF_BOB], strategy="batch")
        assert [type(error) for error in forced.errors().values()] == [UnsupportedVersionError] * 2


@pytest.mark.parametrize(("filters", "requests"), [(LISTING_FROM - 1, LISTING_FROM - 1), (LISTING_FROM, 1)])
async def test_many_filters_are_answered_from_one_listing(filters: int, requests: int) -> None:
    """F9."""
    wanted = [ClientQuotaFilter((exact(USER, f"user-{n}"),)) for n in range(filters)]
    quotas = {ClientQuotaEntity.of_user(f"user-{n}"): {PRODUCER_BYTE_RATE: 1.0 + n} for n in range(filters + 5)}
    async with cluster_of(EmbeddedState(quotas=quotas)) as cluster, cluster.client() as client:
        described = await client.describe_client_quotas(wanted)
        assert len(described.union()) == filters
        assert len(cluster.asked) == requests


@pytest.mark.parametrize("strategy", ["batch", "pipelined", "listing"])
async def test_a_filter_that_fails_leaves_the_others_alone(strategy: Strategy) -> None:
    """A released broker fails the whole request for one wrong filter (E6, F6)."""
    async with cluster_of(EmbeddedState(quotas=QUOTAS), BATCHES) as cluster, cluster.client(PROPOSALS) as client:
        described = await client.describe_client_quotas([NONSENSE, OF_BOB], strategy=strategy)
        assert isinstance(described.errors()[NONSENSE], InvalidRequestError)
        assert described[OF_BOB] == {BOB: QUOTAS[BOB]}
        with pytest.raises(ExceptionGroup, match="1 of 2 failed"):
            described.union()


@pytest.mark.parametrize("strategy", ["batch", "pipelined", "listing"])
async def test_an_error_of_the_whole_request_is_reported_for_each_filter(strategy: Strategy) -> None:
    """F6."""
    stand_in = EmbeddedState(quotas=QUOTAS)
    stand_in.refusal = ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ""
    async with cluster_of(stand_in, BATCHES) as cluster, cluster.client(PROPOSALS) as client:
        described = await client.describe_client_quotas([OF_ALICE, OF_BOB], strategy=strategy)
        assert [type(error) for error in described.errors().values()] == [ClusterAuthorizationFailedError] * 2


async def test_equal_filters_are_sent_once_and_the_union_has_each_entity_once() -> None:
    """F7, F8."""
    async with cluster_of(EmbeddedState(quotas=QUOTAS)) as cluster, cluster.client() as client:
        described = await client.describe_client_quotas([OF_BOB, EVERYTHING, OF_BOB])
        assert list(described) == [OF_BOB, EVERYTHING, OF_BOB]
        assert len(cluster.asked) == 2
        assert described.union() == QUOTAS


async def test_a_single_filter_is_deprecated_and_returns_its_entities() -> None:
    """F5."""
    async with cluster_of(EmbeddedState(quotas=QUOTAS)) as cluster, cluster.client() as client:
        with pytest.warns(DeprecationWarning, match=r"describe_client_quotas\(\[filter\]\)") as caught:
            assert await client.describe_client_quotas(EVERYTHING) == QUOTAS
        assert caught[0].filename == __file__
        with pytest.warns(DeprecationWarning, match="single"), pytest.raises(InvalidRequestError):
            await client.describe_client_quotas(NONSENSE)


async def test_filters_that_an_answer_leaves_out_are_reported() -> None:
    def short(_: int, __: object) -> DescribeClientQuotasResponse:
        return DescribeClientQuotasResponse(
            filter_results=[DescribeClientQuotasResponse.DescribeClientQuotasFilterResult(0, None, None)]
        )

    cluster = StandInCluster(1, {DescribeClientQuotasRequest: short}, versions=BATCHES)
    async with cluster, cluster.client(PROPOSALS) as client:
        described = await client.describe_client_quotas([OF_ALICE, OF_BOB])
        assert described[OF_ALICE] == {}
        assert isinstance(described.errors()[OF_BOB], UnknownServerError)


# Alter.


async def test_results_of_alterations_are_matched_by_entity() -> None:
    """E9."""
    stand_in = EmbeddedState(quotas=QUOTAS)
    alterations = [
        ClientQuotaAlteration(LOADER, {PRODUCER_BYTE_RATE: None}),
        ClientQuotaAlteration(ALICE, {PRODUCER_BYTE_RATE: 2048.0, CONSUMER_BYTE_RATE: 1.0}),
    ]

    async def in_reverse(node: int, request: Request) -> AlterClientQuotasResponse:
        response = await stand_in.handlers[AlterClientQuotasRequest](node, request)
        assert isinstance(response, AlterClientQuotasResponse)
        return replace(response, entries=response.entries[::-1])

    async with StandInCluster(1, {AlterClientQuotasRequest: in_reverse}) as cluster, cluster.client() as client:
        results = await client.alter_client_quotas([*alterations, ClientQuotaAlteration(BOB, {"unknown": 1.0})])
        assert list(results.values()) == [LOADER, ALICE]
        assert list(results.errors()) == [BOB]
        assert stand_in.quotas[ALICE] == {PRODUCER_BYTE_RATE: 2048.0, CONSUMER_BYTE_RATE: 1.0}
        assert LOADER not in stand_in.quotas


async def test_an_entity_is_never_twice_in_a_request() -> None:
    """E9."""
    stand_in = EmbeddedState()
    carol = ClientQuotaEntity.of_user("carol")
    alterations = [
        ClientQuotaAlteration(ALICE, {PRODUCER_BYTE_RATE: 1.0}),
        ClientQuotaAlteration(carol, {PRODUCER_BYTE_RATE: 1.0}),
        ClientQuotaAlteration(ALICE, {CONSUMER_BYTE_RATE: 2.0}),
        ClientQuotaAlteration(carol, {PRODUCER_BYTE_RATE: 2.0}),
    ]
    async with cluster_of(stand_in) as cluster, cluster.client() as client:
        results = await client.alter_client_quotas(alterations)
        assert list(results) == [ALICE, carol, ALICE, carol]
        assert results.values() == {ALICE: None}
        assert isinstance(results.errors()[carol], InvalidRequestError)
        assert stand_in.quotas == {ALICE: {PRODUCER_BYTE_RATE: 1.0, CONSUMER_BYTE_RATE: 2.0}}


async def test_an_entity_that_is_refused_leaves_the_others_alone() -> None:
    """E10, E11."""
    stand_in = EmbeddedState()
    wrong = [
        ClientQuotaAlteration(ClientQuotaEntity({"planet": "mars"}), {PRODUCER_BYTE_RATE: 1.0}),
        ClientQuotaAlteration(BOB, {PRODUCER_BYTE_RATE: -1.0}),
        ClientQuotaAlteration(ClientQuotaEntity({USER: "", CLIENT_ID: "a"}), {PRODUCER_BYTE_RATE: 1.0}),
    ]
    async with cluster_of(stand_in) as cluster, cluster.client() as client:
        results = await client.alter_client_quotas([*wrong, ClientQuotaAlteration(ALICE, {PRODUCER_BYTE_RATE: 1.0})])
        assert list(results.values()) == [ALICE]
        assert [type(error) for error in results.errors().values()] == [InvalidRequestError] * 3
        assert list(stand_in.quotas) == [ALICE]


async def test_validate_only_changes_nothing_and_refusals_are_reported_for_every_entity() -> None:
    """E8."""
    stand_in = EmbeddedState(quotas=QUOTAS)
    alterations = [ClientQuotaAlteration(entity, {PRODUCER_BYTE_RATE: 99.0}) for entity in (ALICE, BOB)]
    async with cluster_of(stand_in) as cluster, cluster.client() as client:
        (await client.alter_client_quotas(alterations, validate_only=True)).all()
        assert stand_in.quotas == QUOTAS
        stand_in.refusal = ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ""
        refused = await client.alter_client_quotas(alterations)
        assert [type(error) for error in refused.errors().values()] == [ClusterAuthorizationFailedError] * 2


@pytest.mark.usefixtures("one_engine")
async def test_thousands_of_entities_are_altered_below_the_limit_of_records() -> None:
    stand_in = EmbeddedState()
    reported: list[tuple[int, int]] = []
    alterations = [
        ClientQuotaAlteration(ClientQuotaEntity.of_user(f"u{n}"), {PRODUCER_BYTE_RATE: 1.0, CONSUMER_BYTE_RATE: 2.0})
        for n in range(12_000)
    ]
    settings = replace(FAST, call_timeout=30, request_timeout=20)
    async with cluster_of(stand_in) as cluster, cluster.client(settings) as client:
        results = await client.alter_client_quotas(
            alterations, progress=lambda done, total: reported.append((done, total))
        )
        assert len(results.all()) == len(stand_in.quotas) == 12_000
        assert reported[-1] == (12_000, 12_000)
        sizes = [len(request.entries) for _, request in cluster.asked if isinstance(request, AlterClientQuotasRequest)]
        assert sizes == [5_000, 5_000, 2_000]


async def test_controllers_alter_quotas_but_do_not_describe_them() -> None:
    """E14."""
    stand_in = EmbeddedState(quotas=QUOTAS)
    cluster = cluster_of(stand_in)
    async with cluster, AdminClient(bootstrap_controllers=cluster.bootstrap, settings=FAST) as client:
        described = await client.describe_client_quotas([EVERYTHING])
        assert isinstance(described.errors()[EVERYTHING], UnsupportedEndpointTypeError)
        (await client.alter_client_quotas([ClientQuotaAlteration(ALICE, {PRODUCER_BYTE_RATE: 3.0})])).all()
        assert stand_in.quotas[ALICE] == {PRODUCER_BYTE_RATE: 3.0}
