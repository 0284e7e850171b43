"""ACLs whose hosts are ranges of addresses, at clusters that let these match clients and at others (A23)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.stand_ins.cluster import StandInCluster
from tests.stand_ins.embedded_state import EmbeddedState

from kafkawire.admin.operations.cluster import DescribeFeatures
from kafkawire.model.acls.bindings import AclBinding, AclOperation, ResourceType
from kafkawire.model.acls.hosts import RANGES_SINCE
from kafkawire.model.cluster import FeatureLevels, Features
from kafkawire.protocol.errors import InvalidRequestError

ACL = AclBinding(ResourceType.TOPIC, "foo", "User:alice", AclOperation.READ)
OF_RANGE = replace(ACL, host="10.0.0.0/8")


def use_level(monkeypatch: pytest.MonkeyPatch, level: int) -> None:
    """Have the cluster be at a level of ``metadata.version``."""
    features = Features(supported={}, finalized={"metadata.version": FeatureLevels(1, level)}, finalized_epoch=1)
    monkeypatch.setattr(DescribeFeatures, "read", lambda *_: {None: features})


async def test_ranges_are_refused_where_they_match_no_client() -> None:
    """The stand-in has no level of metadata.version."""
    stand_in = EmbeddedState()
    async with StandInCluster(1, stand_in.handlers) as cluster, cluster.client() as client:
        results = await client.create_acls([OF_RANGE, ACL])
        assert results.values() == {ACL: None}
        assert "matches no client of this cluster" in str(results.errors()[OF_RANGE])
        (await client.create_acls([OF_RANGE], allow_without_effect=True)).all()
        assert list(stand_in.acls) == [ACL, OF_RANGE]


@pytest.mark.parametrize(("level", "stored"), [(RANGES_SINCE - 1, [ACL]), (RANGES_SINCE, [OF_RANGE, ACL])])
async def test_the_level_of_metadata_version_decides(
    level: int, stored: list[AclBinding], monkeypatch: pytest.MonkeyPatch
) -> None:
    use_level(monkeypatch, level)
    stand_in = EmbeddedState()
    async with StandInCluster(1, stand_in.handlers) as cluster, cluster.client() as client:
        errors = (await client.create_acls([OF_RANGE, ACL])).errors()
        assert list(stand_in.acls) == stored
        assert [type(error) for error in errors.values()] == [InvalidRequestError] * (2 - len(stored))


async def test_what_is_no_range_is_refused_at_every_level(monkeypatch: pytest.MonkeyPatch) -> None:
    use_level(monkeypatch, RANGES_SINCE)
    stand_in = EmbeddedState()
    async with StandInCluster(1, stand_in.handlers) as cluster, cluster.client() as client:
        wrong = [replace(ACL, host=host) for host in ("10.0.0.0/33", "10.0.0/8", "example.com/8")]
        assert list((await client.create_acls(wrong)).errors()) == wrong
        assert not stand_in.acls
