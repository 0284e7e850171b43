"""Transactions: producers that begin and are fenced, partitions, offsets and ends, in every state and version."""

from __future__ import annotations

from typing import TypeAlias

import pytest
from tests.apache_kafka.secure_broker import PASSWORDS, USER
from tests.interop.broker.same_answers.scenario import same_answers_from_plain_brokers, same_answers_from_secure_brokers
from tests.interop.broker.same_answers.talk import Talk
from tests.interop.broker.same_answers.test_data import topic_with_leaders
from tests.interop.broker.same_answers.test_groups import coordinated, topic_of
from tests.interop.broker.same_answers.test_topic_rights import allow, prefixed

from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.protocol import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    EndTxnRequest,
    EndTxnResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
    ListTransactionsRequest,
    ListTransactionsResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

pytestmark = pytest.mark.interop

_TRANSACTION = 1
_NOT_YET = {14, 15, 16}
_LATER = {51, *_NOT_YET}
_MINUTE = 60_000
_LAST_EPOCH = (1 << 15) - 2

Producer: TypeAlias = tuple[int, int]
"""Id and epoch."""


def find_coordinator(talk: Talk, *transactional_ids: str) -> None:
    """Wait until a broker coordinates transactional ids."""
    for transactional_id in transactional_ids:
        talk.ask_until(
            FindCoordinatorRequest(key_type=_TRANSACTION, coordinator_keys=(transactional_id,)),
            4,
            FindCoordinatorResponse,
            lambda answer: not answer.coordinators[0].error_code,
        )
        talk.ask_until(
            DescribeTransactionsRequest((transactional_id,)),
            0,
            DescribeTransactionsResponse,
            lambda answer: answer.transaction_states[0].error_code not in _NOT_YET,
        )


def begin(
    talk: Talk, transactional_id: str, producer: Producer = (-1, -1), *, version: int = 5, timeout_ms: int = _MINUTE
) -> Producer:
    """Ask for a producer id, again if a transaction is aborted first."""
    request = InitProducerIdRequest(transactional_id, timeout_ms, *producer)
    answer = talk.ask_until(request, version, InitProducerIdResponse, lambda found: found.error_code not in _LATER)
    return answer.producer_id, answer.producer_epoch


def add(talk: Talk, transactional_id: str, producer: Producer, *partitions: tuple[str, int], version: int = 3) -> None:
    """Add partitions as a client does."""
    topics: dict[str, list[int]] = {}
    for topic, partition in partitions:
        topics.setdefault(topic, []).append(partition)
    asked = tuple(AddPartitionsToTxnRequest.AddPartitionsToTxnTopic(each, tuple(of)) for each, of in topics.items())
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=transactional_id,
        v3_and_below_producer_id=producer[0],
        v3_and_below_producer_epoch=producer[1],
        v3_and_below_topics=asked,
    )
    talk.ask(request, version, AddPartitionsToTxnResponse)


def end(talk: Talk, transactional_id: str, producer: Producer, *, committed: bool, version: int) -> Producer:
    """End a transaction, and wait until it has ended; the producer id and epoch for the next one."""
    answer = talk.ask(EndTxnRequest(transactional_id, *producer, committed), version, EndTxnResponse)
    if not answer.error_code:
        ended(talk, transactional_id)
    return (answer.producer_id, answer.producer_epoch) if version >= 5 else producer


def ended(talk: Talk, transactional_id: str) -> None:
    """Wait until a transaction has ended."""
    talk.ask_until(
        DescribeTransactionsRequest((transactional_id,)),
        0,
        DescribeTransactionsResponse,
        lambda answer: not answer.transaction_states[0].transaction_state.startswith("Prepare"),
    )


def describe(talk: Talk, *transactional_ids: str) -> None:
    talk.ask(DescribeTransactionsRequest(transactional_ids), 0, DescribeTransactionsResponse)


def commit_offsets(
    talk: Talk,
    transactional_id: str,
    producer: Producer,
    group: str,
    *partitions: tuple[str, int, int],
    version: int = 5,
    generation: int = -1,
    member: str = "",
    metadata: str | None = "said",
) -> None:
    topics: dict[str, list[TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition]] = {}
    for topic, partition, offset in partitions:
        one = TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition(
            partition, offset, 2 if version >= 2 else -1, metadata
        )
        topics.setdefault(topic, []).append(one)
    asked = tuple(
        TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic(name, partitions=tuple(of)) for name, of in topics.items()
    )
    request = TxnOffsetCommitRequest(transactional_id, group, *producer, generation, member, topics=asked)
    talk.ask(request, version, TxnOffsetCommitResponse)


def add_offsets(talk: Talk, transactional_id: str, producer: Producer, group: str, version: int = 3) -> None:
    talk.ask(AddOffsetsToTxnRequest(transactional_id, *producer, group), version, AddOffsetsToTxnResponse)


def fetch_offsets(talk: Talk, group: str, *partitions: int, topic: str = "tx-in", stable: bool = True) -> None:
    """Fetch offsets, of all partitions without arguments."""
    asked = OffsetFetchRequest.OffsetFetchRequestTopics(topic, partition_indexes=partitions)
    topics = (asked,) if partitions else None
    request = OffsetFetchRequest(
        groups=(OffsetFetchRequest.OffsetFetchRequestGroup(group, topics=topics),), require_stable=stable
    )
    talk.ask(request, 9, OffsetFetchResponse)


@same_answers_from_plain_brokers
def test_a_producer_begins_at_every_version(talk: Talk) -> None:
    find_coordinator(talk, "tx-begin")
    for version in range(6):
        begin(talk, f"tx-begin-{version}", version=version)
        producer = begin(talk, f"tx-begin-{version}", version=version)
        if version >= 3:
            begin(talk, f"tx-begin-{version}", producer, version=version)
            begin(talk, f"tx-begin-{version}", producer, version=version)  # repeated: the same epoch
            begin(talk, f"tx-begin-{version}", (producer[0], producer[1] + 9), version=version)
            begin(talk, f"tx-begin-{version}", (producer[0] + 500, 0), version=version)
        describe(talk, f"tx-begin-{version}")


@same_answers_from_plain_brokers
def test_producers_that_cannot_begin(talk: Talk) -> None:
    find_coordinator(talk, "tx-refused")
    begin(talk, "")
    for timeout_ms in (0, -1, 900_001, 2**31 - 1):
        begin(talk, "tx-refused", timeout_ms=timeout_ms)
    begin(talk, "tx-refused", timeout_ms=900_000)
    begin(talk, "tx-refused", (5, -1))
    begin(talk, "tx-refused", (-1, 5))
    begin(talk, "tx-refused-with-id", (5_000, 7))
    describe(talk, "tx-refused", "tx-none", "", "tx-refused-with-id")


@same_answers_from_plain_brokers
def test_a_transaction_of_version_one(talk: Talk) -> None:
    """EndTxn until version 4: the epoch stays."""
    topic_with_leaders(talk, "tx-one")
    find_coordinator(talk, "tx-v1")
    for version in range(5):
        producer = begin(talk, "tx-v1")
        for committed in (True, False):
            end(talk, "tx-v1", producer, committed=committed, version=version)  # there is none, or it has ended
            add(talk, "tx-v1", producer, ("tx-one", 0), ("tx-one", 1), version=min(version, 3))
            add(talk, "tx-v1", producer, ("tx-one", 0), version=min(version, 3))
            describe(talk, "tx-v1")
            end(talk, "tx-v1", producer, committed=committed, version=version)
            end(talk, "tx-v1", producer, committed=committed, version=version)
            end(talk, "tx-v1", producer, committed=not committed, version=version)
            describe(talk, "tx-v1")


@same_answers_from_plain_brokers
def test_a_transaction_of_version_two(talk: Talk) -> None:
    """EndTxn since version 5: each transaction has an epoch of its own (KIP-890)."""
    topic_with_leaders(talk, "tx-two")
    find_coordinator(talk, "tx-v2")
    producer = begin(talk, "tx-v2")
    end(talk, "tx-v2", producer, committed=True, version=5)
    producer = end(talk, "tx-v2", producer, committed=False, version=5)
    describe(talk, "tx-v2")
    for committed in (True, False, True):
        before = producer
        add(talk, "tx-v2", producer, ("tx-two", 0))
        end(talk, "tx-v2", (producer[0], producer[1] + 1), committed=committed, version=5)
        end(talk, "tx-v2", (producer[0], producer[1] - 1), committed=committed, version=5)
        end(talk, "tx-v2", (producer[0] + 500, producer[1]), committed=committed, version=5)
        producer = end(talk, "tx-v2", producer, committed=committed, version=5)
        describe(talk, "tx-v2")
        for again in (True, False):
            end(talk, "tx-v2", before, committed=again, version=5)
            end(talk, "tx-v2", (before[0], before[1] - 1), committed=again, version=5)
        end(talk, "tx-v2", producer, committed=True, version=5)
        producer = end(talk, "tx-v2", producer, committed=False, version=5)
        add(talk, "tx-v2", before, ("tx-two", 0))


@same_answers_from_plain_brokers
def test_a_new_producer_fences_the_one_before(talk: Talk) -> None:
    topic_with_leaders(talk, "tx-fence")
    find_coordinator(talk, "tx-fenced")
    before = begin(talk, "tx-fenced")
    add(talk, "tx-fenced", before, ("tx-fence", 0))
    talk.ask(InitProducerIdRequest("tx-fenced", _MINUTE), 5, InitProducerIdResponse)
    ended(talk, "tx-fenced")
    describe(talk, "tx-fenced")
    begin(talk, "tx-fenced")
    for version in range(6):
        end(talk, "tx-fenced", before, committed=True, version=version)
    for version in range(4):
        add(talk, "tx-fenced", before, ("tx-fence", 0), version=version)
    for version in range(5):
        add_offsets(talk, "tx-fenced", before, "tx-fenced", version)
    for version in range(6):
        begin(talk, "tx-fenced", before, version=max(version, 3))
    describe(talk, "tx-fenced")


@pytest.mark.nightly  # a minute of 65 000 requests
@same_answers_from_plain_brokers
def test_epochs_are_exhausted(talk: Talk) -> None:
    """The producer id changes, with the end of a transaction and with InitProducerId."""
    topic_with_leaders(talk, "tx-last")
    find_coordinator(talk, *(f"tx-last-{number}" for number in range(2)))

    def last_but(transactional_id: str, count: int) -> Producer:
        """Use up the epochs except for some."""
        while (producer := begin_again(talk, transactional_id))[1] < _LAST_EPOCH - count:
            pass
        describe(talk, transactional_id)
        return producer

    before = producer = last_but("tx-last-0", 0)
    add(talk, "tx-last-0", producer, ("tx-last", 0))
    producer = end(talk, "tx-last-0", producer, committed=True, version=5)
    assert (producer[0] != before[0], producer[1]) == (True, 0)
    describe(talk, "tx-last-0")
    end(talk, "tx-last-0", before, committed=True, version=5)
    end(talk, "tx-last-0", before, committed=False, version=5)
    add(talk, "tx-last-0", producer, ("tx-last", 1))
    end(talk, "tx-last-0", before, committed=True, version=5)
    begin(talk, "tx-last-0", before)
    begin(talk, "tx-last-0", producer)
    describe(talk, "tx-last-0")
    producer = last_but("tx-last-1", 1)
    before, producer = producer, begin(talk, "tx-last-1", producer)
    begin(talk, "tx-last-1", producer)
    begin(talk, "tx-last-1", producer)
    begin(talk, "tx-last-1", before)
    describe(talk, "tx-last-1")


def begin_again(talk: Talk, transactional_id: str) -> Producer:
    """Ask for the next epoch, and keep no answer."""
    answer = talk._asked(InitProducerIdRequest(transactional_id, _MINUTE), 5, InitProducerIdResponse)
    return (answer.producer_id, answer.producer_epoch) if not answer.error_code else (-1, -1)


@same_answers_from_plain_brokers
def test_partitions_that_no_transaction_can_have(talk: Talk) -> None:
    topic_with_leaders(talk, "tx-parts")
    coordinated(talk, "tx-parts")
    find_coordinator(talk, "tx-parts")
    producer = begin(talk, "tx-parts")
    for version in range(4):
        add(talk, "tx-parts", producer, ("tx-parts", 0), ("tx-parts", 7), ("tx-none", 0), version=version)
        add(talk, "tx-parts", producer, ("__consumer_offsets", 0), ("tx-parts", 0), version=version)
        add(talk, "tx-parts", producer, version=version)
        add(talk, "tx-parts", (producer[0] + 500, 0), ("tx-parts", 0), version=version)
        add(talk, "tx-parts", (producer[0], 9), ("tx-parts", 0), version=version)
        add(talk, "tx-stranger", producer, ("tx-parts", 0), version=version)
        add(talk, "", producer, ("tx-parts", 0), version=version)
    describe(talk, "tx-parts")


@same_answers_from_plain_brokers
def test_brokers_add_and_verify_partitions_of_several_transactions(talk: Talk) -> None:
    topic_with_leaders(talk, "tx-batch")
    find_coordinator(talk, "tx-batch-a", "tx-batch-b")
    first, second = begin(talk, "tx-batch-a"), begin(talk, "tx-batch-b")
    asked = AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction
    topics = (AddPartitionsToTxnRequest.AddPartitionsToTxnTopic("tx-batch", (0, 1)),)
    one = (AddPartitionsToTxnRequest.AddPartitionsToTxnTopic("tx-batch", (0,)),)
    missing = (AddPartitionsToTxnRequest.AddPartitionsToTxnTopic("tx-none", (0,)),)
    for version in (4, 5):
        transactions = (
            asked("tx-batch-a", *first, True, topics),
            asked("tx-batch-b", *second, False, one),
            asked("tx-batch-c", 1, 1, True, one),
        )
        talk.ask(AddPartitionsToTxnRequest(transactions), version, AddPartitionsToTxnResponse)
        others = (
            asked("tx-batch-a", first[0], 7, True, topics),
            asked("tx-batch-b", *second, True, topics),
            asked("", *second, True, topics),
            asked("tx-batch-d", *second, False, missing),
        )
        talk.ask(AddPartitionsToTxnRequest(others), version, AddPartitionsToTxnResponse)
    describe(talk, "tx-batch-a", "tx-batch-b")
    end(talk, "tx-batch-b", second, committed=True, version=5)


@same_answers_from_plain_brokers
def test_offsets_are_committed_with_the_transaction(talk: Talk) -> None:
    topic_of(talk, "tx-in")
    coordinated(talk, "tx-group")
    find_coordinator(talk, "tx-offsets")
    for version in range(6):
        group = f"tx-group-{version}"
        producer = begin(talk, "tx-offsets")
        commit_offsets(talk, "tx-offsets", producer, group, ("tx-in", 0, 3), version=version)  # before it is added
        for number, committed in enumerate((True, False, True)):
            add_offsets(talk, "tx-offsets", producer, group, min(version, 4))
            places = (("tx-in", 0, 5 + number), ("tx-in", 1, 6), ("tx-in", 9, 1), ("tx-none", 0, 1))
            commit_offsets(talk, "tx-offsets", producer, group, *places, version=version)
            fetch_offsets(talk, group, 0, 1, 9)
            fetch_offsets(talk, group)
            fetch_offsets(talk, group, 0, stable=False)
            producer = end(talk, "tx-offsets", producer, committed=committed, version=5 if version == 5 else 3)
            fetch_offsets(talk, group, 0, 1, 9)
            fetch_offsets(talk, group)


@same_answers_from_plain_brokers
def test_offsets_that_no_transaction_can_have(talk: Talk) -> None:
    topic_of(talk, "tx-in-refused")
    coordinated(talk, "tx-refused-group")
    find_coordinator(talk, "tx-no-offsets")
    producer = begin(talk, "tx-no-offsets")
    for version in range(3, 6):
        place = ("tx-in-refused", 0, 3)
        commit_offsets(talk, "tx-no-offsets", producer, "", place, version=version)
        commit_offsets(talk, "tx-none", producer, "tx-refused-group", place, version=version)
        commit_offsets(talk, "", producer, "tx-refused-group", place, version=version)
        commit_offsets(talk, "tx-no-offsets", (producer[0] + 500, 0), "tx-refused-group", place, version=version)
        commit_offsets(talk, "tx-no-offsets", (producer[0], 9), "tx-refused-group", place, version=version)
        add_offsets(talk, "tx-no-offsets", producer, "tx-refused-group", 3)
        commit_offsets(
            talk, "tx-no-offsets", producer, "tx-refused-group", place, generation=3, member="somebody", version=version
        )
        commit_offsets(talk, "tx-no-offsets", producer, "tx-refused-group", place, version=version, metadata="x" * 4097)
        commit_offsets(talk, "tx-no-offsets", producer, "tx-refused-group", place, version=version, metadata=None)
        commit_offsets(
            talk, "tx-no-offsets", producer, "tx-refused-group", place, generation=3, member="somebody", version=version
        )
        end(talk, "tx-no-offsets", producer, committed=False, version=3)
        producer = begin(talk, "tx-no-offsets")
    for version in range(5):
        add_offsets(talk, "tx-none", producer, "tx-refused-group", version)
        add_offsets(talk, "tx-no-offsets", producer, "", version)


def commit_as_member(talk: Talk, producer: Producer, place: tuple[str, int, int], version: int) -> None:
    """As a member that the group does not have."""
    group, somebody = "tx-refused-group", "somebody"
    commit_offsets(talk, "tx-no-offsets", producer, group, place, version=version, generation=3, member=somebody)


@same_answers_from_plain_brokers
def test_transactions_are_listed(talk: Talk) -> None:
    topic_with_leaders(talk, "tx-list")
    find_coordinator(talk, "tx-list-a", "tx-list-b")
    producer = begin(talk, "tx-list-a")
    begin(talk, "tx-list-b")
    add(talk, "tx-list-a", producer, ("tx-list", 0))

    def listed(version: int, **filters: object) -> None:
        answer = talk._asked(ListTransactionsRequest(**filters), version, ListTransactionsResponse)  # type: ignore[arg-type]
        ours = tuple(each for each in answer.transaction_states if each.transactional_id.startswith("tx-list-"))
        only = ListTransactionsResponse(0, answer.error_code, answer.unknown_state_filters, ours)
        talk.keep(ListTransactionsRequest(**filters), version, only)  # type: ignore[arg-type]

    for version in range(3):
        listed(version)
        listed(version, state_filters=("Ongoing",))
        listed(version, state_filters=("Empty", "ongoing", "Dead", "Strange", "Strange", "PrepareEpochFence"))
        listed(version, producer_id_filters=(producer[0],))
        listed(version, producer_id_filters=(999_999,), state_filters=("Ongoing",))
    for duration in (-5, 0, 3_600_000):
        listed(1, duration_filter=duration)
    for pattern in (
        "", "tx-list-a", "tx-list", "tx-list-.", ".*-b", "tx-list-[ab]", "(tx|ty)-list-(a|c)", "tx-list-[^a]",
        r"tx-\w+-\w", "^tx-list-a$", "tx-list-a{1,2}", "tx-list-a+?", "(?i)TX-LIST-A", "[", "(", "*", "a{2,1}", "(?=x)",
        r"\d", r"tx.list.\x61", "tx-list-(?P<name>b)", "tx-list-\\", "a{1001}",
    ):  # fmt: skip
        listed(2, transactional_id_pattern=pattern)
    end(talk, "tx-list-a", producer, committed=True, version=4)


@same_answers_from_plain_brokers
def test_markers_are_written(talk: Talk) -> None:
    topic_with_leaders(talk, "tx-mark")
    coordinated(talk, "tx-mark")
    marker, topic = WriteTxnMarkersRequest.WritableTxnMarker, WriteTxnMarkersRequest.WritableTxnMarkerTopic
    for version in (1, 2):
        talk.ask(WriteTxnMarkersRequest(()), version, WriteTxnMarkersResponse)
        topics = (topic("tx-mark", (0, 1, 7)), topic("tx-none", (0,)), topic("__consumer_offsets", (0,)))
        markers = (marker(900 + version, 3, True, topics, 1), marker(910 + version, 3, False, topics, 1))
        talk.ask(WriteTxnMarkersRequest(markers), version, WriteTxnMarkersResponse)
        older = (marker(900 + version, 2, True, (topic("tx-mark", (0,)),), 1),)
        talk.ask(WriteTxnMarkersRequest(older), version, WriteTxnMarkersResponse)


@same_answers_from_secure_brokers
def test_rights(talk: Talk) -> None:
    topic_with_leaders(talk, "tr-topic")
    coordinated(talk, "tr-group")
    find_coordinator(talk, "tr-id")
    producer = begin(talk, "tr-id")
    add(talk, "tr-id", producer, ("tr-topic", 0))

    def everything() -> None:
        with talk.logged_in(USER, PASSWORDS[USER]):
            request = FindCoordinatorRequest(key_type=_TRANSACTION, coordinator_keys=("tr-id", "tr-other"))
            talk.ask(request, 4, FindCoordinatorResponse)
            begin(talk, "tr-id", (producer[0], 99))
            add(talk, "tr-id", producer, ("tr-topic", 0), ("tr-none", 0))
            add(talk, "tr-id", producer, ("tr-topic", 0))
            asked = AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction("tr-id", *producer, True)
            talk.ask(AddPartitionsToTxnRequest((asked,)), 5, AddPartitionsToTxnResponse)
            add_offsets(talk, "tr-id", producer, "tr-group")
            commit_offsets(talk, "tr-id", producer, "tr-group", ("tr-topic", 0, 1), ("tr-none", 0, 1))
            end(talk, "tr-id", (producer[0], 99), committed=True, version=5)
            describe(talk, "tr-id", "tr-other")
            listed = talk._asked(ListTransactionsRequest(), 1, ListTransactionsResponse)
            ours = tuple(each for each in listed.transaction_states if each.transactional_id.startswith("tr-"))
            talk.keep(ListTransactionsRequest(), 1, ListTransactionsResponse(transaction_states=ours))
            marker, topic = WriteTxnMarkersRequest.WritableTxnMarker, WriteTxnMarkersRequest.WritableTxnMarkerTopic
            markers = (marker(901, 3, True, (topic("tr-topic", (0,)),), 1),)
            talk.ask_for_codes(WriteTxnMarkersRequest(markers), 1)

    everything()
    allow(talk, ((ResourceType.TRANSACTIONAL_ID, "tr-id", 3), AclOperation.DESCRIBE))
    everything()
    allow(talk, ((ResourceType.TRANSACTIONAL_ID, "tr-id", 3), AclOperation.WRITE))
    everything()
    allow(talk, (prefixed("tr-"), AclOperation.WRITE))
    everything()
    allow(talk, (prefixed("tr-"), AclOperation.READ))
    allow(talk, ((ResourceType.GROUP, "tr-group", 3), AclOperation.READ))
    everything()
    allow(talk, ((ResourceType.CLUSTER, "kafka-cluster", 3), AclOperation.CLUSTER_ACTION))
    everything()
