"""What is wrong with bytes of a log, and with records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kafkawire.logs.errors import LogReadError
from kafkawire.logs.files.log_files import LogFile
from kafkawire.wire import DecodeError

__all__ = ["FLAW_CODES", "Flaw", "code_of"]

FLAW_CODES: Final = {
    "truncated_batch": "the file ends inside a batch, as an active segment may",
    "bad_length": "the length of a batch is absurd; reading goes on at the next point of the index, if there is one",
    "bad_crc": "the CRC of a batch is wrong",
    "old_magic": "a message of format 0 or 1, from before Kafka 0.11",
    "bad_codec": "a compression codec that does not exist",
    "bad_compression": "the compressed records of a batch are broken",
    "too_large": "the records of a batch decompress to more than is allowed, or one is larger than messages may be",
    "bad_records": "the CRC of a batch is right, its records are not",
    "unknown_type": "a record type that is not known",
    "unsupported_version": "a version that is newer than the definitions, of a record or a batch",
    "decode_error": "a record that is not what its type and version say",
    "trailing_bytes": "bytes after the record; its values are there",
    "file_changed": "the file was replaced or cut off while it was read",
    "offset_gap": "histories: offsets of a metadata log that neither records nor a snapshot cover",
    "bad_offset": "histories of groups: a batch whose offset is not above that of the one before it in its file",
    "zero_fill": "zeros up to the end of the file, as in a segment that was allocated ahead; counted only",
}
"""The codes and what they mean."""


def code_of(error: DecodeError) -> str:
    """The code for a record that cannot be decoded."""
    return "unsupported_version" if error.kind == "version" else "decode_error"


@dataclass(frozen=True)
class Flaw:
    """Bytes that no batch could be made of.

    Attributes:
        code: one of ``FLAW_CODES``.
        file: where.
        position: of the first byte.
        size: how many bytes are lost by it.
        raw: the bytes, or the first of them, or None if there are none to show.
        reason: what is wrong, in one sentence.
        base_offset: offset that the batch states, if its header could be read.
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
        """Whether it is only the end of a log that a broker is writing: a batch that is not whole yet."""
        return self.code == "truncated_batch" and self.file.is_last

    def error(self) -> LogReadError:
        """The flaw as an error, for mode FAILFAST."""
        return LogReadError(self.code, self.file.path, self.reason, position=self.position, offset=self.base_offset)
