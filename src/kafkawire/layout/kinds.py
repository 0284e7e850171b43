"""The kinds of field types.

A field type is an instance of one of these classes. It has one of two forms:

* Of fixed width: ``code`` is the ``struct`` code of a value. If ``struct`` has no code for it, ``load`` and ``dump``
  convert it. ``refuse`` finds values that ``struct`` would accept by mistake.
* Of variable length: ``length_code`` and ``maximum_length`` describe the length prefix, ``legal_octets`` and
  ``of_octets`` convert between a value and its bytes.

Both have ``legal`` (checks a value), ``to_json`` and ``from_json``, ``parse`` (reads the default in a definition),
``strategy`` (draws examples), ``annotation`` (Python type) and ``arrow`` (type of a column). The generator, the
reference codec, the JSON form, the strategies and the columns use only these; they have no code for a single type.
"""

from __future__ import annotations

import base64
import math
import operator
import struct
from binascii import b2a_base64
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any, Final, Literal, SupportsFloat, TypeVar

import msgspec

from kafkawire.layout.fault import FaultError
from kafkawire.layout.model import DefaultValue
from kafkawire.layout.uuid import Uuid

T = TypeVar("T")

Domain = Literal["bool", "int", "float", "uuid", "text", "octets"]
"""The kind of Python value that a type holds."""

OCTETS: Final = (bytes, bytearray, memoryview)
"""The Python types of bytes."""

NOT_FINITE: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
"""The strings that represent the numbers that JSON lacks."""

_URL_SAFE: Final = bytes.maketrans(b"+/", b"-_")
_UUID_CHARACTERS: Final = 22
_INTEGER_CODES: Final = {1: "b", 2: "h", 4: "i", 8: "q"}
_FLOAT_CODES: Final = {2: "e", 4: "f", 8: "d"}
_SHORT: Final = 4
"""The most characters or bytes that strategies draw: tests need messages of many shapes, not large ones."""


class FieldType(msgspec.Struct, frozen=True, kw_only=True):
    """A primitive type of the definition language.

    The base of the kinds below, which implement the methods that raise NotImplementedError here; a type of fixed width
    has no octets, so its kind leaves out ``legal_octets`` and ``of_octets``.

    Attributes:
        name: the name that definitions use.
        domain: kind of Python value.
        annotation: Python type of a value, as written in generated classes.
        arrow: name of the Arrow type of a column. Unsigned integers have the next larger signed type, because Spark has
            no unsigned ones. Columns of ``string`` contain ``str(value)``.
        code: ``struct`` code (big-endian) of a fixed-width type, else None; that of the bytes (``16s``) if there are
            ``load`` and ``dump``.
        size: bytes of a fixed-width type, else None; derived from the code.
        load: converts what ``struct`` reads to the value; None if ``struct`` reads the value itself.
        dump: converts the value to what ``struct`` writes; None if ``struct`` writes the value itself. Raises
            ValueError, TypeError, AttributeError or OverflowError for anything that is not a value of the type.
        refuse: a Python expression, with ``{}`` in place of the value, that is true for values that ``struct`` accepts
            but that are not of the type; empty if there are none.
        length_code: ``struct`` code of the plain length prefix of a variable-length type, else None.
        maximum_length: most bytes of a variable-length value.
        minimum, maximum: range of an integer type.
        nullable: whether ``nullableVersions`` may be given.
        default: the implicit default.
        taggable: whether a field of the type may be tagged (field-tagged-records).
        element: whether arrays of the type exist (field-array-of-records).
        view: whether decoding gives a view of the buffer instead of a copy: the type is for large values.
        to_json: converts a legal value to its JSON form; None if the value is its own JSON form.

    Raises:
        ValueError: if the record contradicts itself.
    """

    name: str
    domain: Domain
    annotation: str
    arrow: str
    code: str | None = None
    size: int | None = None
    load: Callable[[Any], Any] | None = None
    dump: Callable[[Any], Any] | None = None
    refuse: str = ""
    length_code: str | None = None
    maximum_length: int = 0
    minimum: int = 0
    maximum: int = 0
    nullable: bool = False
    default: DefaultValue = None
    taggable: bool = True
    element: bool = True
    view: bool = False
    to_json: Callable[[Any], object] | None = None

    def __post_init__(self) -> None:
        """Derive the size, and check that the attributes agree."""
        try:
            if self.code is not None and self.size is None:
                msgspec.structs.force_setattr(self, "size", struct.calcsize(f">{self.code}"))
            self._check()
        except (ValueError, TypeError, AttributeError, OverflowError, FaultError, struct.error) as error:
            raise ValueError(f"field type {self.name}: {error}") from None

    def _check(self) -> None:
        if (self.code is None) == (self.length_code is None):
            raise ValueError("give either code, for a fixed width, or length_code, for a variable length")
        if self.default is not None:
            self.legal(self.default)
        elif self.code is not None:
            raise ValueError("a fixed-width type has a default that is not null")
        if self.code is None:
            longest = (1 << (8 * struct.calcsize(f">{self.length_code}") - 1)) - 1
            if not 0 < self.maximum_length <= longest:
                raise ValueError(f"maximum_length must be 1 to {longest} with length_code {self.length_code!r}")
            return
        if struct.calcsize(f">{self.code}") != self.size:
            raise ValueError(f"struct code {self.code!r} does not have {self.size} bytes; correct code or size")
        for value in self._samples():
            if self.unpack(self.pack(value)) != value:
                raise ValueError(f"{value!r} does not come back from struct code {self.code!r}")

    def _samples(self) -> tuple[object, ...]:
        """Values that must come back from their bytes."""
        return (self.default,)

    @property
    def many_read_at_once(self) -> bool:
        """Whether one ``struct`` call reads an array."""
        return self.code is not None and self.load is None

    @property
    def many_written_at_once(self) -> bool:
        """Whether one ``struct`` call writes an array."""
        return self.code is not None and self.dump is None and not self.refuse

    def pack(self, value: object) -> bytes:
        """The bytes of a legal value of a fixed-width type (wire-int, wire-bool, wire-float64, wire-uuid)."""
        return struct.pack(f">{self.code}", self.dump(value) if self.dump else value)

    def unpack(self, octets: bytes) -> object:
        """The value of a fixed-width type in its bytes."""
        (value,) = struct.unpack(f">{self.code}", octets)
        return self.load(value) if self.load else value

    def legal(self, value: object) -> object:
        """The value as the Python type of ``annotation``, if it is legal.

        Raises:
            FaultError: if the value is not of the type or outside its range.
        """
        raise NotImplementedError

    def legal_octets(self, value: object) -> bytes:
        """The bytes of a value of a variable-length type, without the length prefix.

        Raises:
            FaultError: if the value is not of the type or too long.
        """
        raise NotImplementedError

    def of_octets(self, octets: bytes, at: int) -> object:
        """The value of a variable-length type from its bytes; ``at`` is their position in the buffer.

        Raises:
            FaultError: if the bytes are not a value of the type; has the position.
        """
        raise NotImplementedError

    def from_json(self, obj: object) -> object:
        """The value from its JSON form.

        Raises:
            FaultError: of kind ``json`` or ``range``, if this is not the JSON form of a value of the type.
        """
        raise NotImplementedError

    def parse(self, text: str) -> DefaultValue:
        """The value of the ``default`` in a definition, which the rules have accepted."""
        raise NotImplementedError

    def strategy(self, st: ModuleType) -> object:
        """Values as a hypothesis strategy, made of the functions of ``hypothesis.strategies``."""
        raise NotImplementedError


class BoolType(FieldType, frozen=True, kw_only=True):
    """True or false."""

    domain: Domain = "bool"
    annotation: str = "bool"
    arrow: str = "bool"
    code: str | None = "?"
    default: DefaultValue = False
    refuse: str = "type({}) is not bool"

    def legal(self, value: object) -> bool:
        if not isinstance(value, bool):
            raise FaultError("type", f"expected True or False, not {kind_of(value)}")
        return value

    def from_json(self, obj: object) -> bool:
        return _expect(bool, "true or false", obj)

    def parse(self, text: str) -> bool:
        return text.lower() == "true"

    def strategy(self, st: ModuleType) -> object:
        return st.booleans()


class IntegerType(FieldType, frozen=True, kw_only=True):
    """Integers of a fixed width."""

    domain: Domain = "int"
    annotation: str = "int"
    default: DefaultValue = 0

    def _samples(self) -> tuple[object, ...]:
        return (self.default, self.minimum, self.maximum)

    def legal(self, value: object) -> int:
        try:
            number = operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            raise FaultError("type", f"expected an integer, not {kind_of(value)}") from None
        if not self.minimum <= number <= self.maximum:
            shown = str(number) if number.bit_length() <= 128 else f"an integer of {number.bit_length()} bits"
            raise FaultError("range", f"{shown} is outside {self.name}, {self.minimum} to {self.maximum}")
        return number

    def from_json(self, obj: object) -> int:
        if isinstance(obj, bool):
            raise unexpected("an integer", obj)
        return self.legal(_expect(int, "an integer", obj))

    def parse(self, text: str) -> int:
        return int(text, 16) if text.lower().startswith("0x") else int(text)

    def strategy(self, st: ModuleType) -> object:
        return st.integers(self.minimum, self.maximum)


def integer(name: str, size: int, *, signed: bool = True) -> IntegerType:
    """The type of integers of a number of bytes, also of one for which ``struct`` has no code."""
    bits = 8 * size
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    arrow_bits = next((each for each in (8, 16, 32, 64) if each >= bits + (not signed)), None)
    arrow = "string" if arrow_bits is None else f"int{arrow_bits}"
    code = _INTEGER_CODES.get(size)
    if code is not None:
        code = code if signed else code.upper()
        return IntegerType(name=name, arrow=arrow, code=code, minimum=low, maximum=high)
    return IntegerType(
        name=name,
        arrow=arrow,
        code=f"{size}s",
        load=partial(int.from_bytes, byteorder="big", signed=signed),
        dump=operator.methodcaller("to_bytes", size, "big", signed=signed),
        minimum=low,
        maximum=high,
    )


def _json_number(value: float) -> float | str:
    """A number, or the string that represents it where JSON has none (json-float)."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


class FloatType(FieldType, frozen=True, kw_only=True):
    """Floating-point numbers."""

    domain: Domain = "float"
    annotation: str = "float"
    default: DefaultValue = 0.0
    to_json: Callable[[Any], object] | None = _json_number

    def legal(self, value: object) -> float:
        if not isinstance(value, SupportsFloat):
            raise FaultError("type", f"expected a number, not {kind_of(value)}")
        try:
            return float(value)
        except OverflowError:
            raise FaultError("range", "the integer is too large for a floating-point number") from None

    def from_json(self, obj: object) -> float:
        """A number needs a fraction or an exponent (json-read-float); NaN and infinities are strings (json-float)."""
        if isinstance(obj, str) and obj in NOT_FINITE:
            return NOT_FINITE[obj]
        return _expect(float, "a number with a fraction or an exponent", obj)

    def parse(self, text: str) -> float:
        return float(text)

    def strategy(self, st: ModuleType) -> object:
        return st.floats(allow_nan=False, width=8 * (self.size or 8))


def floating(name: str, size: int) -> FloatType:
    """The type of floating-point numbers of 2, 4 or 8 bytes."""
    return FloatType(name=name, arrow=f"float{8 * size}", code=_FLOAT_CODES[size])


def _json_uuid(value: bytes) -> str:
    """URL-safe base64 without padding (json-uuid)."""
    return b2a_base64(value, newline=False)[:_UUID_CHARACTERS].translate(_URL_SAFE).decode()


class UuidType(FieldType, frozen=True, kw_only=True):
    """Kafka's ids of 16 bytes."""

    domain: Domain = "uuid"
    annotation: str = "Uuid"
    arrow: str = "string"
    code: str | None = "16s"
    # ``struct`` always reads 16 bytes, so this skips the checks of ``Uuid()``.
    load: Callable[[Any], Any] | None = partial(bytes.__new__, Uuid)
    # ``struct`` would cut or pad bytes of another length.
    refuse: str = "len({}) != 16"
    default: DefaultValue = Uuid()
    to_json: Callable[[Any], object] | None = _json_uuid

    def legal(self, value: object) -> bytes:
        if not isinstance(value, OCTETS):
            raise FaultError("type", f"expected a kafkawire.wire.Uuid or 16 bytes, not {kind_of(value)}")
        octets = bytes(value)
        if len(octets) != 16:
            raise FaultError("length", f"a uuid has 16 bytes, not {len(octets)}")
        return octets

    def from_json(self, obj: object) -> Uuid:
        try:
            return Uuid.from_text(_expect(str, "a uuid", obj))
        except ValueError:
            raise FaultError("json", "a uuid is 22 characters of URL-safe base64, or 24 with padding") from None

    def parse(self, text: str) -> Uuid:
        return Uuid.from_text(text)

    def strategy(self, st: ModuleType) -> object:
        return st.binary(min_size=16, max_size=16).map(Uuid)


class TextType(FieldType, frozen=True, kw_only=True):
    """Strings, written as a length and their UTF-8 bytes."""

    domain: Domain = "text"
    annotation: str = "str"
    arrow: str = "string"
    nullable: bool = True
    default: DefaultValue = ""

    def legal_octets(self, value: object) -> bytes:
        if not isinstance(value, str):
            raise FaultError("type", f"expected a string, not {kind_of(value)}")
        try:
            octets = value.encode()
        except UnicodeEncodeError as error:
            reason = f"character {error.start} is a lone surrogate, which UTF-8 cannot carry"
            raise FaultError("utf8", reason) from None
        if len(octets) > self.maximum_length:
            reason = f"the string takes {len(octets)} bytes, at most {self.maximum_length} are allowed"
            raise FaultError("length", reason)
        return octets

    def legal(self, value: object) -> str:
        return self.legal_octets(value).decode()

    def of_octets(self, octets: bytes, at: int) -> str:
        try:
            return octets.decode()
        except UnicodeDecodeError as error:
            raise FaultError("utf8", f"malformed UTF-8, {error.reason}", at + error.start) from None

    def from_json(self, obj: object) -> str:
        return _expect(str, "a string", obj)

    def parse(self, text: str) -> str:
        return text

    def strategy(self, st: ModuleType) -> object:
        return st.text(st.characters(codec="utf-8"), max_size=_SHORT)


def _json_octets(value: bytes | memoryview) -> str:
    """Base64 (json-bytes, json-records); Kafka writes records as an empty string."""
    return b2a_base64(value, newline=False).decode()


class OctetsType(FieldType, frozen=True, kw_only=True):
    """Bytes, written after their length."""

    domain: Domain = "octets"
    annotation: str = "bytes"
    arrow: str = "binary"
    nullable: bool = True
    default: DefaultValue = b""
    to_json: Callable[[Any], object] | None = _json_octets

    def legal_octets(self, value: object) -> bytes:
        if not isinstance(value, OCTETS):
            raise FaultError("type", f"expected bytes, not {kind_of(value)}")
        try:
            octets = bytes(value)
        except ValueError:
            raise FaultError("type", "the view has been released") from None
        if len(octets) > self.maximum_length:
            raise FaultError("length", f"there are {len(octets)} bytes, at most {self.maximum_length} are allowed")
        return octets

    def legal(self, value: object) -> bytes:
        return self.legal_octets(value)

    def of_octets(self, octets: bytes, at: int) -> bytes:
        return octets

    def from_json(self, obj: object) -> bytes:
        """Standard alphabet, padding required, nothing else (json-read-bytes, json-read-records)."""
        try:
            return base64.b64decode(_expect(str, "a base64 string", obj), validate=True)
        except ValueError:
            raise FaultError("json", "the string is not base64 of the standard alphabet with padding") from None

    def parse(self, text: str) -> str:
        return text

    def strategy(self, st: ModuleType) -> object:
        return st.binary(max_size=_SHORT)


def kind_of(value: object) -> str:
    """The type of a value, for an error that must not quote the value."""
    return "None" if value is None else type(value).__name__


def unexpected(expected: str, obj: object) -> FaultError:
    """The fault of a JSON value of the wrong kind."""
    return FaultError("json", f"expected {expected}, not {_json_kind(obj)}")


def _expect(kind: type[T], expected: str, obj: object) -> T:
    if not isinstance(obj, kind):
        raise unexpected(expected, obj)
    return obj


def _json_kind(obj: object) -> str:
    """JSON's name for a value, without its contents."""
    match obj:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int():
            return "an integer"
        case float():
            return "a number with a fraction"
        case str():
            return "a string"
        case list():
            return "an array"
        case dict():
            return "an object"
        case _:
            return type(obj).__name__
