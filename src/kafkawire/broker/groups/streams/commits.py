"""Which commits and fetches of offsets a streams group accepts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kafkawire.broker.groups.streams.group_state import StreamsGroupState
from kafkawire.broker.groups.streams.member import StreamsMember
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import OffsetCommitRequest, TxnOffsetCommitRequest
from kafkawire.protocol.error_codes import ErrorCode

_EPOCHS_SINCE: Final = 9
_NO_EPOCH: Final = -1


def commit_error(
    state: StreamsGroupState, request: OffsetCommitRequest, version: int, names: Callable[[Uuid], str | None]
) -> ErrorCode:
    """The error for a commit: a member commits with its epoch, or one since it got each task (KIP-1251).

    Args:
        state: the group.
        request: the commit.
        version: of the request.
        names: id to name of the topics that exist.
    """
    epoch = request.generation_id_or_member_epoch
    if epoch < 0 and not state.members:
        return ErrorCode.NONE
    member = state.members.get(request.member_id)
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if version < _EPOCHS_SINCE:
        return ErrorCode.UNSUPPORTED_VERSION
    if epoch == member.epoch or (epoch < member.epoch and _has_since(state, member, request, names)):
        return ErrorCode.NONE
    return ErrorCode.STALE_MEMBER_EPOCH


def transactional_commit_error(
    state: StreamsGroupState, request: TxnOffsetCommitRequest, names: Callable[[Uuid], str | None]
) -> ErrorCode:
    """The error for a commit with a transaction: it is checked if it names a member, or has an epoch (KIP-447)."""
    epoch = request.generation_id_or_member_epoch
    is_unnamed = epoch == _NO_EPOCH and not request.member_id and request.group_instance_id is None
    if is_unnamed or (epoch < 0 and not state.members):
        return ErrorCode.NONE
    member = state.members.get(request.member_id)
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if epoch == member.epoch or (epoch < member.epoch and _has_since(state, member, request, names)):
        return ErrorCode.NONE
    return ErrorCode.ILLEGAL_GENERATION


def fetch_error(state: StreamsGroupState, member_id: str | None, member_epoch: int) -> ErrorCode:
    """The error for a request for offsets; Kafka does not expect an epoch without a member."""
    if member_id is None:
        return ErrorCode.NONE if member_epoch < 0 else ErrorCode.UNKNOWN_SERVER_ERROR
    member = state.members.get(member_id)
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    return ErrorCode.NONE if member_epoch == member.epoch else ErrorCode.STALE_MEMBER_EPOCH


def _has_since(
    state: StreamsGroupState,
    member: StreamsMember,
    request: OffsetCommitRequest | TxnOffsetCommitRequest,
    names: Callable[[Uuid], str | None],
) -> bool:
    """Whether a member has had the tasks of all partitions since the epoch of a commit."""
    epoch = request.generation_id_or_member_epoch
    for topic in request.topics:
        subtopology = state.subtopology_of(topic.name or names(topic.topic_id) or "")
        revoking, assigned = (owned.active.get(subtopology or "", {}) for owned in (member.revoking, member.assigned))
        tasks = {**revoking, **assigned}
        if any(epoch < tasks.get(partition.partition_index, epoch + 1) for partition in topic.partitions):
            return False
    return True
