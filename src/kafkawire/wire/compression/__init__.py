"""The four codecs of record batches, with bounded output."""

from __future__ import annotations

from kafkawire.wire.compression.codecs import DEFAULT_OUTPUT_LIMIT, Codec, compress, decompress

__all__ = ["DEFAULT_OUTPUT_LIMIT", "Codec", "compress", "decompress"]
