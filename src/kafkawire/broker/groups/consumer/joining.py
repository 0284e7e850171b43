"""ConsumerGroupHeartbeat requests: which are valid, and what they change of a member."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from kafkawire.broker.groups.consumer.member import LEFT, LEFT_FOR_A_WHILE, Member
from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.subscriptions import subscribed_to
from kafkawire.protocol import ConsumerGroupHeartbeatRequest
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.message import Struct

_ID_REQUIRED_SINCE: Final = 1


class Beat(Struct, frozen=True):
    """A ConsumerGroupHeartbeat request with its client.

    Attributes:
        request: the request, with a member id.
        client_id, client_host: the client, the host as Kafka records it (``/127.0.0.1``).
        check_regex: raises GroupError if a regular expression cannot be used.
    """

    request: ConsumerGroupHeartbeatRequest
    client_id: str
    client_host: str
    check_regex: Callable[[str], None]

    @property
    def is_full(self) -> bool:
        """Whether it has all that a member sends when it joins, so that it expects its assignment."""
        request = self.request
        is_subscribed = request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None
        return request.rebalance_timeout_ms != -1 and is_subscribed and request.topic_partitions is not None

    @property
    def size(self) -> int:
        """About how many bytes the group keeps of it."""
        request = self.request
        names = (request.member_id, request.instance_id, request.rack_id, request.subscribed_topic_regex)
        return sum(len(name) for name in (*names, *(request.subscribed_topic_names or ())) if name is not None)


def check(request: ConsumerGroupHeartbeatRequest, version: int, assignors: Sequence[str]) -> None:
    """Check a request by itself.

    Raises:
        GroupError: it is not valid.
    """
    epoch = request.member_epoch
    if version >= _ID_REQUIRED_SINCE or epoch > 0 or epoch == LEFT:
        _not_blank(request.member_id, "MemberId")
    _not_blank(request.group_id, "GroupId")
    _not_blank(request.instance_id, "InstanceId")
    _not_blank(request.rack_id, "RackId")
    if epoch == 0:
        _check_join(request)
    elif epoch == LEFT_FOR_A_WHILE and request.instance_id is None:
        raise _invalid("InstanceId can't be null.")
    elif epoch < LEFT_FOR_A_WHILE:
        raise _invalid("MemberEpoch is invalid.")
    if request.server_assignor is not None and request.server_assignor not in assignors:
        reason = f"ServerAssignor {request.server_assignor} is not supported. Supported assignors: "
        raise GroupError(ErrorCode.UNSUPPORTED_ASSIGNOR, f"{reason}{', '.join(assignors)}.")


def _check_join(request: ConsumerGroupHeartbeatRequest) -> None:
    if request.rebalance_timeout_ms == -1:
        raise _invalid("RebalanceTimeoutMs must be provided in first request.")
    if request.topic_partitions is None or request.topic_partitions:
        raise _invalid("TopicPartitions must be empty when (re-)joining.")
    if request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
        raise _invalid("Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.")


def _not_blank(text: str | None, name: str) -> None:
    if text is not None and not text.strip():
        raise _invalid(f"{name} can't be empty.")


def _invalid(reason: str) -> GroupError:
    return GroupError(ErrorCode.INVALID_REQUEST, reason)


def checked_epoch(member: Member, beat: Beat) -> Member:
    """The member, if the heartbeat has its epoch, or the one before because the last answer was lost.

    Raises:
        GroupError: it must join again.
    """
    epoch = beat.request.member_epoch
    if epoch in {0, member.epoch} or (epoch == member.previous_epoch < member.epoch and _owns_less(member, beat)):
        return member
    than = "greater" if epoch > member.epoch else "smaller"
    raise GroupError(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"The consumer group member has a {than} member epoch ({epoch}) than the one known by the group coordinator "
        f"({member.epoch}). The member must abandon all its partitions and rejoin.",
    )


def _owns_less(member: Member, beat: Beat) -> bool:
    reported = beat.request.topic_partitions
    return reported is not None and all(
        partition in member.assigned.get(each.topic_id, ()) for each in reported for partition in each.partitions
    )


def updated(member: Member, beat: Beat) -> Member:
    """The member with the fields that a heartbeat has; those that are null or -1 have not changed."""
    request = beat.request
    names = request.subscribed_topic_names
    return replace(
        member,
        instance_id=_first(request.instance_id, member.instance_id),
        rack_id=_first(request.rack_id, member.rack_id),
        rebalance_timeout_ms=member.rebalance_timeout_ms
        if request.rebalance_timeout_ms == -1
        else request.rebalance_timeout_ms,
        client_id=beat.client_id,
        client_host=beat.client_host,
        topics=member.topics if names is None else subscribed_to(names, member.topics),
        regex=_first(request.subscribed_topic_regex, member.regex),
        assignor=_first(request.server_assignor, member.assignor),
        classic=None,
    )


def _first(given: str | None, known: str | None) -> str | None:
    return known if given is None else given
