"""Hashes and orders of Java, which decide who gets which partition; others are compared with Java's own classes."""

from __future__ import annotations

from itertools import pairwise

from kafkawire.layout.uuid import Uuid
from kafkawire.model.java_order import (
    HashTable,
    hash_order,
    in_java_order,
    int_hash,
    java_hash,
    timeline_order,
    uuid_hash,
    uuid_rank,
)


def uuid(high: int, low: int) -> Uuid:
    return Uuid(high.to_bytes(8, "big", signed=True) + low.to_bytes(8, "big", signed=True))


def test_uuids_are_compared_by_their_signed_halves() -> None:
    ordered = [uuid(-2, 5), uuid(-1, -3), uuid(-1, 4), uuid(0, -1), uuid(0, 0), uuid(0, 1), uuid(3, -9)]
    ranks = [*map(uuid_rank, ordered)]
    assert all(lower < higher for lower, higher in pairwise(ranks))


def test_hashes_of_names_are_those_of_their_utf16_units() -> None:
    assert java_hash("") == 0
    assert java_hash("ab") == 3105
    assert java_hash("😀") == 0xD83D * 31 + 0xDE00


def test_keys_of_a_map_are_in_the_order_of_their_hashes() -> None:
    """With what Java 17 prints."""
    names = ["a", "bb", "ccc", "dddd", "e1", "f2", "g3"]
    assert in_java_order(names) == ["bb", "a", "ccc", "e1", "f2", "g3", "dddd"]
    assert hash_order([3, 2, 1], int_hash) == [1, 2, 3]


def test_hashes_have_32_bits_without_a_sign() -> None:
    assert uuid_hash(uuid(1 << 32, 0)) == 1
    assert uuid_hash(uuid(5, 0)) == 5
    assert uuid_hash(uuid(5, 5)) == 0
    assert uuid_hash(uuid(-1, 0)) == 0
    assert uuid_hash(uuid(-1, 1)) == 1
    assert (int_hash(7), int_hash(-1)) == (7, (1 << 32) - 1)


def test_a_table_has_new_keys_first_in_their_bucket_if_they_are_made_on_the_way() -> None:
    """What Java gives for 0, 16 and 32 with 16 buckets: ``put`` appends to a bucket, ``computeIfAbsent`` prepends."""
    table = HashTable[int, str](int_hash)
    table.put(16, "put")
    table.put(0, "put")
    assert table.get_or_make(32, lambda: "made") == "made"
    assert [*table] == [32, 16, 0]
    table.remove(16)
    table.put(16, "again")
    assert ([*table], table.get(16), table.get(1), 1 in table) == ([32, 0, 16], "again", None, False)


def test_a_table_grows_as_javas() -> None:
    """With 32 buckets, 16 comes after 1."""
    table = HashTable[int, None](int_hash)
    for key in (16, *range(1, 12)):
        table.put(key, None)
    assert [*table][:2] == [16, 1]
    table.put(12, None)
    assert [*table] == [*range(1, 13), 16]


def test_members_have_the_order_of_kafkas_timeline() -> None:
    """What ``TimelineHashMap`` of Apache Kafka 4.3.1 gives; of those that share a slot the last is the first."""
    for ends in (
        (3, 0, 2, 4, 1),
        (3, 10, 8, 0, 5, 12, 2, 7, 4, 11, 9, 1, 6),
        (21, 13, 26, 3, 18, 23, 10, 8, 0, 28, 15, 20, 5, 25, 12, 2, 17, 7, 22, 14, 27, 4, 19, 24, 11, 9, 1, 29, 16, 6),
    ):
        members = [f"member-{end}" for end in sorted(ends)]
        assert timeline_order(members, java_hash) == [f"member-{end}" for end in ends]
