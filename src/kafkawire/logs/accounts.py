"""Counts of every byte and every record that was read."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Self

import msgspec


class TooManyErrorsError(Exception):
    """A reading had more errors than were allowed."""


@dataclass
class Accounts:
    """Counts of one read. They balance at any time.

    ``bytes_read == bytes_decoded + sum(bytes_skipped.values())``, and for tables with a row for each record
    ``records_read == rows + sum(records_dropped.values())``; in table ``batches`` a batch is a record.

    Attributes:
        bytes_read: bytes of files that were read.
        bytes_decoded: bytes of batches that were decoded.
        bytes_skipped: the other bytes, by the code of the flaw; ``filtered`` for batches that the options exclude.
        records_read: records of the decoded batches.
        rows: rows made from records.
        records_dropped: records without a row, by reason: a code, or ``filtered``, ``other_type``,
            ``control``, ``no_op``.
        errors: flaws, and records that could not be decoded, by code, with or without a row. An incomplete batch at the
            end of the last segment of a log is not an error: a broker may be writing it.
        flaw_rows: rows about bytes that could not be read.

    Example:
        ```python
        from kafkawire.logs import Accounts, read_table

        accounts = Accounts()
        rows = sum(batch.num_rows for batch in read_table("records", "/var/lib/kafka/data", accounts=accounts))
        assert accounts.balanced
        print(accounts.line())
        ```
    """

    bytes_read: int = 0
    bytes_decoded: int = 0
    bytes_skipped: dict[str, int] = field(default_factory=dict)
    records_read: int = 0
    rows: int = 0
    records_dropped: dict[str, int] = field(default_factory=dict)
    errors: dict[str, int] = field(default_factory=dict)
    flaw_rows: int = 0

    def decoded(self, size: int) -> None:
        """Count a decoded batch."""
        self.bytes_read += size
        self.bytes_decoded += size

    def skipped(self, code: str, size: int) -> None:
        """Count skipped bytes."""
        self.bytes_read += size
        _add(self.bytes_skipped, code, size)

    def not_decoded_after_all(self, code: str, size: int) -> None:
        """Move a batch with broken records from the decoded bytes to the skipped ones."""
        self.bytes_decoded -= size
        _add(self.bytes_skipped, code, size)

    def dropped(self, reason: str, count: int) -> None:
        """Count records without a row."""
        if count:
            _add(self.records_dropped, reason, count)

    def failed(self, code: str, count: int = 1) -> None:
        """Count a flaw, or a record that cannot be decoded."""
        _add(self.errors, code, count)

    def check_errors(self, allowed: int | None) -> None:
        """Check the number of errors.

        Args:
            allowed: the maximum, given as ``--max-errors`` in commands; None for any number.

        Raises:
            TooManyErrorsError: there are more.
        """
        if allowed is not None and sum(self.errors.values()) > allowed:
            codes = ", ".join(f"{code} {count}" for code, count in sorted(self.errors.items()))
            raise TooManyErrorsError(f"more errors than --max-errors {allowed} allows: {codes}")

    @property
    def balanced(self) -> bool:
        """Whether every byte is accounted for."""
        return self.bytes_read == self.bytes_decoded + sum(self.bytes_skipped.values())

    def merge(self, other: Accounts) -> None:
        """Add the counts of another read."""
        self.bytes_read += other.bytes_read
        self.bytes_decoded += other.bytes_decoded
        self.records_read += other.records_read
        self.rows += other.rows
        self.flaw_rows += other.flaw_rows
        for mine, others in (
            (self.bytes_skipped, other.bytes_skipped),
            (self.records_dropped, other.records_dropped),
            (self.errors, other.errors),
        ):
            for code, count in others.items():
                _add(mine, code, count)

    def to_json(self) -> str:
        """The counts as a JSON object."""
        return msgspec.json.encode(asdict(self)).decode()

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The counts that ``to_json`` wrote.

        Raises:
            msgspec.DecodeError: the text is something else.
        """
        return msgspec.json.decode(text, type=cls)

    def line(self) -> str:
        """The counts as one line."""
        skipped = sum(self.bytes_skipped.values())
        dropped = sum(self.records_dropped.values())
        parts = [
            f"bytes read {self.bytes_read} = {self.bytes_decoded} decoded + {skipped} skipped{_by(self.bytes_skipped)}",
            f"records read {self.records_read}, rows {self.rows}, dropped {dropped}{_by(self.records_dropped)}",
            f"errors {sum(self.errors.values())}{_by(self.errors)}",
        ]
        return "; ".join(parts)


def _add(counts: dict[str, int], code: str, count: int) -> None:
    counts[code] = counts.get(code, 0) + count


def _by(counts: dict[str, int]) -> str:
    listed = Counter(counts).most_common()
    return f" ({', '.join(f'{code} {count}' for code, count in listed)})" if listed else ""
