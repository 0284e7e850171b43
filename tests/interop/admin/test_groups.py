"""Groups of every kind at real brokers, with members and without: what Java's Admin sees, and documented failures."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from tests.apache_kafka.broker import Broker
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.fixtures import Brokers
from tests.apache_kafka.java_admin import GroupKind, JavaAdmin, JavaAdminClient
from tests.apache_kafka.java_answers import JavaGroup, JavaMember, Partition
from tests.apache_kafka.node import HOST
from tests.apache_kafka.releases import broker_releases, is_at_least, later_releases
from tests.apache_kafka.secure_broker import PASSWORDS, USER, SecureBroker

from kafkawire.admin.client import BlockingAdminClient
from kafkawire.admin.connection.sasl.credentials import PlainCredentials
from kafkawire.model.acls.bindings import AclOperation
from kafkawire.model.groups.descriptions import (
    ConsumerGroupDescription,
    GroupListing,
    GroupState,
    GroupType,
    MemberToRemove,
)
from kafkawire.model.groups.offsets import CommittedOffset, SharePartitionOffset
from kafkawire.model.partitions import TopicPartition
from kafkawire.model.topics import NewTopic
from kafkawire.protocol.errors import (
    GroupAuthorizationFailedError,
    GroupIdNotFoundError,
    GroupSubscribedToTopicError,
    InvalidGroupIdError,
    NonEmptyGroupError,
    OffsetMetadataTooLargeError,
    UnknownMemberIdError,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)

pytestmark = [pytest.mark.interop, pytest.mark.extended]

TRIED = [*broker_releases(), *later_releases()]
OLDER = [release for release in TRIED if not is_at_least(release, "4.1")]
NEWER = [release for release in TRIED if is_at_least(release, "4.1")]


@pytest.fixture(params=TRIED)
def broker(request: pytest.FixtureRequest, kafka_brokers: Brokers) -> Broker:
    return kafka_brokers(request.param)


@pytest.fixture
def topic(admin: BlockingAdminClient) -> Iterator[str]:
    name = new("topic")
    admin.create_topics([NewTopic(name, num_partitions=2)]).all()
    eventually(lambda: admin.describe_topics([name]).errors(), lambda errors: not errors)
    yield name
    admin.delete_topics([name])


def new(kind: str) -> str:
    return f"groups-{kind}-{time.monotonic_ns()}"


def as_java_sees_it(group: ConsumerGroupDescription) -> JavaGroup:
    """A described group of consumers as Java's Admin describes it."""

    def partitions(assignment: tuple[TopicPartition, ...]) -> tuple[Partition, ...]:
        return tuple(Partition(each.topic, each.partition) for each in assignment)

    return JavaGroup(
        group_id=group.group_id,
        type=group.type.name,
        state=group.state.name,
        protocol=None,
        assignor=group.assignor,
        simple=group.is_simple_consumer_group,
        epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        topology_epoch=None,
        coordinator=group.coordinator,
        authorized_operations=None,
        members=tuple(
            JavaMember(
                member_id=member.member_id,
                instance_id=member.group_instance_id,
                rack_id=member.rack_id,
                client_id=member.client_id,
                host=member.client_host,
                epoch=member.member_epoch,
                assignment=partitions(member.assignment),
                target_assignment=None if member.target_assignment is None else partitions(member.target_assignment),
            )
            for member in group.members
        ),
    )


def settled(admin: BlockingAdminClient, group: str) -> ConsumerGroupDescription:
    return eventually(
        lambda: admin.describe_consumer_groups([group])[group], lambda found: found.state is GroupState.STABLE
    )


def check_groups_with_members_defend_themselves(admin: BlockingAdminClient, group: str, topic: str) -> None:
    first = TopicPartition(topic, 0)
    assert isinstance(admin.delete_consumer_groups([group]).errors()[group], NonEmptyGroupError)
    assert isinstance(admin.alter_consumer_group_offsets(group, {first: 0}).errors()[first], UnknownMemberIdError)
    refused = admin.delete_consumer_group_offsets(group, [first]).errors()[first]
    assert isinstance(refused, GroupSubscribedToTopicError)


def test_a_classic_group_of_consumers(admin: BlockingAdminClient, java: JavaAdminClient, topic: str) -> None:
    group = new("classic")
    with java.member(group, [topic], "classic"):
        described = settled(admin, group)
        assert as_java_sees_it(described) == java.describe_groups([group], "consumer")[0]
        (member,) = described.members
        assert described.type is GroupType.CLASSIC
        assert member.assignment == (TopicPartition(topic, 0), TopicPartition(topic, 1))
        assert (member.subscribed_topics, member.is_upgraded) == ((topic,), False)

        classic = admin.describe_classic_groups([group], include_authorized_operations=True)[group]
        assert (classic.protocol_type, classic.protocol) == ("consumer", described.assignor)
        assert AclOperation.DELETE in (classic.authorized_operations or ())
        assert [each.partitions for each in classic.members] == [member.assignment]
        listed = GroupListing(group, "consumer", GroupState.STABLE, GroupType.CLASSIC)
        assert listed in admin.list_consumer_groups(states=[GroupState.STABLE]).all()
        assert listed in admin.list_groups(types=[GroupType.CLASSIC]).all()
        assert listed not in admin.list_groups(types=[GroupType.CONSUMER]).all()
        assert listed not in admin.list_groups(states=[GroupState.EMPTY]).all()

        check_groups_with_members_defend_themselves(admin, group, topic)
        removed = admin.remove_members_from_consumer_group(group, reason="for a test")
        assert list(removed.all()) == [MemberToRemove(member.member_id)]
    assert admin.describe_consumer_groups([group])[group].members == ()
    admin.delete_consumer_groups([group]).all()
    assert isinstance(admin.describe_consumer_groups([group]).errors()[group], GroupIdNotFoundError)


def test_a_static_member_is_removed_by_its_name(
    broker: Broker, admin: BlockingAdminClient, java_admin: JavaAdmin, topic: str
) -> None:
    group = new("static")
    java = java_admin.client(broker.address, {"group.instance.id": "desk-1"})
    with java.member(group, [topic], "classic"):
        assert [each.group_instance_id for each in settled(admin, group).members] == ["desk-1"]
        member, stranger = MemberToRemove(group_instance_id="desk-1"), MemberToRemove("stranger")
        removed = admin.remove_members_from_consumer_group(group, [member, stranger])
        assert list(removed.values()) == [member]
        assert isinstance(removed.errors()[stranger], UnknownMemberIdError)


def test_committed_offsets(admin: BlockingAdminClient, java: JavaAdminClient, topic: str) -> None:
    group, first, second = new("simple"), TopicPartition(topic, 0), TopicPartition(topic, 1)
    unknown, beyond = TopicPartition("no-such-topic", 0), TopicPartition(topic, 9)
    altered = admin.alter_consumer_group_offsets(
        group,
        {first: 0, second: CommittedOffset(7, 3, "note"), unknown: 1, beyond: 1},
    )
    assert list(altered.values()) == [first, second]
    assert {type(error) for error in altered.errors().values()} == {UnknownTopicOrPartitionError}

    committed = {first: CommittedOffset(0), second: CommittedOffset(7, 3, "note")}
    assert admin.list_consumer_group_offsets([group])[group].all() == committed
    assert admin.list_streams_group_offsets({group: None}, require_stable=True)[group].all() == committed
    assert {(each.partition, each.offset, each.metadata) for each in java.list_group_offsets(group)} == {
        (Partition(topic, 0), 0, ""),
        (Partition(topic, 1), 7, "note"),
    }
    some = admin.list_consumer_group_offsets({group: [beyond, first], "no-such-group": [first]})
    assert list(some[group].all().items()) == [(beyond, None), (first, CommittedOffset(0))]
    assert some["no-such-group"].all() == {first: None}

    described = admin.describe_consumer_groups([group])[group]
    assert (described.is_simple_consumer_group, described.state) == (True, GroupState.EMPTY)
    assert any(each.is_simple_consumer_group for each in admin.list_groups().all() if each.group_id == group)

    deleted = admin.delete_consumer_group_offsets(group, [first, unknown])
    assert list(deleted.values()) == [first]
    assert isinstance(deleted.errors()[unknown], UnknownTopicOrPartitionError)
    assert list(admin.list_consumer_group_offsets([group])[group]) == [second]
    admin.delete_streams_group_offsets(group, [second]).all()
    assert isinstance(
        admin.delete_consumer_group_offsets("no-such-group", [first]).errors()[first], GroupIdNotFoundError
    )


def test_more_offsets_than_fit_into_a_batch_of_the_log(admin: BlockingAdminClient) -> None:
    group, topic = new("large"), new("wide")
    admin.create_topics([NewTopic(topic, num_partitions=300)]).all()
    offsets = {TopicPartition(topic, number): CommittedOffset(number, metadata="x" * 4096) for number in range(300)}

    def refused() -> int:
        return len(admin.alter_consumer_group_offsets(group, offsets).errors())

    try:
        eventually(refused, lambda count: count == 0)  # until the broker has the topic
        assert admin.list_consumer_group_offsets([group])[group].all() == offsets
        first = TopicPartition(topic, 0)
        too_long = admin.alter_consumer_group_offsets(group, {first: CommittedOffset(0, metadata="x" * 4097)})
        assert isinstance(too_long.errors()[first], OffsetMetadataTooLargeError)
    finally:
        admin.delete_topics([topic])
    admin.delete_consumer_groups([group])


def test_groups_that_do_not_exist(admin: BlockingAdminClient) -> None:
    (member,) = [MemberToRemove("m")]
    assert isinstance(admin.describe_classic_groups(["none"]).errors()["none"], GroupIdNotFoundError)
    assert isinstance(admin.delete_consumer_groups(["none"]).errors()["none"], GroupIdNotFoundError)
    assert isinstance(admin.delete_consumer_groups([""]).errors()[""], (InvalidGroupIdError, GroupIdNotFoundError))
    refused = admin.remove_members_from_consumer_group("none", [member]).errors()[member]
    assert isinstance(refused, UnknownMemberIdError)
    with pytest.raises(GroupIdNotFoundError):
        admin.remove_members_from_consumer_group("none")


@pytest.mark.parametrize("broker", OLDER, indirect=True)
def test_brokers_without_the_newer_kinds_of_groups_say_so(admin: BlockingAdminClient) -> None:
    partition = TopicPartition("t", 0)
    failures = [
        *admin.describe_share_groups(["g"]).errors().values(),
        *admin.describe_streams_groups(["g"]).errors().values(),
        *admin.list_share_group_offsets(["g"]).errors().values(),
        *admin.alter_share_group_offsets("g", {partition: 0}).errors().values(),
        *admin.delete_share_group_offsets("g", ["t"]).errors().values(),
    ]
    assert [type(error) for error in failures] == [UnsupportedVersionError] * 5


@pytest.mark.parametrize("broker", NEWER, indirect=True)
def test_a_group_of_the_consumer_protocol(admin: BlockingAdminClient, java: JavaAdminClient, topic: str) -> None:
    group = new("consumer")
    with java.member(group, [topic], "consumer"):
        described = settled(admin, group)
        assert as_java_sees_it(described) == java.describe_groups([group], "consumer")[0]
        (member,) = described.members
        assert described.type is GroupType.CONSUMER
        assert set(member.assignment) == {TopicPartition(topic, 0), TopicPartition(topic, 1)}
        assert member.target_assignment == member.assignment
        assert (member.subscribed_topics, member.is_upgraded) == ((topic,), True)
        listed = GroupListing(group, "consumer", GroupState.STABLE, GroupType.CONSUMER)
        assert listed in admin.list_consumer_groups().all()
        assert listed in admin.list_groups(types=[GroupType.CONSUMER]).all()
        assert isinstance(admin.describe_classic_groups([group]).errors()[group], GroupIdNotFoundError)
        assert isinstance(admin.describe_share_groups([group]).errors()[group], GroupIdNotFoundError)
        check_groups_with_members_defend_themselves(admin, group, topic)
    admin.alter_consumer_group_offsets(group, {TopicPartition(topic, 0): 0}).all()
    admin.delete_consumer_groups([group]).all()


@pytest.mark.parametrize("broker", NEWER, indirect=True)
def test_a_share_group(admin: BlockingAdminClient, java: JavaAdminClient, topic: str) -> None:
    group, first = new("share"), TopicPartition(topic, 0)
    with java.member(group, [topic], "share"):
        described = eventually(
            lambda: admin.describe_share_groups([group], include_authorized_operations=True).values().get(group),
            lambda found: found and found.members and len(found.members[0].assignment) == 2,
        )
        assert described is not None
        (theirs,) = java.describe_groups([group], "share")
        assert (described.state.name, described.group_epoch, described.coordinator) == (
            theirs.state, theirs.epoch, theirs.coordinator,
        )  # fmt: skip
        assert [(each.member_id, each.member_epoch) for each in described.members] == [
            (each.member_id, each.epoch) for each in theirs.members
        ]
        assert AclOperation.READ in (described.authorized_operations or ())
        assert described.members[0].subscribed_topics == (topic,)
        assert group in {each.group_id for each in admin.list_groups(types=[GroupType.SHARE]).all()}
        assert isinstance(admin.alter_share_group_offsets(group, {first: 0}).errors()[first], NonEmptyGroupError)
        assert isinstance(admin.delete_share_group_offsets(group, [topic]).errors()[topic], NonEmptyGroupError)
        assert isinstance(admin.delete_share_groups([group]).errors()[group], NonEmptyGroupError)
        assert isinstance(admin.describe_consumer_groups([group]).errors()[group], GroupIdNotFoundError)

    admin.alter_share_group_offsets(group, {first: 0}).all()
    offsets = admin.list_share_group_offsets([group])[group].values()
    assert isinstance(offsets[first], SharePartitionOffset)
    assert [(each.start_offset, each.leader_epoch, each.lag) for each in java.list_share_group_offsets(group)] == [
        (each.start_offset, each.leader_epoch, each.lag) for each in offsets.values() if each is not None
    ]
    deleted = admin.delete_share_group_offsets(group, [topic, "no-such-topic"])
    assert list(deleted.values()) == [topic]
    assert isinstance(deleted.errors()["no-such-topic"], UnknownTopicOrPartitionError)
    admin.delete_share_groups([group]).all()
    assert isinstance(admin.describe_share_groups([group]).errors()[group], GroupIdNotFoundError)


@pytest.mark.parametrize("broker", NEWER, indirect=True)
def test_a_streams_group(admin: BlockingAdminClient, java: JavaAdminClient, topic: str) -> None:
    group = new("streams")
    kind: GroupKind = "streams"
    with java.member(group, [topic], kind):
        described = eventually(
            lambda: admin.describe_streams_groups([group])[group], lambda found: found.state is GroupState.STABLE
        )
        (theirs,) = java.describe_groups([group], kind)
        assert described.topology is not None
        assert (described.state.name, described.group_epoch, described.topology.epoch) == (
            theirs.state, theirs.epoch, theirs.topology_epoch,
        )  # fmt: skip
        (subtopology,) = described.topology.subtopologies or ()
        assert subtopology.source_topics == (topic,)
        tasks = [task for member in described.members for task in member.assignment.active]
        assert {task.partition for task in tasks} == {0, 1}
        assert sorted(each.member_id for each in described.members) == sorted(each.member_id for each in theirs.members)
        assert group in {each.group_id for each in admin.list_groups(types=[GroupType.STREAMS]).all()}
        assert isinstance(admin.delete_streams_groups([group]).errors()[group], NonEmptyGroupError)
    admin.alter_streams_group_offsets(group, {TopicPartition(topic, 0): 0}).all()
    assert admin.list_streams_group_offsets([group])[group][TopicPartition(topic, 0)] == CommittedOffset(0)
    admin.delete_streams_groups([group]).all()


def test_users_without_rights_are_refused(secure_kafka_broker: SecureBroker) -> None:
    address = f"{HOST}:{secure_kafka_broker.sasl_plaintext_port}"
    partition, member = TopicPartition("t", 0), MemberToRemove("m")
    with BlockingAdminClient(address, credentials=PlainCredentials(USER, PASSWORDS[USER])) as user:
        refused = [
            *user.describe_consumer_groups(["g"]).errors().values(),
            *user.describe_classic_groups(["g"]).errors().values(),
            *user.describe_share_groups(["g"]).errors().values(),
            *user.describe_streams_groups(["g"]).errors().values(),
            *user.delete_consumer_groups(["g"]).errors().values(),
            *user.remove_members_from_consumer_group("g", [member]).errors().values(),
            *user.list_consumer_group_offsets(["g"]).errors().values(),
            *user.alter_consumer_group_offsets("g", {partition: 0}).errors().values(),
            *user.delete_consumer_group_offsets("g", [partition]).errors().values(),
            *user.list_share_group_offsets(["g"]).errors().values(),
            *user.alter_share_group_offsets("g", {partition: 0}).errors().values(),
            *user.delete_share_group_offsets("g", ["t"]).errors().values(),
        ]
        assert [type(error) for error in refused] == [GroupAuthorizationFailedError] * 12
        assert user.list_groups().all() == ()
