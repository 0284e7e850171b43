"""A member of a streams group, as the records have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, Self

from msgspec import field
from msgspec.structs import replace

from kafkawire.broker.groups.streams.owned_tasks import NO_OWNED_TASKS, OwnedTasks
from kafkawire.broker.groups.streams.states import StreamsMemberState
from kafkawire.protocol import StreamsGroupCurrentMemberAssignmentValue, StreamsGroupMemberMetadataValue
from kafkawire.wire.message import Struct

LEFT: Final = -1
"""The epoch of a member that leaves."""

TAG_BYTES: Final = 100
"""About how many bytes a tag takes besides its key and its value."""


def size_of_tags(tags: Mapping[str, str]) -> int:
    """About how many bytes tags take."""
    return sum(map(len, tags)) + sum(map(len, tags.values())) + TAG_BYTES * len(tags)


class Endpoint(NamedTuple):
    """Where other instances of an application reach a member (``application.server``).

    Attributes:
        host, port: of the instance.
    """

    host: str
    port: int


class StreamsMember(Struct, frozen=True):
    """A member of a streams group.

    Attributes:
        member_id: made by its client.
        rack_id: ``client.rack``; None if it has none.
        client_id, client_host: of its client, the host as Kafka records it (``/127.0.0.1``).
        rebalance_timeout_ms: the time that it has to give up tasks; -1 if it is not known.
        topology_epoch: of its topology.
        process_id: of its process, whose members have a state directory in common.
        endpoint: of its instance; None if it has none.
        tags: of its client (``client.tag.``).
        size_of_tags: about how many bytes they take.
        epoch: of the member.
        previous_epoch: before that.
        state: the state.
        assigned: what it has or is to have.
        revoking: what it must give up.
    """

    member_id: str
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = -1
    topology_epoch: int = -1
    process_id: str = ""
    endpoint: Endpoint | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    size_of_tags: int = 0
    epoch: int = 0
    previous_epoch: int = 0
    state: StreamsMemberState = StreamsMemberState.STABLE
    assigned: OwnedTasks = NO_OWNED_TASKS
    revoking: OwnedTasks = NO_OWNED_TASKS

    @property
    def is_classic(self) -> bool:
        """False: no other protocol has tasks."""
        return False

    @property
    def size(self) -> int:
        """About how many bytes of memory its client determines."""
        host = "" if self.endpoint is None else self.endpoint.host
        names = (self.member_id, self.rack_id or "", self.client_id, self.process_id, host)
        return sum(map(len, names)) + self.size_of_tags

    def owned_since(self, subtopology_id: str) -> Mapping[int, int]:
        """The epoch at which it got each of its active tasks of a subtopology, also of those that it must give up."""
        return {**self.revoking.active.get(subtopology_id, {}), **self.assigned.active.get(subtopology_id, {})}

    def is_reconciled_to(self, epoch: int) -> bool:
        """Whether it has all of the target assignment of an epoch."""
        return self.state is StreamsMemberState.STABLE and self.epoch == epoch

    # Records.

    def with_metadata(self, value: StreamsGroupMemberMetadataValue) -> Self:
        """The member with the fields of a record."""
        endpoint = value.user_endpoint
        tags = {each.key: each.value for each in value.client_tags}
        return replace(
            self,
            rack_id=value.rack_id,
            client_id=value.client_id,
            client_host=value.client_host,
            rebalance_timeout_ms=value.rebalance_timeout_ms,
            topology_epoch=value.topology_epoch,
            process_id=value.process_id,
            endpoint=None if endpoint is None else Endpoint(endpoint.host, endpoint.port),
            tags=tags,
            size_of_tags=size_of_tags(tags),
        )

    def with_current(self, value: StreamsGroupCurrentMemberAssignmentValue) -> Self:
        """The member with the epoch and the tasks of a record."""
        return replace(
            self,
            epoch=value.member_epoch,
            previous_epoch=value.previous_member_epoch,
            state=StreamsMemberState.of(value.state),
            assigned=OwnedTasks.recorded(
                value.active_tasks, value.standby_tasks, value.warmup_tasks, value.member_epoch
            ),
            revoking=OwnedTasks.recorded(
                value.active_tasks_pending_revocation,
                value.standby_tasks_pending_revocation,
                value.warmup_tasks_pending_revocation,
                value.member_epoch,
            ),
        )

    @property
    def metadata(self) -> StreamsGroupMemberMetadataValue:
        """The record of what it is."""
        tag = StreamsGroupMemberMetadataValue.KeyValue
        endpoint = self.endpoint
        return StreamsGroupMemberMetadataValue(
            instance_id=None,
            rack_id=self.rack_id,
            client_id=self.client_id,
            client_host=self.client_host,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            topology_epoch=self.topology_epoch,
            process_id=self.process_id,
            user_endpoint=None if endpoint is None else StreamsGroupMemberMetadataValue.Endpoint(*endpoint),
            client_tags=tuple(tag(key, self.tags[key]) for key in sorted(self.tags)),
        )

    @property
    def current(self) -> StreamsGroupCurrentMemberAssignmentValue:
        """The record of its epoch and tasks."""
        return StreamsGroupCurrentMemberAssignmentValue(
            self.epoch, self.previous_epoch, self.state, *self.assigned.records(), *self.revoking.records()
        )
