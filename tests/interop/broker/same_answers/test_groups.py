"""Groups that only keep offsets: found, listed, described, deleted; offsets committed, fetched, deleted."""

from __future__ import annotations

import pytest
from tests.apache_kafka.secure_broker import PASSWORDS, USER
from tests.interop.broker.same_answers.scenario import same_answers_from_plain_brokers, same_answers_from_secure_brokers
from tests.interop.broker.same_answers.talk import Talk
from tests.interop.broker.same_answers.test_topic_rights import allow, prefixed
from tests.interop.broker.same_answers.test_topics import Topic, create, settled

from kafkawire.layout import Uuid
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.protocol import (
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    ListGroupsRequest,
    ListGroupsResponse,
    MetadataRequest,
    MetadataResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)

pytestmark = pytest.mark.interop

_PREFIXED = 4
_TRANSACTION, _SHARE = 1, 2
_COORDINATOR_NOT_AVAILABLE = 15
_NO_ID = Uuid(bytes(16))
_COMMITS, _FETCHES = range(2, 11), range(1, 11)


def strange_id(name: str) -> Uuid:
    """An id that no topic has."""
    return Uuid(name.encode().ljust(16, b"-")[:16])


def coordinated(talk: Talk, *groups: str) -> None:
    """Wait until the broker looks after groups."""
    for group in groups:
        talk.ask_until(
            FindCoordinatorRequest(coordinator_keys=(group,)),
            4,
            FindCoordinatorResponse,
            lambda answer: not answer.coordinators[0].error_code,
        )
        talk.ask_until(
            OffsetFetchRequest(groups=(OffsetFetchRequest.OffsetFetchRequestGroup(group),)),
            8,
            OffsetFetchResponse,
            lambda answer: not answer.groups[0].error_code,
        )


def topic_of(talk: Talk, name: str, partitions: int = 2) -> Uuid:
    """Make a topic; its id."""
    created = create(talk, Topic(name, partitions, 1))
    settled(talk, name)
    return created.topics[0].topic_id


def commit(
    talk: Talk,
    group: str,
    *partitions: tuple[str, int, int],
    topic_ids: dict[str, Uuid] | None = None,
    version: int = 9,
    metadata: str | None = "",
    generation: int = -1,
    member: str = "",
) -> None:
    """Commit offsets of partitions: topic, partition, offset."""
    topics: dict[str, list[OffsetCommitRequest.OffsetCommitRequestPartition]] = {}
    for topic, partition, offset in partitions:
        asked = OffsetCommitRequest.OffsetCommitRequestPartition(
            partition, offset, 3 if version >= 6 else -1, committed_metadata=metadata
        )
        topics.setdefault(topic, []).append(asked)
    by_id = version >= 10
    ids = topic_ids or {}
    request = OffsetCommitRequest(
        group,
        generation,
        member,
        topics=tuple(
            OffsetCommitRequest.OffsetCommitRequestTopic(
                "" if by_id else name, ids.get(name, strange_id(name)) if by_id else _NO_ID, tuple(asked)
            )
            for name, asked in topics.items()
        ),
    )
    talk.ask(request, version, OffsetCommitResponse)


def fetch(
    talk: Talk,
    group: str,
    topics: dict[str, tuple[int, ...]] | None,
    *,
    topic_ids: dict[str, Uuid] | None = None,
    version: int = 9,
) -> None:
    """Fetch offsets of partitions, or all."""
    if version < 8:
        old = OffsetFetchRequest.OffsetFetchRequestTopic
        asked_before = None if topics is None else tuple(old(name, indexes) for name, indexes in topics.items())
        talk.ask(OffsetFetchRequest(group, asked_before), version, OffsetFetchResponse)
        return
    by_id, ids = version >= 10, topic_ids or {}
    new = OffsetFetchRequest.OffsetFetchRequestTopics
    asked = None
    if topics is not None:
        asked = tuple(
            new("" if by_id else name, ids.get(name, strange_id(name)) if by_id else _NO_ID, indexes)
            for name, indexes in topics.items()
        )
    groups = (OffsetFetchRequest.OffsetFetchRequestGroup(group, topics=asked),)
    talk.ask(OffsetFetchRequest(groups=groups), version, OffsetFetchResponse)


def delete_offsets(talk: Talk, group: str, topics: dict[str, tuple[int, ...]]) -> None:
    partition = OffsetDeleteRequest.OffsetDeleteRequestPartition
    asked = (
        OffsetDeleteRequest.OffsetDeleteRequestTopic(name, tuple(map(partition, indexes)))
        for name, indexes in topics.items()
    )
    talk.ask(OffsetDeleteRequest(group, tuple(asked)), 0, OffsetDeleteResponse)


def describe(talk: Talk, *groups: str) -> None:
    for version in range(7):
        request = DescribeGroupsRequest(groups, include_authorized_operations=version >= 3)
        talk.ask(request, version, DescribeGroupsResponse)


@same_answers_from_plain_brokers
def test_coordinators(talk: Talk) -> None:
    coordinated(talk, "gr-find")
    for version in range(4):
        talk.ask(FindCoordinatorRequest("gr-find"), version, FindCoordinatorResponse)
    for version in range(4, 7):
        keys = ("gr-find", "gr-find", "gr-other")
        talk.ask(FindCoordinatorRequest(coordinator_keys=keys), version, FindCoordinatorResponse)
        talk.ask(FindCoordinatorRequest(coordinator_keys=()), version, FindCoordinatorResponse)
        talk.ask(FindCoordinatorRequest(coordinator_keys=("",)), version, FindCoordinatorResponse)


def find(talk: Talk, key: str, key_type: int, version: int) -> None:
    """Ask for a coordinator until its topic is there, if it needs one."""
    request = (
        FindCoordinatorRequest(key, key_type)
        if version < 4
        else FindCoordinatorRequest(key_type=key_type, coordinator_keys=(key,))
    )
    talk.ask_until(request, version, FindCoordinatorResponse, is_settled)


def is_settled(answer: FindCoordinatorResponse) -> bool:
    codes = {answer.error_code, *(coordinator.error_code for coordinator in answer.coordinators)}
    return _COORDINATOR_NOT_AVAILABLE not in codes


@same_answers_from_plain_brokers
def test_coordinators_of_share_groups(talk: Talk) -> None:
    """Their keys are ``group:topic id:partition`` (KIP-932)."""
    topic_id = "AAAAAAAAAAAAAAAAAAAAAQ"
    good = (f"gr:{topic_id}:0", f"gr:{topic_id}:-1", f"gr:{topic_id}:+1", f"a:gr:{topic_id}:0", f"gr:{topic_id}==:0")
    wrong = ("", "gr", f"gr:{topic_id}", f"gr:{topic_id}:", f":{topic_id}:0", f" :{topic_id}:0", "gr:x:0", "gr::0",
             f"gr:{topic_id}:x", f"gr:{topic_id}:1 ", f"gr:{topic_id}:99999999999")  # fmt: skip
    for version in range(1, 7):
        for key in (*good, *wrong):
            find(talk, key, _SHARE, version)


@same_answers_from_plain_brokers
def test_coordinators_of_transactions_and_of_nothing(talk: Talk) -> None:
    for version in range(1, 7):
        for key_type in (_TRANSACTION, 3, -1):
            for key in ("gr-transaction", ""):
                find(talk, key, key_type, version)


@same_answers_from_secure_brokers
def test_coordinators_that_may_be_found(talk: Talk) -> None:
    allow(talk, ((ResourceType.TRANSACTIONAL_ID, "gs-may", _PREFIXED), AclOperation.DESCRIBE))
    with talk.logged_in(USER, PASSWORDS[USER]):
        for version in (1, 5, 6):
            for key in ("gs-may", "gs-not"):
                find(talk, key, _TRANSACTION, version)
        request = FindCoordinatorRequest(key_type=_SHARE, coordinator_keys=("gr:AAAAAAAAAAAAAAAAAAAAAQ:0",))
        talk.ask_for_codes(request, 5)
        talk.ask_for_codes(request, 6)


@same_answers_from_plain_brokers
def test_the_topic_of_commits(talk: Talk) -> None:
    """Both have it after the first FindCoordinator: internal, with the partitions and configurations of brokers."""
    coordinated(talk, "gr-topic")
    settled(talk, "__consumer_offsets")
    topics = (MetadataRequest.MetadataRequestTopic(name="__consumer_offsets"),)
    for version in (1, 9, 12):
        talk.ask(MetadataRequest(topics), version, MetadataResponse)
    named = (DescribeTopicPartitionsRequest.TopicRequest("__consumer_offsets"),)
    talk.ask(DescribeTopicPartitionsRequest(named), 0, DescribeTopicPartitionsResponse)
    keys = ("cleanup.policy", "compression.type", "segment.bytes")
    resource = DescribeConfigsRequest.DescribeConfigsResource(2, "__consumer_offsets", keys)
    talk.ask(DescribeConfigsRequest((resource,)), 4, DescribeConfigsResponse)


@same_answers_from_plain_brokers
def test_commits_of_every_version(talk: Talk) -> None:
    ids = {"gr-versions": topic_of(talk, "gr-versions")}
    coordinated(talk, "gr-versions")
    for version in _COMMITS:
        commit(talk, "gr-versions", ("gr-versions", 0, version), topic_ids=ids, version=version, metadata="said")
        for fetched in _FETCHES:
            fetch(talk, "gr-versions", {"gr-versions": (0, 1)}, topic_ids=ids, version=fetched)
            if fetched >= 2:
                fetch(talk, "gr-versions", None, version=fetched)


@same_answers_from_plain_brokers
def test_commits_that_are_refused(talk: Talk) -> None:
    ids = {"gr-refused": topic_of(talk, "gr-refused")}
    coordinated(talk, "gr-refused", "gr-refused-new")
    for version in _COMMITS:
        partitions = (("gr-refused", 0, 1), ("gr-refused", 7, 1), ("gr-nothing", 0, 1), ("gr-refused", 1, -1))
        commit(talk, "gr-refused", *partitions, topic_ids=ids, version=version, metadata=None)
        commit(talk, "gr-refused", ("gr-refused", 0, 1), topic_ids=ids, version=version, metadata="x" * 4096)
        commit(talk, "gr-refused", ("gr-refused", 0, 1), topic_ids=ids, version=version, metadata="x" * 4097)
        commit(talk, "gr-refused", ("gr-refused", 0, 1), topic_ids=ids, version=version, generation=3, member="m")
        commit(talk, "gr-refused", ("gr-refused", 0, 1), topic_ids=ids, version=version, generation=0)
        commit(talk, "gr-refused", ("gr-refused", 0, 1), topic_ids=ids, version=version, member="m")
        commit(talk, "gr-refused-new", ("gr-refused", 0, 1), topic_ids=ids, version=version, generation=3, member="m")
        commit(talk, "", ("gr-refused", 0, 1), topic_ids=ids, version=version)
        commit(talk, "gr-refused", topic_ids=ids, version=version)
    describe(talk, "gr-refused-new", "")
    talk.ask(DeleteGroupsRequest(("",)), 2, DeleteGroupsResponse)


@same_answers_from_plain_brokers
def test_offsets_of_nothing(talk: Talk) -> None:
    ids = {"gr-none": topic_of(talk, "gr-none")}
    coordinated(talk, "gr-none")
    for version in _FETCHES:
        fetch(talk, "gr-none", {"gr-none": (0, 9), "gr-nothing": (0,)}, topic_ids=ids, version=version)
        fetch(talk, "gr-none", {}, version=version)
        fetch(talk, "", {"gr-none": (0,)}, topic_ids=ids, version=version)


@same_answers_from_plain_brokers
def test_groups_that_are_described_and_deleted(talk: Talk) -> None:
    topic_of(talk, "gr-life")
    coordinated(talk, "gr-life-a", "gr-life-b", "gr-life-none")
    commit(talk, "gr-life-a", ("gr-life", 0, 1))
    describe(talk, "gr-life-a", "gr-life-none", "gr-life-a")
    for version in range(3):
        commit(talk, "gr-life-b", ("gr-life", 1, 1))
        groups = ("gr-life-b", "gr-life-none", "gr-life-b")
        talk.ask(DeleteGroupsRequest(groups), version, DeleteGroupsResponse)
        fetch(talk, "gr-life-b", None)
    describe(talk, "gr-life-b")


@same_answers_from_plain_brokers
def test_offsets_that_are_deleted(talk: Talk) -> None:
    topic_of(talk, "gr-less")
    coordinated(talk, "gr-less", "gr-less-none")
    commit(talk, "gr-less", ("gr-less", 0, 1), ("gr-less", 1, 2))
    delete_offsets(talk, "gr-less", {"gr-less": (0, 9), "gr-nothing": (0,)})
    fetch(talk, "gr-less", None)
    delete_offsets(talk, "gr-less", {"gr-less": (0, 1)})
    delete_offsets(talk, "gr-less", {"gr-less": (1,)})
    describe(talk, "gr-less")
    fetch(talk, "gr-less", None)
    delete_offsets(talk, "gr-less-none", {"gr-less": (0,), "gr-nothing": (0,)})
    delete_offsets(talk, "gr-less-none", {"gr-nothing": (0,)})
    delete_offsets(talk, "", {"gr-less": (0,)})
    delete_offsets(talk, "", {"gr-nothing": (0,)})
    delete_offsets(talk, "gr-less", {})


@same_answers_from_plain_brokers
def test_commits_go_with_their_topic(talk: Talk) -> None:
    topic_of(talk, "gr-gone")
    topic_of(talk, "gr-stays")
    coordinated(talk, "gr-gone")
    commit(talk, "gr-gone", ("gr-gone", 0, 1), ("gr-stays", 0, 1))
    deletion = DeleteTopicsRequest(topic_names=("gr-gone",), timeout_ms=20_000)
    talk.ask(deletion, 5, DeleteTopicsResponse)
    groups = (OffsetFetchRequest.OffsetFetchRequestGroup("gr-gone", topics=None),)
    talk.ask_until(
        OffsetFetchRequest(groups=groups), 8, OffsetFetchResponse, lambda answer: len(answer.groups[0].topics) == 1
    )
    describe(talk, "gr-gone")


@same_answers_from_secure_brokers
def test_groups_that_may_be_seen(talk: Talk) -> None:
    group = (ResourceType.GROUP, "gs-see", _PREFIXED)
    ids = {name: topic_of(talk, name) for name in ("gs-see", "gs-hidden", "gs-read")}
    allow(talk, (group, AclOperation.DESCRIBE), (prefixed("gs-see"), AclOperation.DESCRIBE))
    coordinated(talk, "gs-see-a", "gs-hidden")
    everything = (("gs-see", 0, 1), ("gs-hidden", 0, 2))
    commit(talk, "gs-see-a", *everything)
    commit(talk, "gs-hidden", *everything)
    with talk.logged_in(USER, PASSWORDS[USER]):
        for version in range(6):
            talk.ask(ListGroupsRequest(), version, ListGroupsResponse)
        for states in (("Empty",), ("empty", "Stable"), ("Stable",), ("nonsense",), ("Dead",)):
            talk.ask(ListGroupsRequest(states), 4, ListGroupsResponse)
        for types in (
            ("classic",),
            ("Classic", "consumer"),
            ("consumer",),
            ("share",),
            ("nonsense",),
            ("classic", "x"),
        ):
            talk.ask(ListGroupsRequest((), types), 5, ListGroupsResponse)
        describe(talk, "gs-see-a", "gs-hidden", "gs-none", "gs-see-none")
        for version in range(7):
            keys = ("gs-see-a", "gs-hidden")
            for key in keys if version < 4 else ("",):
                request = FindCoordinatorRequest(key, coordinator_keys=keys if version >= 4 else ())
                talk.ask(request, version, FindCoordinatorResponse)
        for version in _FETCHES:
            for name in ("gs-see-a", "gs-hidden"):
                fetch(talk, name, {"gs-see": (0,), "gs-hidden": (0,)}, topic_ids=ids, version=version)
                if version >= 2:
                    fetch(talk, name, None, version=version)
        talk.ask(DeleteGroupsRequest(("gs-see-a", "gs-hidden", "gs-none")), 2, DeleteGroupsResponse)


@same_answers_from_secure_brokers
def test_groups_that_may_be_changed(talk: Talk) -> None:
    group = (ResourceType.GROUP, "gs-may", _PREFIXED)
    ids = {name: topic_of(talk, name) for name in ("gs-may", "gs-not", "gs-seen")}
    allow(
        talk,
        (group, AclOperation.READ),
        (group, AclOperation.DELETE),
        (prefixed("gs-may"), AclOperation.READ),
        (prefixed("gs-seen"), AclOperation.DESCRIBE),
    )
    coordinated(talk, "gs-may", "gs-not")
    partitions = tuple((name, 0, 1) for name in ("gs-may", "gs-not", "gs-seen", "gs-nothing", "gs-may-nothing"))
    with talk.logged_in(USER, PASSWORDS[USER]):
        for version in _COMMITS:
            for name in ("gs-may", "gs-not"):
                commit(talk, name, *partitions, topic_ids=ids, version=version)
        for name in ("gs-may", "gs-not", "gs-none"):
            delete_offsets(talk, name, {topic: (0, 9) for topic, _, _ in partitions})
        delete_offsets(talk, "gs-may", {"gs-not": (0,)})
        talk.ask(DeleteGroupsRequest(("gs-may", "gs-not", "gs-none", "gs-may-none")), 2, DeleteGroupsResponse)
