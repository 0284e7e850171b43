"""Errors of consumer groups."""

from __future__ import annotations

from kafkawire.protocol.error_codes import ErrorCode


class GroupError(Exception):
    """A request to a consumer group is refused.

    Args:
        code: the error for the client.
        message: for people.
    """

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
