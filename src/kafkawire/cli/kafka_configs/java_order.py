"""The orders in which ``Properties`` and Scala's maps have their keys: kafka-configs prints names in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from kafkawire.model.java_order import java_hash

_32_BITS: Final = 0xFFFFFFFF
_SMALLEST_TABLE: Final = 16
_LARGEST_SMALL_MAP: Final = 4
"""Scala's immutable maps and sets of this number of keys have them in the order in which they came."""

_BITS: Final = 32
_BITS_OF_A_LEVEL: Final = 5


def in_properties(keys: Iterable[str]) -> list[str]:
    """Keys in the order of ``Properties``, if they are put into new ones."""
    size = _SMALLEST_TABLE
    table: defaultdict[int, list[str]] = defaultdict(list)
    for count, key in enumerate(dict.fromkeys(keys), start=1):
        table[_slot(key, size)].append(key)
        while count >= size * 3 // 4:
            table = _transferred(table, size)
            size *= 2
    return [key for _, chain in sorted(table.items()) for key in chain]


def in_scala_map(keys: Iterable[str]) -> list[str]:
    """Keys in the order of an immutable map or set of Scala, if they are added to an empty one."""
    wanted = list(dict.fromkeys(keys))
    if len(wanted) <= _LARGEST_SMALL_MAP:
        return wanted
    return _in_trie([(key, _improved(java_hash(key))) for key in wanted], 0)


def _slot(key: str, size: int) -> int:
    code = java_hash(key)
    return (code ^ code >> 16) & (size - 1)


def _transferred(table: defaultdict[int, list[str]], size: int) -> defaultdict[int, list[str]]:
    """A table of twice the size. The end of a chain that stays together keeps its order, what is before it does not."""
    larger: defaultdict[int, list[str]] = defaultdict(list)
    for _, chain in sorted(table.items()):
        slots = [_slot(key, 2 * size) for key in chain]
        last_run = len(chain) - 1
        while last_run and slots[last_run - 1] == slots[-1]:
            last_run -= 1
        larger[slots[-1]] = chain[last_run:]
        for key, slot in zip(chain[:last_run], slots, strict=False):
            larger[slot].insert(0, key)
    return larger


def _improved(code: int) -> int:
    code = (code + ~(code << 9)) & _32_BITS
    code ^= code >> 14
    code = (code + (code << 4)) & _32_BITS
    return code ^ (code >> 10)


def _in_trie(items: Sequence[tuple[str, int]], shift: int) -> list[str]:
    """The keys of a node of the trie: first those that are alone in their slot, then those of the nodes below."""
    if shift > _BITS:  # all are used: these keys have one hash code
        return [key for key, _ in items]
    slots: defaultdict[int, list[tuple[str, int]]] = defaultdict(list)
    for item in items:
        slots[(item[1] >> shift) & 31].append(item)
    in_order = [slots[slot] for slot in sorted(slots)]
    alone = [slot[0][0] for slot in in_order if len(slot) == 1]
    below = [key for slot in in_order if len(slot) > 1 for key in _in_trie(slot, shift + _BITS_OF_A_LEVEL)]
    return alone + below
