"""Hashes and the order of keys in Java's and Kafka's hash tables, on which some results of Kafka depend."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from operator import mul
from typing import Final, Generic, TypeVar

from kafkawire.layout.uuid import Uuid

K = TypeVar("K")
V = TypeVar("V")

_FEWEST_BUCKETS: Final = 16
_FEWEST_SLOTS: Final = 2
_LOAD: Final = 0.75
_INT32: Final = 1 << 32
_INT64: Final = 1 << 64
_GOLDEN: Final = 0x9E3779B97F4A7C15
_AT_ONCE: Final = 256
_POWERS: Final = tuple(pow(31, exponent, _INT32) for exponent in reversed(range(_AT_ONCE)))


def java_hash(text: str) -> int:
    """The hash that Java gives a string, as 32 bits without a sign."""
    encoded = java_rank(text)
    units = text.encode("ascii") if text.isascii() else struct.unpack(f">{len(encoded) // 2}H", encoded)
    code = 0
    for at in range(0, len(units), _AT_ONCE):
        portion = units[at : at + _AT_ONCE]
        factors = _POWERS[_AT_ONCE - len(portion) :]
        code = (code * pow(31, len(portion), _INT32) + sum(map(mul, portion, factors))) % _INT32
    return code


def java_rank(text: str) -> bytes:
    """A key that sorts strings as Java compares them."""
    return text.encode("utf-16-be", "surrogatepass")


def in_java_order(names: Iterable[str]) -> list[str]:
    """The order of names in a ``HashMap`` or ``HashSet``, each of them once."""
    return hash_order(names, java_hash)


def hash_order(keys: Iterable[K], code: Callable[[K], int], capacity: int = _FEWEST_BUCKETS) -> list[K]:
    """The order of a ``HashMap`` or ``HashSet`` to which keys are added one by one.

    Args:
        keys: each once, in the order in which they are added.
        code: a key's hash, as 32 bits without a sign.
        capacity: of the empty table.
    """
    keys = list(keys)
    if len(keys) < 2:  # as nearly always where members ask for one topic: no hash is needed
        return keys
    return bucket_order(keys, code, grown(len(keys), capacity))


def bucket_order(keys: Iterable[K], code: Callable[[K], int], buckets: int) -> list[K]:
    """The order of a table with a number of buckets."""

    def bucket(key: K) -> int:
        spread = code(key)
        return (spread ^ spread >> 16) & buckets - 1

    return sorted(keys, key=bucket)


def grown(count: int, capacity: int) -> int:
    """The number of buckets of a table that is made with a capacity when a number of keys were put into it."""
    buckets = 1 << max(capacity - 1, 0).bit_length()
    while count > _LOAD * buckets:
        buckets *= 2
    return buckets


def room_for(count: int) -> int:
    """The capacity of ``new HashSet<>(collection)``."""
    return max(int(count / _LOAD) + 1, _FEWEST_BUCKETS)


def set_order(keys: Iterable[K], code: Callable[[K], int]) -> list[K]:
    """The order of ``new HashSet<>(keys)``, which begins with room for all of them."""
    keys = list(keys)
    return hash_order(keys, code, room_for(len(keys)))


def timeline_order(keys: Iterable[K], code: Callable[[K], int]) -> list[K]:
    """The order of Kafka's ``TimelineHashMap``, to which keys are added one by one; in a slot the last is the first."""
    keys = list(keys)[::-1]
    slots = _FEWEST_SLOTS
    while len(keys) * _LOAD > slots:
        slots *= 2
    shift = 65 - slots.bit_length()

    def slot(key: K) -> int:
        hashed = code(key)
        signed = hashed - _INT32 if hashed >= _INT32 // 2 else hashed
        return signed * _GOLDEN % _INT64 >> shift

    return sorted(keys, key=slot)


def uuid_hash(uuid: Uuid) -> int:
    """The hash of a ``Uuid`` in Kafka, as 32 bits without a sign."""
    mixed = int.from_bytes(uuid[:8]) ^ int.from_bytes(uuid[8:])
    return (mixed >> 32 ^ mixed) % _INT32


def uuid_rank(uuid: Uuid) -> tuple[int, int]:
    """A key that sorts ids as Kafka compares them."""
    return int.from_bytes(uuid[:8], signed=True), int.from_bytes(uuid[8:], signed=True)


def int_hash(number: int) -> int:
    """The hash of an ``Integer``."""
    return number % _INT32


class HashTable(Generic[K, V]):
    """A ``HashMap`` that changes, with the order of Java's.

    Args:
        code: a key's hash, as 32 bits without a sign.
        capacity: of the empty table.
    """

    def __init__(self, code: Callable[[K], int], capacity: int = _FEWEST_BUCKETS) -> None:
        self._code = code
        self._buckets = grown(0, capacity)
        self._values: dict[K, V] = {}
        self._ranks: dict[K, int] = {}
        self._count = 0

    def put(self, key: K, value: V) -> None:
        """``put``: a new key is the last of its bucket."""
        self._count += 1
        self._ranks.setdefault(key, self._count)
        self._values[key] = value
        self._buckets = grown(len(self._values), self._buckets)

    def get_or_make(self, key: K, make: Callable[[], V]) -> V:
        """``computeIfAbsent``: a new key is the first of its bucket, and the table grows late."""
        if key not in self._values:
            self._buckets = grown(len(self._values), self._buckets)
            self._count += 1
            self._ranks[key] = -self._count
            self._values[key] = make()
        return self._values[key]

    def get(self, key: K) -> V | None:
        """The value of a key; None if there is none."""
        return self._values.get(key)

    def remove(self, key: K) -> None:
        """Forget a key, if it is there."""
        self._values.pop(key, None)
        self._ranks.pop(key, None)

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[K]:
        return iter(bucket_order(sorted(self._values, key=self._ranks.__getitem__), self._code, self._buckets))


def capacity_for(count: int) -> int:
    """The capacity with which Kafka makes tables for a number of keys (``AssignorHelpers.newHashMap``)."""
    return int((count + 1) / _LOAD + 1)
