"""The options of the data source: Spark gives texts, and what they mean is checked before anything is read."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from kafkawire.logs import ReadMode, ReadOptions

__all__ = ["MAX_PARTITION_BYTES", "OPTION_NAMES", "OptionError", "SourceOptions", "source_options"]

MAX_PARTITION_BYTES = 32 << 20
"""How much of a log a task reads unless the option ``maxPartitionBytes`` says otherwise."""

GAP_TIMEOUT = 600
"""How many seconds a stream waits for a missing segment unless the option ``gapTimeout`` says otherwise."""

OPTION_NAMES = (
    *("table", "columns", "recordTypes", "mode", "columnNameOfCorruptRecord", "cluster"),
    *("fromOffset", "untilOffset", "fromTime", "untilTime", "asOf", "highWatermark"),
    *("verifyChecksums", "maxFrameBytes", "secrets", "noOps", "schemaDir"),
    *("path", "paths", "pathGlobFilter", "recursiveFileLookup", "maxPartitionBytes", "pushdown"),
    *("maxBytesPerTrigger", "failOnDataLoss", "gapTimeout", "accountsPath"),
)
"""All options, as they are documented. Spark does not tell capitals from small letters."""

_DEFAULTS = ReadOptions()
_SIZE = re.compile(r"(\d+)\s*(?:([kmgt]?)i?b?)", flags=re.IGNORECASE)
_DURATION = re.compile(r"(\d{1,9})\s*([smh]?)", flags=re.IGNORECASE)
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


class OptionError(ValueError):
    """An option that is missing, unknown or malformed."""


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """What the user asks of the data source.

    Attributes:
        table: name of the table.
        paths: logs: files, folders, globs or URIs.
        read: what ``kafkawire.logs`` shall read of them, and how.
        path_glob_filter: only files whose name fits.
        recursive: whether folders in folders are looked into.
        max_partition_bytes: how much of a log a task reads.
        pushdown: whether filters of the query narrow what is read.
        schema_dir: folder of the user's own record definitions.
        max_bytes_per_trigger: how much a micro-batch of a stream reads at most.
        fail_on_data_loss: whether a stream ends when a file vanished before all of it was read.
        gap_timeout: how many seconds a stream waits for a segment that is missing between others.
        accounts_path: folder for the accounts of the tasks.
    """

    table: str
    paths: tuple[str, ...]
    read: ReadOptions = field(default_factory=ReadOptions)
    path_glob_filter: str | None = None
    recursive: bool = True
    max_partition_bytes: int = MAX_PARTITION_BYTES
    pushdown: bool = False
    schema_dir: str | None = None
    max_bytes_per_trigger: int | None = None
    fail_on_data_loss: bool = True
    gap_timeout: int = GAP_TIMEOUT
    accounts_path: str | None = None


def source_options(options: Mapping[str, str]) -> SourceOptions:
    """What the options of a read mean.

    Raises:
        OptionError: an option is missing, malformed, or unknown but so like one of ours that it must be a slip.
    """
    texts = _Texts({name.lower(): text for name, text in options.items()})
    texts.refuse_slips()
    return SourceOptions(
        table=texts.required("table", "the name of a table, as in option('table', 'records')"),
        paths=texts.paths(),
        read=_read_options(texts),
        path_glob_filter=texts.text("pathGlobFilter"),
        recursive=texts.boolean("recursiveFileLookup", default=True),
        max_partition_bytes=texts.size("maxPartitionBytes") or MAX_PARTITION_BYTES,
        pushdown=texts.boolean("pushdown", default=False),
        schema_dir=texts.text("schemaDir"),
        max_bytes_per_trigger=texts.size("maxBytesPerTrigger"),
        fail_on_data_loss=texts.boolean("failOnDataLoss", default=True),
        gap_timeout=texts.seconds("gapTimeout", default=GAP_TIMEOUT),
        accounts_path=texts.text("accountsPath"),
    )


def _read_options(texts: _Texts) -> ReadOptions:
    return ReadOptions(
        mode=texts.mode(),
        record_types=texts.names("recordTypes"),
        columns=texts.names("columns"),
        from_offset=texts.offset("fromOffset"),
        until_offset=texts.offset("untilOffset"),
        from_time=texts.time("fromTime"),
        until_time=texts.time("untilTime"),
        verify_checksums=texts.boolean("verifyChecksums", default=_DEFAULTS.verify_checksums),
        max_frame_bytes=texts.size("maxFrameBytes") or _DEFAULTS.max_frame_bytes,
        high_watermark=texts.offset("highWatermark"),
        corrupt_record_column=texts.text("columnNameOfCorruptRecord") or _DEFAULTS.corrupt_record_column,
        cluster=texts.text("cluster"),
        secrets=texts.boolean("secrets", default=_DEFAULTS.secrets),
        no_ops=texts.boolean("noOps", default=_DEFAULTS.no_ops),
        as_of=texts.time("asOf"),
    )


@dataclass(frozen=True, slots=True)
class _Texts:
    """The texts of options by their names in small letters; each method checks one of them."""

    by_name: Mapping[str, str]

    def refuse_slips(self) -> None:
        """Options that nobody knows are Spark's or another program's, unless they look like ours."""
        known = {name.lower(): name for name in OPTION_NAMES}
        for name in self.by_name.keys() - known.keys():
            like = difflib.get_close_matches(name, known, n=1, cutoff=0.75)
            if like:
                raise OptionError(f"there is no option {name!r}: do you mean {known[like[0]]!r}?")

    def text(self, name: str) -> str | None:
        return self.by_name.get(name.lower())

    def required(self, name: str, what: str) -> str:
        text = self.text(name)
        if not text:
            raise OptionError(f"the option {name!r} is missing: {what}")
        return text

    def paths(self) -> tuple[str, ...]:
        """Spark hands one path over as ``path``, and several as a JSON array ``paths``."""
        several = self.text("paths")
        if several is None:
            return (_with_authority(self.required("path", "say what to read: load('/var/lib/kafka/data')")),)
        try:
            paths = json.loads(several)
        except json.JSONDecodeError:
            paths = None
        if not isinstance(paths, list) or not paths or not all(isinstance(path, str) and path for path in paths):
            raise self._wrong("paths", "no JSON array of paths")
        return tuple(map(_with_authority, paths))

    def names(self, name: str) -> tuple[str, ...] | None:
        text = self.text(name)
        if text is None:
            return None
        names = tuple(part.strip() for part in text.split(","))
        if not all(names):
            raise self._wrong(name, "no list of names with commas between them")
        return names

    def boolean(self, name: str, *, default: bool) -> bool:
        text = self.text(name)
        if text is None:
            return default
        if text.lower() not in {"true", "false"}:
            raise self._wrong(name, "neither true nor false")
        return text.lower() == "true"

    def offset(self, name: str) -> int | None:
        text = self.text(name)
        if text is None:
            return None
        if not (text.isascii() and text.isdecimal()) or int(text) >= 1 << 63:
            raise self._wrong(name, "no offset")
        return int(text)

    def time(self, name: str) -> datetime | None:
        text = self.text(name)
        if text is None:
            return None
        try:
            time = datetime.fromisoformat(text)
        except ValueError:
            raise self._wrong(name, "no time like 2026-03-01T00:00Z") from None
        return time if time.tzinfo is not None else time.replace(tzinfo=UTC)

    def size(self, name: str) -> int | None:
        text = self.text(name)
        if text is None:
            return None
        size = _SIZE.fullmatch(text.strip())
        if size is None or not 0 < int(size[1]) * _UNITS[size[2].lower()] < 1 << 63:
            raise self._wrong(name, "no size like 64m")
        return int(size[1]) * _UNITS[size[2].lower()]

    def seconds(self, name: str, *, default: int) -> int:
        text = self.text(name)
        if text is None:
            return default
        duration = _DURATION.fullmatch(text.strip())
        if duration is None:
            raise self._wrong(name, "no time to wait like 30s, 10m or 1h")
        return int(duration[1]) * _SECONDS[duration[2].lower()]

    def mode(self) -> ReadMode:
        text = self.text("mode")
        if text is None:
            return _DEFAULTS.mode
        try:
            return ReadMode(text.upper())
        except ValueError:
            raise self._wrong("mode", f"none of {', '.join(ReadMode)}") from None

    def _wrong(self, name: str, why: str) -> OptionError:
        return OptionError(f"option {name!r}: {self.text(name)!r} is {why}")


def _with_authority(path: str) -> str:
    """Hadoop writes ``file:/data`` for what is ``file:///data`` elsewhere."""
    return f"file://{path.removeprefix('file:')}" if path.startswith("file:/") and "://" not in path else path
