"""Share partitions: ShareFetch, ShareAcknowledge and the states that share coordinators keep (KIP-932)."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from tests.apache_kafka.secure_broker import PASSWORDS, USER
from tests.interop.broker.same_answers.scenario import same_answers_from_plain_brokers, same_answers_from_secure_brokers
from tests.interop.broker.same_answers.share_members import (
    ACCEPT,
    GAP,
    REJECT,
    RELEASE,
    RENEW,
    Acknowledged,
    Member,
    available,
    configure,
    initialize,
    produce,
    read,
    shared,
    summarize,
)
from tests.interop.broker.same_answers.talk import Talk
from tests.interop.broker.same_answers.test_topic_rights import allow, prefixed
from tests.interop.broker.same_answers.test_transactions import add, begin, end, find_coordinator

from kafkawire.layout import Uuid
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.protocol import (
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteShareGroupStateRequest,
    DeleteShareGroupStateResponse,
    InitializeShareGroupStateRequest,
    InitializeShareGroupStateResponse,
    ReadShareGroupStateRequest,
    ReadShareGroupStateResponse,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    ShareFetchRequest,
    ShareFetchResponse,
    WriteShareGroupStateRequest,
    WriteShareGroupStateResponse,
)

pytestmark = pytest.mark.interop

_LITERAL = 3
_NO_TOPIC = Uuid(b"nothing has this")


@same_answers_from_plain_brokers
def test_records_are_acquired_and_acknowledged(talk: Talk) -> None:
    topic_id = shared(talk, "sp-plain")
    produce(talk, "sp-plain", 4, 3, 3)
    member = Member(talk, "sp-plain", topic_id)
    member.fetch()
    summarize(talk, "sp-plain", topic_id, 0, 1)
    member.look((0, 9, [ACCEPT, RELEASE, REJECT, ACCEPT, ACCEPT, ACCEPT, RELEASE, RELEASE, GAP, ACCEPT]))
    read(talk, "sp-plain", topic_id)
    summarize(talk, "sp-plain", topic_id)
    member.acknowledge((1, 1, [ACCEPT]), (6, 7, [ACCEPT]))
    read(talk, "sp-plain", topic_id)
    summarize(talk, "sp-plain", topic_id)
    produce(talk, "sp-plain", 2)
    member.fetch()
    member.acknowledge((10, 11, [ACCEPT]))
    summarize(talk, "sp-plain", topic_id)
    member.leave()


@same_answers_from_plain_brokers
@pytest.mark.extended
def test_records_come_again(talk: Talk) -> None:
    """First together, then fewer at a time, the last time alone; then never again."""
    topic_id = shared(talk, "sp-again")
    produce(talk, "sp-again", 8, 4)
    member = Member(talk, "sp-again", topic_id)
    answer = member.fetch()
    for _ in range(30):
        acquired = [each for topic in answer.responses for part in topic.partitions for each in part.acquired_records]
        member.acknowledge(*((each.first_offset, each.last_offset, [RELEASE]) for each in acquired))
        answer = member.look()
        read(talk, "sp-again", topic_id)
    summarize(talk, "sp-again", topic_id)


@same_answers_from_plain_brokers
def test_batches_have_about_the_size_that_a_member_wants(talk: Talk) -> None:
    topic_id = shared(talk, "sp-sizes")
    produce(talk, "sp-sizes", 3, 3, 3, 3, 3, 3)
    member = Member(talk, "sp-sizes", topic_id)
    member.fetch(batch_size=4, most=8)
    member.fetch(batch_size=1, most=1)
    member.fetch(most=2, mode=1)
    member.fetch(most=1, mode=1)
    member.fetch(batch_size=1, most=100, most_bytes=90)
    other = Member(talk, "sp-sizes", topic_id, "member-2")
    other.look()
    member.leave()
    available(talk, "sp-sizes", topic_id)
    other.fetch(most=2, mode=1)
    other.fetch(most=4, mode=1)
    other.fetch(most=5)
    other.fetch(most=500, batch_size=2)
    other.look()
    other.leave()
    available(talk, "sp-sizes", topic_id, deliveries=2)
    read(talk, "sp-sizes", topic_id)


@same_answers_from_plain_brokers
def test_a_connection_that_is_closed_ends_the_sessions_that_began_on_it(talk: Talk) -> None:
    topic_id = shared(talk, "sp-gone")
    produce(talk, "sp-gone", 4)
    gone, other = Member(talk, "sp-gone", topic_id), Member(talk, "sp-gone", topic_id, "member-2")
    gone.fetch()
    talk.disconnect()
    available(talk, "sp-gone", topic_id)
    gone.acknowledge((0, 3, [ACCEPT]))
    other.fetch()
    read(talk, "sp-gone", topic_id)


@same_answers_from_plain_brokers
@pytest.mark.extended
def test_a_group_without_connections_reads_its_state_again(talk: Talk) -> None:
    """Of a member that has left, or not; until then a state with another epoch has no effect."""
    topic_id = shared(talk, "sp-empty")
    produce(talk, "sp-empty", 4)
    for epoch, leaves in ((1, True), (2, False)):
        member = Member(talk, "sp-empty", topic_id)
        member.fetch()
        member.acknowledge((0, 3, [ACCEPT]))
        initialize(talk, "sp-empty", topic_id, epoch=epoch)
        member.look()
        if leaves:
            member.leave()
        talk.disconnect()
        time.sleep(0.5)
    member = Member(talk, "sp-empty", topic_id)
    member.fetch()
    member.leave()


@same_answers_from_plain_brokers
@pytest.mark.extended
def test_acknowledgements_that_are_refused(talk: Talk) -> None:
    topic_id = shared(talk, "sp-refused")
    produce(talk, "sp-refused", 5, 5)
    member, other = Member(talk, "sp-refused", topic_id), Member(talk, "sp-refused", topic_id, "member-2")
    member.acknowledge((0, 4, [ACCEPT]))
    member.fetch(batch_size=1)
    other.look()
    other.acknowledge((0, 4, [ACCEPT]))
    other.acknowledge((0, 1, [ACCEPT]))
    refused: Sequence[Sequence[Acknowledged]] = (
        [(0, 11, [ACCEPT])],
        [(10, 11, [ACCEPT])],
        [(20, 21, [ACCEPT])],
        [(4, 3, [ACCEPT])],
        [(-5, -1, [ACCEPT])],
        [(0, 4, [])],
        [(0, 4, [ACCEPT, ACCEPT])],
        [(0, 4, [5])],
        [(0, 4, [-1])],
        [(0, 4, [RENEW])],
        [(0, 1, [ACCEPT]), (1, 1, [ACCEPT])],
        [(0, 1, [ACCEPT]), (0, 1, [ACCEPT])],
        [(0, 1, [ACCEPT]), (3, 12, [ACCEPT])],
    )
    for acknowledged in refused:
        member.acknowledge(*acknowledged)
        member.look(*acknowledged)
        read(talk, "sp-refused", topic_id)
    member.acknowledge((0, 1, [ACCEPT]))
    member.acknowledge((0, 0, [ACCEPT]))
    member.acknowledge((2, 2, [REJECT]), (3, 9, [RELEASE]))
    member.acknowledge((4, 4, [ACCEPT]))
    member.acknowledge((5, 9, [ACCEPT]))
    member.acknowledge()
    read(talk, "sp-refused", topic_id)
    summarize(talk, "sp-refused", topic_id)


@same_answers_from_plain_brokers
def test_locks_are_renewed(talk: Talk) -> None:
    topic_id = shared(talk, "sp-renew")
    produce(talk, "sp-renew", 5)
    member = Member(talk, "sp-renew", topic_id)
    member.fetch()
    member.acknowledge((0, 4, [RENEW]), renews=True)
    member.acknowledge((0, 1, [RENEW, ACCEPT]), renews=True)
    member.fetch((0, 0, [RENEW]), renews=True)
    for bytes_, most, wait_ms, least in ((0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1), (1, 1, 1, 0)):
        member.fetch((0, 0, [RENEW]), renews=True, most_bytes=bytes_, most=most, wait_ms=wait_ms, least=least)
    member.fetch((0, 0, [RENEW]), renews=True, most=0, most_bytes=0, wait_ms=0, least=0)
    member.fetch((2, 2, [ACCEPT]), renews=True, most=0, most_bytes=0, wait_ms=0, least=0)
    member.acknowledge((1, 1, [RENEW]), renews=True)
    configure(talk, "sp-renew", share_renew_acknowledge_enable="false")
    member.acknowledge((0, 0, [RENEW]), renews=True)
    member.acknowledge((3, 4, [RENEW]), renews=True)
    read(talk, "sp-renew", topic_id)


@same_answers_from_plain_brokers
def test_sessions(talk: Talk) -> None:
    topic_id = shared(talk, "sp-session")
    produce(talk, "sp-session", 2)
    for epoch in (1, 5, -1, -2):
        Member(talk, "sp-session", topic_id, epoch=epoch).fetch()
    for epoch in (0, 1, -1):
        Member(talk, "sp-session", topic_id).acknowledge((0, 1, [ACCEPT]), epoch=epoch)
    Member(talk, "sp-session", topic_id).fetch((0, 1, [ACCEPT]))
    member = Member(talk, "sp-session", topic_id)
    member.fetch(wait_ms=300)
    for epoch in (0, 2, 7):
        member.acknowledge((0, 1, [ACCEPT]), epoch=epoch)
    member.epoch = 5
    member.fetch()
    member.epoch = 1
    member.partitions = ()
    member.look()
    member.partitions = (0, 1)
    member.look()
    member.look()
    member.partitions = ()
    produce(talk, "sp-session", 2, partition=1)
    member.fetch()
    member.fetch(forget=(0,), wait_ms=300)
    produce(talk, "sp-session", 2)
    member.look()
    member.epoch = -1
    member.fetch()
    member.fetch()
    available(talk, "sp-session", topic_id, 1)
    again = Member(talk, "sp-session", topic_id, "member-2", partitions=(0, 1))
    again.fetch(wait_ms=300)
    again.epoch, again.partitions = -1, (0,)
    again.fetch((0, 3, [ACCEPT]))
    available(talk, "sp-session", topic_id)
    read(talk, "sp-session", topic_id)


@same_answers_from_plain_brokers
def test_requests_that_are_refused(talk: Talk) -> None:
    topic_id = shared(talk, "sp-wrong")
    produce(talk, "sp-wrong", 2)
    for member_id in ("", "x" * 36, "x" * 37):
        Member(talk, "sp-wrong", topic_id, member_id).fetch()
        Member(talk, "sp-wrong", topic_id, member_id).acknowledge((0, 0, [ACCEPT]))
    for response, request in (
        (ShareFetchResponse, ShareFetchRequest(None, "m")),
        (ShareFetchResponse, ShareFetchRequest("sp-wrong", None)),
        (ShareAcknowledgeResponse, ShareAcknowledgeRequest(None, "m")),
        (ShareAcknowledgeResponse, ShareAcknowledgeRequest("sp-wrong", None)),
    ):
        talk.ask(request, 1, response)
    member = Member(talk, "sp-wrong", _NO_TOPIC)
    member.look()
    member.look((0, 0, [ACCEPT]))
    member.acknowledge((0, 0, [ACCEPT]))
    far = Member(talk, "sp-wrong", topic_id, partitions=(7,))
    far.look()
    far.look((0, 0, [ACCEPT]))
    Member(talk, "sp-nothing", topic_id).look()
    for most, most_bytes in ((0, 1000), (1, 0), (-1, 1000)):
        Member(talk, "sp-wrong", topic_id, "m", partitions=(0, 7)).fetch(wait_ms=300, most=most, most_bytes=most_bytes)


@same_answers_from_plain_brokers
@pytest.mark.extended
def test_records_that_are_deleted(talk: Talk) -> None:
    topic_id = shared(talk, "sp-deleted")
    produce(talk, "sp-deleted", 4, 4, 4)
    member = Member(talk, "sp-deleted", topic_id)
    member.fetch(batch_size=1, most=4)
    delete_before(talk, "sp-deleted", 2)
    member.acknowledge((0, 3, [RELEASE]))
    member.fetch()
    member.acknowledge((2, 3, [RELEASE, ACCEPT]))
    delete_before(talk, "sp-deleted", 6)
    member.look()
    member.look()
    read(talk, "sp-deleted", topic_id)
    member.acknowledge((4, 7, [ACCEPT]))
    member.acknowledge((6, 11, [RELEASE]))
    delete_before(talk, "sp-deleted", 12)
    member.look()
    produce(talk, "sp-deleted", 2)
    member.fetch()
    member.fetch()
    read(talk, "sp-deleted", topic_id)


def delete_before(talk: Talk, name: str, offset: int) -> None:
    data = (DeleteRecordsRequest.DeleteRecordsPartition(0, offset),)
    request = DeleteRecordsRequest((DeleteRecordsRequest.DeleteRecordsTopic(name, data),), 5000)
    talk.ask(request, 2, DeleteRecordsResponse)


@same_answers_from_plain_brokers
def test_where_groups_begin(talk: Talk) -> None:
    for reset in ("latest", "earliest", "by_duration:PT0S", "by_duration:PT1H"):
        name = f"sp-begin-{reset.replace(':', '-')}"
        configure(talk, name, share_auto_offset_reset=reset)
        topic_id = shared(talk, name, offset=-1)
        produce(talk, name, 3)
        summarize(talk, name, topic_id)
        member = Member(talk, name, topic_id)
        member.look()
        produce(talk, name, 2)
        member.look((0, 2, [ACCEPT]))
        summarize(talk, name, topic_id)


@same_answers_from_plain_brokers
def test_committed_records_only(talk: Talk) -> None:
    for level in ("read_committed", "read_uncommitted"):
        name = f"sp-{level}"
        configure(talk, name, share_isolation_level=level)
        topic_id = shared(talk, name)
        find_coordinator(talk, name)
        producer = begin(talk, name)
        for committed in (False, True, False):
            add(talk, name, producer, (name, 0))
            produce(talk, name, 2, 3, producer=producer, transaction=name)
            produce(talk, name, 1)
            producer = end(talk, name, producer, committed=committed, version=4)
            producer = begin(talk, name)
        member = Member(talk, name, topic_id, keeps_records=False)
        member.fetch(batch_size=2)
        member.look()
        summarize(talk, name, topic_id)
        member.leave()
        available(talk, name, topic_id)
        member.epoch = 0
        member.fetch()
        read(talk, name, topic_id)


@same_answers_from_plain_brokers
def test_limits_of_groups(talk: Talk) -> None:
    name = "sp-limits"
    configure(
        talk, name, share_partition_max_record_locks="100", share_delivery_count_limit="2",
        share_record_lock_duration_ms="20000",
    )  # fmt: skip
    topic_id = shared(talk, name)
    produce(talk, name, 60, 60, 60)
    member = Member(talk, name, topic_id)
    member.fetch()
    member.look()
    member.look((0, 29, [ACCEPT]))
    member.look((60, 79, [RELEASE]))
    member.look((30, 59, [RELEASE]))
    member.look((30, 59, [RELEASE]))
    member.look((60, 79, [RELEASE]), (80, 119, [ACCEPT]))
    member.look()
    read(talk, name, topic_id)


@same_answers_from_plain_brokers
def test_states(talk: Talk) -> None:
    topic_id = shared(talk, "sp-state")
    asked = WriteShareGroupStateRequest

    def write(*batches: tuple[int, int, int, int], start: int = 0, count: int = 0, leader: int = -1, state: int = -1,
              partition: int = 0, topic: Uuid = topic_id, version: int = 1) -> None:  # fmt: skip
        data = asked.PartitionData(partition, state, leader, start, count, tuple(asked.StateBatch(*b) for b in batches))
        request = asked("sp-state", (asked.WriteStateData(topic, (data,)),))
        talk.ask(request, version, WriteShareGroupStateResponse)
        read(talk, "sp-state", topic_id)
        summarize(talk, "sp-state", topic_id)

    write((0, 9, 0, 1), (20, 29, 2, 1))
    write((5, 14, 2, 1), count=10)
    write((0, 9, 0, 2), (3, 4, 4, 2), (9, 12, 0, 3), start=2, version=0)
    write(start=-1, count=3)
    write((0, 30, 2, 3), start=8, count=3, leader=0, state=0)
    read(talk, "sp-state", topic_id, leader_epoch=3)
    write(leader=2)
    write(leader=3)
    write(leader=4)
    initialize(talk, "sp-state", topic_id, epoch=2, offset=5)
    summarize(talk, "sp-state", topic_id)
    initialize(talk, "sp-state", topic_id, epoch=1, offset=5)
    write(state=1)
    write(state=2, leader=0)
    write(partition=-1)
    write(partition=7)
    write(topic=_NO_TOPIC)
    for partition in (-1, 1, 7):
        read(talk, "sp-state", topic_id, partition=partition)
        summarize(talk, "sp-state", topic_id, partition)
    read(talk, "sp-stranger", topic_id)
    summarize(talk, "sp-stranger", topic_id, version=0)
    summarize(talk, "", topic_id)
    read(talk, "", topic_id)
    forget = DeleteShareGroupStateRequest
    for topic, partition in ((topic_id, 0), (topic_id, 0), (topic_id, 9), (_NO_TOPIC, 0), (topic_id, -1)):
        data = (forget.DeleteStateData(topic, (forget.PartitionData(partition),)),)
        talk.ask(forget("sp-state", data), 0, DeleteShareGroupStateResponse)
    summarize(talk, "sp-state", topic_id)
    read(talk, "sp-state", topic_id)
    for response, request in (
        (ReadShareGroupStateResponse, ReadShareGroupStateRequest("sp-state")),
        (WriteShareGroupStateResponse, asked("sp-state", (asked.WriteStateData(topic_id),))),
        (DeleteShareGroupStateResponse, forget("", (forget.DeleteStateData(topic_id),))),
        (InitializeShareGroupStateResponse, InitializeShareGroupStateRequest("")),
    ):
        talk.ask(request, 0, response)


@same_answers_from_secure_brokers
def test_rights(talk: Talk) -> None:
    topic_id = shared(talk, "sp-may")
    produce(talk, "sp-may", 2)
    with talk.logged_in(USER, PASSWORDS[USER]):
        member = Member(talk, "sp-may", topic_id)
        member.fetch()
        member.acknowledge()
        read(talk, "sp-may", topic_id)
        summarize(talk, "sp-may", topic_id)
    allow(talk, ((ResourceType.GROUP, "sp-may", _LITERAL), AclOperation.READ))
    with talk.logged_in(USER, PASSWORDS[USER]):
        member = Member(talk, "sp-may", topic_id, partitions=(0, 9))
        member.look()
        member.look((0, 1, [ACCEPT]))
        member.acknowledge((0, 1, [ACCEPT]))
    allow(talk, (prefixed("sp-may"), AclOperation.READ))
    with talk.logged_in(USER, PASSWORDS[USER]):
        member = Member(talk, "sp-may", topic_id, "member-2", partitions=(0, 9))
        member.fetch()
        member.acknowledge((0, 1, [ACCEPT]))
