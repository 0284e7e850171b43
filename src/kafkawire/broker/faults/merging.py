"""The response to a request of which only parts were refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from kafkawire.broker.refusals import NAMES, has_errors, has_own_error
from kafkawire.broker.requests import Answer
from kafkawire.layout import StructLayout
from kafkawire.wire import Message

S = TypeVar("S", bound=msgspec.Struct)


def items_only(refused: Message, version: int) -> Message:
    """The response to several parts that are refused has no error of its own, if its items have one.

    Args:
        refused: the response to one of them.
        version: of the response.
    """
    layout = type(refused).layouts().of_version(version)
    has_items = any(field.array and field.struct is not None and has_errors(field.struct) for field in layout.fields)
    return replace(refused, error_code=0) if has_items and has_own_error(layout) else refused


def with_refused(answer: Answer, refused: Message, version: int) -> Answer:
    """An answer with the items of another one; an item that both have gets the items in it.

    Args:
        answer: to what was carried out.
        refused: the response to the parts that were refused.
        version: of both.
    """
    if not isinstance(answer, Message):
        return answer
    return _joined(answer, refused, type(answer).layouts().of_version(version))


def _joined(answer: S, refused: msgspec.Struct, layout: StructLayout) -> S:
    values: dict[str, object] = {}
    for field in layout.fields:
        if field.presence != "absent" and field.array and field.struct is not None and has_errors(field.struct):
            ours, theirs = getattr(answer, field.attribute), getattr(refused, field.attribute)
            values[field.attribute] = tuple(_all_items(ours or (), theirs or (), field.struct))
    return replace(answer, **values)


def _all_items(
    ours: Sequence[msgspec.Struct], theirs: Sequence[msgspec.Struct], layout: StructLayout
) -> Sequence[msgspec.Struct]:
    names = [field.attribute for field in layout.fields if field.presence != "absent" and field.attribute in NAMES]
    items = {_name(item, names): item for item in ours}
    for item in theirs:
        name = _name(item, names)
        items[name] = _joined(items[name], item, layout) if name in items else _alone(item, layout)
    return tuple(items.values())


def _alone(item: msgspec.Struct, layout: StructLayout) -> msgspec.Struct:
    """An item of which nothing was served: its error is that of all in it."""
    arrays = [field.attribute for field in layout.fields if field.array and field.struct and has_errors(field.struct)]
    return replace(item, **dict.fromkeys(arrays, ())) if has_own_error(layout) else item


def _name(item: msgspec.Struct, names: Sequence[str]) -> tuple[object, ...]:
    return tuple(getattr(item, name) for name in names)
