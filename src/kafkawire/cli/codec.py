"""``kafkawire codec``: encode and decode messages as a filter on JSON lines, for people and conformance suites."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import Annotated

import msgspec
import typer

from kafkawire.protocol import from_json, message_class, to_json
from kafkawire.wire import DecodeError, EncodeError, Message, UnsupportedVersionError
from kafkawire.wire.reference import decode_struct, encode_struct

app = typer.Typer(
    help="Encode and decode messages: a filter on JSON lines. A line with an error gets an error, and never stops it.",
    no_args_is_help=True,
)


class Engine(StrEnum):
    """Which of the two codecs does the work."""

    GENERATED = "generated"
    REFERENCE = "reference"


class Line(msgspec.Struct):
    """One line of input."""

    name: str
    version: int
    hex: str | msgspec.UnsetType = msgspec.UNSET
    json: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_LINES = msgspec.json.Decoder(Line)


class LineError(Exception):
    """A line that is not of the form that the filter takes."""


EngineOption = Annotated[Engine, typer.Option(help="The fast generated code, or the reference that reads layouts.")]


@app.command()
def decode(engine: EngineOption = Engine.GENERATED) -> None:
    """Bytes to Kafka's JSON form.

    Reads {"name", "version", "hex"} and writes {"json", "hex"}, where hex is the value encoded again, or
    {"error": {"kind", "path", "offset", "message"}}.
    """
    _filter(lambda line: decoded(line, engine))


@app.command()
def encode(engine: EngineOption = Engine.GENERATED) -> None:
    """Kafka's JSON form to bytes.

    Reads {"name", "version", "json"} and writes {"hex"} or {"error": {"kind", "path", "offset", "message"}}.
    """
    _filter(lambda line: encoded(line, engine))


def decoded(line: Line, engine: Engine) -> dict[str, object]:
    """What ``decode`` answers to a line."""
    if line.hex is msgspec.UNSET:
        raise LineError('"hex" is missing')
    try:
        buffer = bytes.fromhex(line.hex)
    except ValueError:
        raise LineError('"hex" is not an even number of hexadecimal digits') from None
    cls = _message_class(line.name)
    message = cls.decode(buffer, line.version) if engine is Engine.GENERATED else _decode(cls, buffer, line.version)
    return {"json": to_json(message, line.version), "hex": _encode(message, line.version, engine).hex()}


def encoded(line: Line, engine: Engine) -> dict[str, object]:
    """What ``encode`` answers to a line."""
    if line.json is msgspec.UNSET:
        raise LineError('"json" is missing')
    cls = _message_class(line.name)
    message = from_json(cls, _parse(bytes(line.json)), line.version)
    return {"hex": _encode(message, line.version, engine).hex()}


def answers(lines: Iterable[bytes], answer: Callable[[Line], dict[str, object]]) -> Iterator[dict[str, object]]:
    """The answer to each line that is not blank, an error where it has one."""
    for raw in lines:
        if raw.strip():
            yield _answer(raw, answer)


def _answer(raw: bytes, answer: Callable[[Line], dict[str, object]]) -> dict[str, object]:
    try:
        return answer(_LINES.decode(raw))
    except (DecodeError, EncodeError, UnsupportedVersionError) as error:
        offset = error.offset if isinstance(error, DecodeError) else None
        path = "" if isinstance(error, UnsupportedVersionError) else error.path
        return _error(error.kind, str(error), path, offset)
    except (LineError, json.JSONDecodeError, msgspec.DecodeError) as error:
        return _error("input", str(error))
    except UnicodeDecodeError:
        return _error("input", "the line is not UTF-8")
    except RecursionError:
        return _error("input", "the JSON is nested too deeply")


def _error(kind: str, message: str, path: str = "", offset: int | None = None) -> dict[str, object]:
    return {"error": {"kind": kind, "path": path, "offset": offset, "message": message}}


def _message_class(name: str) -> type[Message]:
    try:
        return message_class(name)
    except KeyError:
        raise LineError(f"there is no message {name[:80]!r}") from None


def _decode(cls: type[Message], buffer: bytes, version: int) -> Message:
    if version not in cls.VERSIONS:
        raise UnsupportedVersionError(cls.NAME, version, cls.VERSIONS)
    layout = cls.layouts().of_version(version)
    message, end = decode_struct(cls, layout, buffer, 0, message_name=cls.NAME, version=version)
    cls.refuse_trailing(buffer, end, version)
    return message


def _encode(message: Message, version: int, engine: Engine) -> bytes:
    if engine is Engine.GENERATED or version not in message.VERSIONS:
        return message.encode(version)
    return encode_struct(message, message.layouts().of_version(version), message_name=message.NAME, version=version)


def _filter(answer: Callable[[Line], dict[str, object]]) -> None:
    """Answer each line of standard input at once, so that the other end may wait for it."""
    for result in answers(sys.stdin.buffer, answer):
        sys.stdout.write(json.dumps(result) + "\n")
        sys.stdout.flush()


def _parse(text: bytes) -> object:
    """JSON as Kafka's JSON form needs it, with integers of any size; NaN and the like were refused with the line."""
    try:
        return json.loads(text.decode())
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise
    except ValueError:
        raise LineError("a number has more digits than Python reads") from None
