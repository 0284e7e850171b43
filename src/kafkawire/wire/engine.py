"""Which engine reads and writes messages: the generated Python code, the native engine, or both.

``KAFKAWIRE_ENGINE`` chooses it: ``python``, ``native`` or ``both``. Without it the native engine is used where it is
installed. The engines give equal results; what one of them refuses, the reference codec decodes or encodes again.
"""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar, cast, get_args

from kafkawire.wire.errors import EngineError
from kafkawire.wire.message import FAST_PATH_FAILS, Message, Struct
from kafkawire.wire.programs import FORM, program_of

if TYPE_CHECKING:
    from types import ModuleType

    from kafkawire._native import Codec

EngineName = Literal["python", "native", "both"]
"""``both`` runs the two, compares them and is slow: it is for tests."""

Reader = Callable[[bytes, int], tuple[Any, int]]
"""Reads a message from a position on; returns it and the position after it."""

Encoder = Callable[[Any], bytes]
"""The bytes of a message."""

Function = TypeVar("Function", Reader, Encoder)
T = TypeVar("T")

_VARIABLE: Final = "KAFKAWIRE_ENGINE"


class _InUse:
    """The engine of this process: one for all messages, chosen before the first of them is read or written."""

    name: EngineName | None = None
    native: ModuleType | None = None


def engine_in_use() -> EngineName:
    """The engine of this process, which is ``kafkawire.wire.ENGINE``.

    Raises:
        EngineError: if ``KAFKAWIRE_ENGINE`` is no engine, or one that is not installed.
    """
    if _InUse.name is None:
        _choose(os.environ.get(_VARIABLE, ""))
    return cast(EngineName, _InUse.name)


def use_engine(name: EngineName) -> None:
    """Read and write all messages of this process with another engine from now on.

    Raises:
        EngineError: if there is no such engine, or it is not installed.

    Example:
        ```python
        from kafkawire import wire

        before = wire.ENGINE
        wire.use_engine("python")
        wire.use_engine(before)
        ```
    """
    _choose(name)
    for cls in Message.__subclasses__():
        for table in (cls._readers, cls._encoders):
            if isinstance(table, _Table):
                table.clear()


def _choose(name: str) -> None:
    if name and name not in get_args(EngineName):
        raise EngineError(f"there is no engine {name!r}: set {_VARIABLE} to python, native or both")
    if name != "python":
        try:
            _InUse.native = _load_native()
        except ImportError as error:
            if name:
                raise EngineError(
                    f"the engine {name!r} needs the compiled part of kafkawire, which cannot be used: {error}. "
                    f"Install kafkawire again on a machine with a C compiler, or unset {_VARIABLE}"
                ) from None
            if not isinstance(error, ModuleNotFoundError):
                warnings.warn(f"kafkawire runs without its native engine: {error}", RuntimeWarning, stacklevel=2)
            name = "python"
    _InUse.name = cast(EngineName, name or "native")


def _load_native() -> ModuleType:
    native = importlib.import_module("kafkawire._native")  # not every installation has it
    if native.FORM != FORM:
        raise ImportError("it was built from other sources than the rest of kafkawire")
    return native


class _Table(dict[int, Function], Generic[Function]):
    """A function for each version, made at its first use."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[int], Function]) -> None:
        self._make: Callable[[int], Function] = make

    def __missing__(self, version: int) -> Function:
        function = self[version] = self._make(version)
        return function


class _MessageCodecs:
    """Makes the functions of one message."""

    def __init__(self, cls: type[Message], readers: Mapping[int, Reader], encoders: Mapping[int, Encoder]) -> None:
        self._cls = cls
        self._readers = readers
        self._encoders = encoders
        self._native: dict[int, Codec | None] = {}

    def reader(self, version: int) -> Reader:
        python = self._readers[version]
        native = self._native_codec(version)
        if native is None:
            return python
        return _both_readers(python, native.read) if engine_in_use() == "both" else native.read

    def encoder(self, version: int) -> Encoder:
        python = self._encoders[version]
        native = self._native_codec(version)
        if native is None:
            return python
        return _both_encoders(python, native.write) if engine_in_use() == "both" else native.write

    def _native_codec(self, version: int) -> Codec | None:
        """The native codec; None if another engine is in use, or if C cannot handle the message."""
        if engine_in_use() == "python" or _InUse.native is None:
            return None
        if version not in self._native:
            try:
                program = program_of(self._cls, self._cls.layouts().of_version(version))
                self._native[version] = _InUse.native.Codec(program)
            except ValueError:  # a field type, or a form of objects, that only Python knows
                self._native[version] = None
        return self._native[version]


def codecs(
    cls: type[Message], readers: Mapping[int, Reader], encoders: Mapping[int, Encoder]
) -> tuple[Mapping[int, Reader], Mapping[int, Encoder]]:
    """The functions that read and write a message, by version; those of the engine in use.

    Args:
        cls: the class of the message.
        readers, encoders: the generated functions of all versions.
    """
    made = _MessageCodecs(cls, readers, encoders)
    return _Table(made.reader), _Table(made.encoder)


def _both_readers(python: Reader, native: Reader) -> Reader:
    def read(buffer: bytes, at: int) -> tuple[Any, int]:
        expected = _result(lambda: _inside(python(buffer, at), buffer))
        return _agreed(expected, _result(lambda: native(buffer, at)))

    return read


def _inside(read: tuple[Any, int], buffer: bytes) -> tuple[Any, int]:
    """What generated code has read; it notices only at the end that it is past the end of the buffer."""
    if read[1] > len(buffer):
        raise ValueError
    return read


def _both_encoders(python: Encoder, native: Encoder) -> Encoder:
    def encode(item: Message) -> bytes:
        return _agreed(_result(lambda: python(item)), _result(lambda: native(item)))

    return encode


def _result(run: Callable[[], T]) -> T | Exception:
    try:
        return run()
    except FAST_PATH_FAILS as error:
        return error


def _agreed(python: T | Exception, native: T | Exception) -> T:
    if isinstance(python, Exception) != isinstance(native, Exception):
        refuses = "native engine" if isinstance(native, Exception) else "generated code"
        raise EngineError(f"only the {refuses} refuses this message; please report it")
    if isinstance(native, Exception):
        raise native
    path = _difference(python, native)
    if path is not None:
        raise EngineError(f"the engines differ{path and f' at {path}'}; please report it")
    return native


def _difference(left: object, right: object, path: str = "") -> str | None:
    """Where two values differ in value or type; None if they do not. Values are not shown: they may be secrets."""
    if type(left) is not type(right):
        return path
    if isinstance(left, Struct):
        parts = [(f"{path}.{name}", getattr(left, name), getattr(right, name)) for name in left.__struct_fields__]
    elif isinstance(left, tuple) and isinstance(right, tuple) and len(left) == len(right):
        parts = [(f"{path}[{at}]", *pair) for at, pair in enumerate(zip(left, right, strict=True))]
    else:
        return None if left == right or (left != left and right != right) else path  # noqa: PLR0124 not a number
    differences = (_difference(a, b, where) for where, a, b in parts)
    return next((where for where in differences if where is not None), None)
