"""The reference codec: reads and writes messages by interpreting their layouts, and says exactly what is wrong.

When a generated codec fails, the reference codec does the same work again and reports the error; tests compare the two.
It is written for clarity: it goes field by field, tracks the path and the position, and reads every fact about a type
from the table of field types.
"""

from __future__ import annotations

from kafkawire.wire.reference.decoder import decode_struct
from kafkawire.wire.reference.encoder import encode_struct

__all__ = ["decode_struct", "encode_struct"]
