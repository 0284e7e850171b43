"""ACLs: describe, create and delete (A11 to A21, A27, F1 to F9)."""

from __future__ import annotations

import asyncio
import warnings
from collections import defaultdict
from collections.abc import Awaitable, Mapping

import pytest
from msgspec.structs import replace
from tests.stand_ins.broker import Answer
from tests.stand_ins.cluster import FAST, NodeHandler, StandInCluster
from tests.stand_ins.embedded_state import EmbeddedState

from kafkawire.admin.client import BlockingAdminClient
from kafkawire.admin.operations.strategies import LISTING_FROM, Strategy
from kafkawire.admin.settings import AdminSettings
from kafkawire.model.acls.bindings import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)
from kafkawire.model.nodes import Node
from kafkawire.protocol import (
    CreateAclsRequest,
    CreateAclsResponse,
    DeleteAclsRequest,
    DeleteAclsResponse,
    DescribeAclsRequest,
    DescribeAclsResponse,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import (
    ClusterAuthorizationFailedError,
    InvalidRequestError,
    SecurityDisabledError,
    UnknownServerError,
    UnsupportedVersionError,
)
from kafkawire.rpc import Request
from kafkawire.wire import Message

PROPOSALS = replace(FAST, proposals=True)
BATCHES: Mapping[int, range] = {ApiKey.DESCRIBE_ACLS: range(1, 5)}
ACL = AclBinding(ResourceType.TOPIC, "foo", "User:alice", AclOperation.READ)
ACLS = [
    replace(ACL, resource_name=f"topic-{n}", principal=f"User:{name}", operation=operation)
    for n in range(5)
    for name in ("alice", "bob")
    for operation in (AclOperation.READ, AclOperation.WRITE)
]
ALICE, BOB = AclBindingFilter(principal="User:alice"), AclBindingFilter(principal="User:bob")
EVERYTHING = AclBindingFilter()
UNKNOWN = AclBindingFilter(ResourceType.UNKNOWN)


def cluster_of(state: EmbeddedState, versions: Mapping[int, range] | None = None) -> StandInCluster:
    return StandInCluster(1, state.handlers, versions=versions)


def failing_for(acl: AclBinding, state: EmbeddedState) -> NodeHandler:
    """DeleteAcls with an error for one ACL."""
    failing = acl.resource_name, acl.principal, acl.operation

    async def delete(node: int, request: Request) -> Message:
        response = await state.handlers[DeleteAclsRequest](node, request)
        assert isinstance(response, DeleteAclsResponse)
        return replace(response, filter_results=[with_error(result) for result in response.filter_results])

    def with_error(result: DeleteAclsResponse.DeleteAclsFilterResult) -> DeleteAclsResponse.DeleteAclsFilterResult:
        matching = [
            replace(one, error_code=ErrorCode.UNKNOWN_SERVER_ERROR)
            if (one.resource_name, one.principal, one.operation) == failing
            else one
            for one in result.matching_acls
        ]
        return replace(result, matching_acls=matching)

    return delete


def of_principal(name: str) -> tuple[AclBinding, ...]:
    return tuple(sorted(acl for acl in ACLS if acl.principal == name))


# Describe.


async def test_a_refusal_is_without_kafkas_object_of_the_request() -> None:
    said = "Request Request(processor=3, buffer=null, envelope=Some(Request(processor=2))) needs X permission."

    def refuse(_: int, __: Request) -> DescribeAclsResponse:
        return DescribeAclsResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED, error_message=said)

    async with StandInCluster(1, {DescribeAclsRequest: refuse}) as cluster, cluster.client() as client:
        described = await client.describe_acls([ALICE])
    assert described.errors()[ALICE].message == "the request needs X permission."


async def test_each_filter_is_one_request_to_released_brokers() -> None:
    """F4."""
    async with cluster_of(EmbeddedState(ACLS)) as cluster, cluster.client() as client:
        described = await client.describe_acls([ALICE, BOB])
        assert described.all() == {ALICE: of_principal("User:alice"), BOB: of_principal("User:bob")}
        assert [
            request.principal_filter for _, request in cluster.asked if isinstance(request, DescribeAclsRequest)
        ] == [
            "User:alice",
            "User:bob",
        ]


async def test_all_filters_are_one_request_if_the_broker_offers_it_and_proposals_are_enabled() -> None:
    """F1, F2."""
    async with cluster_of(EmbeddedState(ACLS), BATCHES) as cluster, cluster.client(PROPOSALS) as client:
        described = await client.describe_acls([ALICE, BOB])
        assert described.all() == {ALICE: of_principal("User:alice"), BOB: of_principal("User:bob")}
        (request,) = [request for _, request in cluster.asked]
        assert isinstance(request, DescribeAclsRequest)
        assert [one.principal_filter for one in request.filters] == ["User:alice", "User:bob"]


@pytest.mark.parametrize(
    ("versions", "settings"), [(BATCHES, FAST), (None, PROPOSALS)], ids=["switched off", "not offered"]
)
async def test_a_proposed_version_is_sent_only_if_the_broker_offers_it_and_proposals_are_enabled(
    versions: Mapping[int, range] | None, settings: AdminSettings
) -> None:
    """F1."""
    async with cluster_of(EmbeddedState(ACLS), versions) as cluster, cluster.client(settings) as client:
        described = await client.describe_acls([ALICE, BOB])
        assert len(described.all()) == 2
        assert not any(request.filters for _, request in cluster.asked if isinstance(request, DescribeAclsRequest))
        forced = await client.describe_acls([ALICE, BOB], strategy="batch")
        assert {type(error) for error in forced.errors().values()} == {UnsupportedVersionError}
        assert len(forced.errors()) == 2


@pytest.mark.parametrize(("filters", "requests"), [(LISTING_FROM - 1, LISTING_FROM - 1), (LISTING_FROM, 1)])
async def test_many_filters_are_answered_from_one_listing(filters: int, requests: int) -> None:
    """F9."""
    wanted = [AclBindingFilter(resource_name=f"topic-{n}") for n in range(filters)]
    async with cluster_of(EmbeddedState(ACLS)) as cluster, cluster.client() as client:
        described = await client.describe_acls([*wanted, *wanted])
        assert len(described.union()) == len(ACLS)
        assert len(cluster.asked) == requests


@pytest.mark.parametrize(("strategy", "requests"), [("listing", 1), ("pipelined", 40)])
async def test_the_caller_may_choose_the_strategy(strategy: Strategy, requests: int) -> None:
    """F9."""
    wanted = [AclBindingFilter(resource_name=f"topic-{n}") for n in range(40)]
    async with cluster_of(EmbeddedState(ACLS)) as cluster, cluster.client() as client:
        assert len((await client.describe_acls(wanted, strategy=strategy)).union()) == len(ACLS)
        assert len(cluster.asked) == requests
        with pytest.raises(ValueError, match="'fastest' is not a strategy: give automatic, batch"):
            await client.describe_acls(wanted, strategy="fastest")  # type: ignore[call-overload]


@pytest.mark.parametrize("strategy", ["batch", "pipelined", "listing"])
async def test_a_filter_that_fails_leaves_the_others_alone(strategy: Strategy) -> None:
    """F5, F6."""
    async with cluster_of(EmbeddedState(ACLS), BATCHES) as cluster, cluster.client(PROPOSALS) as client:
        described = await client.describe_acls([UNKNOWN, ALICE], strategy=strategy)
        outcomes = described.all_values()
        assert isinstance(outcomes[UNKNOWN], InvalidRequestError)  # A11
        assert outcomes[ALICE] == of_principal("User:alice")
        with pytest.raises(ExceptionGroup, match="1 of 2 failed"):
            described.all()
        with pytest.raises(ExceptionGroup, match="1 of 2 failed"):
            described.union()


@pytest.mark.parametrize("strategy", ["batch", "pipelined", "listing"])
@pytest.mark.parametrize(
    ("code", "error"),
    [
        (ErrorCode.SECURITY_DISABLED, SecurityDisabledError),
        (ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ClusterAuthorizationFailedError),
    ],
)
async def test_an_error_of_the_whole_request_is_reported_for_each_filter(
    strategy: Strategy, code: ErrorCode, error: type[Exception]
) -> None:
    """F6, A16, A17."""
    stand_in = EmbeddedState(ACLS)
    stand_in.refusal = code, "No Authorizer is configured on the broker"
    async with cluster_of(stand_in, BATCHES) as cluster, cluster.client(PROPOSALS) as client:
        described = await client.describe_acls([ALICE, BOB], strategy=strategy)
        assert [type(one) for one in described.errors().values()] == [error, error]
        assert {one.message for one in described.errors().values()} == {"No Authorizer is configured on the broker"}
        assert {one.attempts for one in described.errors().values()} == {1}


async def test_equal_filters_are_sent_once_and_reported_for_each_in_order() -> None:
    """F7."""
    async with cluster_of(EmbeddedState(ACLS)) as cluster, cluster.client() as client:
        described = await client.describe_acls([BOB, ALICE, BOB])
        assert list(described) == [BOB, ALICE, BOB]
        assert len(cluster.asked) == 2


async def test_the_union_has_each_acl_once() -> None:
    """F8."""
    async with cluster_of(EmbeddedState(ACLS)) as cluster, cluster.client() as client:
        described = await client.describe_acls([EVERYTHING, ALICE, BOB])
        assert described.union() == tuple(sorted(ACLS))


async def test_a_single_filter_is_deprecated_and_returns_its_acls() -> None:
    """F5."""
    async with cluster_of(EmbeddedState(ACLS)) as cluster, cluster.client() as client:
        with pytest.warns(DeprecationWarning, match=r"describe_acls\(\[filter\]\)") as caught:
            acls = await client.describe_acls(ALICE)
        assert acls == of_principal("User:alice")
        assert caught[0].filename == __file__
        with pytest.warns(DeprecationWarning, match="describe_acls"), pytest.raises(InvalidRequestError):
            await client.describe_acls(UNKNOWN)


async def test_the_deprecation_warning_of_the_blocking_client_names_the_calling_line() -> None:
    """F5."""
    async with cluster_of(EmbeddedState(ACLS)) as cluster:
        bootstrap = cluster.bootstrap

        def ask() -> str:
            with BlockingAdminClient(bootstrap) as admin, warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                assert admin.describe_acls(ALICE) == of_principal("User:alice")
                return caught[0].filename

        assert await asyncio.to_thread(ask) == __file__


async def test_acls_of_newer_brokers_are_described_with_their_numbers() -> None:
    """A14."""
    newer = replace(ACL, operation=AclOperation(99))
    async with cluster_of(EmbeddedState([newer])) as cluster, cluster.client() as client:
        (found,) = (await client.describe_acls([EVERYTHING]))[EVERYTHING]
        assert found.is_unknown
        assert int(found.operation) == 99


async def test_version_0_describes_literal_names_and_other_filters_fail_alone() -> None:
    """Only filters that this version cannot express fail (A15)."""
    prefixed = AclBindingFilter(pattern_type=PatternType.PREFIXED)
    affecting = AclBindingFilter(resource_name="foo", pattern_type=PatternType.MATCH)
    user = AclBindingFilter(ResourceType.USER)
    old: Mapping[int, range] = {ApiKey.DESCRIBE_ACLS: range(1)}
    async with cluster_of(EmbeddedState([ACL]), old) as cluster, cluster.client() as client:
        for strategy in ("pipelined", "listing"):
            described = await client.describe_acls([EVERYTHING, prefixed, affecting, user], strategy=strategy)
            assert described.values() == {EVERYTHING: (ACL,)}
            assert {type(error) for error in described.errors().values()} == {UnsupportedVersionError}


async def test_filters_that_an_answer_leaves_out_are_reported() -> None:
    def short(_: int, __: object) -> DescribeAclsResponse:
        return DescribeAclsResponse(filter_results=[DescribeAclsResponse.DescribeAclsFilterResult(0, None)])

    cluster = StandInCluster(1, {DescribeAclsRequest: short}, versions=BATCHES)
    async with cluster, cluster.client(PROPOSALS) as client:
        described = await client.describe_acls([ALICE, BOB])
        assert described[ALICE] == ()
        assert isinstance(described.errors()[BOB], UnknownServerError)


# Create.


async def test_a_binding_that_cannot_be_created_fails_alone_and_is_not_sent() -> None:
    """A12."""
    wrong = [
        replace(ACL, resource_type=ResourceType.ANY),
        replace(ACL, pattern_type=PatternType.MATCH),
        replace(ACL, operation=AclOperation.UNKNOWN),
        replace(ACL, permission_type=AclPermissionType.ANY),
        replace(ACL, principal="alice"),
    ]
    stand_in = EmbeddedState()
    async with cluster_of(stand_in) as cluster, cluster.client() as client:
        results = await client.create_acls([*wrong, ACL])
        assert results.values() == {ACL: None}
        assert [type(error) for error in results.errors().values()] == [InvalidRequestError] * len(wrong)
        assert list(stand_in.acls) == [ACL]


async def test_acls_without_effect_are_created_only_if_allowed() -> None:
    """A22, A23, A24."""
    vain = [
        replace(ACL, host="example.com"),
        replace(ACL, operation=AclOperation.IDEMPOTENT_WRITE),
        replace(ACL, principal=":alice"),
    ]
    stand_in = EmbeddedState()
    async with cluster_of(stand_in) as cluster, cluster.client() as client:
        assert len((await client.create_acls(vain)).errors()) == len(vain)
        assert not stand_in.acls
        (await client.create_acls(vain, allow_without_effect=True)).all()
        assert list(stand_in.acls) == vain


async def test_results_of_a_creation_are_matched_by_position() -> None:
    """A18, A19."""

    def answer(_: int, __: object) -> CreateAclsResponse:
        result = CreateAclsResponse.AclCreationResult
        return CreateAclsResponse(results=[result(0, ""), result(ErrorCode.INVALID_REQUEST, "the only valid name")])

    async with StandInCluster(1, {CreateAclsRequest: answer}) as cluster, cluster.client() as client:
        results = await client.create_acls(ACLS[:3])
        first, second, third = (outcome for _, outcome in results.items())
        assert first is None
        assert isinstance(second, InvalidRequestError)
        assert isinstance(third, UnknownServerError)  # the answer says nothing about it


async def test_an_acl_that_exists_already_is_created_without_an_error() -> None:
    """A19."""
    stand_in = EmbeddedState([ACL])
    async with cluster_of(stand_in) as cluster, cluster.client() as client:
        results = await client.create_acls([ACL, ACL])
        assert len(results) == 2
        assert results.all() == {ACL: None}
        (request,) = [request for _, request in cluster.asked]
        assert isinstance(request, CreateAclsRequest)
        assert len(request.creations) == 1


async def test_a_refused_creation_or_deletion_is_an_error_of_every_item() -> None:
    """A16, A17."""
    stand_in = EmbeddedState([ACL])
    stand_in.refusal = ErrorCode.SECURITY_DISABLED, "No Authorizer is configured."
    async with cluster_of(stand_in) as cluster, cluster.client() as client:
        for results in (await client.create_acls(ACLS), await client.delete_acls([ALICE, BOB])):
            assert {type(error) for error in results.errors().values()} == {SecurityDisabledError}
            assert not results.values()


@pytest.mark.usefixtures("one_engine")
async def test_more_acls_than_one_request_may_create_are_sent_in_portions() -> None:
    """A27."""
    acls = [replace(ACL, resource_name=f"topic-{n}") for n in range(20_001)]
    stand_in = EmbeddedState()
    reported: list[tuple[int, int]] = []
    async with (
        cluster_of(stand_in) as cluster,
        cluster.client(replace(FAST, call_timeout=30, request_timeout=20)) as client,
    ):
        results = await client.create_acls(acls, progress=lambda done, total: reported.append((done, total)))
        assert results.all() == dict.fromkeys(acls)
        assert set(stand_in.acls) == set(acls)
        assert reported == [(done, 20_001) for done in range(1, 20_002)]
        sizes = [len(request.creations) for _, request in cluster.asked if isinstance(request, CreateAclsRequest)]
        assert sizes == [1_000] * 20 + [1]


async def test_acls_that_an_old_broker_cannot_have_fail_alone() -> None:
    """A15."""
    prefixed = replace(ACL, pattern_type=PatternType.PREFIXED)
    token = AclBinding(ResourceType.USER, "User:alice", "User:bob", AclOperation.CREATE_TOKENS)
    stand_in = EmbeddedState()
    async with cluster_of(stand_in, {ApiKey.CREATE_ACLS: range(2)}) as cluster, cluster.client() as client:
        results = await client.create_acls([ACL, prefixed, token])
        assert results.values() == {ACL: None, prefixed: None}
        assert isinstance(results.errors()[token], UnsupportedVersionError)
        assert set(stand_in.acls) == {ACL, prefixed}


# Delete.


async def test_each_filter_returns_every_acl_that_it_matched_with_its_outcome() -> None:
    """A20."""
    failing = of_principal("User:alice")[0]
    nothing = AclBindingFilter(principal="User:carol")
    cluster = StandInCluster(1, {DeleteAclsRequest: failing_for(failing, EmbeddedState(ACLS))})
    async with cluster, cluster.client() as client:
        results = await client.delete_acls([ALICE, EVERYTHING, nothing, UNKNOWN])
        assert set(results[ALICE]) == set(of_principal("User:alice"))
        assert set(results[EVERYTHING]) == set(ACLS)  # it matches what the first matches, and reports it too
        assert len(results[nothing]) == 0
        assert isinstance(results.errors()[UNKNOWN], InvalidRequestError)  # A13: that filter only
        assert list(results[ALICE].errors()) == [failing]
        assert set(results.deleted()) == set(ACLS) - {failing}


async def test_all_raises_for_an_acl_that_could_not_be_deleted() -> None:
    """A20."""
    cluster = StandInCluster(1, {DeleteAclsRequest: failing_for(ACL, EmbeddedState([ACL]))})
    async with cluster, cluster.client() as client:
        failed = await client.delete_acls([EVERYTHING])
        with pytest.raises(ExceptionGroup) as raised:
            failed.all()
        assert [type(error) for error in raised.value.exceptions] == [UnknownServerError]
    async with cluster_of(EmbeddedState([ACL])) as cluster, cluster.client() as client:
        done = (await client.delete_acls([EVERYTHING])).all()
        assert done[EVERYTHING].all() == {ACL: None}


@pytest.mark.usefixtures("one_engine")
@pytest.mark.parametrize("code", [ErrorCode.INVALID_REQUEST, ErrorCode.POLICY_VIOLATION])
async def test_more_acls_than_one_request_may_delete_are_deleted_in_portions(code: ErrorCode) -> None:
    """A27."""
    acls = [replace(acl, host=f"10.0.{n // 250}.{n % 250}") for n in range(650) for acl in ACLS]
    stand_in = EmbeddedState(acls)
    reported: list[tuple[int, int]] = []
    settings = replace(FAST, call_timeout=60, request_timeout=30)

    async def delete(node: int, request: Request) -> Message | Answer:
        response = await stand_in.handlers[DeleteAclsRequest](node, request)
        assert isinstance(response, DeleteAclsResponse)
        results = [replace(one, error_code=one.error_code and code) for one in response.filter_results]
        return replace(response, filter_results=results)

    cluster = StandInCluster(1, {**stand_in.handlers, DeleteAclsRequest: delete})
    async with cluster, cluster.client(settings) as client:
        results = await client.delete_acls(
            [EVERYTHING, ALICE, UNKNOWN], progress=lambda done, total: reported.append((done, total))
        )
        assert not stand_in.acls
        assert results[EVERYTHING].all() == dict.fromkeys(acls)
        assert set(results[ALICE]) == {acl for acl in acls if acl.principal == "User:alice"}
        assert isinstance(results.errors()[UNKNOWN], InvalidRequestError)
        assert results.deleted() == tuple(sorted(acls))
        assert [done for done, _ in reported] == list(range(1, len(reported) + 1))
        assert reported[-1][0] == reported[-1][1]


async def test_an_error_of_a_portion_is_reported_for_its_acls() -> None:
    """A27."""
    newer = [replace(ACL, resource_name=f"t{n}", operation=AclOperation(98 + n % 2)) for n in range(10_001)]
    stand_in = EmbeddedState(newer)

    async with (
        cluster_of(stand_in) as cluster,
        cluster.client(replace(FAST, call_timeout=60, request_timeout=30)) as client,
    ):
        results = await client.delete_acls([EVERYTHING])
        # A portion can be said only by an operation which this client does not know.
        assert len(results[EVERYTHING].errors()) == 10_001
        assert {type(error) for error in results[EVERYTHING].errors().values()} == {InvalidRequestError}


async def test_acls_that_cannot_be_described_are_not_deleted_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A27."""
    stand_in = EmbeddedState(ACLS)
    monkeypatch.setattr("kafkawire.broker.handlers.acls.MAXIMUM_RECORDS", len(ACLS) - 1)

    def refuse(_: int, __: object) -> DescribeAclsResponse:
        return DescribeAclsResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)

    async with (
        StandInCluster(1, {**stand_in.handlers, DescribeAclsRequest: refuse}) as cluster,
        cluster.client() as client,
    ):
        results = await client.delete_acls([EVERYTHING])
        assert isinstance(results.errors()[EVERYTHING], ClusterAuthorizationFailedError)
        assert len(stand_in.acls) == len(ACLS)


async def test_deletion_in_portions_ends_if_the_broker_deletes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A27."""
    stand_in = EmbeddedState(ACLS)
    monkeypatch.setattr("kafkawire.broker.handlers.acls.MAXIMUM_RECORDS", 0)
    async with cluster_of(stand_in) as cluster, cluster.client() as client:
        results = await client.delete_acls([EVERYTHING])
        assert {type(error) for error in results[EVERYTHING].errors().values()} == {InvalidRequestError}
        assert len([request for _, request in cluster.asked if isinstance(request, DeleteAclsRequest)]) == 2


async def test_only_requests_that_are_light_work_for_a_broker_are_sent_at_once() -> None:
    """A controller checks all ACLs for each filter of a deletion: later requests would time out in its queue."""
    stand_in = EmbeddedState(ACLS)
    on_their_way: defaultdict[type[Message], set[int]] = defaultdict(set)
    handlers = stand_in.handlers

    def counted(handler: NodeHandler) -> NodeHandler:
        def handle(node: int, request: Request) -> Message | Answer | Awaitable[Message | Answer]:
            channel = client._cluster.pool.connected(Node(node, cluster.brokers[node].host, cluster.brokers[node].port))
            assert request.body is not None
            assert channel is not None
            on_their_way[type(request.body)].add(channel.in_flight)
            return handler(node, request)

        return handle

    filters = [AclBindingFilter(principal=f"User:{n}") for n in range(1_000)]
    cluster = StandInCluster(1, {request: counted(handler) for request, handler in handlers.items()})
    async with cluster, cluster.client() as client:
        (await client.describe_acls(filters[:30], strategy="pipelined")).all()
        (await client.delete_acls(filters)).all()
        assert max(on_their_way[DescribeAclsRequest]) == FAST.requests_in_flight
        assert max(on_their_way[DeleteAclsRequest]) == 2
        assert [len(r.filters) for _, r in cluster.asked if isinstance(r, DeleteAclsRequest)] == [100] * 10
