"""What brokers know of the passwords of SCRAM users."""

from __future__ import annotations

from collections.abc import Iterator

from kafkawire.protocol import RemoveUserScramCredentialRecord, UserScramCredentialRecord
from kafkawire.wire import Message

__all__ = ["ScramImage"]


class ScramImage:
    """All credentials.

    Attributes:
        by_user: user to mechanism (1 SCRAM-SHA-256, 2 SCRAM-SHA-512) to credential.
    """

    def __init__(self) -> None:
        self.by_user: dict[str, dict[int, UserScramCredentialRecord]] = {}

    def apply(self, record: UserScramCredentialRecord) -> None:
        """A credential is set."""
        self.by_user.setdefault(record.name, {})[record.mechanism] = record

    def apply_remove(self, record: RemoveUserScramCredentialRecord) -> None:
        """A credential is gone."""
        credentials = self.by_user.get(record.name)
        if credentials is not None and credentials.pop(record.mechanism, None) is not None and not credentials:
            del self.by_user[record.name]

    def records(self) -> Iterator[Message]:
        """The records that set all this again."""
        for credentials in self.by_user.values():
            yield from credentials.values()
