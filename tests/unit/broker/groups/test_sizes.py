"""About how many bytes groups keep of what their clients send: each part of it counts."""

from __future__ import annotations

import pytest

from kafkawire.broker.groups.classic import roster
from kafkawire.broker.groups.classic.group import Joining
from kafkawire.broker.groups.consumer.conversion import classic_metadata
from kafkawire.broker.groups.consumer.joining import Beat
from kafkawire.broker.groups.consumer.live_groups import check_regex
from kafkawire.broker.groups.consumer.member import Member
from kafkawire.broker.groups.share.member import ShareMember
from kafkawire.broker.groups.state import CONSUMER_KEYS, SHARE_KEYS, STREAMS_KEYS, Group, GroupsState
from kafkawire.broker.groups.streams.member import Endpoint, StreamsMember, size_of_tags
from kafkawire.broker.storage.unwritten_batches import Producer
from kafkawire.protocol import (
    ConsumerGroupHeartbeatRequest,
    GroupMetadataKey,
    GroupMetadataValue,
    JoinGroupRequest,
    OffsetCommitKey,
    OffsetCommitValue,
    ShareGroupMemberMetadataKey,
    ShareGroupMemberMetadataValue,
    ShareGroupMetadataKey,
    ShareGroupMetadataValue,
    StreamsGroupMetadataKey,
    StreamsGroupMetadataValue,
)
from kafkawire.wire import Message

PROTOCOLS = (("range", bytes(70)), ("other-one", bytes(3)))
TAGS = {"zone": "1", "region": "somewhere"}


def joining(instance_id: str | None) -> Joining:
    protocols = tuple(JoinGroupRequest.JoinGroupRequestProtocol(*each) for each in PROTOCOLS)
    request = JoinGroupRequest("group", 10_000, 20_000, "member", instance_id, "consumer", protocols)
    return Joining(request, 9, "client", "/host")


def beat(instance_id: str | None, rack_id: str | None, names: tuple[str, ...] | None, regex: str | None) -> Beat:
    request = ConsumerGroupHeartbeatRequest("group", "member", 0, instance_id, rack_id, 9, names, regex, None, ())
    return Beat(request, "client", "/host", check_regex)


@pytest.mark.parametrize(
    ("value", "size"),
    [
        (roster.Member("member", None, "client", "/host", 1, 1, PROTOCOLS), 6 + 6 + 75 + 12),
        (roster.Member("member", "instance", "client", "/host", 1, 1, PROTOCOLS), 6 + 8 + 6 + 75 + 12),
        (roster.Member("", None, "", "/host", 1, 1, ()), 0),
        (joining(None), 6 + 8 + 75 + 12),
        (joining("instance-1"), 6 + 10 + 8 + 75 + 12),
        (beat(None, None, None, None), 6),
        (beat("instance", "rack", ("orders", "others-1"), "o.*"), 6 + 8 + 4 + 6 + 8 + 3),
        (Member("member"), 6),
        (
            Member("member", "instance", "rack", 1, "client", "/host", ("orders", "others-1"), "o.*", "uniform"),
            6 + 8 + 4 + 6 + 6 + 8 + 3 + 7,
        ),
        (Member("member", classic=classic_metadata(10_000, PROTOCOLS)), 6 + 75 + 12),
        (ShareMember("member"), 6),
        (ShareMember("member", "rack", "client", "/host", ("orders", "others-1")), 6 + 4 + 6 + 6 + 8),
        (StreamsMember("member"), 6),
        (
            StreamsMember(
                "member", "rack", "client", "/host", process_id="process", endpoint=Endpoint("localhost", 80),
                tags=TAGS, size_of_tags=size_of_tags(TAGS),
            ),
            6 + 4 + 6 + 7 + 9 + (4 + 1 + 100) + (6 + 9 + 100),
        ),
    ],
)  # fmt: skip
def test_a_member_has_the_size_of_its_names_and_metadata(
    value: roster.Member | Joining | Beat | Member | ShareMember | StreamsMember, size: int
) -> None:
    assert value.size == size


def test_a_group_has_the_size_of_its_records() -> None:
    """A pending commit in whose place a later one is counts until its transaction ends."""
    state = GroupsState()
    state.apply(GroupMetadataKey("g"), GroupMetadataValue("consumer", 1))
    for partition in range(4):
        state.apply(OffsetCommitKey("g", "orders", partition), OffsetCommitValue(1))
    for producer_id, partition in ((1, 2), (1, 3), (2, 3), (2, 4), (3, 5)):
        state.apply(OffsetCommitKey("g", "orders", partition), OffsetCommitValue(2), Producer(producer_id, 0))
    state.apply(ShareGroupMetadataKey("other"), ShareGroupMetadataValue(2))
    assert [group.size for group in state.by_id.values()] == [1 + 4 + 5, 1]
    assert state.size == len([*state.entries()]) == 11
    state.apply(OffsetCommitKey("g", "orders", 2), OffsetCommitValue(3))
    assert (state.size, len([*state.entries()])) == (11, 10)
    assert ([*state.owners()], len(state.entries_of("g")), state.entries_of("gone")) == (["g", "other"], 9, ())
    assert Group("empty").size == 0


def test_a_record_that_deletes_what_is_not_there_changes_nothing() -> None:
    """As of a log from which older records are gone."""
    state = GroupsState()
    keys: list[Message] = [GroupMetadataKey("g"), OffsetCommitKey("g", "orders", 0)]
    keys += [key(group_id="g") for key in (*CONSUMER_KEYS, *SHARE_KEYS, *STREAMS_KEYS)]
    for key in keys:
        state.apply(key, None)
    assert not state.by_id
    state.apply(OffsetCommitKey("g", "orders", 1), OffsetCommitValue(1))
    for key in keys:
        state.apply(key, None)
    assert [*state.entries()] == [(OffsetCommitKey("g", "orders", 1), OffsetCommitValue(1), None)]


@pytest.mark.parametrize("kept", ["commit", "pending", "metadata", "record"])
def test_a_group_stays_while_anything_of_it_is_left(kept: str) -> None:
    state = GroupsState()
    other = ShareGroupMetadataKey("g")
    if kept == "commit":
        state.apply(OffsetCommitKey("g", "orders", 0), OffsetCommitValue(1))
    elif kept == "pending":
        state.apply(OffsetCommitKey("g", "orders", 0), OffsetCommitValue(1), Producer(1, 0))
    elif kept == "metadata":
        state.apply(GroupMetadataKey("g"), GroupMetadataValue())
    else:
        state.apply(StreamsGroupMetadataKey("g"), StreamsGroupMetadataValue(1))
    state.apply(other, ShareGroupMetadataValue(1))
    state.apply(other, None)
    if kept != "metadata":
        state.apply(GroupMetadataKey("g"), GroupMetadataValue())
        state.apply(GroupMetadataKey("g"), None)
    assert state.size == 1


def test_share_groups_are_those_with_records_of_their_kind() -> None:
    state = GroupsState()
    first, second = ShareGroupMetadataKey("g"), ShareGroupMemberMetadataKey("g", "m")
    for key, value, left in (
        (OffsetCommitKey("g", "orders", 0), OffsetCommitValue(1), []),
        (StreamsGroupMetadataKey("streams"), StreamsGroupMetadataValue(1), []),
        (first, ShareGroupMetadataValue(1), ["g"]),
        (second, ShareGroupMemberMetadataValue(), ["g"]),
        (first, None, ["g"]),
        (second, None, []),
        (second, ShareGroupMemberMetadataValue(), ["g"]),
        (StreamsGroupMetadataKey("streams"), None, ["g"]),
    ):
        state.apply(key, value)
        assert [*state.share_groups] == left
    state.clear()
    assert not state.share_groups
