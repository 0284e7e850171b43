"""The codec of one message at one version: by generated code, or by two engines that are compared.

Codecs do not say what is wrong: they raise one of FAST_PATH_FAILS, and the reference codec finds the reason.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final, Protocol, TypeVar

import msgspec

from kafkawire.wire.errors import EngineError

T = TypeVar("T")

Read = Callable[[bytes, int], tuple[Any, int]]
Write = Callable[[Any], bytes]

FAST_PATH_FAILS: Final = (ValueError, IndexError, TypeError, AttributeError, OverflowError, BufferError, struct.error)
"""What codecs raise for bytes and messages that they refuse; no method of a message lets it through."""


class MessageCodec(Protocol):
    """Reads and writes one message at one version."""

    @property
    def read(self) -> Read:
        """Reads a message from a position on; returns it and the position after it, which is inside of the buffer."""

    @property
    def write(self) -> Write:
        """The bytes of a message."""

    @property
    def decode(self) -> Callable[[object], Any]:
        """The message that fills a buffer of exact bytes; buffers of other types are refused."""


class GeneratedCodec:
    """A codec of generated functions.

    Args:
        read: notices only at the end that it is past the end of the buffer, and returns that position.
        write: the bytes of a message.
    """

    __slots__ = ("_read", "write")

    def __init__(self, read: Read, write: Write) -> None:
        self._read = read
        self.write = write

    def read(self, buffer: bytes, at: int) -> tuple[Any, int]:
        """A message and the position after it."""
        read = self._read(buffer, at)
        if read[1] > len(buffer):
            raise ValueError
        return read

    def decode(self, buffer: object) -> Any:  # noqa: ANN401 a message of any class
        """The message that fills a buffer."""
        if type(buffer) is not bytes:
            raise TypeError
        message, end = self._read(buffer, 0)
        if end != len(buffer):
            raise ValueError
        return message


class ComparedCodec:
    """Two codecs, which must agree.

    Attributes:
        native: the one of the native engine.

    Raises:
        EngineError: if they do not.
    """

    __slots__ = ("_generated", "native")

    def __init__(self, generated: MessageCodec, native: MessageCodec) -> None:
        self._generated = generated
        self.native = native

    def read(self, buffer: bytes, at: int) -> tuple[Any, int]:
        """A message and the position after it."""
        return agreed(lambda: self._generated.read(buffer, at), lambda: self.native.read(buffer, at))

    def write(self, message: object) -> bytes:
        """The bytes of a message."""
        return agreed(lambda: self._generated.write(message), lambda: self.native.write(message))

    def decode(self, buffer: object) -> Any:  # noqa: ANN401 a message of any class
        """The message that fills a buffer."""
        return agreed(lambda: self._generated.decode(buffer), lambda: self.native.decode(buffer))


def agreed(run_generated: Callable[[], T], run_native: Callable[[], T]) -> T:
    """The result of two engines, or what both raise.

    Raises:
        EngineError: they have different results.
    """
    generated, native = _result(run_generated), _result(run_native)
    if isinstance(generated, Exception) != isinstance(native, Exception):
        refuses = "native engine" if isinstance(native, Exception) else "generated code"
        raise EngineError(f"only the {refuses} refuses this message; please report it")
    if isinstance(native, Exception):
        raise native
    path = _difference(generated, native)
    if path is not None:
        raise EngineError(f"the engines differ{path and f' at {path}'}; please report it")
    return native


def _result(run: Callable[[], T]) -> T | Exception:
    try:
        return run()
    except FAST_PATH_FAILS as error:
        return error


def _difference(left: object, right: object, path: str = "") -> str | None:
    """Where two values differ in value or type; None if they do not. Values are not shown: they may be secrets."""
    if type(left) is not type(right):
        return path
    if isinstance(left, msgspec.Struct):
        parts = [(f"{path}.{name}", getattr(left, name), getattr(right, name)) for name in left.__struct_fields__]
    elif isinstance(left, tuple) and isinstance(right, tuple) and len(left) == len(right):
        parts = [(f"{path}[{at}]", *pair) for at, pair in enumerate(zip(left, right, strict=True))]
    else:
        return None if left == right or (left != left and right != right) else path  # noqa: PLR0124 not a number
    differences = (_difference(a, b, where) for where, a, b in parts)
    return next((where for where in differences if where is not None), None)
