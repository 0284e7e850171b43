"""The members of a classic group: which protocols all of them support, and which one they select."""

from __future__ import annotations

import pytest

from kafkawire.broker.groups.classic.roster import Member, Roster
from kafkawire.protocol.error_codes import ErrorCode


def roster_of(*supported: str) -> Roster:
    """Members with the protocols that each supports, the preferred first: a letter each."""
    roster = Roster()
    for number, names in enumerate(supported):
        protocols = tuple((name, b"") for name in names)
        roster.add(Member(f"m-{number}", None, "c", "/h", 10_000, 10_000, protocols))
    return roster


@pytest.mark.parametrize(
    ("supported", "selected"),
    [
        ((), None),
        (("x",), "x"),
        (("xy", "xy", "y"), "y"),
        (("xyz", "xyz", "zy"), "y"),
        (("xyz", "yxz", "yzx"), "y"),
        (("xy", "yx"), "x"),
        (("yx", "xy"), "x"),
    ],
)
def test_the_protocol_with_most_votes_of_those_that_all_support_is_selected(
    supported: tuple[str, ...], selected: str | None
) -> None:
    """The preferred one of them has the vote of a member; equal votes are counted in the order of Java's map."""
    assert roster_of(*supported).selected_protocol() == selected


def test_a_protocol_is_supported_if_no_member_is_without_it() -> None:
    roster = roster_of("xy", "y")
    assert {name: roster.supports(name) for name in ("x", "y", "z", "xy", "xz", "")} == {
        "x": False, "y": True, "z": False, "xy": True, "xz": False, "": False,
    }  # fmt: skip
    assert roster.supports(["y"])
    last = roster.members["m-1"]
    roster.update(last, (("x", b""),), 10_000, 10_000)
    assert [roster.supports(name) for name in "xy"] == [True, False]
    roster.remove("m-0")
    assert [roster.supports(name) for name in "xy"] == [True, False]
    roster.remove("m-1")
    assert roster.supports("x"), "a group without members supports all"
    assert roster.size == 0


@pytest.mark.parametrize("leader", ["m-0", "m-1", "m-2"])
def test_the_leader_leads_until_it_leaves(leader: str) -> None:
    """Then the first of the others leads."""
    for gone in ("m-0", "m-1", "m-2"):
        roster = roster_of("x", "x", "x")
        assert roster.leader == "m-0"
        roster.leader = leader
        roster.remove(gone)
        left = [each for each in ("m-0", "m-1", "m-2") if each != gone]
        assert roster.leader == (left[0] if gone == leader else leader)


@pytest.mark.parametrize(
    ("member_id", "instance_id", "error"),
    [
        ("b", None, ErrorCode.NONE),
        ("b", "one", ErrorCode.NONE),
        ("a", "one", ErrorCode.FENCED_INSTANCE_ID),
        ("c", "one", ErrorCode.FENCED_INSTANCE_ID),
        ("b", "two", ErrorCode.UNKNOWN_MEMBER_ID),
        ("c", None, ErrorCode.NONE),
        ("d", None, ErrorCode.UNKNOWN_MEMBER_ID),
        ("", None, ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_a_request_of_a_static_member_has_both_of_its_ids(
    member_id: str, instance_id: str | None, error: ErrorCode
) -> None:
    roster = Roster()
    roster.add(Member("b", "one", "c", "/h", 10_000, 10_000, ()))
    roster.add(Member("c", None, "c", "/h", 10_000, 10_000, ()))
    assert roster.error(member_id, instance_id) is error


def test_a_leader_that_has_joined_leads_on_and_else_the_first_that_has() -> None:
    roster = roster_of("x", "x", "x")
    roster.leader = "m-2"
    assert not roster.elect_joined_leader()
    roster.await_join(roster.members["m-1"], 1)
    roster.await_join(roster.members["m-2"], 2)
    assert (roster.elect_joined_leader(), roster.leader) == (True, "m-2")
    roster.await_join(roster.members["m-2"], None)
    assert (roster.elect_joined_leader(), roster.leader) == (True, "m-1")
    roster.await_join(roster.members["m-0"], 3)
    assert (roster.elect_joined_leader(), roster.leader) == (True, "m-1")
    assert (roster.joined, roster.all_joined) == (2, False)
