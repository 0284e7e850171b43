"""The reference codec: reads and writes messages by interpreting their layouts, and says exactly what is wrong.

It is the second opinion on the generated codecs, and their voice: a generated codec that fails has the reference
do the same work again. Written for clarity, it goes field by field, knows at each moment the path and the position,
and takes every fact about a type from the table of field types.
"""

from __future__ import annotations

from kafkawire.wire.reference.reading import decode_struct
from kafkawire.wire.reference.writing import encode_struct

__all__ = ["decode_struct", "encode_struct"]
