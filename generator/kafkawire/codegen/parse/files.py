"""The bytes and text of a file, or a finding that says why it cannot be read."""

from __future__ import annotations

from pathlib import Path

from kafkawire.codegen.check.json_level import FILE_UNREADABLE
from kafkawire.codegen.definition import Span
from kafkawire.codegen.findings import Finding
from kafkawire.codegen.parse.source import decode_source

MAXIMUM_FILE_BYTES = 1 << 20
"""Larger files are not read; the largest definition of Kafka has 20 kB."""

_START = Span(1, 1, 1, 1)


def read_bytes(path: Path, name: str) -> bytes | Finding:
    """The content of a file, at most one byte more than the maximum; `name` is its displayed name."""
    if path.exists() and not path.is_file():
        return unreadable(name, "not a regular file")
    try:
        with path.open("rb") as file:
            return file.read(MAXIMUM_FILE_BYTES + 1)
    except OSError as error:
        return unreadable(name, error.strerror or str(error))


def text_of(data: bytes, name: str) -> tuple[str | None, list[Finding]]:
    """The text of a content with the findings about its encoding; None if it is too large."""
    if len(data) > MAXIMUM_FILE_BYTES:
        reason = f"it has more than {MAXIMUM_FILE_BYTES} bytes"
        return None, [unreadable(name, reason, "check that it is a definition; those of Kafka are at most 20 kB")]
    return decode_source(data, name)


def unreadable(name: str, reason: str, remedy: str = "") -> Finding:
    """The finding about a file that cannot be read."""
    return FILE_UNREADABLE.finding(name, _START, f"cannot read this file: {reason}", remedy)
