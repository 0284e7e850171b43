"""The options of reading logs, for ``kafkawire tables``, Spark and Python.

A new option is a field of ``ReadOptions``; ``pytest tests/golden --update-golden`` adds it to the reference page and to
the help.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kafkawire.logs.option_records import (
    FLAG,
    HISTORY_TABLES,
    NAME,
    NAMES,
    OFFSET,
    SIZE,
    TEXT,
    TIME,
    OptionError,
    ValueKind,
    one_of,
    option,
    options_of,
)
from kafkawire.logs.registry import BUILT_IN, RecordRegistry
from kafkawire.logs.times import milliseconds

if TYPE_CHECKING:
    from kafkawire.logs.alert_rules.rules import AlertRule

_RANGES: Final = "Offsets and times"
_READING: Final = "Reading"
_NO_OP: Final = "NO_OP_RECORD"


class ReadMode(StrEnum):
    """How bytes that cannot be decoded are handled; the modes are Spark's."""

    PERMISSIVE = "PERMISSIVE"
    """A row with the code in ``_error`` and the bytes in ``_corrupt_record``."""

    DROPMALFORMED = "DROPMALFORMED"
    """No row, but the accounts count them."""

    FAILFAST = "FAILFAST"
    """A ``LogReadError``."""


def _own_registry(folder: str) -> RecordRegistry:
    from kafkawire.logs.own_definitions import own_definitions  # noqa: PLC0415 it needs an extra

    return own_definitions(folder).registry


def _rules_of(file: str) -> tuple[AlertRule, ...]:
    from kafkawire.logs.alert_rules.files import read_alert_rules  # noqa: PLC0415 few readings have rules

    return read_alert_rules(file)


def _shown_rules(rules: Sequence[AlertRule]) -> str:
    """The digest of rules; nothing for none."""
    return hashlib.sha256(repr(rules).encode()).hexdigest() if rules else ""


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """What to read of logs, and how. Each field is an option; the sentence in its record says what it does.

    Raises:
        OptionError: a range ends before it begins.

    Example:
        ```python
        from datetime import UTC, datetime

        from kafkawire.logs import ReadMode, ReadOptions, read_table

        options = ReadOptions(from_time=datetime(2026, 3, 1, tzinfo=UTC), mode=ReadMode.FAILFAST)
        rows = sum(batch.num_rows for batch in read_table("records", "/var/lib/kafka/data", options))
        ```
    """

    columns: tuple[str, ...] | None = option(
        None, NAMES, "Only these columns, separated by commas, in this order. Other fields are not decoded."
    )
    record_types: tuple[str, ...] | None = option(
        None,
        NAMES,
        "Table records: only records of these types, separated by commas, such as TOPIC_RECORD,CONFIG_RECORD.",
        only_for="records",
    )
    as_of: datetime | None = option(
        None,
        TIME,
        "Histories: only rows that were valid at this time, such as 2026-03-01T12:30Z.",
        only_for=HISTORY_TABLES,
    )
    from_offset: int | None = option(None, OFFSET, "Only records from this offset on.", panel=_RANGES)
    until_offset: int | None = option(None, OFFSET, "Only records before this offset.", panel=_RANGES)
    from_time: datetime | None = option(None, TIME, "Only records from this time on.", panel=_RANGES)
    until_time: datetime | None = option(None, TIME, "Only records before this time.", panel=_RANGES)
    high_watermark: int | None = option(
        None, OFFSET, "Ignore records at or after this offset, which may be uncommitted.", panel=_RANGES
    )
    mode: ReadMode = option(
        ReadMode.PERMISSIVE,
        one_of("MODE", ReadMode),
        "What to do with damage. PERMISSIVE: a row with its code in _error; DROPMALFORMED: no row; FAILFAST: stop, and "
        "name file, position and offset.",
        panel=_READING,
    )
    corrupt_record_column: str = option(
        "_corrupt_record",
        NAME,
        "Name of the column with the raw bytes of damaged rows in mode PERMISSIVE.",
        spelling="column_name_of_corrupt_record",
        in_commands=False,
    )
    verify_checksums: bool = option(True, FLAG, "Treat batches with a wrong checksum as damage.", panel=_READING)
    secrets: bool = option(
        False, FLAG, "Show password salts, keys and the values of sensitive configurations.", panel=_READING
    )
    no_ops: bool = option(
        False, FLAG, "Table records: include no-op records, which change nothing.", only_for="records", panel=_READING
    )
    interval_ids: bool = option(
        False,
        FLAG,
        "Histories: add the column interval_id. A later row with the same id takes the place of the earlier one.",
        only_for=HISTORY_TABLES,
        panel=_READING,
    )
    alert_rules: tuple[AlertRule, ...] = option(
        (),
        ValueKind("FILE", _rules_of, _shown_rules, Path),
        "Table alerts: a file with rules of your own, beside those that are always there.",
        only_for="alerts",
        panel=_READING,
    )
    registry: RecordRegistry = option(
        BUILT_IN,
        ValueKind("DIR", _own_registry, lambda _: "", Path),
        "Folder with definitions of your own record types.",
        spelling="schema_dir",
        panel=_READING,
    )
    max_frame_bytes: int = option(
        64 << 20,
        SIZE,
        "Treat larger batches, compressed or decompressed, as damage. In logs whose records are decoded, a record may "
        "have a sixteenth of it, at least 1m.",
        panel=_READING,
    )
    cluster: str | None = option(
        None,
        TEXT,
        "Value of column cluster. By default the id in meta.properties beside the logs.",
        panel=_READING,
    )

    def __post_init__(self) -> None:
        if self.from_offset is not None and self.until_offset is not None and self.until_offset < self.from_offset:
            raise OptionError(_ends_early(self.until_offset, self.from_offset), "until_offset")
        if self.from_time is None or self.until_time is None:
            return
        if milliseconds(self.until_time) < milliseconds(self.from_time):
            raise OptionError(_ends_early(self.until_time.isoformat(), self.from_time.isoformat()), "until_time")

    @property
    def wants_errors(self) -> bool:
        """Whether a column is wanted that has the errors of records that cannot be decoded."""
        return self.columns is None or not {"_error", self.corrupt_record_column}.isdisjoint(self.columns)

    @property
    def keeps_no_ops(self) -> bool:
        """Whether table ``records`` has no-op records: because they all are wanted, or this type is."""
        return self.no_ops or _NO_OP in (self.record_types or ())


def _ends_early(end: object, begin: object) -> str:
    return f"{end} is before {begin}, where the range begins: give a later end, or an earlier beginning"


READ_OPTIONS: Final = options_of(ReadOptions)
DEFAULT_OPTIONS: Final = ReadOptions()
