"""The records and the answers of a streams group, field by field, as Apache Kafka has them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.embedded.streams_members import joining
from tests.unit.broker.groups.streams.test_streams_group import CLIENT, NOW, group_with_topic

from kafkawire.broker.groups.streams.states import StreamsMemberState
from kafkawire.broker.groups.streams.statuses import StreamsStatus
from kafkawire.protocol import (
    StreamsGroupCurrentMemberAssignmentKey,
    StreamsGroupCurrentMemberAssignmentValue,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    StreamsGroupMemberMetadataKey,
    StreamsGroupMemberMetadataValue,
    StreamsGroupMetadataKey,
    StreamsGroupMetadataValue,
    StreamsGroupTargetAssignmentMemberKey,
    StreamsGroupTargetAssignmentMemberValue,
    StreamsGroupTargetAssignmentMetadataKey,
    StreamsGroupTargetAssignmentMetadataValue,
    StreamsGroupTopologyKey,
    StreamsGroupTopologyValue,
)

Request = StreamsGroupHeartbeatRequest
Response = StreamsGroupHeartbeatResponse
Current = StreamsGroupCurrentMemberAssignmentValue
Target = StreamsGroupTargetAssignmentMemberValue
Metadata = StreamsGroupMemberMetadataValue
JOINS = replace(
    joining("a"),
    rack_id="rack",
    user_endpoint=Request.Endpoint("host", 80),
    client_tags=(Request.KeyValue("zone", "1"), Request.KeyValue("cluster", "2")),
)


@pytest.mark.parametrize("is_later", [False, True], ids=["4.3", "4.4"])
def test_a_member_joins_and_leaves(*, is_later: bool) -> None:
    group = group_with_topic(is_later=is_later)
    ends = Response.EndpointToPartitions(
        Response.Endpoint("host", 80), (Response.TopicPartition("orders", (0, 1)),), ()
    )
    assert group.heartbeat(JOINS, CLIENT, NOW).response == Response(
        member_id="a",
        member_epoch=2,
        heartbeat_interval_ms=5000,
        task_offset_interval_ms=60_000 if is_later else 0,
        acceptable_recovery_lag=10_000 if is_later else -1,
        status=(),
        active_tasks=(Response.TaskIds("0", (0, 1)),),
        standby_tasks=(),
        warmup_tasks=(),
        endpoint_information_epoch=0,
        partitions_by_user_endpoint=(ends,),
    )
    configs = (StreamsGroupMetadataValue.LastAssignmentConfig("num.standby.replicas", "0"),)
    topology = StreamsGroupTopologyValue(0, (StreamsGroupTopologyValue.Subtopology("0", ("orders",)),))
    metadata_hash = group.state.metadata_hash
    assert metadata_hash
    assert group.changes() == [
        (
            StreamsGroupMemberMetadataKey("g", "a"),
            Metadata(
                None,
                "rack",
                *CLIENT,
                10_000,
                0,
                "process of a",
                Metadata.Endpoint("host", 80),
                (Metadata.KeyValue("cluster", "2"), Metadata.KeyValue("zone", "1")),
            ),
        ),
        (StreamsGroupTopologyKey("g"), topology),
        (StreamsGroupMetadataKey("g"), StreamsGroupMetadataValue(2, metadata_hash, 0, configs)),
        (StreamsGroupTargetAssignmentMemberKey("g", "a"), Target((Target.TaskIds("0", (0, 1)),))),
        (StreamsGroupTargetAssignmentMetadataKey("g"), StreamsGroupTargetAssignmentMetadataValue(2, NOW.ms)),
        (
            StreamsGroupCurrentMemberAssignmentKey("g", "a"),
            Current(2, 0, 1, (Current.TaskIds("0", (0, 1), (2, 2)),)),
        ),
    ]
    assert group.leave(Request("g", "a", -1)) == Response(member_id="a", member_epoch=-1)
    end = (StreamsGroupTargetAssignmentMetadataKey("g"), StreamsGroupTargetAssignmentMetadataValue(3, 0))
    assert group.changes() == [
        (StreamsGroupCurrentMemberAssignmentKey("g", "a"), None),
        (StreamsGroupTargetAssignmentMemberKey("g", "a"), None),
        (StreamsGroupMemberMetadataKey("g", "a"), None),
        (StreamsGroupMetadataKey("g"), StreamsGroupMetadataValue(3, metadata_hash, 0, configs)),
        *([end] if is_later else []),
    ]


def test_a_broker_that_has_restarted_begins_with_the_endpoint_epoch_0() -> None:
    """An instance that has learned of a later one gets the partitions of all instances again."""
    group = group_with_topic()
    epoch = group.heartbeat(JOINS, CLIENT, NOW).response.member_epoch
    again = group_with_topic(records=[*group.changes()])
    for known, is_answered in ((0, False), (-1, True), (1, True)):
        answer = again.heartbeat(Request("g", "a", epoch, known), CLIENT, NOW).response
        assert answer.endpoint_information_epoch == 0
        assert (answer.partitions_by_user_endpoint is not None) is is_answered


def test_the_states_of_members_have_the_numbers_of_apache_kafka() -> None:
    assert {state.name: state.value for state in StreamsMemberState} == {
        "STABLE": 1, "UNREVOKED_TASKS": 2, "UNRELEASED_TASKS": 3, "UNKNOWN": 127,
    }  # fmt: skip
    read = [StreamsMemberState.of(number) for number in (-1, 0, 1, 2, 3, 4, 126, 127)]
    assert read == [127, 127, 1, 2, 3, 127, 127, 127]


def test_conditions_have_the_numbers_of_kip_1071() -> None:
    assert {status.name: status.value for status in StreamsStatus} == {
        "STALE_TOPOLOGY": 0,
        "MISSING_SOURCE_TOPICS": 1,
        "INCORRECTLY_PARTITIONED_TOPICS": 2,
        "MISSING_INTERNAL_TOPICS": 3,
        "SHUTDOWN_APPLICATION": 4,
        "ASSIGNMENT_DELAYED": 5,
    }


def endpoint_epochs(*, is_later: bool) -> list[int]:
    """The endpoint epochs of a group whose members have endpoints, change them, and get other tasks."""
    group = group_with_topic(is_later=is_later)
    epochs = []

    def send(member_id: str, **changed: object) -> None:
        member = group.state.members.get(member_id)
        request = joining(member_id) if member is None else Request("g", member_id, member.epoch)
        epochs.append(group.heartbeat(replace(request, **changed), CLIENT, NOW).response.endpoint_information_epoch)

    one, two = Request.Endpoint("one", 1), Request.Endpoint("two", 2)
    all_tasks = {"active_tasks": (Request.TaskIds("0", (0, 1)),), "standby_tasks": (), "warmup_tasks": ()}
    send("a", user_endpoint=one)  # the group is made again from its records after this
    send("a")
    send("a", user_endpoint=one)
    send("a", user_endpoint=two)
    send("b")  # has no tasks yet
    send("b")
    send("a", **all_tasks)  # gives up a task
    send("a", active_tasks=(Request.TaskIds("0", (0,)),), standby_tasks=(), warmup_tasks=())
    send("b")  # gets it, and has no endpoint
    send("b", user_endpoint=one)
    send("b")
    return epochs


def test_instances_ask_again_when_the_partitions_of_an_instance_have_changed() -> None:
    """In 4.4 when an endpoint has changed too, in 4.3 when a member with an endpoint joins or has other tasks."""
    assert endpoint_epochs(is_later=True) == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3]
    assert endpoint_epochs(is_later=False) == [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1]


def test_all_members_learn_of_the_first_that_wants_the_application_to_end() -> None:
    group = group_with_topic()
    for member_id in ("a", "b", "c"):
        group.heartbeat(joining(member_id), CLIENT, NOW)

    def statuses(member_id: str, *, wants: bool) -> list[tuple[int, str]]:
        beat = Request("g", member_id, group.state.members[member_id].epoch, shutdown_application=wants)
        answer = group.heartbeat(beat, CLIENT, NOW).response
        return [(each.status_code, each.status_detail) for each in answer.status or ()]

    assert statuses("c", wants=False) == []
    detail = "encountered a fatal error and requested a shutdown for the entire application."
    expected = [(StreamsStatus.SHUTDOWN_APPLICATION.value, f"Streams group member b {detail}")]
    assert statuses("b", wants=True) == statuses("a", wants=True) == statuses("c", wants=False) == expected
    for member_id in ("a", "b", "c"):
        group.leave(Request("g", member_id, -1))
    group.heartbeat(joining("a"), CLIENT, NOW)
    assert statuses("a", wants=False) == []
