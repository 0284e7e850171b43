"""The answer to a request of which nothing is done: one error code for all that it asks about.

There is no rule for this in the message definitions; what is made here is what Kafka's own request classes make
(``getErrorResponse``). The code stands wherever the response has room for one, and what the request names is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeGuard, TypeVar

import msgspec

from kafkawire.layout import FieldLayout, StructLayout
from kafkawire.protocol import message_class
from kafkawire.rpc import api_of
from kafkawire.wire import Message

__all__ = ["MALFORMED", "refusal"]

_ERROR: Final = "error_code"
_MESSAGE: Final = "error_message"

_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "entity": ("entity",),
    "group_id": ("group_id",),
    "index": ("index",),
    "key": ("key",),
    "name": ("name",),
    "partition_index": ("partition_index", "partition"),
    "resource_name": ("resource_name",),
    "resource_type": ("resource_type",),
    "topic": ("topic",),
    "topic_id": ("topic_id",),
    "user": ("name",),
}
"""What items of responses are named by, and what that is called in the request. Where a request has only names in place
of structs, the first of these that fits is the name."""

_NOTHING: Final[Mapping[str, object]] = {
    "base_offset": -1,
    "committed_offset": -1,
    "entries": None,
    "high_watermark": -1,
    "node_id": -1,
    "port": -1,
    "producer_epoch": -1,
    "records": b"",
    "unaligned_records": b"",
}
"""What Kafka says in these fields when there is nothing to say, where that is not the default."""

_NOT_ASKED_ABOUT: Final = frozenset({"forgotten_topics_data", "unknown_tagged_fields"})

_WITHOUT_ITEMS: Final[Mapping[str, range]] = {
    "FetchResponse": range(13, 1 << 15),
    "OffsetDeleteResponse": range(1 << 15),
    "OffsetFetchResponse": range(2, 8),
}
"""Versions of responses in which the code for all stands alone although there is one for each item."""

MALFORMED: Final = (
    "This most likely occurs because of a request being malformed by the client library or the message was sent to an "
    "incompatible broker. See the broker logs for more details."
)
"""Kafka's words for INVALID_REQUEST where it has nothing more exact to say."""

S = TypeVar("S", bound=msgspec.Struct)


def refusal(
    request: Message, version: int, code: int, *, message: str | None = None, throttle_time_ms: int = 0
) -> Message:
    """The response to a request that is refused as a whole.

    Args:
        request: what was asked.
        version: of request and response.
        code: the error.
        message: in words, where the response has room for them.
        throttle_time_ms: milliseconds, where it has room for them.

    Raises:
        ValueError: the message is not a request.
        UnsupportedVersionError: it has no such version.
    """
    cls = message_class(api_of(request).response)
    layout = cls.layouts().of_version(version)
    said: dict[str, object] = {_ERROR: code, _MESSAGE: message, "throttle_time_ms": throttle_time_ms}
    said["session_id"] = getattr(request, "session_id", 0)
    with_items = version not in _WITHOUT_ITEMS.get(cls.NAME, ())
    return _Refusal(cls, said).struct(cls, layout, request, with_items=with_items)


class _Refusal:
    """Makes the structs of one response.

    Args:
        message_cls: class of the response, which has the classes of its structs.
        said: what stands in every struct that has room for it.
    """

    def __init__(self, message_cls: type[Message], said: Mapping[str, object]) -> None:
        self._message_cls = message_cls
        self._said = {**_NOTHING, **said}

    def struct(self, cls: type[S], layout: StructLayout, named: object, *, with_items: bool = True) -> S:
        """A struct about what a struct of the request, or a name in it, names.

        An item that has the code has no items of its own.
        """
        values: dict[str, object] = {}
        names = _names(layout, named)
        fields = [field for field in layout.fields if field.presence != "absent"]
        if not isinstance(named, Message):
            with_items = not any(field.attribute == _ERROR for field in fields)
        for field in fields:
            if field.attribute in names:
                values[field.attribute] = self._name(field, names[field.attribute])
            elif field.array and field.struct is not None and _has_errors(field.struct):
                values[field.attribute] = tuple(self._items(field.struct, named)) if with_items else ()
            elif field.attribute in self._said:
                values[field.attribute] = self._said[field.attribute]
        return cls(**values)

    def _items(self, layout: StructLayout, named: object) -> Iterator[msgspec.Struct]:
        """An item for each that the request has; what stands in two arrays of it is one."""
        cls: type[msgspec.Struct] = getattr(self._message_cls, layout.name)
        arrays = _arrays(named)
        items = (self.struct(cls, layout, element) for array in arrays for element in array)
        return iter(dict.fromkeys(items)) if len(arrays) > 1 else items

    def _name(self, field: FieldLayout, name: object) -> object:
        if field.struct is None:
            return name if name is not None or field.nullable else field.default
        cls: type[msgspec.Struct] = getattr(self._message_cls, field.struct.name)
        parts = [part.attribute for part in field.struct.fields if part.presence != "absent"]
        return tuple(cls(**{part: getattr(struct, part) for part in parts}) for struct in _sequence(name))


def _names(layout: StructLayout, named: object) -> Mapping[str, object]:
    """What the fields of an item say to name it; nothing is named by a whole request."""
    candidates = [field for field in layout.fields if field.presence != "absent" and field.attribute in _NAMES]
    match named:
        case Message() | None:
            return {}
        case msgspec.Struct():
            found = ((field, _called(named, field.attribute)) for field in candidates)
            return {field.attribute: getattr(named, name) for field, name in found if name is not None}
    kind = "string" if isinstance(named, str) else "int32" if isinstance(named, int) else "uuid"
    return {field.attribute: named for field in candidates if field.type == kind and not field.array}


def _called(named: msgspec.Struct, attribute: str) -> str | None:
    """What a struct of the request calls what an attribute of the response names."""
    return next((name for name in _NAMES[attribute] if hasattr(named, name)), None)


def _arrays(named: object) -> list[Sequence[object]]:
    """The arrays of a request or of a struct in it."""
    if not isinstance(named, msgspec.Struct):
        return []
    attributes = (
        name for name in named.__struct_fields__ if name not in {"unknown_tagged_fields", "forgotten_topics_data"}
    )
    found = (getattr(named, attribute) for attribute in attributes)
    return [array for array in found if _is_array(array) and array]


def _sequence(value: object) -> Sequence[object]:
    return value if isinstance(value, Sequence) else ()


def _is_array(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes, memoryview))


def _has_errors(layout: StructLayout) -> bool:
    """Whether a struct says what went wrong, or one within it."""
    present = (field for field in layout.fields if field.presence != "absent")
    return any(f.attribute == _ERROR or (f.struct is not None and _has_errors(f.struct)) for f in present)
