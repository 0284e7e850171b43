"""What a table keeps of a log between two readings of it, as bytes that are verified before they are used."""

from __future__ import annotations

import hashlib
from typing import Final, TypeVar

import msgspec

from kafkawire.logs.frames.continuing import Reached

FORM: Final = 3
"""To be raised when a state changes its form, such as keys or values of a history: one of another form is not used."""

_MAGIC: Final = b"kafkawire state\n"
_BEGIN: Final = len(_MAGIC) + hashlib.sha256().digest_size

T = TypeVar("T")

_LIST, _TUPLE, _SET, _DICT = range(4)


class SavedStateError(ValueError):
    """A saved state that cannot be used: it is damaged, or of another version of kafkawire."""


class SavedLog(msgspec.Struct, frozen=True, array_like=True):
    """How far a log was read, and the state of a table there.

    Attributes:
        reached: the place after the last batch; None if none was read.
        fold: the state, as the table itself encodes it.
    """

    reached: Reached | None
    fold: bytes


class SavedTable(msgspec.Struct, frozen=True, array_like=True):
    """The state of a table in its logs.

    Attributes:
        form: see ``FORM``.
        table: its name.
        logs: by the path of their folder, as shown.
    """

    form: int
    table: str
    logs: dict[str, SavedLog]

    def encode(self) -> bytes:
        """As bytes, with a checksum."""
        octets = msgspec.msgpack.encode(self)
        return _MAGIC + hashlib.sha256(octets).digest() + octets

    @classmethod
    def decode(cls, octets: bytes) -> SavedTable | None:
        """From ``encode``; None if the bytes are something else.

        Raises:
            SavedStateError: it cannot be used.
        """
        if not octets.startswith(_MAGIC):
            return None
        encoded = octets[_BEGIN:]
        if octets[len(_MAGIC) : _BEGIN] != hashlib.sha256(encoded).digest():
            raise SavedStateError("it is damaged")
        found = decode_saved(encoded, cls)
        if found.form != FORM:
            raise SavedStateError(f"another version of kafkawire wrote it, in form {found.form}; this one has {FORM}")
        return found


def decode_saved(octets: bytes, kind: type[T]) -> T:
    """A part of a state, from MessagePack.

    Raises:
        SavedStateError: the bytes are no such part.
    """
    try:
        return msgspec.msgpack.decode(octets, type=kind)
    except msgspec.MsgspecError as error:
        raise SavedStateError(f"it cannot be decoded: {error}") from None


def tagged(value: object) -> object:
    """A key or value as arrays that begin with their kind: MessagePack has neither tuples nor sets.

    Equal values have the same form.
    """
    match value:
        case tuple():
            return [_TUPLE, *map(tagged, value)]
        case list():
            return [_LIST, *map(tagged, value)]
        case frozenset():
            return [_SET, *sorted(map(tagged, value), key=msgspec.msgpack.encode)]
        case dict():
            return [_DICT, *([tagged(key), tagged(each)] for key, each in value.items())]
        case _:
            return value


def untagged(value: object) -> object:
    """From ``tagged``.

    Raises:
        SavedStateError: the value is not from there.
    """
    match value:
        case list([kind, *items]) if kind == _TUPLE:
            return tuple(map(untagged, items))
        case list([kind, *items]) if kind == _LIST:
            return list(map(untagged, items))
        case list([kind, *items]) if kind == _SET:
            return frozenset(map(untagged, items))
        case list([kind, *items]) if kind == _DICT:
            return {untagged(key): untagged(each) for key, each in items}
        case list() | dict():
            raise SavedStateError("it has an array without its kind")
        case _:
            return value
