"""The algebra of version ranges agrees with sets of numbers."""

from __future__ import annotations

from hypothesis import given, strategies as st

from kafkawire.codegen.versions import OPEN_END, Versions, parse_versions

small = st.integers(0, 12)
ranges = st.builds(Versions, small, small) | st.builds(Versions, small, st.just(OPEN_END))
versions = st.integers(-1, 15) | st.just(OPEN_END)


@given(ranges, versions)
def test_membership_agrees_with_enumeration(range_: Versions, version: int) -> None:
    assert (version in range_) == (version in set(range_))
    assert range_.is_empty == (not set(range_))


@given(ranges, ranges)
def test_intersection_commutes_and_is_that_of_sets(one: Versions, other: Versions) -> None:
    assert one.intersect(other) == other.intersect(one)
    assert set(one.intersect(other)) == set(one) & set(other)


@given(ranges, ranges, ranges)
def test_intersection_is_associative(one: Versions, other: Versions, third: Versions) -> None:
    assert one.intersect(other).intersect(third) == one.intersect(other.intersect(third))


@given(ranges, ranges)
def test_containment_is_that_of_sets(one: Versions, other: Versions) -> None:
    assert one.contains(other) == (set(one) >= set(other))


@given(ranges, ranges)
def test_difference_is_that_of_sets_or_none_if_it_has_a_hole(one: Versions, other: Versions) -> None:
    left = sorted(set(one) - set(other))
    difference = one.subtract(other)
    if difference is None:
        assert left != list(range(left[0], left[-1] + 1))
    else:
        assert list(difference) == left


@given(ranges)
def test_text_round_trip(range_: Versions) -> None:
    assert parse_versions(str(range_)) == range_


@given(ranges, ranges)
def test_equal_sets_are_equal_ranges(one: Versions, other: Versions) -> None:
    assert (one == other) == (set(one) == set(other))
    assert (one != other) or hash(one) == hash(other)
