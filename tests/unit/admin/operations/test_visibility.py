"""Waiting until changes to ACLs and client quotas are visible on all brokers; for topics see their descriptions."""

from __future__ import annotations

from collections import Counter

from msgspec.structs import replace
from tests.stand_ins.broker import Answer
from tests.stand_ins.cluster import FAST, StandInCluster
from tests.stand_ins.embedded_state import EmbeddedState

from kafkawire.model.acls.bindings import AclBinding, AclOperation, ResourceType
from kafkawire.model.quotas.entities import (
    CONSUMER_BYTE_RATE,
    PRODUCER_BYTE_RATE,
    ClientQuotaAlteration,
    ClientQuotaEntity,
)
from kafkawire.protocol import DescribeAclsRequest, DescribeClientQuotasRequest
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import (
    ClusterAuthorizationFailedError,
    DuplicateResourceError,
    InvalidRequestError,
    ResourceNotFoundError,
    SecurityDisabledError,
)
from kafkawire.rpc import Request
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import OperationTimeoutError

ACL = AclBinding(ResourceType.TOPIC, "foo", "User:alice", AclOperation.READ)
ACLS = [replace(ACL, resource_name=f"topic-{n}") for n in range(5)]
ALICE, BOB = ClientQuotaEntity.of_user("alice"), ClientQuotaEntity.of_user("bob")
HURRIED = 1.5


def nodes_with(request_class: type[Message], before: EmbeddedState, after: EmbeddedState) -> StandInCluster:
    """Two nodes on which a change becomes visible with their second and their third request."""
    asked: Counter[int] = Counter()

    async def answer(node: int, request: Request) -> Message | Answer:
        asked[node] += 1
        state = after if asked[node] > node else before
        return await state.handlers[request_class](node, request)

    return StandInCluster(2, {request_class: answer})


async def test_acls_are_waited_for_at_every_node() -> None:
    lagging = nodes_with(DescribeAclsRequest, EmbeddedState(), EmbeddedState(ACLS))
    async with lagging as cluster, cluster.client() as client:
        assert (await client.wait_for_acls(ACLS)).all() == dict.fromkeys(ACLS)
        assert Counter(node for node, _ in cluster.asked) == {1: 2, 2: 3}


async def test_deleted_acls_are_waited_for_at_every_node() -> None:
    lagging = nodes_with(DescribeAclsRequest, EmbeddedState(ACLS), EmbeddedState())
    async with lagging as cluster, cluster.client() as client:
        assert (await client.wait_for_acls(ACLS, deleted=True)).all() == dict.fromkeys(ACLS)
        assert Counter(node for node, _ in cluster.asked) == {1: 2, 2: 3}


async def test_many_acls_are_one_request_with_their_common_filter() -> None:
    async with StandInCluster(1, EmbeddedState([ACL, *ACLS]).handlers) as cluster, cluster.client() as client:
        (await client.wait_for_acls([ACL, *ACLS])).all()
        ((_, request),) = cluster.asked
        assert isinstance(request, DescribeAclsRequest)
        assert (request.principal_filter, request.resource_name_filter) == ("User:alice", None)


async def test_an_acl_that_stays_invisible_is_reported_with_what_is_missing() -> None:
    unsound = replace(ACL, resource_name="")
    async with StandInCluster(2, EmbeddedState(ACLS).handlers) as cluster, cluster.client() as client:
        results = await client.wait_for_acls([*ACLS, ACL, unsound], timeout=HURRIED)
        assert list(results.values()) == ACLS
        assert isinstance(results.errors()[ACL], OperationTimeoutError)
        assert isinstance(results.errors()[ACL].__cause__, ResourceNotFoundError)
        assert isinstance(results.errors()[unsound], InvalidRequestError)
        staying = (await client.wait_for_acls(ACLS[:1], deleted=True, timeout=HURRIED)).errors()[ACLS[0]]
        assert isinstance(staying.__cause__, DuplicateResourceError)


async def test_a_cluster_without_acls_is_not_waited_for() -> None:
    stand_in = EmbeddedState()
    stand_in.refusal = ErrorCode.SECURITY_DISABLED, "no authorizer"
    async with StandInCluster(1, stand_in.handlers) as cluster, cluster.client() as client:
        assert isinstance((await client.wait_for_acls([ACL])).errors()[ACL], SecurityDisabledError)
        assert len(cluster.asked) == 1


async def test_quotas_are_waited_for_at_every_node() -> None:
    """Removed quotas must be gone; other quotas do not matter."""
    before = EmbeddedState(
        quotas={ALICE: {PRODUCER_BYTE_RATE: 1.0, CONSUMER_BYTE_RATE: 5.0}, BOB: {PRODUCER_BYTE_RATE: 1.0}}
    )
    after = EmbeddedState(quotas={ALICE: {PRODUCER_BYTE_RATE: 2.0, CONSUMER_BYTE_RATE: 5.0}})
    alterations = [
        ClientQuotaAlteration(ALICE, {PRODUCER_BYTE_RATE: 2.0}),
        ClientQuotaAlteration(BOB, {PRODUCER_BYTE_RATE: None}),
    ]
    lagging = nodes_with(DescribeClientQuotasRequest, before, after)
    async with lagging as cluster, cluster.client() as client:
        assert (await client.wait_for_client_quotas(alterations)).all() == {ALICE: None, BOB: None}
        assert Counter(node for node, _ in cluster.asked) == {1: 2, 2: 3}


async def test_the_quotas_of_one_entity_are_asked_for_alone() -> None:
    stand_in = EmbeddedState(quotas={ALICE: {PRODUCER_BYTE_RATE: 2.0}})
    async with StandInCluster(1, stand_in.handlers) as cluster, cluster.client() as client:
        (await client.wait_for_client_quotas([ClientQuotaAlteration(ALICE, {PRODUCER_BYTE_RATE: 2.0})])).all()
        ((_, request),) = cluster.asked
        assert isinstance(request, DescribeClientQuotasRequest)
        assert ([part.match for part in request.components], request.strict) == (["alice"], True)


async def test_a_quota_that_stays_invisible_is_reported_with_what_is_missing() -> None:
    stand_in = EmbeddedState(quotas={ALICE: {PRODUCER_BYTE_RATE: 2.0}})
    twice = [ClientQuotaAlteration(BOB, {PRODUCER_BYTE_RATE: value}) for value in (1.0, 2.0)]
    other = ClientQuotaAlteration(ALICE, {PRODUCER_BYTE_RATE: 3.0})
    async with StandInCluster(2, stand_in.handlers) as cluster, cluster.client() as client:
        errors = (await client.wait_for_client_quotas([other, *twice], timeout=HURRIED)).errors()
        assert isinstance(errors[ALICE], OperationTimeoutError)
        assert isinstance(errors[ALICE].__cause__, ResourceNotFoundError)
        assert PRODUCER_BYTE_RATE in str(errors[ALICE].__cause__)
        assert isinstance(errors[BOB], InvalidRequestError)


async def test_a_user_without_the_right_to_see_quotas_does_not_wait() -> None:
    stand_in = EmbeddedState()
    stand_in.refusal = ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "no"
    async with StandInCluster(1, stand_in.handlers) as cluster, cluster.client(FAST) as client:
        waiting = client.wait_for_client_quotas([ClientQuotaAlteration(ALICE, {PRODUCER_BYTE_RATE: 1.0})])
        assert isinstance((await waiting).errors()[ALICE], ClusterAuthorizationFailedError)
        assert len(cluster.asked) == 1
