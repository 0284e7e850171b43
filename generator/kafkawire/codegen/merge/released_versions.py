"""``releases.csv``: every version of every message of every imported release, with its merged version.

The import writes it when it verifies the merge. It records the origin and the former names of each merged message, so
that the merge can be verified again from the committed files alone.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

from kafkawire.codegen.merge.difference import Difference, Kind

RELEASES_FILE = "releases.csv"
_COLUMNS = [
    "release", "group", "message", "version", "layout", "merged_message", "merged_version", "relation", "differences"
]  # fmt: skip

Relation = Literal["same", "renamed", "extended", "replaced"]
"""How the merged layout of a version relates to a release's own: ``renamed`` has other names for the same
bytes, ``extended`` has additional tagged fields, ``replaced`` was changed in place by a newer release."""


@dataclass(frozen=True, slots=True)
class ReleasedVersion:
    """One version of one message of one release.

    Attributes:
        release, group, message, version: of the release. The version is -1 for a message that the
            release retired (message-none-valid).
        layout: digest of the release's own layout, empty for a retired message.
        merged_message, merged_version: of the merged definition.
        relation: how the two layouts relate.
        differences: what differs, empty for ``same``.
    """

    release: str
    group: str
    message: str
    version: int
    layout: str
    merged_message: str
    merged_version: int
    relation: Relation
    differences: tuple[Difference, ...]


class ReleasedVersionsError(ValueError):
    """A record of releases that cannot be read; the text has the file and the line."""


def read_released_versions(root: Path) -> tuple[ReleasedVersion, ...]:
    """The record of a folder of definitions; empty if the folder was not imported from releases.

    Raises:
        ReleasedVersionsError: if the record is not in the form that the import writes.
    """
    path = root / RELEASES_FILE
    return parse_released_versions(path.read_text("utf-8"), str(path)) if path.is_file() else ()


def parse_released_versions(text: str, file: str) -> tuple[ReleasedVersion, ...]:
    """Read the record from its CSV text.

    Raises:
        ReleasedVersionsError: as `read_released_versions`.
    """
    rows = csv.reader(io.StringIO(text))
    if next(rows, None) != _COLUMNS:
        raise ReleasedVersionsError(f"{file}:1: the heading must be {','.join(_COLUMNS)}")
    return tuple(_released_version(row, f"{file}:{rows.line_num}") for row in rows)


def format_released_versions(versions: Iterable[ReleasedVersion]) -> str:
    """The record as CSV text, which `parse_released_versions` reads back."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for v in versions:
        differences = "; ".join(f"{d.kind} {d.path}: {d.older} > {d.newer}" for d in v.differences)
        released = (v.release, v.group, v.message, v.version, v.layout)
        writer.writerow((*released, v.merged_message, v.merged_version, v.relation, differences))
    return out.getvalue()


def releases_of(versions: Iterable[ReleasedVersion]) -> tuple[str, ...]:
    """The releases, oldest first."""
    return tuple(dict.fromkeys(version.release for version in versions))


def aliases_of(versions: Iterable[ReleasedVersion]) -> Mapping[str, str]:
    """Former names of messages, each with the new name (name-renames)."""
    versions = tuple(versions)
    names = {version.merged_message for version in versions}
    return {v.message: v.merged_message for v in versions if v.message not in names}


def _released_version(row: list[str], place: str) -> ReleasedVersion:
    if len(row) != len(_COLUMNS):
        raise ReleasedVersionsError(f"{place}: {len(_COLUMNS)} values are needed, found {len(row)}")
    release, group, message, version, layout, merged_message, merged_version, relation, differences = row
    if relation not in get_args(Relation):
        raise ReleasedVersionsError(f"{place}: {relation!r} is not a relation")
    try:
        numbers = int(version), int(merged_version)
    except ValueError as error:
        raise ReleasedVersionsError(f"{place}: {error}") from error
    return ReleasedVersion(
        release, group, message, numbers[0], layout, merged_message, numbers[1], cast(Relation, relation),
        tuple(_difference(text, place) for text in differences.split("; ") if text),
    )  # fmt: skip


def _difference(text: str, place: str) -> Difference:
    kind, _, rest = text.partition(" ")
    path, _, change = rest.partition(": ")
    older, arrow, newer = change.partition(" > ")
    if kind not in get_args(Kind) or not arrow:
        raise ReleasedVersionsError(f"{place}: {text!r} is not a difference")
    return Difference(cast(Kind, kind), path, older, newer)
