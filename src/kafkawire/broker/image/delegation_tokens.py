"""Delegation tokens, which the broker does not serve but keeps."""

from __future__ import annotations

from collections.abc import Iterator

from kafkawire.protocol import DelegationTokenRecord, RemoveDelegationTokenRecord
from kafkawire.wire import Message

__all__ = ["DelegationTokensImage"]


class DelegationTokensImage:
    """All tokens.

    Attributes:
        by_id: token id to token.
    """

    def __init__(self) -> None:
        self.by_id: dict[str, DelegationTokenRecord] = {}

    def apply(self, record: DelegationTokenRecord) -> None:
        """A token is made or renewed."""
        self.by_id[record.token_id] = record

    def apply_remove(self, record: RemoveDelegationTokenRecord) -> None:
        """A token is gone."""
        self.by_id.pop(record.token_id, None)

    def records(self) -> Iterator[Message]:
        """The records that make all tokens again."""
        yield from self.by_id.values()
