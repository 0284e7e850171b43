"""Which commits and fetches of offsets a consumer group accepts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kafkawire.broker.groups.consumer.group_state import ConsumerGroupState
from kafkawire.broker.groups.consumer.member import Member
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import OffsetCommitRequest, TxnOffsetCommitRequest
from kafkawire.protocol.error_codes import ErrorCode

_EPOCHS_SINCE: Final = 9
_NO_EPOCH: Final = -1


def commit_error(
    state: ConsumerGroupState, request: OffsetCommitRequest, version: int, ids: Callable[[str], Uuid | None]
) -> ErrorCode:
    """The error for a commit: a member commits with its epoch, or one since it got each partition (KIP-1251).

    Args:
        state: the group.
        request: the commit.
        version: of the request.
        ids: name to id of the topics that exist.
    """
    epoch = request.generation_id_or_member_epoch
    if epoch < 0 and not state.members:
        return ErrorCode.NONE
    member = state.members.get(request.member_id)
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if version < _EPOCHS_SINCE and member.classic is None:
        return ErrorCode.UNSUPPORTED_VERSION
    if epoch == member.epoch or (epoch < member.epoch and _owned_since(member, request, ids)):
        return ErrorCode.NONE
    return ErrorCode.STALE_MEMBER_EPOCH if member.classic is None else ErrorCode.ILLEGAL_GENERATION


def transactional_commit_error(
    state: ConsumerGroupState, request: TxnOffsetCommitRequest, ids: Callable[[str], Uuid | None]
) -> ErrorCode:
    """The error for a commit with a transaction: it is checked if it names a member, or has an epoch (KIP-447)."""
    epoch = request.generation_id_or_member_epoch
    is_unnamed = epoch == _NO_EPOCH and not request.member_id and request.group_instance_id is None
    if is_unnamed or (epoch < 0 and not state.members):
        return ErrorCode.NONE
    member = state.members.get(request.member_id)
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if epoch == member.epoch or (epoch < member.epoch and _owned_since(member, request, ids)):
        return ErrorCode.NONE
    return ErrorCode.ILLEGAL_GENERATION


def _owned_since(
    member: Member, request: OffsetCommitRequest | TxnOffsetCommitRequest, ids: Callable[[str], Uuid | None]
) -> bool:
    epoch = request.generation_id_or_member_epoch
    for topic in request.topics:
        topic_id = topic.topic_id if any(topic.topic_id) else ids(topic.name)
        owned = {**member.revoking.get(topic_id or Uuid(), {}), **member.assigned.get(topic_id or Uuid(), {})}
        if any(epoch < owned.get(partition.partition_index, epoch + 1) for partition in topic.partitions):
            return False
    return True


def fetch_error(state: ConsumerGroupState, member_id: str | None, member_epoch: int) -> ErrorCode:
    """The error for a request for offsets; Kafka does not expect an epoch without a member."""
    if member_id is None:
        return ErrorCode.NONE if member_epoch < 0 else ErrorCode.UNKNOWN_SERVER_ERROR
    member = state.members.get(member_id)
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if member_epoch == member.epoch:
        return ErrorCode.NONE
    return ErrorCode.STALE_MEMBER_EPOCH if member.classic is None else ErrorCode.ILLEGAL_GENERATION
