"""Checks of the values that an annotation allows, many values at a time.

Values are checked by columns: all items of a call, then one field of all of them. The types of a column are collected
by C code, so that a hundred thousand items cost some hundredths of a second. Only a column with a wrong type is
checked value by value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from enum import StrEnum
from functools import partial
from itertools import chain
from operator import attrgetter, is_
from typing import SupportsFloat, SupportsIndex, TypeAlias

from kafkawire.arguments.words import got, hint_for_class, one_of, shortened

Where: TypeAlias = Callable[[int], str]
"""The words for the place of a value, by its position in the column."""

_TEXTS = (str, bytes, bytearray, memoryview)
"""Types that could be iterated and are one value."""

_NAMES = {"NoneType": "None", "Callable": "a function"}


class Expectation(ABC):
    """What values may be.

    Attributes:
        said: what they may be, in words.
        known: types of values that need no further look.
    """

    said: str
    known: frozenset[type] = frozenset()

    @abstractmethod
    def allows(self, kind: type) -> bool:
        """Whether a value of this type may do; what it contains is checked later."""

    @abstractmethod
    def take(self, values: Sequence[object], where: Where) -> Sequence[object]:
        """The values as the callee gets them: an iterator becomes a tuple, since it can be read only once.

        Raises:
            TypeError: one of them is something else; says where, what was expected, what came, and what to write.
        """

    def hint(self, value: object) -> str:
        """What to write instead of a value that is refused; begins with ``"; "``, or is empty."""
        return ""

    def refuse_others(self, values: Sequence[object], where: Where) -> None:
        """Refuse the first value of a wrong type."""
        wrong = {kind for kind in set(map(type, values)) if not self.allows(kind)}
        if not wrong:
            return
        position = next(position for position, value in enumerate(values) if type(value) in wrong)
        value = values[position]
        came = f"the string {shortened(value)}" if isinstance(value, str) and self._shows_text() else got(value)
        raise TypeError(f"{where(position)}: expected {self.said}, got {came}{self.hint(value)}")

    def _shows_text(self) -> bool:
        """Whether a text that came is shown: only where it cannot be a secret."""
        return False


class OfClasses(Expectation):
    """Instances of classes.

    Args:
        classes: the classes; ``NoneType`` for None.
        fields_of: gives the fields of a class that are checked too, since its constructor does not.
    """

    def __init__(self, classes: Iterable[type], fields_of: Callable[[type], Mapping[str, Expectation]]) -> None:
        self.classes = tuple(dict.fromkeys(classes))
        self.said = one_of([_NAMES.get(each.__name__, each.__name__) for each in self.classes])
        self._fields_of = fields_of
        self.known = frozenset(each for each in self.classes if not fields_of(each))
        self._words = next((each for each in self.classes if issubclass(each, StrEnum)), None)

    def allows(self, kind: type) -> bool:
        return any(_is_kind_of(kind, each) for each in self.classes) or (kind is str and self._words is not None)

    def take(self, values: Sequence[object], where: Where) -> Sequence[object]:
        unknown = set(map(type, values)) - self.known
        if unknown:
            self.refuse_others(values, where)
        for kind in unknown:
            self._take_fields(kind, values, where)
        if str in unknown and self._words is not None:
            return [self._words(value) if type(value) is str else value for value in values]
        return values

    def hint(self, value: object) -> str:
        return next(filter(None, (hint_for_class(each, value) for each in self.classes)), "")

    def _take_fields(self, kind: type, values: Sequence[object], where: Where) -> None:
        """Check the fields of all values of one type; further fields of a user's subclass are not checked."""
        declared = next((each for each in self.classes if issubclass(kind, each)), kind)
        positions = [position for position, value in enumerate(values) if type(value) is kind]
        for name, expectation in self._fields_of(declared).items():
            column = list(map(attrgetter(name), map(values.__getitem__, positions)))
            expectation.take(column, partial(_field_of, name, positions, where))


class Items(Expectation):
    """A collection of items.

    Args:
        item: what each item may be.
        made: makes the collection that the callee gets.
        is_ordered: whether the order of the items matters, so that a set will not do.
    """

    def __init__(
        self, item: Expectation, made: Callable[[Iterable[object]], Collection[object]], *, is_ordered: bool
    ) -> None:
        self.item = item
        self.said = f"a {'sequence' if is_ordered else 'collection'} of {item.said}"
        self._made = made
        self._is_ordered = is_ordered

    def allows(self, kind: type) -> bool:
        if not issubclass(kind, Iterable) or issubclass(kind, _TEXTS):
            return False
        return not (self._is_ordered and issubclass(kind, (Set, Mapping)))

    def take(self, values: Sequence[object], where: Where) -> Sequence[object]:
        self.refuse_others(values, where)
        collections = [self._made(value) for value in values if isinstance(value, Iterable)]
        items = list(chain.from_iterable(collections))
        taken = self.item.take(items, partial(_item_of, collections, where))
        if all(map(is_, taken, items)):
            return collections
        rest = iter(taken)
        return [self._made([next(rest) for _ in collection]) for collection in collections]

    def hint(self, value: object) -> str:
        if isinstance(value, str):
            return f"; write [{shortened(value)}]" if self.item.allows(str) else ""
        if value is None or not self.item.allows(type(value)):
            return ""
        return f"; write a list with the {type(value).__name__} in it"

    def _shows_text(self) -> bool:
        return True


class Pairs(Expectation):
    """A mapping.

    Args:
        key, value: what keys and values may be.
    """

    def __init__(self, key: Expectation, value: Expectation) -> None:
        self.key = key
        self.value = value
        self.said = f"a mapping of {key.said} to {value.said}"

    def allows(self, kind: type) -> bool:
        return issubclass(kind, Mapping)

    def take(self, values: Sequence[object], where: Where) -> Sequence[object]:
        self.refuse_others(values, where)
        mappings = [value for value in values if isinstance(value, Mapping)]
        keys = list(chain.from_iterable(mappings))
        self.key.take(keys, partial(_key_of, mappings, where))
        contents = list(chain.from_iterable(mapping.values() for mapping in mappings))
        taken = self.value.take(contents, partial(_value_of, mappings, keys, where))
        if all(map(is_, taken, contents)):
            return values
        rest = iter(taken)
        return [{key: next(rest) for key in mapping} for mapping in mappings]

    def hint(self, value: object) -> str:
        return "; write {key: value}" if isinstance(value, Iterable) and not isinstance(value, _TEXTS) else ""


class Alternatives(Expectation):
    """One of several expectations: the first that allows the type of a value.

    Args:
        alternatives: the expectations.
    """

    def __init__(self, alternatives: Sequence[Expectation]) -> None:
        self.alternatives = alternatives
        self.said = ", or ".join(each.said for each in reversed(alternatives))
        self.known = frozenset(chain.from_iterable(each.known for each in alternatives))

    def allows(self, kind: type) -> bool:
        return any(each.allows(kind) for each in self.alternatives)

    def take(self, values: Sequence[object], where: Where) -> Sequence[object]:
        self.refuse_others(values, where)
        taken = list(values)
        chosen = [next(each for each in self.alternatives if each.allows(type(value))) for value in values]
        for alternative in self.alternatives:
            positions = [position for position, each in enumerate(chosen) if each is alternative]
            column = alternative.take([values[position] for position in positions], partial(_at, positions, where))
            for position, value in zip(positions, column, strict=True):
                taken[position] = value
        return taken

    def hint(self, value: object) -> str:
        return next(filter(None, (each.hint(value) for each in reversed(self.alternatives))), "")

    def _shows_text(self) -> bool:
        return all(isinstance(each, Items) or each.said == "None" for each in self.alternatives)


class Anything(Expectation):
    """Whatever comes; the method says itself what is wrong with it."""

    said = "anything"

    def allows(self, kind: type) -> bool:
        return True

    def take(self, values: Sequence[object], where: Where) -> Sequence[object]:
        return values


def kept(items: Iterable[object]) -> Collection[object]:
    """A collection as it is, or the rest of an iterator."""
    return items if isinstance(items, Collection) else tuple(items)


def named(owner: str, name: str, _: int = 0) -> str:
    """The place of an argument or a field, by its method or class."""
    return f"{owner}: {name}"


def _is_kind_of(kind: type, expected: type) -> bool:
    if expected is float:
        return issubclass(kind, (SupportsFloat, SupportsIndex))  # as ``float()`` takes them, except text
    if expected is int:
        return issubclass(kind, SupportsIndex)
    return issubclass(kind, expected)


def _at(positions: Sequence[int], where: Where, at: int) -> str:
    return where(positions[at])


def _field_of(name: str, positions: Sequence[int], where: Where, at: int) -> str:
    return f"{where(positions[at])}.{name}"


def _item_of(collections: Sequence[Collection[object]], where: Where, at: int) -> str:
    position, at = _position(collections, at)
    return f"{where(position)}[{at}]"


def _key_of(mappings: Sequence[Collection[object]], where: Where, at: int) -> str:
    return f"{where(_position(mappings, at)[0])} (a key)"


def _value_of(mappings: Sequence[Collection[object]], keys: Sequence[object], where: Where, at: int) -> str:
    return f"{where(_position(mappings, at)[0])}[{keys[at]!r}]"


def _position(collections: Sequence[Collection[object]], at: int) -> tuple[int, int]:
    """The collection that holds an item of all of them, and the item's position in it."""
    position = 0
    while at >= len(collections[position]):
        at -= len(collections[position])
        position += 1
    return position, at
