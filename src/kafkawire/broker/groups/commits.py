"""Which commits and fetches of offsets consumer groups and streams groups accept: their members have epochs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

from kafkawire.protocol import OffsetCommitRequest, TxnOffsetCommitRequest
from kafkawire.protocol.error_codes import ErrorCode

CommittedTopic: TypeAlias = (
    OffsetCommitRequest.OffsetCommitRequestTopic | TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic
)

_EPOCHS_SINCE: Final = 9
_NO_EPOCH: Final = -1


class EpochMember(Protocol):
    """A member of such a group."""

    @property
    def epoch(self) -> int:
        """Of the member."""

    @property
    def is_classic(self) -> bool:
        """Whether it uses the classic protocol."""


M = TypeVar("M", bound=EpochMember)


@dataclass(frozen=True)
class CommitRules(Generic[M]):
    """The rules of a group.

    Attributes:
        members: by id.
        owned_since: the epoch at which a member got each of its partitions of a topic.
    """

    members: Mapping[str, M]
    owned_since: Callable[[M, CommittedTopic], Mapping[int, int]]

    def commit_error(self, request: OffsetCommitRequest, version: int) -> ErrorCode:
        """The error for a commit: a member commits with its epoch, or one since it got each partition (KIP-1251)."""
        if request.generation_id_or_member_epoch < 0 and not self.members:
            return ErrorCode.NONE
        member = self.members.get(request.member_id)
        if member is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if version < _EPOCHS_SINCE and not member.is_classic:
            return ErrorCode.UNSUPPORTED_VERSION
        return ErrorCode.NONE if self._has_since(member, request) else _wrong_epoch(member)

    def transactional_commit_error(self, request: TxnOffsetCommitRequest) -> ErrorCode:
        """The error for a commit with a transaction: it is checked if it names a member, or has an epoch (KIP-447)."""
        epoch = request.generation_id_or_member_epoch
        is_unnamed = epoch == _NO_EPOCH and not request.member_id and request.group_instance_id is None
        if is_unnamed or (epoch < 0 and not self.members):
            return ErrorCode.NONE
        member = self.members.get(request.member_id)
        if member is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        return ErrorCode.NONE if self._has_since(member, request) else ErrorCode.ILLEGAL_GENERATION

    def fetch_error(self, member_id: str | None, member_epoch: int) -> ErrorCode:
        """The error for a request for offsets; Kafka does not expect an epoch without a member."""
        if member_id is None:
            return ErrorCode.NONE if member_epoch < 0 else ErrorCode.UNKNOWN_SERVER_ERROR
        member = self.members.get(member_id)
        if member is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        return ErrorCode.NONE if member_epoch == member.epoch else _wrong_epoch(member)

    def _has_since(self, member: M, request: OffsetCommitRequest | TxnOffsetCommitRequest) -> bool:
        """Whether a commit has the epoch of the member, or one since which it has had all partitions."""
        epoch = request.generation_id_or_member_epoch
        if epoch >= member.epoch:
            return epoch == member.epoch
        for topic in request.topics:
            since = self.owned_since(member, topic)
            if any(epoch < since.get(partition.partition_index, epoch + 1) for partition in topic.partitions):
                return False
        return True


def _wrong_epoch(member: EpochMember) -> ErrorCode:
    return ErrorCode.ILLEGAL_GENERATION if member.is_classic else ErrorCode.STALE_MEMBER_EPOCH
