"""Reads documents: files, folders and standard input."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, Final

from kafkawire.declared.documents.acls import read_acls
from kafkawire.declared.documents.config_values import read_config_resources
from kafkawire.declared.documents.declared import Declared
from kafkawire.declared.documents.fields import KindReader, Reading
from kafkawire.declared.documents.nodes import Node, Table, documents_of
from kafkawire.declared.documents.problems import Position, Rule
from kafkawire.declared.documents.prune import read_prune
from kafkawire.declared.documents.quotas import read_quotas
from kafkawire.declared.documents.strimzi import add_credentials, is_resource, read_resource
from kafkawire.declared.documents.text_files import STANDARD_INPUT, UnreadableTextError, read_text
from kafkawire.declared.documents.topics import read_topics
from kafkawire.declared.documents.users import read_users
from kafkawire.declared.state import ClusterState

SUFFIXES: Final = (".yaml", ".yml", ".json")
"""The files of folders that are read."""

_READERS: Final[Mapping[str, KindReader]] = MappingProxyType(
    {
        "topics": read_topics,
        "configs": read_config_resources,
        "acls": read_acls,
        "quotas": read_quotas,
        "users": read_users,
        "prune": read_prune,
    }
)
KEYS: Final = tuple(_READERS)

_BREAKS: Final = re.compile("\r\n|[\r\x85\u2028\u2029]")
"""The ends of lines in YAML, besides a line feed."""

_MAYBE_SECRET: Final = re.compile(
    r"((?:pass\w*|pwd|secret|jaas\.config)[\"']?[ \t]*:[ \t]+)([^\s{\[|>&*#][^\n]*)", re.IGNORECASE
)


def read_documents(paths: Iterable[str | PathLike[str]], *, stdin: BinaryIO | None = None) -> Declared:
    """Read what documents declare.

    Nothing is raised for what is wrong with files or their content: every mistake is a problem with its place.

    Args:
        paths: files, folders whose files ``*.yaml``, ``*.yml`` and ``*.json`` are read at every depth, and ``-`` for
            standard input. A file that is reached twice is read once.
        stdin: standard input; by default that of the process.

    Example:
        ```python
        from kafkawire.declared import read_documents

        declared = read_documents(["cluster/"])
        for problem in declared.problems:
            print(problem)
        print(len(declared.state.topics), "topics")
        ```
    """
    reading = Reading()
    sources: dict[str, str] = {}
    seen: set[Path] = set()
    for path in paths:
        for name, file in _files(str(path), reading):
            if file != STANDARD_INPUT:
                same = _resolved(file)
                if same in seen:
                    continue
                seen.add(same)
            text = _text(name, file, stdin, reading)
            if text is not None:
                sources[name] = text
                reading.folder = str(file.parent)
                _read_text(text, name, reading)
    return _declared(reading, sources)


def read_texts(texts: Mapping[str, str]) -> Declared:
    """Read what documents declare, given as texts by the names that problems show."""
    reading = Reading()
    for name, text in texts.items():
        _read_text(text, name, reading)
    return _declared(reading, texts)


def _read_text(text: str, name: str, reading: Reading) -> None:
    reading.file = name
    with _without_collection():
        for node in documents_of(text.removeprefix("\ufeff"), name, reading.problems):
            _read_document(node, reading)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Python collects no garbage: among a million new nodes it finds none, and takes more time than reading does."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _read_document(node: Node, reading: Reading) -> None:
    if not isinstance(node, Table):
        remedy = f"write one of {', '.join(KEYS)}"
        reading.error(node, Rule.STRUCTURE, "a document: expected keys with values", remedy)
        return
    if is_resource(node):
        read_resource(node, reading)
        return
    given = reading.known(node, "a document", KEYS)
    for key, read in _READERS.items():
        if key in given:
            read(given[key], reading)


def _declared(reading: Reading, sources: Mapping[str, str]) -> Declared:
    add_credentials(reading)
    order = {name: number for number, name in enumerate(sources)}
    problems = sorted(
        reading.problems.found,
        key=lambda each: (order.get(each.position.file, -1), each.position.line, each.position.column),
    )
    return Declared(
        state=ClusterState(
            topics=reading.topics,
            configs=reading.configs,
            acls=frozenset(reading.acls),
            quotas=reading.quotas,
            credentials=reading.credentials,
        ),
        positions=reading.positions,
        prune=tuple(reading.prune),
        secrets=reading.secrets,
        problems=tuple(problems),
        sources={name: without_secrets(text, name, reading.hidden) for name, text in sources.items()}
        if problems
        else sources,
    )


def without_secrets(text: str, file: str, hidden: Iterable[Position]) -> str:
    """A text in which asterisks are in place of what is, or may be, a secret; lines and columns stay."""
    masked = _MAYBE_SECRET.sub(lambda found: found[1] + "*" * len(found[2]), _BREAKS.sub("\n", text))
    lines = masked.split("\n")
    for position in hidden:
        if position.file != file:
            continue
        for number in range(position.line - 1, min(position.end_line, len(lines))):
            line = lines[number]
            start = position.column - 1 if number == position.line - 1 else 0
            end = position.end_column - 1 if number == position.end_line - 1 else len(line)
            lines[number] = line[:start] + "*" * (min(end, len(line)) - start) + line[end:]
    return "\n".join(lines)


def _files(path: str, reading: Reading) -> Iterator[tuple[str, Path]]:
    """The files of an argument, with their names; those of folders in the order of their names."""
    if not path:
        _add(reading, "FILE", "the name is empty", "name a file or a folder; . is the current folder")
        return
    given = Path(path)
    if given == STANDARD_INPUT:
        yield "<stdin>", given
        return
    try:
        if not given.is_dir():
            yield path, given
            return
        found = sorted(
            each
            for each in given.rglob("*")
            if each.suffix in SUFFIXES
            and each.is_file()
            and not any(part.startswith(".") for part in each.relative_to(given).parts)
        )
    except (OSError, ValueError) as error:
        _add(reading, path, f"cannot be read: {getattr(error, 'strerror', None) or error}", "name a file or a folder")
        return
    if not found:
        _add(reading, path, f"the folder has no file {', '.join('*' + each for each in SUFFIXES)}", "name another one")
    for each in found:
        yield str(each), each


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):  # a NUL, or links in a circle: opening it says so
        return path


def _text(name: str, path: Path, stdin: BinaryIO | None, reading: Reading) -> str | None:
    """The text of a file; None with a problem."""
    try:
        return read_text(path, stdin)
    except UnreadableTextError as error:
        line, column = error.line or 1, error.column or 1
        end = column if error.line is None else column + 1
        reading.problems.add(Position(name, line, column, line, end), Rule.FILE, error.reason, error.remedy)
        return None


def _add(reading: Reading, name: str, message: str, remedy: str) -> None:
    reading.problems.add(Position(name, 1, 1, 1, 1), Rule.FILE, message, remedy)
