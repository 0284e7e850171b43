"""From annotations to what they allow."""

from __future__ import annotations

import types
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from kafkawire.arguments.expectations import Alternatives, Anything, Expectation, Items, OfClasses, Pairs, kept

_COLLECTIONS = (Iterable, Collection, Set)
_SEQUENCES = (Sequence, list)
_MAPPINGS = (Mapping, dict)


@cache
def expectation_of(annotation: object) -> Expectation:
    """What an annotation allows.

    Raises:
        TypeError: it is of a kind that no argument of the client has had so far.
    """
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        return _alternatives(arguments)
    if annotation is Any or origin is Literal:
        return Anything()
    if origin in _COLLECTIONS:
        return Items(expectation_of(arguments[0]), kept, is_ordered=False)
    if origin in _SEQUENCES:
        return Items(expectation_of(arguments[0]), kept, is_ordered=True)
    if origin is tuple and arguments[1:] == (Ellipsis,):
        return Items(expectation_of(arguments[0]), tuple, is_ordered=False)
    if origin is frozenset:
        return Items(expectation_of(arguments[0]), frozenset, is_ordered=False)
    if origin in _MAPPINGS:
        return Pairs(*map(expectation_of, arguments))
    if annotation is None:
        return OfClasses([type(None)], fields_of)
    named = origin or annotation
    if isinstance(named, type):
        return OfClasses([named], fields_of)
    raise TypeError(f"no check is known for arguments of {annotation!r}")


@cache
def fields_of(struct: type) -> Mapping[str, Expectation]:
    """What is checked of the fields of a struct; collections in it are checked by its constructor (`check_fields`)."""
    found = all_fields_of(struct)
    return {name: expectation for name, expectation in found.items() if isinstance(expectation, OfClasses)}


@cache
def all_fields_of(struct: type) -> Mapping[str, Expectation]:
    """Each field of a struct and what it may hold; none for any other class."""
    if not issubclass(struct, msgspec.Struct):
        return {}
    hints = get_type_hints(struct)
    return {name: expectation_of(hints[name]) for name in struct.__struct_fields__}


def _alternatives(annotations: Sequence[object]) -> Expectation:
    """Classes are one expectation and come first, then mappings, which are collections of their keys as well."""
    expectations = list(map(expectation_of, annotations))
    classes = [each for each in expectations if isinstance(each, OfClasses)]
    others = [each for each in expectations if not isinstance(each, OfClasses)]
    together = [OfClasses([one for each in classes for one in each.classes], fields_of)] if classes else []
    if not others:
        return together[0]
    return Alternatives([*together, *sorted(others, key=lambda each: not isinstance(each, Pairs))])
