"""The records and the answers of a share group, field by field, as Apache Kafka has them."""

from __future__ import annotations

from tests.unit.broker.groups.share.test_share_group import ASSIGNMENT_MS, HASH, TOPIC, beat, group_with_topic

from kafkawire.broker.groups.timers import Now
from kafkawire.protocol import (
    ShareGroupCurrentMemberAssignmentKey,
    ShareGroupCurrentMemberAssignmentValue,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    ShareGroupMemberMetadataKey,
    ShareGroupMemberMetadataValue,
    ShareGroupMetadataKey,
    ShareGroupMetadataValue,
    ShareGroupStatePartitionMetadataKey,
    ShareGroupStatePartitionMetadataValue,
    ShareGroupTargetAssignmentMemberKey,
    ShareGroupTargetAssignmentMemberValue,
    ShareGroupTargetAssignmentMetadataKey,
    ShareGroupTargetAssignmentMetadataValue,
)

Current = ShareGroupCurrentMemberAssignmentValue
Target = ShareGroupTargetAssignmentMemberValue
Shared = ShareGroupStatePartitionMetadataValue
Response = ShareGroupHeartbeatResponse


def test_a_member_joins_gets_a_partition_that_has_a_state_and_leaves() -> None:
    group = group_with_topic()
    shared = (Shared.TopicPartitionsInfo(TOPIC, "orders", (0,)),)
    assert beat(group, 0, 0) == Response(
        member_id="m", member_epoch=2, heartbeat_interval_ms=5000, assignment=Response.Assignment()
    )
    assert group.changes() == [
        (ShareGroupMemberMetadataKey("g", "m"), ShareGroupMemberMetadataValue(None, "c", "/h", ("orders",))),
        (ShareGroupMetadataKey("g"), ShareGroupMetadataValue(2, HASH)),
        (ShareGroupTargetAssignmentMemberKey("g", "m"), Target()),
        (ShareGroupTargetAssignmentMetadataKey("g"), ShareGroupTargetAssignmentMetadataValue(2, 1_000_000)),
        (ShareGroupCurrentMemberAssignmentKey("g", "m"), Current(2, 0)),
        (ShareGroupStatePartitionMetadataKey("g"), Shared(shared)),
    ]
    group.begin(group.partitions.initializing)
    assert group.changes() == [(ShareGroupStatePartitionMetadataKey("g"), Shared((), shared))]
    assigned = Response.Assignment((Response.TopicPartitions(TOPIC, (0,)),))
    assert beat(group, 2, ASSIGNMENT_MS) == Response(
        member_id="m", member_epoch=3, heartbeat_interval_ms=5000, assignment=assigned
    )
    at_ms = 1_000_000 + ASSIGNMENT_MS
    assert group.changes() == [
        (ShareGroupMetadataKey("g"), ShareGroupMetadataValue(3, HASH)),
        (ShareGroupTargetAssignmentMemberKey("g", "m"), Target((Target.TopicPartition(TOPIC, (0,)),))),
        (ShareGroupTargetAssignmentMetadataKey("g"), ShareGroupTargetAssignmentMetadataValue(3, at_ms)),
        (
            ShareGroupCurrentMemberAssignmentKey("g", "m"),
            Current(3, 2, 0, (Current.TopicPartitions(TOPIC, (0,)),)),
        ),
    ]
    assert group.leave(ShareGroupHeartbeatRequest("g", "m", -1)) == Response(member_id="m", member_epoch=-1)
    assert group.changes() == [
        (ShareGroupCurrentMemberAssignmentKey("g", "m"), None),
        (ShareGroupTargetAssignmentMemberKey("g", "m"), None),
        (ShareGroupMemberMetadataKey("g", "m"), None),
        (ShareGroupMetadataKey("g"), ShareGroupMetadataValue(4, 0)),
    ]


def test_a_heartbeat_changes_what_it_has_and_nothing_else() -> None:
    group = group_with_topic()
    recorded = []
    for rack_id, names, client in (
        ("rack", ("orders",), ("c", "/h")),
        (None, None, ("c", "/h")),
        (None, None, ("other", "/h")),
        (None, None, ("other", "/there")),
        ("another", None, ("other", "/there")),
        (None, ("payments", "orders"), ("other", "/there")),
    ):
        member = group.state.members.get("m")
        epoch = 0 if member is None else member.epoch
        group.heartbeat(ShareGroupHeartbeatRequest("g", "m", epoch, rack_id, names), client, Now(1000.0, 1_000_000))
        recorded += [value for key, value in group.changes() if isinstance(key, ShareGroupMemberMetadataKey)]
    metadata = ShareGroupMemberMetadataValue
    assert recorded == [
        metadata("rack", "c", "/h", ("orders",)),
        metadata("rack", "other", "/h", ("orders",)),
        metadata("rack", "other", "/there", ("orders",)),
        metadata("another", "other", "/there", ("orders",)),
        metadata("another", "other", "/there", ("orders", "payments")),
    ]
