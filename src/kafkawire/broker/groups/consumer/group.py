"""A consumer group of KIP-848: heartbeats and times in; answers, records and timers out.

The rules are those of Apache Kafka 4.3 (``GroupMetadataManager``). Nothing here waits or writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from kafkawire.broker.groups import timers
from kafkawire.broker.groups.assigned_group import AssignedGroup
from kafkawire.broker.groups.classic.group import ClassicGroup
from kafkawire.broker.groups.consumer import target_assignment
from kafkawire.broker.groups.consumer.conversion import downgraded, may_downgrade
from kafkawire.broker.groups.consumer.group_state import ConsumerChange, ConsumerGroupState, ConsumerKey
from kafkawire.broker.groups.consumer.joining import Beat, checked_epoch, updated
from kafkawire.broker.groups.consumer.member import LEFT_FOR_A_WHILE, Member
from kafkawire.broker.groups.consumer.reconciliation import Aim, Reported, reconciled
from kafkawire.broker.groups.consumer.settings import ASSIGNORS, ConsumerGroupSettings
from kafkawire.broker.groups.consumer.states import MemberState
from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.timers import Now, Timer, TimerKind, Timers
from kafkawire.broker.groups.topics import KnownTopics
from kafkawire.model.java_order import java_hash, timeline_order
from kafkawire.protocol import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupHeartbeatResponse,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMetadataKey,
)
from kafkawire.protocol.error_codes import ErrorCode

_REFRESH_AT_LEAST_MS: Final = 10_000
_NEVER_RESOLVED: Final = float("-inf")


class ConsumerGroup(AssignedGroup[ConsumerKey]):
    """A group with its timers: each method takes an event and its time, and ``changes`` returns the records to write.

    Args:
        group_id: its id.
        records: the records that it has.
        settings: the broker's.
        topics: of the cluster.
        now: begins the sessions of the members in the records.

    Attributes:
        state: the records, folded.
        became: the classic group that it is now; None while it is a consumer group.
        wanted_regexes: those that are to be resolved now; ``resolve`` takes what they match.
    """

    def __init__(
        self,
        group_id: str,
        records: Iterable[ConsumerChange],
        settings: ConsumerGroupSettings,
        topics: KnownTopics,
        now: Now,
    ) -> None:
        self.state = ConsumerGroupState(group_id, records)
        super().__init__(self.state, topics, "consumer", settings.most_members)
        self.wanted_regexes: tuple[str, ...] = ()
        self.became: ClassicGroup | None = None
        self._settings = settings
        for member in self.state.members.values():
            self._begin_session(member, now)
            self._time_revocation(member, now)

    # Heartbeats.

    def heartbeat(self, beat: Beat, now: Now) -> ConsumerGroupHeartbeatResponse:
        """A member joins, or lives.

        Raises:
            GroupError: it is refused; nothing has changed then.
        """
        request, state = beat.request, self.state
        self._check_room(request.member_id)
        replaced = self._replaced(beat)
        before = self._known(beat) if replaced is None else with_id(replaced, request.member_id)
        after = updated(before, beat)
        if after.regex != before.regex and after.regex and not state.subscribed_regexes[after.regex]:
            beat.check_regex(after.regex)
        is_new = request.member_id not in state.members
        if replaced is not None:
            self._replace(replaced, before)
        has_changed = self._change(before, after, now)
        self._assign(now, after.member_id if is_new else None)
        after = self._reconcile(after, request.topic_partitions, now, has_changed=has_changed)
        self._begin_session(after, now)
        if before.classic is not None:
            self._end_waits(after.member_id)
        has_news = beat.is_full or before.assigned != after.assigned
        return ConsumerGroupHeartbeatResponse(
            member_id=after.member_id,
            member_epoch=after.epoch,
            heartbeat_interval_ms=self._settings.heartbeat_ms(state.group_id),
            assignment=_assignment(after) if has_news else None,
        )

    def _replaced(self, beat: Beat) -> Member | None:
        """The static member whose place another takes, which has left for a while; None if there is none."""
        instance_id = beat.request.instance_id
        if instance_id is None or beat.request.member_epoch:
            return None
        existing = self.state.static_member(instance_id)
        if existing is not None and not existing.is_classic and existing.epoch != LEFT_FOR_A_WHILE:
            raise GroupError(
                ErrorCode.UNRELEASED_INSTANCE_ID,
                f"Static member {beat.request.member_id} with instance id {instance_id} cannot join the group because "
                f"the instance id is owned by {existing.member_id} member.",
            )
        return existing

    def _known(self, beat: Beat) -> Member:
        """The member that sends a heartbeat; a new one if it joins."""
        request = beat.request
        if request.instance_id is not None and request.member_epoch:
            return checked_epoch(self._static(request.instance_id, request.member_id), beat)
        member = self.state.members.get(request.member_id)
        if member is None and request.member_epoch:
            raise self._unknown(request.member_id)
        return checked_epoch(member or Member(request.member_id), beat)

    def _static(self, instance_id: str, member_id: str) -> Member:
        member = self.state.static_member(instance_id)
        if member is None:
            raise GroupError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
        if member.member_id != member_id:
            raise GroupError(
                ErrorCode.FENCED_INSTANCE_ID,
                f"Static member {member_id} with instance id {instance_id} was fenced by member {member.member_id}.",
            )
        return member

    def _replace(self, old: Member, new: Member) -> None:
        target = target_assignment.recorded(self.state.target(old.member_id))
        self._remove(old.member_id)
        group_id, member_id = self.state.group_id, new.member_id
        self._write(ConsumerGroupMemberMetadataKey(group_id, member_id), new.metadata)
        self._write(ConsumerGroupTargetAssignmentMemberKey(group_id, member_id), target)
        self._write(ConsumerGroupCurrentMemberAssignmentKey(group_id, member_id), new.current)

    # Subscriptions.

    def _change(self, before: Member, after: Member, now: Now) -> bool:
        """Record what a member brings, and begin an epoch if it must; returns whether it subscribes otherwise."""
        names_changed = self._subscribe(before, after)
        regex_changed = before.regex != after.regex
        is_resolved = regex_changed and self._subscribe_to_regex(before.regex, after.regex, after.member_id)
        self._want_regexes(now, is_new=regex_changed and self.state.subscribed_regexes[after.regex or ""] == 1)
        self._refresh(must_bump=names_changed or is_resolved)
        return names_changed or regex_changed

    def _subscribe(self, before: Member, after: Member) -> bool:
        """Record what a member brings; returns whether it subscribes to other names."""
        if after != before:
            self._write(ConsumerGroupMemberMetadataKey(self.state.group_id, after.member_id), after.metadata)
        return frozenset(after.topics) != frozenset(before.topics)

    def _subscribe_to_regex(self, before: str | None, after: str | None, member_id: str) -> bool:
        """A member subscribes to another regular expression; returns whether it is resolved already."""
        was_last = bool(before) and not self.state.subscribed_regexes[before or ""]
        if was_last:
            self._write(ConsumerGroupRegularExpressionKey(self.state.group_id, before or ""), None)
        if not after:
            return bool(before)
        return self.state.subscribed_regexes[after] > 1 and after in self.state.regexes

    def _want_regexes(self, now: Now, *, is_new: bool) -> None:
        """Let regular expressions be resolved again if topics or expressions are new, but at most every 10 seconds."""
        state = self.state
        if not state.subscribed_regexes:
            return
        last = next(iter(state.regexes.values()), None)
        resolved_at = _NEVER_RESOLVED if last is None else last.timestamp
        if now.ms <= resolved_at + _REFRESH_AT_LEAST_MS:
            return
        is_due = (
            is_new
            or len(state.subscribed_regexes) != len(state.regexes)
            or (last is not None and last.version < self._topics.created_at)
            or now.ms > resolved_at + self._settings.regex_refresh_ms
        )
        if is_due:
            self.wanted_regexes = (*state.subscribed_regexes,)

    def resolve(self, matches: Mapping[str, Sequence[str]], version: int, now: Now) -> None:
        """Take the topics that regular expressions match, as of a version of the metadata."""
        state, must_bump = self.state, False
        for regex, names in matches.items():
            if not state.subscribed_regexes[regex]:
                continue
            known = state.regexes.get(regex)
            must_bump = must_bump or frozenset(names) != frozenset(known.topics if known is not None else ())
            value = ConsumerGroupRegularExpressionValue(tuple(sorted(names)), version, now.ms)
            self._write(ConsumerGroupRegularExpressionKey(state.group_id, regex), value)
        metadata_hash = self._topics.hash_of(state.subscribed)
        if must_bump or metadata_hash != state.metadata_hash:
            self._bump(metadata_hash)

    def _refresh(self, *, must_bump: bool) -> None:
        """Begin an epoch if subscriptions or the topics have changed."""
        metadata_hash = self._hash_of_new_epoch(must_bump=must_bump)
        if metadata_hash is not None:
            self._bump(metadata_hash)
        if self.state.has_partition_metadata:
            self._write(ConsumerGroupPartitionMetadataKey(self.state.group_id), None)

    def _bump(self, metadata_hash: int) -> None:
        value = ConsumerGroupMetadataValue(self.state.epoch + 1, metadata_hash)
        self._write(ConsumerGroupMetadataKey(self.state.group_id), value)

    # Assignments.

    def _assign(self, now: Now, newcomer: str | None) -> None:
        """Compute the target assignment of a new epoch, but not too often."""
        state = self.state
        if not self._may_assign(now, self._settings.assignment_ms(state.group_id)):
            return
        preferred = target_assignment.preferred_assignor(state.members.values(), self._settings.assignors)
        for change in target_assignment.changes(state, self._topics, ASSIGNORS[preferred], now.ms, newcomer):
            self._write(*change)

    def _reconcile(self, member: Member, reported: Reported | None, now: Now, *, has_changed: bool) -> Member:
        state, epoch = self.state, self.state.assignment_epoch
        if not has_changed and member.is_reconciled_to(epoch):
            return member
        ids = (self._topics.id_of(name) for name in state.names_of(member))
        aim = Aim(
            epoch,
            state.target(member.member_id),
            frozenset(topic for topic in ids if topic is not None),
            has_changed,
            reported,
            state.owner,
        )
        after = reconciled(member, aim)
        if after != member:
            self._write(ConsumerGroupCurrentMemberAssignmentKey(state.group_id, member.member_id), after.current)
            self._time_revocation(after, now)
        return after

    # Members that leave, and timers.

    def leave(self, beat: Beat, now: Now) -> ConsumerGroupHeartbeatResponse:
        """A member leaves, or a static member leaves for a while.

        Raises:
            GroupError: it is refused.
        """
        request = beat.request
        member = self._existing(request.member_id, request.instance_id)
        if request.instance_id is not None and request.member_epoch == LEFT_FOR_A_WHILE:
            key = ConsumerGroupCurrentMemberAssignmentKey(self.state.group_id, member.member_id)
            self._write(key, member.has_left_for_a_while().current)
        else:
            self.fence([member.member_id], now)
        return ConsumerGroupHeartbeatResponse(member_id=request.member_id, member_epoch=request.member_epoch)

    def find(self, member_id: str, instance_id: str | None) -> Member:
        """The member that leaves or that an administrator removes, who knows a static one by its instance id.

        Raises:
            GroupError: there is none.
        """
        if instance_id is not None and not member_id:
            member_id = self.state.static_ids.get(instance_id, "")
        return self._existing(member_id, instance_id)

    def _existing(self, member_id: str, instance_id: str | None) -> Member:
        if instance_id is not None:
            return self._static(instance_id, member_id)
        member = self.state.members.get(member_id)
        if member is None:
            raise self._unknown(member_id)
        return member

    def fence(self, member_ids: Sequence[str], now: Now) -> None:
        """Remove members, which begins an epoch; the group becomes a classic one if only classic members are left."""
        if member_ids and may_downgrade(self.state, member_ids, self._settings):
            classic = downgraded(self.state, member_ids, self._settings, self._topics, now)
            if classic is not None:
                classic.rebalance(now)
                self._become(classic)
                return
        gone = [self.state.members[member_id] for member_id in member_ids]
        for member in gone:
            self._remove(member.member_id)
        for regex in dict.fromkeys(member.regex for member in gone if member.regex):
            if not self.state.subscribed_regexes[regex]:
                self._write(ConsumerGroupRegularExpressionKey(self.state.group_id, regex), None)
        if gone:
            self._bump(self._topics.hash_of(self.state.subscribed))

    def expire(self, now: Now) -> None:
        """Let the timers fire that are due, the earliest first."""
        for timer in self.timers.due(now.seconds):
            member = self.state.members.get(timer.member_id)
            if member is not None and (timer.kind is not TimerKind.REVOCATION or member.epoch != LEFT_FOR_A_WHILE):
                self.fence([member.member_id], now)

    def _begin_session(self, member: Member, now: Now) -> None:
        own = member.classic
        session = self._settings.session_ms(self.state.group_id) if own is None else own.session_timeout_ms
        self.timers.set(timers.session(member.member_id), now.seconds + session / 1000)

    def _end_waits(self, member_id: str) -> None:
        """Wait for no JoinGroup and SyncGroup request of a member any more."""
        self.timers.cancel(timers.join(member_id))
        self.timers.cancel(timers.sync(member_id))

    def _time_revocation(self, member: Member, now: Now) -> None:
        """A classic member has other timers, since it gives up partitions when it joins again."""
        timer: Timer = timers.revocation(member.member_id)
        if member.state is MemberState.UNREVOKED_PARTITIONS and not member.is_classic:
            self.timers.set(timer, now.seconds + max(member.rebalance_timeout_ms, 0) / 1000)
        else:
            self.timers.cancel(timer)

    # Records.

    def _become(self, classic: ClassicGroup) -> None:
        """End as a consumer group."""
        state, group_id = self.state, self.state.group_id
        member_ids = timeline_order(state.members, java_hash)
        for member_id in member_ids:
            self._write(ConsumerGroupCurrentMemberAssignmentKey(group_id, member_id), None)
        for member_id in member_ids:
            self._write(ConsumerGroupTargetAssignmentMemberKey(group_id, member_id), None)
        self._write(ConsumerGroupTargetAssignmentMetadataKey(group_id), None)
        for member_id in member_ids:
            self._write(ConsumerGroupMemberMetadataKey(group_id, member_id), None)
        for regex in [*state.regexes]:
            self._write(ConsumerGroupRegularExpressionKey(group_id, regex), None)
        self._write(ConsumerGroupPartitionMetadataKey(group_id), None)
        self._write(ConsumerGroupMetadataKey(group_id), None)
        self.timers = Timers()
        self.became = classic

    def _remove(self, member_id: str) -> None:
        for timer in timers.of_member(member_id):
            self.timers.cancel(timer)
        group_id = self.state.group_id
        self._write(ConsumerGroupCurrentMemberAssignmentKey(group_id, member_id), None)
        self._write(ConsumerGroupTargetAssignmentMemberKey(group_id, member_id), None)
        self._write(ConsumerGroupMemberMetadataKey(group_id, member_id), None)


def with_id(member: Member, member_id: str) -> Member:
    """A static member that comes back with another id."""
    return replace(member, member_id=member_id, epoch=0, previous_epoch=0)


def _assignment(member: Member) -> ConsumerGroupHeartbeatResponse.Assignment:
    return ConsumerGroupHeartbeatResponse.Assignment(
        tuple(
            ConsumerGroupHeartbeatResponse.TopicPartitions(topic, (*partitions,))
            for topic, partitions in member.assigned.items()
        )
    )
