"""Flaws: bytes of a log that are not valid batches or records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kafkawire.logs.errors import LogReadError
from kafkawire.logs.files.log_files import LogFile
from kafkawire.wire import DecodeError

FLAW_CODES: Final = {
    "truncated_batch": "the file ends inside a batch, as an active segment may",
    "bad_length": "the length of a batch is impossible; reading resumes at the next index entry, if there is one",
    "bad_crc": "the CRC of a batch is wrong",
    "old_magic": "a message of format 0 or 1, from before Kafka 0.11",
    "bad_codec": "a compression codec that does not exist",
    "bad_compression": "the compressed records of a batch are broken",
    "too_large": "the records of a batch decompress to more than the limit, or a record is too large for a message",
    "bad_records": "the CRC of a batch is right, but its records are malformed",
    "unknown_type": "an unknown record type",
    "unsupported_version": "a version of a record or a batch that the definitions do not have",
    "decode_error": "a record that does not match the definition of its type and version",
    "trailing_bytes": "bytes after the end of the record, whose values are decoded",
    "file_changed": "the file was replaced or truncated while it was read",
    "offset_gap": "histories: offsets of a metadata log without records, and not covered by a snapshot",
    "bad_offset": "histories of groups: a batch whose offset is not above that of the previous one in the file",
    "zero_fill": "zeros up to the end of the file, as in a preallocated segment; counted only",
}
"""The codes, and their meaning."""


def code_of(error: DecodeError) -> str:
    """The code for a record that cannot be decoded."""
    return "unsupported_version" if error.kind == "version" else "decode_error"


@dataclass(frozen=True)
class Flaw:
    """Bytes that are not a valid batch.

    Attributes:
        code: one of ``FLAW_CODES``.
        file: the file.
        position: of the first byte.
        size: how many bytes are lost.
        raw: the bytes, or the first of them; None if there are none to show.
        reason: the error in one sentence.
        base_offset: from the header of the batch, if the header could be read.
    """

    code: str
    file: LogFile
    position: int
    size: int
    raw: bytes | None
    reason: str
    base_offset: int | None = None

    @property
    def is_expected(self) -> bool:
        """Whether it is an incomplete batch at the end of a log, which a broker may be writing."""
        return self.code == "truncated_batch" and self.file.is_last

    def error(self) -> LogReadError:
        """The flaw as an error, for mode FAILFAST."""
        return LogReadError(self.code, self.file.path, self.reason, position=self.position, offset=self.base_offset)
