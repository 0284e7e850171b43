"""Limits on what is decoded, converted and returned at once. They bound the memory, whatever the size of the logs."""

from __future__ import annotations

from typing import Final

_MEBIBYTE: Final = 1024 * 1024

RECORDS_AT_A_TIME: Final = 16384
"""Records that are decoded or converted together: each call of an Arrow kernel takes microseconds."""

OCTETS_AT_A_TIME: Final = 4 * _MEBIBYTE
"""Bytes of records that are converted together, and of a file that are read at once; rows may take fifty times that."""

GATHERED_OCTETS: Final = 16 * _MEBIBYTE
"""Bytes of small batches that are decoded together."""

LARGE_PAYLOAD: Final = _MEBIBYTE
"""A batch with more bytes of records than this is decoded by itself, in pieces."""

LARGEST_ROW_BATCH: Final = 8192
"""Most rows of one Arrow record batch of a table."""

SHOWN_CORRUPT_OCTETS: Final = 16 * _MEBIBYTE
"""Bytes that could not be decoded in the rows of one Arrow record batch."""
