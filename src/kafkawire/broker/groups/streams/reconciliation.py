"""How a member comes from the tasks that it has to its target assignment.

The rules are those of Apache Kafka's ``CurrentAssignmentBuilder``: a task is given to a member after all members that
process it have given it up, and to a process after it has given up the same task in another role.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from kafkawire.broker.groups.assignors.tasks import Partitions, Tasks
from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.streams.member import StreamsMember
from kafkawire.broker.groups.streams.owned_tasks import ACTIVE, NO_OWNED_TASKS, OwnedTasks, Task, have_in_common
from kafkawire.broker.groups.streams.states import StreamsMemberState
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.message import Struct


class Aim(Struct, frozen=True):
    """What a member shall come to.

    Attributes:
        epoch: of the target assignment.
        target: the target assignment of the member.
        reported: the tasks that its client says that it has; None if it says nothing.
        is_unreleased: whether the process of the member cannot get a task now.
        converts: whether a task of the member may go from one role to another, as in Apache Kafka 4.4.
    """

    epoch: int
    target: Tasks
    reported: Tasks | None
    is_unreleased: Callable[[Task], bool]
    converts: bool


def check_state(member: StreamsMember, reported: Tasks | None) -> None:
    """Check that a member with a state of a newer release has no tasks.

    Raises:
        GroupError: it must join again.
    """
    if member.state is StreamsMemberState.UNKNOWN and (reported is None or any(reported)):
        raise GroupError(
            ErrorCode.FENCED_MEMBER_EPOCH,
            "The streams group member is in a unknown state. The member must abandon all its tasks and rejoin.",
        )


def reconciled(member: StreamsMember, aim: Aim) -> StreamsMember:
    """The member after a heartbeat; its state is checked."""
    match member.state:
        case StreamsMemberState.STABLE if member.epoch == aim.epoch:
            return member
        case StreamsMemberState.UNREVOKED_TASKS:
            if aim.reported is None or have_in_common(aim.reported, member.revoking.tasks):
                return member
            return _advanced(member, aim, member.epoch + 1)
        case StreamsMemberState.UNKNOWN:
            return _advanced(member, aim, aim.epoch)
    return _advanced(member, aim, member.epoch)


class _Difference(NamedTuple):
    """The tasks of a role that a member keeps, gives up and gets, and whether it waits for others."""

    kept: Partitions
    given_up: Partitions
    free: Partitions
    waits: bool


def _advanced(member: StreamsMember, aim: Aim, epoch: int) -> StreamsMember:
    roles = [
        _difference(role, owned, target, aim.is_unreleased)
        for role, (owned, target) in enumerate(zip(member.assigned.tasks, aim.target, strict=True))
    ]
    if aim.converts:
        roles = [*_converted(member.assigned.tasks, aim, *roles)]
    given_up, free = (Tasks(*each) for each in zip(*((role.given_up, role.free) for role in roles), strict=True))
    kept = Tasks(*(role.kept for role in roles))
    if any(given_up) and (aim.reported is None or have_in_common(aim.reported, given_up)):
        return replace(
            member,
            state=StreamsMemberState.UNREVOKED_TASKS,
            epoch=epoch,
            previous_epoch=member.epoch,
            assigned=_owned(member, kept, epoch),
            revoking=_owned(member, given_up, epoch),
        )
    waits = any(role.waits for role in roles)
    return replace(
        member,
        state=StreamsMemberState.UNRELEASED_TASKS if waits else StreamsMemberState.STABLE,
        epoch=aim.epoch,
        previous_epoch=member.epoch,
        assigned=_owned(member, Tasks(*map(_united, kept, free)), aim.epoch),
        revoking=NO_OWNED_TASKS,
    )


def _difference(role: int, owned: Partitions, target: Partitions, is_unreleased: Callable[[Task], bool]) -> _Difference:
    kept, given_up, free, waits = {}, {}, {}, False
    for subtopology in sorted({*owned, *target}):
        own, wanted = owned.get(subtopology, ()), target.get(subtopology, ())
        all_own, all_wanted = frozenset(own), frozenset(wanted)
        kept[subtopology] = tuple(each for each in own if each in all_wanted)
        given_up[subtopology] = tuple(each for each in own if each not in all_wanted)
        new = [each for each in wanted if each not in all_own]
        free[subtopology] = tuple(each for each in new if not is_unreleased(Task(role, subtopology, each)))
        waits = waits or len(free[subtopology]) < len(new)
    return _Difference(_some(kept), _some(given_up), _some(free), waits)


def _converted(
    own: Tasks, aim: Aim, active: _Difference, standby: _Difference, warmup: _Difference
) -> tuple[_Difference, _Difference, _Difference]:
    """The differences where tasks go from one role to another at the same member.

    A task that it has processed is a standby task at once, and copies change their roles at once. A copy that is to
    become an active task is kept until then.
    """
    standby, _ = _given_now(standby, own.active)
    warmup, changed = _given_now(warmup, own.standby)
    standby = standby._replace(given_up=_without(standby.given_up, changed))
    standby, changed = _given_now(standby, own.warmup)
    warmup = warmup._replace(given_up=_without(warmup.given_up, changed))
    promoted = [_common(copies, aim.target.active) for copies in (own.standby, own.warmup)]
    standby, warmup = (
        role._replace(given_up=_without(role.given_up, copies))
        for role, copies in zip((standby, warmup), promoted, strict=True)
    )
    given_up = Tasks(active.given_up, standby.given_up, warmup.given_up)
    must_wait = any(given_up) and (aim.reported is None or have_in_common(aim.reported, given_up))
    granted: Partitions = {} if must_wait else active.free
    standby, warmup = (
        role._replace(kept=_united(role.kept, _without(copies, granted)))
        for role, copies in zip((standby, warmup), promoted, strict=True)
    )
    return active, standby, warmup


def _given_now(role: _Difference, had: Partitions) -> tuple[_Difference, Partitions]:
    """The difference with free tasks given at once that the member has had otherwise; and these."""
    now = _common(role.free, had)
    return role._replace(kept=_united(role.kept, now), free=_without(role.free, now)), now


def _common(one: Partitions, other: Partitions) -> Partitions:
    both = {each: frozenset(one[each]).intersection(other.get(each, ())) for each in one}
    return _some({each: tuple(at for at in one[each] if at in both[each]) for each in one})


def _without(one: Partitions, other: Partitions) -> Partitions:
    rest = {each: frozenset(one[each]).difference(other.get(each, ())) for each in one}
    return _some({each: tuple(at for at in one[each] if at in rest[each]) for each in one})


def _some(partitions: Partitions) -> Partitions:
    return {subtopology: each for subtopology, each in partitions.items() if each}


def _united(one: Partitions, other: Partitions) -> Partitions:
    subtopologies = sorted({*one, *other})
    return {each: tuple(sorted({*one.get(each, ()), *other.get(each, ())})) for each in subtopologies}


def _owned(member: StreamsMember, tasks: Tasks, epoch: int) -> OwnedTasks:
    """Tasks with the epochs at which a member got them: an epoch for those that it gets now."""
    active = {
        subtopology: dict(_with_epochs(member.assigned.active.get(subtopology, {}), partitions, epoch))
        for subtopology, partitions in tasks[ACTIVE].items()
    }
    return OwnedTasks(active, tasks.standby, tasks.warmup)


def _with_epochs(known: Mapping[int, int], partitions: tuple[int, ...], epoch: int) -> Iterator[tuple[int, int]]:
    yield from ((partition, known.get(partition, epoch)) for partition in partitions)
