"""The record and the answers of a classic group, field by field, as Apache Kafka has them."""

from __future__ import annotations

from tests.embedded.driven_group import SUBSCRIPTION, Driven
from tests.embedded.received import received

from kafkawire.broker.groups.classic.group_records import members_of
from kafkawire.broker.groups.classic.rebalance import first_value
from kafkawire.broker.groups.timers import Now
from kafkawire.protocol import GroupMetadataValue, JoinGroupResponse, SyncGroupResponse
from kafkawire.protocol.error_codes import ErrorCode

Recorded = GroupMetadataValue.MemberMetadata
Joined = JoinGroupResponse.JoinGroupResponseMember


def test_two_members_join_sync_and_leave() -> None:
    driven = Driven()
    tickets = [driven.join(instance_id="one", session_ms=7000, rebalance_ms=30_000), driven.join()]
    driven.wait(3)
    driven.wait(3)
    leader, other = "one-1", "c-2"
    listed = (Joined(leader, "one", SUBSCRIPTION), Joined(other, None, SUBSCRIPTION))
    for ticket, member_id, members in ((tickets[0], leader, listed), (tickets[1], other, ())):
        assert driven.joined(ticket) == JoinGroupResponse(
            generation_id=1,
            protocol_type="consumer",
            protocol_name="range",
            leader=leader,
            member_id=member_id,
            members=members,
        )
    assert not driven.values, "a generation without assignments has no record"
    driven.seconds += 1
    waits = driven.sync(other)
    synced = driven.sync(leader, {leader: b"\1", other: b"\2"})
    for ticket, assignment in ((synced, b"\1"), (waits, b"\2")):
        assert driven.answers[ticket] == SyncGroupResponse(
            protocol_type="consumer", protocol_name="range", assignment=assignment
        )
    value = GroupMetadataValue(
        protocol_type="consumer",
        generation=1,
        protocol="range",
        leader=leader,
        current_state_timestamp=6000,
        members=(
            Recorded(leader, "one", "c", "/127.0.0.1", 30_000, 7000, SUBSCRIPTION, b"\1"),
            Recorded(other, None, "c", "/127.0.0.1", 20_000, 10_000, SUBSCRIPTION, b"\2"),
        ),
    )
    assert driven.values == [value]
    driven.leave((leader, None), (other, None))
    assert driven.values[1:] == [
        GroupMetadataValue(
            protocol_type="consumer", generation=2, protocol=None, leader=None, current_state_timestamp=7000, members=()
        )
    ]


def test_the_first_record_of_a_group_has_no_protocol() -> None:
    assert first_value(Now(5.0, 7)) == GroupMetadataValue(
        protocol_type="", generation=0, protocol=None, leader=None, current_state_timestamp=7, members=()
    )


def test_a_record_without_a_rebalance_timeout_has_that_of_the_session() -> None:
    """As releases before 0.10.1 wrote it."""
    members = [Recorded("a", None, "c", "/h", timeout, 9000, b"\0", b"\1") for timeout in (-1, 0, 5, -2)]
    value = GroupMetadataValue(protocol="range", members=tuple(members))
    assert [(each.rebalance_timeout_ms, each.session_timeout_ms) for each in members_of(value)] == [
        (9000, 9000), (0, 9000), (5, 9000), (-2, 9000),
    ]  # fmt: skip


def test_a_client_that_is_to_join_again_gets_its_id_and_nothing_else() -> None:
    driven = Driven()
    assert driven.joined(driven.join(version=4)) == JoinGroupResponse(
        error_code=ErrorCode.MEMBER_ID_REQUIRED,
        generation_id=-1,
        protocol_type=None,
        protocol_name=None,
        leader="",
        skip_assignment=False,
        member_id="c-1",
        members=(),
    )


def test_a_group_whose_last_member_leaves_waits_for_no_client_that_has_an_id_only() -> None:
    """No member has a rebalance timeout then."""
    driven = Driven()
    driven.join()
    driven.wait(3)
    driven.sync("c-1")
    driven.join(version=4)
    driven.leave(("c-1", None))
    driven.wait(0)
    assert [value.generation for value in driven.values] == [1, 2]
    assert driven.values[-1].members == ()
    assert [*driven.group.roster.pending] == ["c-2"]


def test_a_group_that_was_read_goes_on_with_its_leader() -> None:
    driven = Driven()
    driven.join()
    driven.join()
    driven.wait(3)
    driven.wait(3)
    driven.sync("c-1", {})
    (value,) = driven.values
    read = Driven(value=received(value, 3))
    tickets = [read.join("c-1"), read.join("c-2")]
    listed = [[each.member_id for each in read.joined(ticket).members] for ticket in tickets]
    assert listed == [["c-1", "c-2"], []]
    assert {read.joined(ticket).leader for ticket in tickets} == {"c-1"}
    synced = [read.sync("c-2"), read.sync("c-1", {"c-2": b"\2"})]
    answers = [read.answers[ticket] for ticket in synced]
    assert [isinstance(each, SyncGroupResponse) and bytes(each.assignment) for each in answers] == [b"\2", b""]
