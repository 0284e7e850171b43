"""The markers that end the transactions of producers (KIP-98)."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal, TypeAlias

from kafkawire.records.control_records import ControlRecord, ControlRecordType, decode_control_record

Outcome: TypeAlias = Literal["committed", "aborted"]

_OUTCOMES: Final[dict[ControlRecordType, Outcome]] = {
    ControlRecordType.COMMIT: "committed",
    ControlRecordType.ABORT: "aborted",
}


@lru_cache(maxsize=8)
def outcome_of(key: bytes | None, value: bytes | None) -> Outcome | None:
    """The outcome in a control record; None if it is no marker. The markers of a coordinator are all equal.

    Raises:
        DecodeError: it cannot be decoded.
    """
    control = decode_control_record(key, value)
    return _OUTCOMES.get(control.type) if isinstance(control, ControlRecord) else None
