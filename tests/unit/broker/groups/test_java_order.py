"""Hashes and orders of Java, which decide who gets which partition; others are compared with Java's own classes."""

from __future__ import annotations

from itertools import pairwise

from kafkawire.broker.groups.java_order import int_hash, uuid_hash, uuid_rank
from kafkawire.layout.uuid import Uuid


def uuid(high: int, low: int) -> Uuid:
    return Uuid(high.to_bytes(8, "big", signed=True) + low.to_bytes(8, "big", signed=True))


def test_uuids_are_compared_by_their_signed_halves() -> None:
    ordered = [uuid(-2, 5), uuid(-1, -3), uuid(-1, 4), uuid(0, -1), uuid(0, 0), uuid(0, 1), uuid(3, -9)]
    ranks = [*map(uuid_rank, ordered)]
    assert all(lower < higher for lower, higher in pairwise(ranks))


def test_hashes_have_32_bits_without_a_sign() -> None:
    assert uuid_hash(uuid(1 << 32, 0)) == 1
    assert uuid_hash(uuid(5, 0)) == 5
    assert uuid_hash(uuid(5, 5)) == 0
    assert uuid_hash(uuid(-1, 0)) == 0
    assert uuid_hash(uuid(-1, 1)) == 1
    assert (int_hash(7), int_hash(-1)) == (7, (1 << 32) - 1)
