"""Arguments for every method of the admin client, made from its annotations."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import Enum
from types import SimpleNamespace
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec

from kafkawire.admin import AdminClient, ClientQuotaAlteration, ClientQuotaEntity
from kafkawire.layout import Uuid

COLLECTIONS = (Iterable, Collection, Sequence)

SIMPLE: dict[type, object] = {
    str: "User:a", int: 1, bytes: b"a", bool: True, float: 1.0, Uuid: Uuid(b"\1" * 16),
}  # fmt: skip

Method = Callable[..., object]


def methods() -> list[str]:
    """The names of all public methods."""
    return [name for name, _ in inspect.getmembers(AdminClient, inspect.isfunction) if not name.startswith("_")]


def parameters(function: Method) -> dict[str, object]:
    """Parameter to its annotation, without ``self``."""
    annotations = {
        name: parameter.annotation
        for name, parameter in inspect.signature(function).parameters.items()
        if name != "self"
    }
    module = vars(inspect.getmodule(inspect.unwrap(function)))
    return get_type_hints(SimpleNamespace(__annotations__=annotations), module)


def required(function: Method) -> dict[str, Any]:
    """Arguments that a method cannot do without."""
    signature = inspect.signature(function).parameters
    return {
        name: sample(hint)
        for name, hint in parameters(function).items()
        if signature[name].default is inspect.Parameter.empty
    }


def alternatives(annotation: object) -> tuple[object, ...]:
    """The parts of a union."""
    return get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)


def takes_many(annotation: object) -> bool:
    """Whether an argument may be a collection or a mapping."""
    return any(get_origin(part) in (*COLLECTIONS, Mapping) for part in alternatives(annotation))


def item_of(annotation: object) -> object | None:
    """What a collection holds; None where no collection is taken."""
    for part in alternatives(annotation):
        if get_origin(part) in COLLECTIONS:
            return alternatives(get_args(part)[0])[0]
    return None


def sample(annotation: object) -> Any:  # noqa: ANN401 - any value of the type
    """A value that an annotation allows."""
    first = alternatives(annotation)[0]
    origin = get_origin(first)
    if origin in COLLECTIONS:
        return [sample(get_args(first)[0])]
    if origin is Mapping:
        key, value = get_args(first)
        return {sample(key): sample(value)}
    if first is ClientQuotaEntity:
        return ClientQuotaEntity(user="alice")
    if first is ClientQuotaAlteration:
        return ClientQuotaAlteration(ClientQuotaEntity(user="alice"), {"producer_byte_rate": 1.0})
    assert isinstance(first, type), first
    if issubclass(first, Enum):
        return list(first)[-1]
    if issubclass(first, msgspec.Struct):
        hints = get_type_hints(first)
        needed = [field.name for field in msgspec.structs.fields(first) if field.required]
        return first(**{name: sample(hints[name]) for name in needed})
    return SIMPLE[first]
