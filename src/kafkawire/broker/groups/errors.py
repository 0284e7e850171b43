"""Errors of consumer groups and share groups."""

from __future__ import annotations

from kafkawire.protocol.error_codes import ErrorCode


class GroupError(Exception):
    """A request to a consumer group or a share group is refused.

    Args:
        code: the error for the client.
        message: for people; None for an error that Kafka does not expect.
    """

    def __init__(self, code: ErrorCode, message: str | None) -> None:
        super().__init__(message or code.name)
        self.code = code
        self.message = message
