"""The items that a command is given in a file or on standard input: names, or objects in JSON or YAML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final, TypeVar

import msgspec
import typer

from kafkawire.cli.given_text import given_text, shown_path
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.visible import visible

T = TypeVar("T")

FromOption = Annotated[
    Path | None,
    typer.Option("--from", metavar="FILE", help="Items from a file, - for standard input: names, JSON or YAML."),
]
"""The option of commands that take many items."""

_SHOWN: Final = 5
"""Names in a question."""

_DEEPEST: Final = 50
"""Collections in collections of YAML."""

_TOO_DEEP: Final = "it is nested too deeply"

_IS_JSON: Final = re.compile(r"\s*(?:[\[{]\s*)+(?:[\"\]}]|$)")
"""What follows the brackets at the beginning of JSON. In YAML ``{name: orders}`` is an object too."""

_IS_YAML: Final = re.compile(r"^(?:---|- |-$|[\w.-]+:(?: |$)|\?)", re.MULTILINE)


def _named(name: str) -> object:
    return {"name": name}


def given_items(file: Path, item_class: type[T], of_name: Callable[[str], object] = _named) -> list[T]:
    """The items of a file.

    JSON is an array, an object, or an object on each line. YAML is a document for each item, or a list of them. Any
    other text has a name on each line; blank lines and those that begin with ``#`` do not count.

    Args:
        file: its path; ``-`` is standard input.
        item_class: the class of the items.
        of_name: the object that a name means.

    Raises:
        CommandError: the file is malformed, and the message names the item, or it cannot be read.
    """
    text = given_text(file)
    items = []
    for number, value in enumerate(_values(file, text), 1):
        fields = of_name(value) if isinstance(value, str) else value
        try:
            items.append(msgspec.convert(fields, item_class, str_keys=True))
        except msgspec.ValidationError as error:
            raise CommandError(f"{shown_path(file)}: item {number}: {_in_words(error)}", ExitCode.USAGE) from None
    return items


def given_names(kind: str, names: Iterable[str] | None, file: Path | None, field: str) -> list[str]:
    """The names of the arguments and of a file, each once.

    Args:
        kind: what is named: group, topic, token.
        names: the arguments.
        file: has a name on each line, or what a command prints as JSON or YAML; ``-`` is standard input.
        field: the field of its objects that has the name; other fields do not count.

    Raises:
        CommandError: there is none, or the file is malformed or names nothing.
    """
    item_class = msgspec.defstruct("NamedItem", [(field, str)])
    items = given_items(file, item_class, lambda name: {field: name}) if file else []
    if file and not items:
        raise CommandError(f"{shown_path(file)}: it names no {kind}; write a name on each line", ExitCode.USAGE)
    given = [*(names or ()), *(getattr(each, field) for each in items)]
    if not given:
        raise CommandError(f"no {kind} is named; give arguments or --from FILE", ExitCode.USAGE)
    return list(dict.fromkeys(given))


def first_names(names: Sequence[str]) -> str:
    """The first names, and how many others there are, for a question."""
    shown = ", ".join(map(visible, names[:_SHOWN]))
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown


def config_pairs(option: str, pairs: Iterable[str]) -> dict[str, str]:
    """The names and values of a repeatable option ``NAME=VALUE``.

    Raises:
        CommandError: a pair is malformed, or a name is given twice.
    """
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        name = name.strip()
        if not equals or not name:
            raise CommandError(f"{option}: {pair.partition('=')[0]!r}: write NAME=VALUE", ExitCode.USAGE)
        if name in found:
            raise CommandError(f"{option}: {name} is given twice; give it once", ExitCode.USAGE)
        found[name] = value
    return found


def _values(file: Path, text: str) -> Iterator[object]:
    """Names and objects, one after another."""
    is_bracketed = text.lstrip().startswith(("[", "{"))
    if is_bracketed and _IS_JSON.match(text):
        yield from _flat(_json_values(file, text))
    elif is_bracketed or _IS_YAML.search(text):
        yield from _flat(_yaml_documents(file, text))
    else:
        lines = (line.strip() for line in text.splitlines())
        yield from (line for line in lines if line and not line.startswith("#"))


def _flat(values: Iterable[object]) -> Iterator[object]:
    """Arrays opened; empty documents left out."""
    for value in values:
        if isinstance(value, list):
            yield from value
        elif value is not None:
            yield value


def _json_values(file: Path, text: str) -> Iterator[object]:
    """One value, or a value on each line."""
    try:
        yield msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as whole:
        lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
        if len(lines) == 1 or not lines[0][1].rstrip().endswith(("}", "]")):
            raise CommandError(f"{shown_path(file)}: {_reason(whole)}", ExitCode.USAGE) from None
    else:
        return
    for number, line in lines:
        try:
            yield msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError) as error:
            raise CommandError(f"{shown_path(file)}:{number}: {_reason(error)}", ExitCode.USAGE) from None


def _yaml_documents(file: Path, text: str) -> Iterator[object]:
    import yaml  # noqa: PLC0415 only this form needs it

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    depth = deepest = 0
    try:
        for event in yaml.parse(text, loader):  # before values are made: the fast loader crashes on deep nesting
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            deepest = max(depth, deepest)
        if deepest > _DEEPEST:
            raise CommandError(f"{shown_path(file)}: {_TOO_DEEP}", ExitCode.USAGE)
        yield from yaml.load_all(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise CommandError(f"{shown_path(file)}{place}: {error.problem}", ExitCode.USAGE) from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise CommandError(f"{shown_path(file)}: {_reason(error)}", ExitCode.USAGE) from None


def _reason(error: Exception) -> str:
    return _TOO_DEEP if isinstance(error, RecursionError) else visible(str(error).partition("\n")[0])


def _in_words(error: msgspec.ValidationError) -> str:
    """The message of msgspec, with the path of the field as ``configs.retention`` in place of ``$.configs[...]``."""
    message, _, path = str(error).partition(" - at `")
    field = path.rstrip("`").removeprefix("key in ").removeprefix("$").removeprefix(".")
    words = visible(message[:1].lower() + message[1:].replace("`", ""))
    return f"{field}: {words}" if field else words
