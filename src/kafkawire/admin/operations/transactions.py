"""Transactions: list, describe, fence producers (admin-transactions)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import ClassVar

from kafkawire import protocol
from kafkawire.admin.engine.operation import Operation, Outcomes, Progress, Request, failure
from kafkawire.admin.engine.route import CoordinatorOf, CoordinatorType, Route
from kafkawire.admin.needs import needs
from kafkawire.admin.operations.every_node import EveryNodeFamily, OfNodes
from kafkawire.admin.results import Gathered, Results
from kafkawire.model.partitions import TopicPartition
from kafkawire.model.transactions import (
    FencedProducer,
    TransactionDescription,
    TransactionListing,
    TransactionState,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import InvalidRequestError
from kafkawire.wire import Message

_ANY_DURATION = -1


class ListTransactions(OfNodes[tuple[TransactionListing, ...], "protocol.ListTransactionsResponse"]):
    """KIP-664, KIP-994 (duration), KIP-1152 (pattern); the transactional ids of each node."""

    name = "list_transactions"
    api = ApiKey.LIST_TRANSACTIONS

    def __init__(
        self,
        states: Collection[TransactionState] = (),
        producer_ids: Collection[int] = (),
        minimum_duration_ms: int | None = None,
        transactional_id_pattern: str | None = None,
    ) -> None:
        self._states = tuple(states)
        self._producer_ids = tuple(producer_ids)
        self._minimum_duration_ms = minimum_duration_ms
        self._pattern = transactional_id_pattern
        if transactional_id_pattern is not None:
            self.needs = ("transactional_id_pattern",)
        elif minimum_duration_ms is not None:
            self.needs = ("duration_filter",)

    def build(self, request: Request[int]) -> Message:
        duration = self._minimum_duration_ms
        return protocol.ListTransactionsRequest(
            state_filters=self._states,
            producer_id_filters=self._producer_ids,
            duration_filter=_ANY_DURATION if duration is None else duration,
            transactional_id_pattern=self._pattern,
        )

    def read(
        self, request: Request[int], response: protocol.ListTransactionsResponse
    ) -> Outcomes[int, tuple[TransactionListing, ...]]:
        if response.unknown_state_filters:
            unknown = ", ".join(response.unknown_state_filters)
            error = InvalidRequestError(f"unknown states of transactions at this broker: {unknown}")
            return dict.fromkeys(request.items, error)
        listed = tuple(
            TransactionListing(each.transactional_id, each.producer_id, TransactionState(each.transaction_state))
            for each in response.transaction_states
        )
        return dict.fromkeys(request.items, listed)


class DescribeTransactions(Operation[str, TransactionDescription, "protocol.DescribeTransactionsResponse"]):
    """KIP-664."""

    name = "describe_transactions"
    api = ApiKey.DESCRIBE_TRANSACTIONS

    def route_of(self, item: str) -> Route:
        return CoordinatorOf(CoordinatorType.TRANSACTION, item)

    def build(self, request: Request[str]) -> Message:
        return protocol.DescribeTransactionsRequest(transactional_ids=tuple(request.items))

    def read(
        self, request: Request[str], response: protocol.DescribeTransactionsResponse
    ) -> Outcomes[str, TransactionDescription]:
        return {
            each.transactional_id: failure(each.error_code)
            or TransactionDescription(
                coordinator=request.node_id,
                state=TransactionState(each.transaction_state),
                producer_id=each.producer_id,
                producer_epoch=each.producer_epoch,
                timeout_ms=each.transaction_timeout_ms,
                start_time_ms=each.transaction_start_time_ms if each.transaction_start_time_ms >= 0 else None,
                partitions=frozenset(
                    TopicPartition(topic.topic, number) for topic in each.topics for number in topic.partitions
                ),
            )
            for each in response.transaction_states
        }


class FenceProducers(Operation[str, FencedProducer, "protocol.InitProducerIdResponse"]):
    """KIP-360, KIP-664: starts as a producer does, which fences the producers with the transactional id."""

    name = "fence_producers"
    api = ApiKey.INIT_PRODUCER_ID
    mutates = True
    batch = 1
    # An open transaction is aborted first, which takes a while.
    retried_codes: ClassVar[frozenset[int]] = frozenset({ErrorCode.CONCURRENT_TRANSACTIONS})

    def route_of(self, item: str) -> Route:
        return CoordinatorOf(CoordinatorType.TRANSACTION, item)

    def build(self, request: Request[str]) -> Message:
        return protocol.InitProducerIdRequest(
            transactional_id=request.items[0], transaction_timeout_ms=request.timeout_ms
        )

    def read(self, request: Request[str], response: protocol.InitProducerIdResponse) -> Outcomes[str, FencedProducer]:
        return dict.fromkeys(request.items, FencedProducer(response.producer_id, response.producer_epoch))


class TransactionOperations(EveryNodeFamily):
    """Transactions by their transactional ids."""

    @needs(ListTransactions, rights="DESCRIBE TRANSACTIONAL_ID")
    async def list_transactions(
        self,
        *,
        states: Collection[TransactionState] = (),
        producer_ids: Collection[int] = (),
        minimum_duration_ms: int | None = None,
        transactional_id_pattern: str | None = None,
        timeout: float | None = None,
    ) -> Gathered[TransactionListing]:
        """The transactional ids of all nodes; the coordinator of each lists it.

        Args:
            states: only those in one of these; empty for all.
            producer_ids: only those of one of these producers; empty for all.
            minimum_duration_ms: only those with a transaction that is open for longer, in milliseconds; None for all.
                Fails at brokers before 3.8.
            transactional_id_pattern: only ids that match a regular expression (RE2); None for all. Fails at brokers
                before 4.1.
            timeout: see `AdminClient`.

        Returns:
            The transactional ids; the errors of nodes that failed: `UnsupportedVersionError` (a filter that it
            does not support), `InvalidRegularExpressionError`, `InvalidRequestError` (an unknown state) ...

        Raises:
            KafkaError: if no node lists the nodes.

        Example:
            ```python
            ongoing = [TransactionState.ONGOING]
            listed = await admin.list_transactions(states=ongoing, minimum_duration_ms=15 * 60 * 1000)
            for transaction in listed.all():
                print(transaction.transactional_id, transaction.producer_id)
            ```
        """
        operation = ListTransactions(states, producer_ids, minimum_duration_ms, transactional_id_pattern)
        listed = await self._on_every_node(operation, timeout)
        return Gathered(listed, lambda each: each.transactional_id)

    @needs(DescribeTransactions, rights="DESCRIBE TRANSACTIONAL_ID, DESCRIBE TOPIC")
    async def describe_transactions(
        self, transactional_ids: Iterable[str], *, timeout: float | None = None, progress: Progress | None = None
    ) -> Results[str, TransactionDescription]:
        """Transactional ids and their transactions.

        Args:
            transactional_ids: which.
            timeout, progress: see `AdminClient`.

        Returns:
            Transactional id to its description, or to what went wrong: `TransactionalIdNotFoundError`,
            `TransactionalIdAuthorizationFailedError` ...

        Example:
            ```python
            results = await admin.describe_transactions(["billing-1"])
            for transactional_id, transaction in results.all().items():
                print(transactional_id, transaction.state, transaction.start_time_ms)
                print(*transaction.partitions)
            ```
        """
        return await self._each(DescribeTransactions(), transactional_ids, timeout, progress)

    @needs(FenceProducers, rights="WRITE TRANSACTIONAL_ID")
    async def fence_producers(
        self, transactional_ids: Iterable[str], *, timeout: float | None = None, progress: Progress | None = None
    ) -> Results[str, FencedProducer]:
        """Fence the producers of transactional ids; their open transactions are aborted.

        Args:
            transactional_ids: the ids; an unused one is created.
            timeout, progress: see `AdminClient`.

        Returns:
            Transactional id to its new producer id and epoch, or to what went wrong:
            `TransactionalIdAuthorizationFailedError`, `InvalidTransactionTimeoutError` (the broker allows less than the
            ``request_timeout`` of the settings) ...

        Example:
            ```python
            results = await admin.fence_producers(["billing-1", "billing-2"])
            for transactional_id, producer in results.all().items():
                print(transactional_id, "is now at", producer.producer_id, producer.producer_epoch)
            ```
        """
        return await self._each(FenceProducers(), transactional_ids, timeout, progress)

    @needs(FenceProducers, rights="WRITE TRANSACTIONAL_ID")
    async def force_terminate_transaction(self, transactional_id: str, *, timeout: float | None = None) -> None:
        """Abort the open transaction of a transactional id, and fence its producer (KIP-939).

        Args:
            transactional_id: which.
            timeout: see `AdminClient`.

        Raises:
            KafkaError: what went wrong, as `fence_producers`.

        Example:
            ```python
            await admin.force_terminate_transaction("billing-1")  # the producer gets an error
            ```
        """
        await self._only(FenceProducers().named("force_terminate_transaction"), transactional_id, timeout)
