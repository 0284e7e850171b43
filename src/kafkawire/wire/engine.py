"""Which engine reads and writes messages: the generated Python code, the native engine, or both.

``KAFKAWIRE_ENGINE`` chooses it: ``python``, ``native`` or ``both``. Without it the native engine is used where it is
installed. The engines give equal results; what one of them refuses, the reference codec decodes or encodes again.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, Literal, TypeVar, cast, get_args

from kafkawire.wire.errors import EngineError
from kafkawire.wire.message import Message
from kafkawire.wire.message_codec import (
    FAST_PATH_FAILS,
    ComparedCodec,
    GeneratedCodec,
    MessageCodec,
    Read,
    Write,
    agreed,
)
from kafkawire.wire.native_library import load_native
from kafkawire.wire.programs import FORM, program_of

if TYPE_CHECKING:
    from types import ModuleType

    from kafkawire._native import Codec

T = TypeVar("T")
N = TypeVar("N")

EngineName = Literal["python", "native", "both"]
"""``both`` runs the two, compares them and is slow: it is for tests."""

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


def native_engine() -> ModuleType | None:
    """The native engine, if it is in use.

    Raises:
        EngineError: as ``engine_in_use``.
    """
    return _InUse.native if engine_in_use() != "python" else None


def native_codec(cls: type[Message], version: int) -> Codec | None:
    """The codec of a message at a version in the native engine, if that is in use and can read the message.

    Raises:
        UnsupportedVersionError: if the message has no such version.
    """
    codec = cls.fast_codec(version)
    if isinstance(codec, ComparedCodec):
        codec = codec.native
    return None if isinstance(codec, GeneratedCodec) else cast("Codec", codec)


def by_engine_in_use(run_python: Callable[[], T], native: N | None, run_native: Callable[[N], T]) -> T:
    """Run a function of the engine in use, or both functions and compare what they return.

    Args:
        run_python: what runs without the native engine.
        native: the part of the native engine that the work needs; None if it is not in use.
        run_native: what runs with it.

    Raises:
        EngineError: the two functions do not agree.
    """
    if native is None:
        return run_python()
    if engine_in_use() == "both":
        return agreed(run_python, lambda: run_native(native))
    return run_native(native)


def natively_if_possible(run_python: Callable[[], T], native: N | None, run_native: Callable[[N], T]) -> T:
    """As ``by_engine_in_use``, where the native engine may refuse what Python does not."""
    if native is None:
        return run_python()
    try:
        made = run_native(native)
    except FAST_PATH_FAILS:
        return run_python()
    return agreed(run_python, lambda: made) if engine_in_use() == "both" else made


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
        if isinstance(cls._codecs, _Codecs):
            cls._codecs.clear()


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
    native = load_native()
    if native.FORM != FORM:
        raise ImportError("it was built from other sources than the rest of kafkawire")
    return native


class _Codecs(dict[int, MessageCodec]):
    """The codecs of a message by version; each is made at its first use.

    Args:
        cls: the class of the message.
        readers, writers: the generated functions of all versions.
    """

    __slots__ = ("_cls", "_readers", "_writers")

    def __init__(self, cls: type[Message], readers: Mapping[int, Read], writers: Mapping[int, Write]) -> None:
        self._cls = cls
        self._readers = readers
        self._writers = writers

    def __missing__(self, version: int) -> MessageCodec:
        generated = GeneratedCodec(self._readers[version], self._writers[version])
        codec = self[version] = self._codec(version, generated)
        return codec

    def _codec(self, version: int, generated: GeneratedCodec) -> MessageCodec:
        engine = native_engine()
        if engine is None:
            return generated
        try:
            native: MessageCodec = engine.Codec(program_of(self._cls, self._cls.layouts().of_version(version)))
        except ValueError:  # a field type, or a form of objects, that only Python knows
            return generated
        return ComparedCodec(generated, native) if engine_in_use() == "both" else native


def codecs(cls: type[Message], readers: Mapping[int, Read], writers: Mapping[int, Write]) -> Mapping[int, MessageCodec]:
    """The codecs of a message by version: those of the engine in use.

    Args:
        cls: the class of the message.
        readers, writers: the generated functions of all versions.
    """
    return _Codecs(cls, readers, writers)
