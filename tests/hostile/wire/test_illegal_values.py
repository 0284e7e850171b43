"""Values that no version can carry, put into every message: encoding refuses them, and says so in its own words."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import msgspec
import pytest
from msgspec.structs import replace
from tests.made.example_messages import random_instance

from kafkawire.layout import StructLayout
from kafkawire.protocol import MESSAGE_NAMES, message_class
from kafkawire.wire import EncodeError
from kafkawire.wire.reference import encode_struct

S = TypeVar("S", bound=msgspec.Struct)

Steps = tuple[tuple[str, int | None], ...]
"""From the message inwards: each time a field, and the index in its array or None."""

JUNK: tuple[object, ...] = (
    None, True, 7, -1, 2**70, 1.5, math.nan, "", "text", "\ud800", "x" * 40000, b"", b"b", bytearray(b"bb"), b"x" * 16,
    (), [], [None], (1, 2), ["a"], [b"a"], ("a", None), {}, {"a": 1}, {1}, object(), range(3), [1.5], [True],
    ((0, b"x"),), ((5, b"x"), (5, b"y")), ((2**31 - 1, b""),), ((3, b"q"), (9, b"")),
)  # fmt: skip


@dataclass(frozen=True)
class Place:
    """A struct within a message."""

    steps: Steps
    struct: msgspec.Struct


def places(struct: msgspec.Struct, layout: StructLayout, steps: Steps = ()) -> Iterator[Place]:
    """The message itself and every struct within."""
    yield Place(steps, struct)
    for field in layout.fields:
        held = getattr(struct, field.attribute)
        if field.struct is None or held is None:
            continue
        for index, inner in enumerate(held) if field.array else ((None, held),):
            yield from places(inner, field.struct, (*steps, (field.attribute, index)))


def with_value(struct: S, steps: Steps, attribute: str, value: object) -> S:
    """A copy with an attribute of the struct at a place replaced."""
    if not steps:
        return replace(struct, **{attribute: value})
    (outer, index), *rest = steps
    held = getattr(struct, outer)
    if index is None:
        return replace(struct, **{outer: with_value(held, tuple(rest), attribute, value)})
    changed = with_value(held[index], tuple(rest), attribute, value)
    return replace(struct, **{outer: (*held[:index], changed, *held[index + 1 :])})


@dataclass(frozen=True)
class Attempt:
    """What came of encoding: bytes, or the text of an EncodeError. Anything else escapes and fails the test."""

    octets: bytes | None
    error: str | None

    @classmethod
    def of(cls, encode: Callable[[], bytes]) -> Attempt:
        try:
            return cls(encode(), None)
        except EncodeError as error:
            return cls(None, str(error))


@pytest.mark.parametrize("name", MESSAGE_NAMES)
def test_illegal_values_are_refused_with_the_words_of_the_reference(name: str) -> None:
    """Both engines give the same bytes or the same error.

    Where a field need not be written, the generated code may take an empty value of another type for an empty array,
    and any value for a flag: nothing is lost by that.
    """
    cls = message_class(name)
    rng = random.Random(name)
    for version in cls.VERSIONS:
        layout = cls.layouts().of_version(version)
        for _ in range(20):
            whole = random_instance(rng, cls, layout)
            place = rng.choice(list(places(whole, layout)))
            attribute = rng.choice(place.struct.__struct_fields__)
            junk = rng.choice(JUNK)
            damaged = with_value(whole, place.steps, attribute, junk)
            expected = Attempt.of(lambda: encode_struct(damaged, layout, message_name=name, version=version))  # noqa: B023
            found = Attempt.of(lambda: damaged.encode(version))  # noqa: B023
            may_pass = not junk or isinstance(getattr(place.struct, attribute), bool)
            assert found == expected or (may_pass and found.error is None)
