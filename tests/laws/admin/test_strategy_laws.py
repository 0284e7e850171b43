"""All strategies for filters give the same results, for any filters (KIP-888, F4 to F9)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import get_args

from hypothesis import given, settings, strategies as st
from msgspec.structs import replace
from tests.hypothesis_profiles import scaled
from tests.laws.model.acl_strategies import acls, filters
from tests.laws.model.quota_strategies import entities as quota_entities, filters as quota_filters
from tests.stand_ins.cluster import FAST, StandInCluster
from tests.stand_ins.embedded_state import EmbeddedState

from kafkawire.admin.operations.strategies import Strategy
from kafkawire.model.acls.bindings import AclBinding, AclBindingFilter, ResourceType
from kafkawire.model.acls.matching import matches as acl_matches
from kafkawire.model.quotas.entities import ClientQuotaEntity, ClientQuotaFilter, ClientQuotaFilterComponent
from kafkawire.model.quotas.matching import matches as quota_matches
from kafkawire.model.quotas.validation import refusal_of_filter
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
WITH_PROPOSALS = replace(FAST, proposals=True, call_timeout=20.0, request_timeout=20.0)
BATCHES: Mapping[int, range] = {ApiKey.DESCRIBE_ACLS: range(1, 5), ApiKey.DESCRIBE_CLIENT_QUOTAS: range(3)}

refusals = st.sampled_from(
    (None, None, (ErrorCode.SECURITY_DISABLED, "no"), (ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ""))
)
odd_acl_filters = filters | st.just(AclBindingFilter(ResourceType.UNKNOWN))
odd_quota_filters = quota_filters | st.just(ClientQuotaFilter((ClientQuotaFilterComponent.any("planet"),)))


@settings(max_examples=scaled(40))
@given(st.lists(acls, max_size=20), st.lists(odd_acl_filters, max_size=8), refusals)
def test_acls(
    there: Sequence[AclBinding], wanted: Sequence[AclBindingFilter], refusal: tuple[ErrorCode, str] | None
) -> None:
    async def ask() -> None:
        stand_in = EmbeddedState(there)
        stand_in.refusal = refusal
        cluster = StandInCluster(1, stand_in.handlers, versions=BATCHES)
        async with cluster, cluster.client(WITH_PROPOSALS) as client:
            ways = [await client.describe_acls(wanted, strategy=strategy) for strategy in STRATEGIES]
        assert list(ways[0]) == list(wanted)
        for other in ways[1:]:
            assert other == ways[0]
        for one, found in ways[0].values().items():
            assert found == tuple(sorted({acl for acl in there if acl_matches(one, acl)}))
        for one, error in ways[0].errors().items():
            assert refusal is not None or one.is_unknown, error

    asyncio.run(ask())


@settings(max_examples=scaled(40))
@given(
    st.dictionaries(quota_entities, st.dictionaries(st.sampled_from("abc"), st.floats(1, 9), min_size=1), max_size=12),
    st.lists(odd_quota_filters, max_size=8),
    refusals,
)
def test_quotas(
    there: Mapping[ClientQuotaEntity, Mapping[str, float]],
    wanted: Sequence[ClientQuotaFilter],
    refusal: tuple[ErrorCode, str] | None,
) -> None:
    async def ask() -> None:
        stand_in = EmbeddedState(quotas=there)
        stand_in.refusal = refusal
        cluster = StandInCluster(1, stand_in.handlers, versions=BATCHES)
        async with cluster, cluster.client(WITH_PROPOSALS) as client:
            ways = [await client.describe_client_quotas(wanted, strategy=strategy) for strategy in STRATEGIES]
        assert list(ways[0]) == list(wanted)
        for other in ways[1:]:
            assert other == ways[0]
        for one, found in ways[0].values().items():
            assert found == {entity: values for entity, values in there.items() if quota_matches(one, entity)}
        for one, error in ways[0].errors().items():
            assert refusal is not None or refusal_of_filter(one) is not None, error

    asyncio.run(ask())
