"""Whether a client knows who leads a partition (KIP-320)."""

from __future__ import annotations

from typing import Final

from kafkawire.protocol.error_codes import ErrorCode

__all__ = ["leader_epoch_error"]

_UNSAID: Final = -1


def leader_epoch_error(asked: int, epoch: int) -> ErrorCode:
    """What is wrong with the epoch that a client believes in; NONE if nothing is, or if it does not say.

    Args:
        asked: the epoch in its request.
        epoch: that of the partition.
    """
    if asked in {_UNSAID, epoch}:
        return ErrorCode.NONE
    return ErrorCode.FENCED_LEADER_EPOCH if asked < epoch else ErrorCode.UNKNOWN_LEADER_EPOCH
