"""``kafkawire codec``: encode and decode messages as a filter on JSON lines, for people and conformance suites."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated

import msgspec
import typer

from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.layout import StructLayout
from kafkawire.near_names import near_names
from kafkawire.rpc import KAFKAS_PACKAGE
from kafkawire.wire import DecodeError, EncodeError, Message, UnsupportedVersionError
from kafkawire.wire.errors import describe
from kafkawire.wire.json_form import message_from_json, message_to_json
from kafkawire.wire.reference import decode_struct, encode_struct


class Engine(StrEnum):
    """The codec to use."""

    GENERATED = "generated"
    REFERENCE = "reference"


class Line(msgspec.Struct):
    """One line of input."""

    name: str
    version: int
    hex: str | msgspec.UnsetType = msgspec.UNSET
    json: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_LINES = msgspec.json.Decoder(Line)
_STEP = re.compile(r"([A-Za-z0-9_]+)((?:\[\d+\])*)")


class LineError(Exception):
    """A line that does not have the form that the filter reads."""


EngineOption = Annotated[Engine, typer.Option(help="The fast generated code, or the reference that reads layouts.")]
PackageOption = Annotated[
    str,
    typer.Option(
        help="The generated package that has the messages, by its dotted name; it is searched among what is "
        "installed, then in the current folder."
    ),
]


def decode(engine: EngineOption = Engine.GENERATED, package: PackageOption = KAFKAS_PACKAGE) -> None:
    """Decode bytes to Kafka's JSON form.

    Reads {"name", "version", "hex"} and writes {"json", "hex"}, where hex is the value encoded again, or
    {"error": {"kind", "path", "offset", "message"}}. The path has the names of the JSON form.

    Exit code: 0 if every line was decoded, 3 if some were not, 1 if none was, 2 for wrong usage.
    """
    classes = _classes_of(package)
    _filter(classes, lambda line, cls: decoded(line, cls, engine))


def encode(engine: EngineOption = Engine.GENERATED, package: PackageOption = KAFKAS_PACKAGE) -> None:
    """Encode Kafka's JSON form to bytes.

    Reads {"name", "version", "json"} and writes {"hex"} or {"error": {"kind", "path", "offset", "message"}}. The path
    has the names of the JSON form.

    Exit code: 0 if every line was encoded, 3 if some were not, 1 if none was, 2 for wrong usage.
    """
    classes = _classes_of(package)
    _filter(classes, lambda line, cls: encoded(line, cls, engine))


ClassOf = Callable[[str], type[Message]]
"""The class of a message by its name."""

Answer = Callable[[Line, type[Message]], dict[str, object]]


def decoded(line: Line, cls: type[Message], engine: Engine) -> dict[str, object]:
    """The answer of ``decode`` to a line."""
    if line.hex is msgspec.UNSET:
        raise LineError('"hex" is missing')
    try:
        buffer = bytes.fromhex(line.hex)
    except ValueError:
        raise LineError('"hex" is not an even number of hexadecimal digits') from None
    message = cls.decode(buffer, line.version) if engine is Engine.GENERATED else _decode(cls, buffer, line.version)
    return {"json": message_to_json(message, line.version), "hex": _encode(message, line.version, engine).hex()}


def encoded(line: Line, cls: type[Message], engine: Engine) -> dict[str, object]:
    """The answer of ``encode`` to a line."""
    if line.json is msgspec.UNSET:
        raise LineError('"json" is missing')
    message = message_from_json(cls, _parse(bytes(line.json)), line.version)
    return {"hex": _encode(message, line.version, engine).hex()}


def answers(lines: Iterable[bytes], class_of: ClassOf, answer: Answer) -> Iterator[dict[str, object]]:
    """The answer to each line that is not blank, which may be an error."""
    for raw in lines:
        if raw.strip():
            yield _answer(raw, class_of, answer)


def _answer(raw: bytes, class_of: ClassOf, answer: Answer) -> dict[str, object]:
    try:
        line = _LINES.decode(raw)
        return _answer_to(line, class_of(line.name), answer)
    except (LineError, json.JSONDecodeError, msgspec.DecodeError) as error:
        return _error("input", str(error))
    except UnicodeDecodeError:
        return _error("input", "the line is not UTF-8")
    except RecursionError:
        return _error("input", "the JSON is nested too deeply")


def _answer_to(line: Line, cls: type[Message], answer: Answer) -> dict[str, object]:
    try:
        return answer(line, cls)
    except UnsupportedVersionError as error:
        return _error(error.kind, str(error))
    except (DecodeError, EncodeError) as error:
        offset = error.offset if isinstance(error, DecodeError) else None
        path = json_path(cls.layouts().of_version(line.version), error.path)
        return _error(error.kind, describe(error.message_name, error.version, path, offset, error.reason), path, offset)


def _error(kind: str, message: str, path: str = "", offset: int | None = None) -> dict[str, object]:
    return {"error": {"kind": kind, "path": path, "offset": offset, "message": message}}


def json_path(layout: StructLayout | None, path: str) -> str:
    """A path of Python attributes, ``topics[3].leader_id``, with the names of the JSON form.

    Args:
        layout: of the struct that the path begins at.
        path: the path; names that the layout lacks are unchanged.
    """
    steps: list[str] = []
    for name, index in _STEP.findall(path):
        field = next((field for field in layout.fields if field.attribute == name), None) if layout else None
        steps.append(f"{field.json_name if field else name}{index}")
        layout = field.struct if field else None
    return ".".join(steps)


def _classes_of(package: str) -> ClassOf:
    """The classes of a generated package by name; a name that it does not have is a LineError.

    Raises:
        CommandError: if there is no such package, or it is not a generated one.
    """
    module = _imported(package)
    if not {"message_class", "MESSAGE_NAMES"} <= vars(module).keys():
        raise CommandError(f"{package} is not a package that kafkawire generated", ExitCode.USAGE)
    message_class: ClassOf = module.message_class
    names: tuple[str, ...] = module.MESSAGE_NAMES

    def class_of(name: str) -> type[Message]:
        try:
            return message_class(name)
        except KeyError:
            near = near_names(name, names)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise LineError(f"{package} has no message {name[:80]!r}{hint}") from None

    return class_of


def _imported(package: str) -> ModuleType:
    missing = CommandError(
        f"--package: there is no package {package!r} among what is installed, nor in the current folder; "
        "install it, or run the command in the folder that holds it",
        ExitCode.USAGE,
    )
    if not all(part.isidentifier() for part in package.split(".")):
        raise missing
    if package != KAFKAS_PACKAGE:
        # After everything else, so that no file there takes the place of an installed module.
        sys.path.append(str(Path.cwd()))
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if not f"{package}.".startswith(f"{error.name}."):
            raise
        raise missing from None


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


def _filter(class_of: ClassOf, answer: Answer) -> None:
    """Answer each line of standard input at once, because the other end may wait for it."""
    done = failed = 0
    for result in answers(sys.stdin.buffer, class_of, answer):
        sys.stdout.write(json.dumps(result) + "\n")
        sys.stdout.flush()
        if "error" in result:
            failed += 1
        else:
            done += 1
    if failed:
        raise typer.Exit(ExitCode.SOME_FAILED if done else ExitCode.FAILED)


def _parse(text: bytes) -> object:
    """JSON as Kafka's JSON form needs it, with integers of any size; NaN and the like were refused with the line."""
    try:
        return json.loads(text.decode())
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise
    except ValueError:
        raise LineError("a number has more digits than Python reads") from None
