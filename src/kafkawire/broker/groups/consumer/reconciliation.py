"""How a member comes from the partitions that it owns to its target assignment.

The rules are those of Apache Kafka's ``CurrentAssignmentBuilder``: a partition is given to a member after its previous
owner has given it up, and a member gets new ones after it has given up its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from kafkawire.broker.groups.assignors.assignment import Assignment
from kafkawire.broker.groups.consumer.member import Member, Owned
from kafkawire.broker.groups.consumer.states import TABLE, MemberState, Situation, Step
from kafkawire.broker.groups.errors import GroupError
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import ConsumerGroupHeartbeatRequest
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.message import Struct

Reported = Sequence[ConsumerGroupHeartbeatRequest.TopicPartitions]


class Aim(Struct, frozen=True):
    """What a member shall come to.

    Attributes:
        epoch: of the target assignment.
        target: the target assignment of the member.
        topics: the ids of the topics that it subscribes to.
        has_changed: whether its subscription has changed just now.
        reported: the partitions that its client says that it owns; None if it says nothing.
        owner: the id of the member that owns a partition, or is to give it up; None for none.
    """

    epoch: int
    target: Assignment
    topics: frozenset[Uuid]
    has_changed: bool
    reported: Reported | None
    owner: Callable[[Uuid, int], str | None]


def reconciled(member: Member, aim: Aim) -> Member:
    """The member after a heartbeat.

    Raises:
        GroupError: it must join again.
    """
    match TABLE[member.state][_situation(member, aim)]:
        case Step.SHRINK:
            return _shrunk(member, aim)
        case Step.ADVANCE:
            return _advanced(member, aim)
        case Step.FENCE:
            raise GroupError(
                ErrorCode.FENCED_MEMBER_EPOCH,
                "The consumer group member is in a unknown state. "
                "The member must abandon all its partitions and rejoin.",
            )
    return member


def _situation(member: Member, aim: Aim) -> Situation:
    is_done = {
        MemberState.STABLE: member.epoch == aim.epoch,
        MemberState.UNREVOKED_PARTITIONS: _owns(aim.reported, member.revoking),
        MemberState.UNRELEASED_PARTITIONS: False,
        MemberState.UNKNOWN: aim.reported is None or bool(aim.reported),
    }
    if not is_done[member.state]:
        return Situation.MAY_ADVANCE
    return Situation.DONE_SUBSCRIBED_OTHERWISE if aim.has_changed else Situation.DONE


def _owns(reported: Reported | None, partitions: Owned) -> bool:
    """Whether a client may still own some of these partitions."""
    if reported is None:
        return True
    return any(partition in partitions.get(each.topic_id, ()) for each in reported for partition in each.partitions)


def _shrunk(member: Member, aim: Aim) -> Member:
    unwanted = {topic: partitions for topic, partitions in member.assigned.items() if topic not in aim.topics}
    if not unwanted:
        return member
    assigned = {topic: partitions for topic, partitions in member.assigned.items() if topic in aim.topics}
    revoking = dict(member.revoking)
    for topic, partitions in unwanted.items():
        revoking[topic] = {**revoking.get(topic, {}), **partitions}
    if not _owns(aim.reported, revoking):
        return replace(member, previous_epoch=member.epoch, assigned=assigned)
    return replace(
        member,
        state=MemberState.UNREVOKED_PARTITIONS,
        previous_epoch=member.epoch,
        assigned=assigned,
        revoking=revoking,
    )


def _advanced(member: Member, aim: Aim) -> Member:
    epoch = aim.epoch if member.state is MemberState.UNKNOWN else member.epoch
    assigned: dict[Uuid, dict[int, int]] = {}
    revoking: dict[Uuid, dict[int, int]] = {}
    pending: dict[Uuid, list[int]] = {}
    waits = False
    for topic in dict.fromkeys((*aim.target, *member.assigned)):
        target = frozenset(aim.target.get(topic, ())) if topic in aim.topics else frozenset[int]()
        owned = member.assigned.get(topic, {})
        kept = {partition: since for partition, since in owned.items() if partition in target}
        given_up = {partition: since for partition, since in owned.items() if partition not in target}
        wanted = [partition for partition in aim.target.get(topic, ()) if partition in target and partition not in kept]
        free = [partition for partition in wanted if aim.owner(topic, partition) in {None, member.member_id}]
        waits = waits or len(free) < len(wanted)
        _put(assigned, topic, kept)
        _put(revoking, topic, given_up)
        if free:
            pending[topic] = free
    if revoking and _owns(aim.reported, revoking):
        return replace(
            member,
            state=MemberState.UNREVOKED_PARTITIONS,
            epoch=epoch,
            previous_epoch=member.epoch,
            assigned=assigned,
            revoking=revoking,
        )
    for topic, partitions in pending.items():
        assigned[topic] = {**assigned.get(topic, {}), **dict.fromkeys(partitions, aim.epoch)}
    return replace(
        member,
        state=MemberState.UNRELEASED_PARTITIONS if waits else MemberState.STABLE,
        epoch=aim.epoch,
        previous_epoch=member.epoch,
        assigned=assigned,
        revoking={},
    )


def _put(owned: dict[Uuid, dict[int, int]], topic: Uuid, partitions: Mapping[int, int]) -> None:
    if partitions:
        owned[topic] = {**partitions}
