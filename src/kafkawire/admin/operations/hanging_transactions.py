"""Find transactions that hang, as ``kafka-transactions find-hanging`` does."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from operator import itemgetter
from typing import ClassVar, TypeAlias

import msgspec

from kafkawire.admin.engine.lookups import FindLeaders, leader_of
from kafkawire.admin.family import OperationFamily
from kafkawire.admin.needs import needs
from kafkawire.admin.operations.every_node import FindNodes
from kafkawire.admin.operations.producers import DescribeProducers
from kafkawire.admin.operations.topic_descriptions import ListTopics
from kafkawire.admin.operations.transactions import DescribeTransactions, ListTransactions
from kafkawire.admin.results import Results
from kafkawire.model.partitions import TopicPartition
from kafkawire.model.transactions import HangingTransaction, ProducerState, TransactionDescription
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import TransactionalIdNotFoundError
from kafkawire.wire.kafka_errors import KafkaError

DEFAULT_MAXIMUM_TRANSACTION_TIMEOUT_MS = 15 * 60 * 1000
"""``transaction.max.timeout.ms`` of brokers, as long as it is not configured."""

Place: TypeAlias = str | TopicPartition
"""A topic or one of its partitions."""

Open: TypeAlias = Mapping[TopicPartition, Collection[HangingTransaction]]
"""Partition to transactions that are open there."""

_NAME = "find_hanging_transactions"


class DescribeProducersAtOnce(DescribeProducers):
    """The same for partitions that were just listed: one that is gone meanwhile is not waited for."""

    retried_codes: ClassVar[frozenset[int]] = frozenset()
    final_codes: ClassVar[frozenset[int]] = frozenset({ErrorCode.LEADER_NOT_AVAILABLE})


class KnownToCoordinators(msgspec.Struct, frozen=True):
    """The transactions of producers, from their coordinators.

    Attributes:
        ids: id of a producer to its transactional id.
        transactions: transactional id to its description by its coordinator.
        failure: why a node did not list the transactional ids that it coordinates; None if all nodes did.
    """

    ids: Mapping[int, str]
    transactions: Mapping[str, TransactionDescription | KafkaError]
    failure: KafkaError | None

    def is_hanging(self, transaction: HangingTransaction) -> bool | KafkaError:
        """Whether no coordinator is going to end a transaction; an error if that is unknown."""
        transactional_id = self.ids.get(transaction.producer_id)
        if transactional_id is None:
            return True if self.failure is None else self.failure
        description = self.transactions[transactional_id]
        if isinstance(description, TransactionalIdNotFoundError):
            return True
        if isinstance(description, KafkaError):
            return description
        # A coordinator names the partitions of an open transaction, and of one that ends those without a marker yet.
        return transaction.partition not in description.partitions


class HangingTransactionOperations(OperationFamily):
    """Transactions that hang."""

    @needs(
        DescribeProducers,
        rights="READ TOPIC, DESCRIBE TRANSACTIONAL_ID",
        further=[(ListTransactions,), (DescribeTransactions,)],
    )
    async def find_hanging_transactions(
        self,
        topics: Iterable[Place] | None = None,
        *,
        node: int | None = None,
        max_transaction_timeout_ms: int = DEFAULT_MAXIMUM_TRANSACTION_TIMEOUT_MS,
        timeout: float | None = None,
    ) -> Results[Place, tuple[HangingTransaction, ...]]:
        """Transactions that are open in partitions although no coordinator is going to end them.

        A transaction hangs if its producer has not written to the partition for longer than a transaction may take,
        and no coordinator lists the partition in a transaction of the producer. `abort_transaction` ends it.

        The caller must be allowed to DESCRIBE every transactional id: a transaction of an id that it must
        not describe is reported as hanging.

        Args:
            topics: where to look: names of topics, or partitions; None for all topics, internal ones included.
            node: only in partitions that the node of this id leads; None for all.
            max_transaction_timeout_ms: for how long a transaction may be open, in milliseconds: the largest
                ``transaction.max.timeout.ms`` of the brokers. Compared by the clock of the client.
            timeout: see `AdminClient`.

        Returns:
            Each partition to the transactions that hang in it, or to what went wrong: `TopicAuthorizationFailedError`,
            `LeaderNotAvailableError` (no replica is alive; it is not waited for), the error of a coordinator that
            cannot be queried ... A topic whose partitions are unknown is reported by its name:
            `UnknownTopicOrPartitionError` ...

        Raises:
            KafkaError: if no node lists the topics or the nodes.

        Example:
            ```python
            results = await admin.find_hanging_transactions(["orders"])
            for partition, transactions in results.values().items():
                for transaction in transactions:
                    print(partition, "is blocked from", transaction.start_offset, "by", transaction.producer_id)
            for place, error in results.errors().items():
                print(place, error)
            ```
        """
        deadline = self._deadline(timeout)
        if topics is None:
            listed = (await self._until(deadline, ListTopics().named(_NAME), (None,)))[None]
            topics = [topic.name for topic in listed]
        places = await self._places_to_look_at(deadline, topics, node)
        found: dict[Place, tuple[HangingTransaction, ...] | KafkaError] = {
            place: () if error is None else error for place, error in places
        }
        partitions = [place for place, error in places if error is None and isinstance(place, TopicPartition)]
        producers = await self._until(deadline, DescribeProducersAtOnce().named(_NAME), partitions)
        found.update(producers.errors().items())
        stale = _open_since(producers, int(time.time() * 1000) - max_transaction_timeout_ms)
        if stale:
            found.update((await self._hanging(deadline, stale)).items())
        return Results(found, [place for place, _ in places])

    async def _places_to_look_at(
        self, deadline: float, topics: Iterable[Place], node: int | None
    ) -> list[tuple[Place, KafkaError | None]]:
        """The partitions to search, and the topics and partitions that cannot be searched, with the reason."""
        given = list(topics)
        names = dict.fromkeys(place if isinstance(place, str) else place.topic for place in given)
        leaders = dict((await self._until(deadline, FindLeaders().named(_NAME), names)).items())
        places: list[tuple[Place, KafkaError | None]] = []
        for place in given:
            if isinstance(place, TopicPartition):
                leader = leader_of(place, leaders)
                if isinstance(leader, KafkaError):
                    places.append((place, leader))
                elif node in {None, leader}:
                    places.append((place, None))
                continue
            of_topic = leaders[place]
            if isinstance(of_topic, KafkaError):
                places.append((place, of_topic))
                continue
            for number, each in sorted(of_topic.items(), key=itemgetter(0)):
                if node in {None, each}:
                    places.append((TopicPartition(place, number), each if isinstance(each, KafkaError) else None))
        return places

    async def _hanging(
        self, deadline: float, stale: Open
    ) -> dict[TopicPartition, tuple[HangingTransaction, ...] | KafkaError]:
        """The open transactions that hang. They are described a second time, since they may just have ended."""
        known = await self._known_to_coordinators(
            deadline, {each.producer_id for all_ in stale.values() for each in all_}
        )
        again = await self._until(deadline, DescribeProducersAtOnce().named(_NAME), stale)
        still_open = _open_since(again, None)
        outcomes: dict[TopicPartition, tuple[HangingTransaction, ...] | KafkaError] = {**again.errors()}
        for partition, transactions in still_open.items():
            hanging: list[HangingTransaction] = []
            for transaction in transactions:
                if not any(_is_same(transaction, before) for before in stale[partition]):
                    continue
                verdict = known.is_hanging(transaction)
                if isinstance(verdict, KafkaError):
                    outcomes[partition] = verdict
                    break
                if verdict:
                    hanging.append(transaction)
            else:
                outcomes[partition] = tuple(hanging)
        return outcomes

    async def _known_to_coordinators(self, deadline: float, producer_ids: Collection[int]) -> KnownToCoordinators:
        listing = ListTransactions(producer_ids=sorted(producer_ids)).named(_NAME)
        nodes = (await self._until(deadline, FindNodes().named(_NAME), (None,)))[None]
        by_node = await self._until(deadline, listing, nodes)
        ids = {each.producer_id: each.transactional_id for listed in by_node.values().values() for each in listed}
        described = await self._until(deadline, DescribeTransactions().named(_NAME), ids.values())
        return KnownToCoordinators(ids, dict(described.items()), next(iter(by_node.errors().values()), None))


def _open_since(
    producers: Results[TopicPartition, tuple[ProducerState, ...]], before_ms: int | None
) -> dict[TopicPartition, list[HangingTransaction]]:
    """The transactions that are open, of producers that have written nothing since a time; None for all."""
    found = {
        partition: list(_open_transactions(partition, states, before_ms))
        for partition, states in producers.values().items()
    }
    return {partition: transactions for partition, transactions in found.items() if transactions}


def _open_transactions(
    partition: TopicPartition, producers: Iterable[ProducerState], before_ms: int | None
) -> Iterator[HangingTransaction]:
    for each in producers:
        is_recent = before_ms is not None and each.last_timestamp_ms is not None and each.last_timestamp_ms >= before_ms
        if each.transaction_start_offset is not None and not is_recent:
            yield HangingTransaction(
                partition=partition,
                producer_id=each.producer_id,
                producer_epoch=each.producer_epoch,
                coordinator_epoch=each.coordinator_epoch,
                start_offset=each.transaction_start_offset,
                last_timestamp_ms=each.last_timestamp_ms,
            )


def _is_same(one: HangingTransaction, other: HangingTransaction) -> bool:
    return (one.producer_id, one.start_offset) == (other.producer_id, other.start_offset)
