"""The response to a request that is refused as a whole: one error code for everything in the request.

The message definitions have no rule for this; the responses are those of Kafka's own request classes
(``getErrorResponse``). The code is in every field for it, and items of the response have the names of the request's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeGuard, TypeVar

import msgspec

from kafkawire.layout import FieldLayout, StructLayout
from kafkawire.protocol import message_class
from kafkawire.rpc import api_of
from kafkawire.wire import Message

_ERROR: Final = "error_code"
_ERRORS: Final = frozenset({_ERROR, "partition_error_code"})
_MESSAGE: Final = "error_message"

NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "entity": ("entity",),
    "group_id": ("group_id",),
    "index": ("index",),
    "key": ("key",),
    "name": ("name",),
    "partition": ("partition",),
    "partition_id": ("partition_id",),
    "partition_index": ("partition_index", "partition"),
    "producer_id": ("producer_id",),
    "resource_name": ("resource_name",),
    "resource_type": ("resource_type",),
    "topic": ("topic",),
    "topic_id": ("topic_id",),
    "transactional_id": ("transactional_id",),
    "user": ("name",),
}
"""Fields that name the items of responses, to the fields of the request that they are taken from. Where a request has
names instead of structs, a name is put into the first field with its type."""

_NOTHING: Final[Mapping[str, object]] = {
    "base_offset": -1,
    "committed_offset": -1,
    "entries": None,
    "high_watermark": -1,
    "node_id": -1,
    "port": -1,
    "records": b"",
    "unaligned_records": b"",
}
"""Kafka's values of other fields, where they are not the defaults."""

_NOTHING_OF: Final[Mapping[str, Mapping[str, object]]] = {"InitProducerIdResponse": {"producer_epoch": -1}}
"""The same for single responses."""

_NULL_WHERE_ALLOWED: Final = frozenset({"protocol_name"})
"""Fields that are null in versions that allow it, and have their default in others."""

_IGNORED_ARRAYS: Final = frozenset({"forgotten_topics_data", "unknown_tagged_fields"})

_WITHOUT_ITEMS: Final[Mapping[str, range]] = {
    "AddPartitionsToTxnResponse": range(4, 1 << 15),
    "AlterShareGroupOffsetsResponse": range(1 << 15),
    "DeleteShareGroupOffsetsResponse": range(1 << 15),
    "DescribeLogDirsResponse": range(1 << 15),
    "DescribeQuorumResponse": range(1 << 15),
    "FetchResponse": range(13, 1 << 15),
    "LeaveGroupResponse": range(1 << 15),
    "OffsetDeleteResponse": range(1 << 15),
    "OffsetFetchResponse": range(2, 8),
    "ShareAcknowledgeResponse": range(1 << 15),
    "ShareFetchResponse": range(1 << 15),
    "UpdateFeaturesResponse": range(1 << 15),
}
"""Versions of responses that have one code and no items, although items have a code too."""

MALFORMED: Final = (
    "This most likely occurs because of a request being malformed by the client library or the message was sent to an "
    "incompatible broker. See the broker logs for more details."
)
"""Kafka's message for INVALID_REQUEST if it has no other."""

S = TypeVar("S", bound=msgspec.Struct)


def refusal(
    request: Message,
    version: int,
    code: int,
    *,
    message: str | None = None,
    throttle_time_ms: int = 0,
    always_with_items: bool = False,
) -> Message:
    """The response to a request that is refused as a whole.

    Args:
        request: the request.
        version: of request and response.
        code: the error code.
        message: its text, for responses that have a field for it.
        throttle_time_ms: the throttle time, for responses that have a field for it.
        always_with_items: whether each item at each level has the error, also where Kafka has it once in their place.

    Raises:
        ValueError: the message is not a request.
        UnsupportedVersionError: it has no such version.
    """
    cls = message_class(api_of(request).response)
    layout = cls.layouts().of_version(version)
    values: dict[str, object] = dict.fromkeys(_ERRORS, code)
    values |= {_MESSAGE: message, "throttle_time_ms": throttle_time_ms}
    values["session_id"] = getattr(request, "session_id", 0)
    with_items = always_with_items or version not in _WITHOUT_ITEMS.get(cls.NAME, ())
    made = _Refusal(cls, values, always_with_items=always_with_items)
    return made.struct(cls, layout, request, with_items=with_items)


class _Refusal:
    """Makes the structs of one response.

    Args:
        message_cls: class of the response, which has the classes of its structs.
        values: field to value, for every struct that has the field.
        always_with_items: as of `refusal`.
    """

    def __init__(self, message_cls: type[Message], values: Mapping[str, object], *, always_with_items: bool) -> None:
        self._always_with_items = always_with_items
        self._message_cls = message_cls
        self._values = {**_NOTHING, **_NOTHING_OF.get(message_cls.NAME, {}), **values}

    def struct(self, cls: type[S], layout: StructLayout, named: object, *, with_items: bool = True) -> S:
        """The struct of the response for a struct of the request, or for a name in it.

        An item with an error code has no items of its own.
        """
        values: dict[str, object] = {}
        names = _names(layout, named)
        fields = [field for field in layout.fields if field.presence != "absent"]
        if not isinstance(named, Message):
            with_items = self._always_with_items or not has_own_error(layout)
        for field in fields:
            if field.attribute in names:
                values[field.attribute] = self._name(field, names[field.attribute])
            elif field.array and field.struct is not None and has_errors(field.struct):
                values[field.attribute] = tuple(self._items(field.struct, named)) if with_items else ()
            elif field.attribute in _NULL_WHERE_ALLOWED and field.nullable:
                values[field.attribute] = None
            elif field.attribute in self._values:
                values[field.attribute] = self._values[field.attribute]
        return cls(**values)

    def _items(self, layout: StructLayout, named: object) -> Iterator[msgspec.Struct]:
        """An item for each item of the request; one that is in two arrays of the request is listed once."""
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
    """The values of the fields that name an item; none for the whole response."""
    candidates = [field for field in layout.fields if field.presence != "absent" and field.attribute in NAMES]
    match named:
        case Message() | None:
            return {}
        case msgspec.Struct():
            found = ((field, _name_field(named, field.attribute)) for field in candidates)
            return {field.attribute: getattr(named, name) for field, name in found if name is not None}
    kind = "string" if isinstance(named, str) else "int32" if isinstance(named, int) else "uuid"
    return {field.attribute: named for field in candidates if field.type == kind and not field.array}


def _name_field(named: msgspec.Struct, attribute: str) -> str | None:
    """The field of a struct of the request with the name for a field of the response."""
    return next((name for name in NAMES[attribute] if hasattr(named, name)), None)


def _arrays(named: object) -> list[Sequence[object]]:
    """The arrays of a request or of a struct in it."""
    if not isinstance(named, msgspec.Struct):
        return []
    attributes = (name for name in named.__struct_fields__ if name not in _IGNORED_ARRAYS)
    found = (getattr(named, attribute) for attribute in attributes)
    return [array for array in found if _is_array(array) and array]


def _sequence(value: object) -> Sequence[object]:
    return value if isinstance(value, Sequence) else ()


def _is_array(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes, memoryview))


def has_own_error(layout: StructLayout) -> bool:
    """Whether a struct of a response has an error code itself."""
    return any(field.attribute in _ERRORS and field.presence != "absent" for field in layout.fields)


def has_errors(layout: StructLayout) -> bool:
    """Whether a struct of a response, or one within it, has an error code."""
    present = (field for field in layout.fields if field.presence != "absent")
    return any(f.attribute in _ERRORS or (f.struct is not None and has_errors(f.struct)) for f in present)
