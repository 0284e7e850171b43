"""The requirements of methods, which come from the operations that carry them out."""

from __future__ import annotations

import inspect

import pytest
from tests.stand_ins.cluster import FAST, StandInCluster

from kafkawire.admin.client import AdminClient
from kafkawire.admin.connection.versions import BrokerVersions
from kafkawire.admin.needs import Capability, Support, capabilities_of
from kafkawire.admin.requirements import REQUIREMENTS
from kafkawire.protocol.api_table import APIS, ApiKey

METHODS = {name for name, _ in inspect.getmembers(AdminClient, inspect.isfunction) if not name.startswith("_")}
NEWEST = BrokerVersions({key: api.stable_versions for key, api in APIS.items()})


def test_every_method_has_its_requirements() -> None:
    assert REQUIREMENTS.keys() == METHODS - {"close"}


@pytest.mark.parametrize("name", sorted(REQUIREMENTS))
def test_every_way_is_one_that_this_client_can_go(name: str) -> None:
    for way in REQUIREMENTS[name].ways:
        known = APIS[way.api].versions
        highest = known[-1] if way.maximum_version is None else way.maximum_version
        assert set(known) & set(range(way.minimum_version, highest + 1))
        assert highest in known


@pytest.mark.parametrize("name", sorted(REQUIREMENTS))
def test_nothing_is_supported_where_nothing_is_offered(name: str) -> None:
    nothing = capabilities_of(REQUIREMENTS, BrokerVersions({}), controller=False, proposals=False)
    assert nothing[name] == Capability(Support.UNSUPPORTED)
    assert (
        capabilities_of(REQUIREMENTS, NEWEST, controller=False, proposals=False)[name].support
        is not Support.UNSUPPORTED
    )


def test_the_best_way_that_is_offered_is_reported_with_its_version() -> None:
    older = {**NEWEST.ranges, ApiKey.METADATA: range(8)}
    del older[ApiKey.DESCRIBE_TOPIC_PARTITIONS]
    found = capabilities_of(REQUIREMENTS, BrokerVersions(older), controller=False, proposals=False)
    assert found["describe_topics"] == Capability(Support.FALLBACK, ApiKey.METADATA, 7)
    assert found["list_topics"] == Capability(Support.SUPPORTED, ApiKey.METADATA, 7)


def test_an_api_that_is_too_old_for_the_operation_does_not_serve_its_method() -> None:
    older = {**NEWEST.ranges, ApiKey.METADATA: range(4)}
    found = capabilities_of(REQUIREMENTS, BrokerVersions(older), controller=False, proposals=False)
    assert found["list_topics"].support is Support.SUPPORTED
    assert found["wait_for_topics"].support is Support.UNSUPPORTED


def test_every_step_of_a_method_must_be_possible() -> None:
    older: dict[int, range] = {**NEWEST.ranges, ApiKey.OFFSET_FETCH: range(8)}
    found = capabilities_of(REQUIREMENTS, BrokerVersions(older), controller=False, proposals=False)
    assert found["group_lag"] == Capability(Support.FALLBACK, ApiKey.OFFSET_FETCH, 7)
    assert found["reset_offsets"] == Capability(Support.FALLBACK, ApiKey.OFFSET_COMMIT, 9)
    del older[ApiKey.LIST_OFFSETS]
    without = capabilities_of(REQUIREMENTS, BrokerVersions(older), controller=False, proposals=False)
    assert [without[name] for name in ("group_lag", "reset_offsets")] == [Capability(Support.UNSUPPORTED)] * 2


@pytest.mark.parametrize("name", [name for name, needed in REQUIREMENTS.items() if needed.further])
def test_further_steps_can_be_taken_too(name: str) -> None:
    for way in (way for step in REQUIREMENTS[name].further for way in step):
        assert way.minimum_version in APIS[way.api].versions
        assert way.maximum_version is None or way.maximum_version in APIS[way.api].versions


def test_proposals_count_only_where_they_are_allowed() -> None:
    offered = BrokerVersions({key: api.versions for key, api in APIS.items()})
    with_proposals = capabilities_of(REQUIREMENTS, offered, controller=False, proposals=True)["describe_acls"]
    without = capabilities_of(REQUIREMENTS, offered, controller=False, proposals=False)["describe_acls"]
    assert (with_proposals.support, with_proposals.version) == (Support.SUPPORTED, 4)
    assert (without.support, without.version) == (Support.FALLBACK, 3)


def test_controllers_support_the_methods_that_they_serve() -> None:
    found = capabilities_of(REQUIREMENTS, NEWEST, controller=True, proposals=False)
    assert found["create_topics"].support is Support.UNSUPPORTED
    assert found["describe_metadata_quorum"].support is Support.SUPPORTED


async def test_the_versions_of_each_node_are_queried_again() -> None:
    async with StandInCluster(2) as cluster, cluster.client() as client:
        first = (await client.capabilities()).all()
        assert list(first) == [1, 2]
        assert first[1]["list_topics"].support is Support.SUPPORTED
        assert first[1]["create_topics"].support is Support.UNSUPPORTED
        cluster.brokers[2].versions[ApiKey.CREATE_TOPICS] = range(3)
        assert (await client.capabilities([2]))[2]["create_topics"].version == 2


async def test_controllers_are_asked_as_controllers() -> None:
    async with StandInCluster(2) as cluster:
        async with AdminClient(bootstrap_controllers=cluster.bootstrap, settings=FAST) as client:
            found = (await client.capabilities()).all()
        assert found[1]["list_topics"].support is Support.UNSUPPORTED
        assert found[2]["describe_cluster"].support is Support.SUPPORTED
