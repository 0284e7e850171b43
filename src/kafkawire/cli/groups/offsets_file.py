"""Files of offsets: Kafka's CSV, with or without the group, and what ``-o csv`` prints."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from kafkawire.admin import TopicPartition
from kafkawire.cli.given_text import given_text, shown_path
from kafkawire.cli.outcome import CommandError, ExitCode

_NAMES: Final = {3: ("topic", "partition", "offset"), 4: ("group", "topic", "partition", "offset")}
_FORM: Final = "write group,topic,partition,offset or topic,partition,offset"
_OFFSET_NAMES: Final = ("new_offset", "offset")


def read_offsets(path: Path, groups: Sequence[str]) -> dict[str, dict[TopicPartition, int]]:
    """Offsets by group and partition.

    Args:
        path: the file; ``-`` is standard input.
        groups: those of lines without a group.

    Raises:
        CommandError: a line is malformed, and the message has its number, or the file cannot be read.
    """
    text = given_text(path)
    offsets: dict[str, dict[TopicPartition, int]] = {}
    for place, fields in _lines(path, text):
        named = [fields["group"]] if "group" in fields else groups
        if not named:
            raise CommandError(f"{place}: the line names no group; name groups as arguments", ExitCode.USAGE)
        partition = TopicPartition(fields["topic"], _number(place, "partition", fields["partition"]))
        for group in named:
            of_group = offsets.setdefault(group, {})
            if partition in of_group:
                raise CommandError(f"{place}: {partition} of {group} is there twice; leave one out", ExitCode.USAGE)
            of_group[partition] = _number(place, "offset", fields["offset"])
    if not offsets:
        raise CommandError(f"{shown_path(path)}: it has no offsets; {_FORM}", ExitCode.USAGE)
    return offsets


def _lines(path: Path, text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The place of each line, and its fields."""
    names: Sequence[str] | None = None
    reader = csv.reader(text.splitlines())
    for cells in reader:
        place = f"{shown_path(path)}:{reader.line_num}"
        if not cells:
            continue
        if names is None and "topic" in cells and "partition" in cells:
            offset = next((name for name in _OFFSET_NAMES if name in cells), None)
            if offset is None:
                raise CommandError(f"{place}: no column is named offset or new_offset", ExitCode.USAGE)
            names = ["offset" if name == offset else "" if name == "offset" else name for name in cells]
            continue
        columns = names or _NAMES.get(len(cells))
        if columns is None or len(columns) != len(cells):
            raise CommandError(f"{place}: {_FORM}", ExitCode.USAGE)
        yield place, dict(zip(columns, (cell.strip() for cell in cells), strict=True))


def _number(place: str, name: str, text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) >= 1 << 63:
        raise CommandError(f"{place}: the {name} {text!r} is no whole number from 0 on", ExitCode.USAGE)
    return int(text)
