"""The order of keys in ``Properties`` and in Scala's maps, with what Java 17 and Scala 2.13 print."""

from __future__ import annotations

from kafkawire.cli.kafka_configs.java_order import in_properties, in_scala_map
from kafkawire.model.java_order import java_hash

KEYS = ["a", "bb", "ccc", "dddd", "e1", "f2", "g3"]


def test_keys_of_properties_are_in_the_order_of_their_hash_codes() -> None:
    assert in_properties(KEYS) == ["bb", "a", "ccc", "e1", "f2", "g3", "dddd"]


def test_a_small_map_of_scala_has_the_order_of_insertion_and_a_large_one_that_of_hash_codes() -> None:
    assert in_scala_map(KEYS[:4]) == KEYS[:4]
    assert in_scala_map(KEYS) == ["e1", "a", "ccc", "dddd", "bb", "g3", "f2"]


def test_keys_with_one_hash_code_have_the_order_of_insertion() -> None:
    equal = ["AaAa", "BBBB", "AaBB", "BBAa", "c"]
    assert java_hash("AaAa") == java_hash("BBBB")
    assert sorted(in_scala_map(equal)) == sorted(equal)
    assert [key for key in in_scala_map(equal) if key != "c"] == equal[:4]
