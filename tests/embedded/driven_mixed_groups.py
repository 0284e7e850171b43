"""Groups of several kinds without a broker around them: in memory, at a time that tests move; and a classic client."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from tests.embedded.configurations import configuration_of
from tests.embedded.received import received

from kafkawire.broker.clock import ManualClock
from kafkawire.broker.cluster import Cluster
from kafkawire.broker.configuration.dynamic_configuration import DynamicConfiguration
from kafkawire.broker.controller import Controller
from kafkawire.broker.groups.by_kind import groups_by_kind
from kafkawire.broker.groups.classic.group import ClassicGroup, Joining
from kafkawire.broker.groups.consumer.mixed_group import MixedGroup
from kafkawire.broker.groups.coordinator import GroupCoordinator
from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.members import GroupMembers
from kafkawire.broker.groups.streams.group import StreamsGroup
from kafkawire.broker.groups.topics import KnownTopics
from kafkawire.broker.image.metadata_image import MetadataImage
from kafkawire.broker.internal_topics.topic import InternalTopic
from kafkawire.broker.metadata_log.log import MetadataLog
from kafkawire.broker.nodes import Nodes
from kafkawire.broker.partitions.record_store import RecordStore
from kafkawire.broker.share_coordinator.coordinator import ShareCoordinator
from kafkawire.broker.topic_names import OFFSETS_TOPIC, SHARES_TOPIC
from kafkawire.broker.topics.placement import Placement
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    PartitionRecord,
    StreamsGroupHeartbeatRequest,
    SyncGroupRequest,
    SyncGroupResponse,
    TopicRecord,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.records.consumer_protocol import (
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)

Partition = tuple[str, int]
"""Topic and number."""

_TURNS = 20
_LOST = frozenset({ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION})
_PARTITIONS = ConsumerProtocolAssignment.TopicPartition
_OWNED = ConsumerProtocolSubscription.TopicPartition


class DrivenMixedGroups:
    """The group ``g`` of any kind.

    Attributes:
        clock: moved by ``wait``.
        members: takes the requests of classic members.
        coordinator: has the records.
    """

    def __init__(self, **properties: str) -> None:
        self._properties = configuration_of(**properties)
        self.clock = ManualClock()
        self._image = MetadataImage()
        self._controller = Controller(MetadataLog(), self._image)
        placement = Placement(Nodes(Cluster("", 1, "", 0), Uuid(b"directory of log")))
        topic = InternalTopic(OFFSETS_TOPIC, self._controller, self._properties, placement)
        store = RecordStore()
        self.coordinator = GroupCoordinator.opened(None, topic, self.clock, store=store)
        self.coordinator.follow(self._controller)
        share_topic = InternalTopic(SHARES_TOPIC, self._controller, self._properties, placement)
        self._share_coordinator = ShareCoordinator.opened(None, share_topic, self._properties, self.clock, store=store)
        self._begin()

    def _begin(self) -> None:
        configuration = DynamicConfiguration(self._properties, self._image.configs)
        shares, controller = self._share_coordinator, self._controller
        self._groups = groups_by_kind(
            self.coordinator, shares, controller, configuration, self.clock, later_streams=False
        )
        self.members = GroupMembers(self.coordinator, self._groups)

    @property
    def topics(self) -> KnownTopics:
        """The topics of the cluster."""
        return self._groups.consumer.topics

    @property
    def consumer_group(self) -> MixedGroup | None:
        """The group, if it is a consumer group."""
        return self._groups.consumer.group("g")

    @property
    def classic_group(self) -> ClassicGroup | None:
        """The group, if it is a classic one."""
        return self._groups.classic.group("g")

    @property
    def streams_group(self) -> StreamsGroup | None:
        """The group, if it is a streams group."""
        return self._groups.streams.group("g")

    async def close(self) -> None:
        await self._groups.close()

    async def restart(self) -> None:
        """The broker comes back with the records; requests that wait have no answer."""
        await self.close()
        self._begin()
        self._groups.load()

    def create(self, name: str, partitions: int) -> None:
        """Create a topic, or add partitions."""
        topic = self._image.topics.by_name.get(name)
        topic_id = Uuid.random() if topic is None else topic.topic_id
        first = 0 if topic is None else len(topic.partitions)
        added = [PartitionRecord(each, topic_id, (1,), (1,), leader=1) for each in range(first, partitions)]
        self._controller.commit([TopicRecord(name, topic_id), *added] if topic is None else added)

    def partitions_of(self, names: Iterable[str]) -> set[Partition]:
        """The partitions of those topics that exist."""
        found = (self._image.topics.by_name.get(name) for name in names)
        return {(topic.name, partition) for topic in found if topic is not None for partition in topic.partitions}

    async def send(self, request: ConsumerGroupHeartbeatRequest, version: int = 1) -> ConsumerGroupHeartbeatResponse:
        """Send a heartbeat of a consumer; an error is an answer here."""
        client = ("client", "/127.0.0.1")
        try:
            return await self._groups.consumer.heartbeat(received(request, version), version, client, lambda _: True)
        except GroupError as refused:
            return ConsumerGroupHeartbeatResponse(error_code=refused.code, error_message=refused.message)

    async def send_as_streamer(self, request: StreamsGroupHeartbeatRequest) -> ErrorCode:
        """Send a heartbeat of a Kafka Streams application; returns its error."""
        try:
            answer = await self._groups.streams.heartbeat(received(request, 0), ("client", "/127.0.0.1"))
        except GroupError as refused:
            return refused.code
        return ErrorCode(answer.response.error_code)

    async def resolved(self, expression: str) -> tuple[str, ...]:
        """Wait until the consumer group has looked a regular expression up; returns the topics that match."""
        async with asyncio.timeout(30):
            while (group := self.consumer_group) is None or expression not in group.state.regexes:  # noqa: ASYNC110
                await asyncio.sleep(0.01)  # there is no event for it
        return group.state.regexes[expression].topics

    async def wait(self, seconds: float) -> None:
        """Let time pass, and the groups whose time has come be checked."""
        self.clock.advance(seconds)
        await turns()


async def turns() -> None:
    """Let all do what they can do now."""
    for _ in range(_TURNS):
        await asyncio.sleep(0)


class ClassicClient:
    """A client with the classic protocol: it joins, syncs and sends heartbeats, one request at a time.

    Attributes:
        topics: to which it subscribes.
        cooperative: whether it keeps its partitions while it joins again.
        member_id, generation: as the broker gave them.
        owned: what it reads.
        assignments: how many it has got.
        error: of the last answer.
        must_join: whether it has to join (again).
    """

    def __init__(
        self,
        groups: DrivenMixedGroups,
        *topics: str,
        cooperative: bool = False,
        instance_id: str | None = None,
        session_ms: int = 10_000,
        rebalance_ms: int = 20_000,
    ) -> None:
        self._groups = groups
        self._waiting: asyncio.Task[JoinGroupResponse] | asyncio.Task[SyncGroupResponse] | None = None
        self.topics, self.cooperative, self.instance_id = topics, cooperative, instance_id
        self._timeouts = session_ms, rebalance_ms
        self.member_id, self.generation = "", -1
        self.owned: set[Partition] = set()
        self.assignments = 0
        self.error = ErrorCode.NONE
        self.must_join = True

    async def step(self) -> None:
        """Send the next request, or look at the answer to the last."""
        if self._waiting is None:
            await (self._join() if self.must_join else self._beat())
        elif self._waiting.done():
            await self._take()

    async def leave(self) -> None:
        """Leave, as a client that is closed."""
        self.forget()
        identity = LeaveGroupRequest.MemberIdentity(self.member_id, self.instance_id)
        await self._groups.members.leave("g", (identity,))
        await turns()
        self._lose()

    def forget(self) -> None:
        """Wait for no answer any more."""
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = None

    async def lose_connection(self) -> None:
        """The answer never comes; the client joins again."""
        if self._waiting is not None:
            self.forget()
            self.must_join = True
        await turns()

    async def _beat(self) -> None:
        request = HeartbeatRequest("g", self.generation, self.member_id, self.instance_id)
        self.error = self._groups.members.heartbeat(received(request, 4))
        if self.error in _LOST:
            self._lose()
        elif self.error:
            self.must_join = True

    async def _join(self) -> None:
        """Join, after it has given up all, or what it does not subscribe to, as in place of another static member."""
        self.owned = {each for each in self.owned if each[0] in self.topics} if self.cooperative else set()
        own: dict[str, list[int]] = {}
        for topic, partition in sorted(self.owned):
            own.setdefault(topic, []).append(partition)
        owned = tuple(_OWNED(topic, tuple(partitions)) for topic, partitions in own.items())
        metadata = encode_subscription(ConsumerProtocolSubscription(self.topics, None, owned, self.generation), 2)
        protocols = (JoinGroupRequest.JoinGroupRequestProtocol("range", metadata),)
        who = (self.member_id, self.instance_id, "consumer", protocols)
        session_ms, rebalance_ms = self._timeouts
        request = received(JoinGroupRequest("g", session_ms, rebalance_ms, *who), 9)
        joining = Joining(request, 9, "client", "/127.0.0.1")
        self.must_join = False
        self._waiting = asyncio.ensure_future(self._groups.members.join(joining, lambda _: True))
        await self._take()

    async def _take(self) -> None:
        await turns()
        if self._waiting is None or not self._waiting.done():
            return
        answer, self._waiting = self._waiting.result(), None
        self.error = ErrorCode(answer.error_code)
        if self.error is ErrorCode.MEMBER_ID_REQUIRED and isinstance(answer, JoinGroupResponse):
            self.member_id, self.error = answer.member_id, ErrorCode.NONE
            await self._join()
        elif self.error in _LOST:
            self._lose()
        elif self.error:
            self.must_join = True
        elif isinstance(answer, JoinGroupResponse):
            await self._sync(answer)
        else:
            self._assign(answer)

    async def _sync(self, joined: JoinGroupResponse) -> None:
        self.member_id, self.generation = joined.member_id, joined.generation_id
        shares = self._shares(joined) if joined.leader == joined.member_id else {}
        assignments = tuple(
            SyncGroupRequest.SyncGroupRequestAssignment(member_id, _encoded(share))
            for member_id, share in shares.items()
        )
        names = (joined.protocol_type, joined.protocol_name)
        request = SyncGroupRequest("g", self.generation, self.member_id, self.instance_id, *names, assignments)
        self._waiting = asyncio.ensure_future(self._groups.members.sync(received(request, 5)))
        await self._take()

    def _assign(self, synced: SyncGroupResponse) -> None:
        assigned: set[Partition] = set()
        if synced.assignment:
            topics = decode_assignment(synced.assignment)[0].assigned_partitions
            assigned = {(topic.topic, partition) for topic in topics for partition in topic.partitions}
        self.must_join = self.cooperative and bool(self.owned - assigned)
        self.owned = assigned
        self.assignments += 1

    def _shares(self, joined: JoinGroupResponse) -> Mapping[str, set[Partition]]:
        """What it assigns as the leader: each member keeps what it has, and the rest is shared out.

        A member that has missed a generation may claim what another has got since; the later generation counts.
        """
        subscriptions = {each.member_id: decode_subscription(each.metadata)[0] for each in joined.members}
        shares: dict[str, set[Partition]] = {member_id: set() for member_id in subscriptions}
        claims: dict[Partition, tuple[int, str]] = {}
        for member_id, subscription in subscriptions.items():
            owned = {(topic.topic, each) for topic in subscription.owned_partitions for each in topic.partitions}
            for partition in owned & self._groups.partitions_of(subscription.topics):
                generation, _ = claims.get(partition, (-2, ""))
                assert generation != subscription.generation_id, "members of one generation own different partitions"
                if subscription.generation_id > generation:
                    claims[partition] = subscription.generation_id, member_id
        for partition, (_, member_id) in claims.items():
            shares[member_id].add(partition)
        every = self._groups.partitions_of({name for each in subscriptions.values() for name in each.topics})
        for partition in sorted(every - claims.keys()):
            wants = [member_id for member_id, each in subscriptions.items() if partition[0] in each.topics]
            shares[min(wants, key=lambda member_id: len(shares[member_id]))].add(partition)
        return shares

    def _lose(self) -> None:
        self.member_id, self.generation, self.owned, self.must_join = "", -1, set(), True


def _encoded(share: Iterable[Partition]) -> bytes:
    by_topic: dict[str, list[int]] = {}
    for topic, partition in sorted(share):
        by_topic.setdefault(topic, []).append(partition)
    topics = tuple(_PARTITIONS(topic, tuple(partitions)) for topic, partitions in by_topic.items())
    return encode_assignment(ConsumerProtocolAssignment(topics), 1)
