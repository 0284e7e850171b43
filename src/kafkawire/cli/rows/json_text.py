"""JSON that is safe on a terminal."""

from __future__ import annotations

import re
from typing import Final

_CONTROL_IN_UTF_8: Final = re.compile(rb"\x7f|\xc2[\x80-\x9f]")
"""Control characters that JSON does not escape by itself; it escapes those below the space."""


def visible_json(text: bytes) -> bytes:
    """The same JSON with all control characters escaped."""
    return _CONTROL_IN_UTF_8.sub(_escaped, text)


def _escaped(found: re.Match[bytes]) -> bytes:
    return rb"\u%04x" % found[0][-1]
