"""Which kind a group is of."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.embedded.groups import opened_groups_by_kind

from kafkawire.broker import ManualClock
from kafkawire.broker.groups.by_kind import GroupsByKind
from kafkawire.protocol import (
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    GroupMetadataKey,
    GroupMetadataValue,
    ShareGroupMetadataKey,
    ShareGroupMetadataValue,
    StreamsGroupMetadataKey,
    StreamsGroupMetadataValue,
)

KINDS = ("classic", "consumer", "share", "streams")


@pytest.fixture
async def groups(tmp_path: Path) -> AsyncIterator[GroupsByKind]:
    """A group of each kind, with its name."""
    async with opened_groups_by_kind(tmp_path, ManualClock()) as (coordinator, groups):
        await coordinator.prepare(KINDS)
        coordinator.commit(
            [
                (GroupMetadataKey("classic"), GroupMetadataValue("consumer", 1, None, None, -1)),
                (ConsumerGroupMetadataKey("consumer"), ConsumerGroupMetadataValue(1)),
                (ShareGroupMetadataKey("share"), ShareGroupMetadataValue(1)),
                (StreamsGroupMetadataKey("streams"), StreamsGroupMetadataValue(1)),
            ]
        )
        yield groups


async def test_a_group_is_of_one_kind(groups: GroupsByKind) -> None:
    finds = (groups.classic.group, groups.consumer.group, groups.share.group, groups.streams.group)
    for kind, find in zip(KINDS, finds, strict=True):
        assert [each for each in KINDS if find(each) is not None] == [kind]


async def test_partitions_are_assigned_by_the_coordinator_except_in_classic_groups(groups: GroupsByKind) -> None:
    found = [groups.assigned(kind) for kind in KINDS]
    assert [None if each is None else each.group_id for each in found] == [None, "consumer", "share", "streams"]


async def test_members_of_share_groups_commit_no_offsets(groups: GroupsByKind) -> None:
    found = [groups.committing(kind) for kind in KINDS]
    assert [None if each is None else each.group_id for each in found] == [None, "consumer", None, "streams"]
    assert [groups.commit_rules(kind) is not None for kind in KINDS] == [False, True, False, True]
