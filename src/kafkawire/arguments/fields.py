"""Checks of the fields of values that users make."""

from __future__ import annotations

from functools import partial

import msgspec

from kafkawire.arguments.annotations import all_fields_of, expectation_of
from kafkawire.arguments.expectations import named

_TEXT = frozenset({str})


def is_plain(mapping: object, values: frozenset[type]) -> bool:
    """Whether an argument is a ``dict`` of text to values of these types: quick, for what is made very often."""
    return (
        type(mapping) is dict
        and _TEXT.issuperset(map(type, mapping))
        and values.issuperset(map(type, mapping.values()))
    )


def check_argument(owner: str, name: str, value: object, annotation: object) -> None:
    """Compare an argument with its annotation; for constructors that are called often.

    Raises:
        TypeError: it is something else.
    """
    expectation = expectation_of(annotation)
    if type(value) not in expectation.known:
        expectation.take((value,), partial(named, owner, name))


def check_fields(value: msgspec.Struct) -> None:
    """Compare the fields of a value with their annotations; for ``__post_init__``. Collections become what they say.

    Raises:
        TypeError: a field holds something else.
    """
    for name, expectation in all_fields_of(type(value)).items():
        given = getattr(value, name)
        if type(given) in expectation.known:
            continue
        (taken,) = expectation.take((given,), partial(named, type(value).__name__, name))
        if taken is not given:
            msgspec.structs.force_setattr(value, name, taken)
