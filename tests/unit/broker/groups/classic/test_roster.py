"""The members of a classic group: which protocols all of them support, and which one they select."""

from __future__ import annotations

import pytest

from kafkawire.broker.groups.classic.roster import Member, Roster


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
