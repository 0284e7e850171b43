"""The options of the data source: Spark passes texts, which are checked before anything is read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from kafkawire.logs import OptionError, ReadOptions
from kafkawire.logs.option_records import DURATION, FLAG, SIZE, TEXT, Option, option, options_of, parsed
from kafkawire.logs.options import READ_OPTIONS
from kafkawire.near_names import near_names

__all__ = [
    "OPTIONS",
    "OPTION_NAMES",
    "OptionError",
    "SourceOptions",
    "named_as_in_spark",
    "source_options",
]

_A_SLIP: Final = 0.75
"""A likeness from which on an unknown option is a slip, and not an option of Spark or of another program."""

_NO_OPTIONS: Final = (
    "neither a table nor a path is given; Spark loses the options of CREATE TABLE ... USING: make a view, with "
    "CREATE TEMPORARY VIEW ... USING `kafka-log` OPTIONS (...)"
)

_REQUIRED: Final = {
    "table": "say which table: option('table', 'records')",
    "path": "say what to read: load('/var/lib/kafka/data')",
}


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """The options of one read.

    Attributes:
        table: name of the table.
        paths: logs: files, folders, globs or URIs.
        read: what ``kafkawire.logs`` reads of them, and how.
    """

    table: str
    paths: tuple[str, ...]
    read: ReadOptions = field(default_factory=ReadOptions)
    path_glob_filter: str | None = option(None, TEXT, "Only files whose name matches this pattern.")
    recursive: bool = option(
        True, FLAG, "Whether to search subfolders.", spelling="recursive_file_lookup", in_commands=False
    )
    max_partition_bytes: int = option(
        32 << 20, SIZE, "The approximate size of the part of a log that a task reads; each task costs some 20 ms."
    )
    pushdown: bool = option(
        False,
        FLAG,
        "Whether rows are filtered before Spark gets them; offsets, times and record types reduce what is read.",
        in_commands=False,
    )
    max_bytes_per_trigger: int | None = option(
        None, SIZE, "Streams: the maximum size of a micro-batch.", in_commands=False
    )
    fail_on_data_loss: bool = option(
        True, FLAG, "Streams: whether deleted unread records are an error.", in_commands=False
    )
    gap_timeout: int = option(
        600,
        DURATION,
        "Streams of the metadata log: how long to wait for a segment that is missing between others.",
        in_commands=False,
    )
    state_path: str | None = option(
        None,
        TEXT,
        "Streams of histories and alerts: folder for the state of each log, which all tasks can reach.",
        in_commands=False,
    )
    accounts_path: str | None = option(
        None, TEXT, "Folder for the accounts of the tasks, a JSON file for each; not for streams.", in_commands=False
    )


OPTIONS: Final[tuple[Option, ...]] = (*READ_OPTIONS, *options_of(SourceOptions))
"""All options with a record: those of every reading, and those of Spark."""

OPTION_NAMES: Final = ("table", "path", "paths", *(each.spark_name for each in OPTIONS))
"""All options as Spark spells them. Spark ignores case in names of options."""


def source_options(options: Mapping[str, str]) -> SourceOptions:
    """The values of the options of a read.

    Raises:
        OptionError: an option is missing, malformed, or unknown but similar to one of these.
        OwnDefinitionsError: the definitions in ``schemaDir`` cannot be used.
    """
    by_name = {name.lower(): text for name, text in options.items()}
    if not by_name.keys() & {"table", "path", "paths"}:
        raise OptionError(_NO_OPTIONS)
    _refuse_slips(by_name)
    texts = {each.spelling: text for each in OPTIONS if (text := by_name.get(each.spark_name.lower())) is not None}
    table, paths = _required("table", by_name), _paths(by_name)
    with named_as_in_spark():
        return parsed(SourceOptions, texts, table=table, paths=paths, read=parsed(ReadOptions, texts))


@contextmanager
def named_as_in_spark() -> Iterator[None]:
    """Errors of options have Spark's names of these options.

    Raises:
        OptionError: in place of one with another name.
    """
    try:
        yield
    except OptionError as error:
        names = {each.spelling: each.spark_name for each in OPTIONS}
        raise OptionError(error.reason, None if error.option is None else names[error.option]) from None


def _refuse_slips(by_name: Mapping[str, str]) -> None:
    """Unknown options are Spark's or another program's, unless they look like one of these."""
    known = {name.lower() for name in OPTION_NAMES}
    for name in by_name.keys() - known:
        if near := near_names(name, OPTION_NAMES, likeness=_A_SLIP):
            raise OptionError(f"there is no option {name!r}; did you mean {near[0]!r}?")


def _required(name: str, by_name: Mapping[str, str]) -> str:
    text = by_name.get(name)
    if not text:
        raise OptionError(f"it is missing: {_REQUIRED[name]}", name)
    return text


def _paths(by_name: Mapping[str, str]) -> tuple[str, ...]:
    """Spark passes one path as ``path``, and several as a JSON array ``paths``."""
    several = by_name.get("paths")
    if several is None:
        return (_with_authority(_required("path", by_name)),)
    try:
        paths = json.loads(several)
    except json.JSONDecodeError:
        paths = None
    if not isinstance(paths, list) or not paths or not all(isinstance(path, str) and path for path in paths):
        raise OptionError(f"{several!r} is not a JSON array of paths", "paths")
    return tuple(map(_with_authority, paths))


def _with_authority(path: str) -> str:
    """Hadoop writes ``file:/data`` for ``file:///data``."""
    return f"file://{path.removeprefix('file:')}" if path.startswith("file:/") and "://" not in path else path
