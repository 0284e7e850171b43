"""The laws that hold for every message, for the emitted property tests. Needs ``hypothesis``."""

from __future__ import annotations

import math
from typing import TypeVar

from hypothesis import strategies as st
from msgspec.structs import replace

from kafkawire.wire.errors import DecodeError
from kafkawire.wire.json_form import message_from_json, message_to_json
from kafkawire.wire.message import Message, Struct
from kafkawire.wire.message_codec import FAST_PATH_FAILS
from kafkawire.wire.reference import decode_struct, encode_struct

S = TypeVar("S", bound=Struct)


def check_round_trip(message: Message, version: int) -> None:
    """Both engines write the same bytes and read them back equal; so does JSON, which has no unknown tags.

    Raises:
        AssertionError: if one of the statements does not hold.
    """
    cls = type(message)
    layout = cls.layouts().of_version(version)
    written = fast_encode(message, version)
    exact = encode_struct(message, layout, message_name=cls.NAME, version=version)
    _hold(written == exact, f"the engines write different bytes: {written.hex()} and {exact.hex()}")
    _hold(same(cls.decode(written, version), message), f"the generated code reads another message from {written.hex()}")
    read = decode_struct(cls, layout, written, 0, message_name=cls.NAME, version=version)
    _hold(same(read, (message, len(written))), f"the reference reads another message from {written.hex()}")
    if not _has_json(message):
        return
    as_json = message_to_json(message, version)
    again = message_from_json(cls, as_json, version)
    # json-unknown-tags: they are not written.
    _hold(again == without_unknown_tags(message), f"the JSON form reads back as another message: {as_json}")


def check_engines_agree(cls: type[Message], version: int, buffer: bytes) -> None:
    """On any bytes both engines give equal values, or both fail; what fails is a DecodeError inside the buffer.

    Raises:
        AssertionError: if the engines differ.
    """
    layout = cls.layouts().of_version(version)
    fast = fast_decode(cls, buffer, version)
    try:
        exact = decode_struct(cls, layout, buffer, 0, message_name=cls.NAME, version=version)
    except DecodeError as error:
        _hold(fast is None, f"the generated code reads what the reference refuses: {error}")
        _hold(error.offset is not None and 0 <= error.offset <= len(buffer), f"no place in the buffer: {error}")
        return
    if fast is None:
        raise AssertionError("the generated code refuses what the reference reads")
    _hold(same(fast[0], exact[0]) and fast[1] == exact[1], f"the engines read {buffer.hex()} differently")


def fast_decode(cls: type[Message], buffer: bytes, version: int) -> tuple[Message, int] | None:
    """Decode with the generated code alone: the message and its end, or None where it fails."""
    try:
        read: tuple[Message, int] = cls.fast_codec(version).read(buffer, 0)
    except FAST_PATH_FAILS:
        return None
    return read


def fast_encode(message: Message, version: int) -> bytes:
    """Encode with the generated code alone; its errors do not say what is wrong."""
    return message.fast_codec(version).write(message)


def same(left: object, right: object) -> bool:
    """Equality in which not-a-number equals itself."""
    if left == right:
        return True
    if isinstance(left, Struct) and type(left) is type(right):
        return all(same(getattr(left, name), getattr(right, name)) for name in left.__struct_fields__)
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return isinstance(left, float) and isinstance(right, float) and math.isnan(left) and math.isnan(right)


def without_unknown_tags(struct: S) -> S:
    """A copy without the unknown tagged fields of the struct and of all structs within."""
    kept = {name: _without_unknown_tags(getattr(struct, name)) for name in struct.__struct_fields__}
    return replace(struct, **kept | {"unknown_tagged_fields": ()})


def _without_unknown_tags(value: object) -> object:
    if isinstance(value, Struct):
        return without_unknown_tags(value)
    return tuple(map(_without_unknown_tags, value)) if isinstance(value, tuple) else value


def _has_json(value: object) -> bool:
    """Whether the JSON form can be read back: that of infinities and not-a-number cannot (json-float)."""
    if isinstance(value, Struct):
        return all(_has_json(getattr(value, name)) for name in value.__struct_fields__)
    if isinstance(value, tuple):
        return all(map(_has_json, value))
    return not isinstance(value, float) or math.isfinite(value)


def _hold(law: bool, violation: str) -> None:
    if not law:
        raise AssertionError(violation)


def damaged(whole: bytes) -> st.SearchStrategy[bytes]:
    """The bytes cut short, with one byte changed, or with something inserted."""
    places = st.integers(0, max(len(whole) - 1, 0))
    cut = places.map(lambda at: whole[:at])
    flipped = st.tuples(places, st.integers(0, 255)).map(lambda x: whole[: x[0]] + bytes([x[1]]) + whole[x[0] + 1 :])
    grown = st.tuples(places, st.binary(min_size=1, max_size=5)).map(lambda x: whole[: x[0]] + x[1] + whole[x[0] :])
    return st.one_of(cut, flipped, grown)
