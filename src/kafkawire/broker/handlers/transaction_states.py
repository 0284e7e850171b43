"""ListTransactions, DescribeTransactions and WriteTxnMarkers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.regexes.regex import Regex
from kafkawire.broker.requests import Call, Refused
from kafkawire.broker.served_apis import ServedApi
from kafkawire.broker.storage.unwritten_batches import Producer
from kafkawire.broker.transactions.markers import EndMarker
from kafkawire.broker.transactions.transaction import V2, Partition, Transaction
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.model.transactions import TransactionState
from kafkawire.protocol import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    ListTransactionsRequest,
    ListTransactionsResponse,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

Described = DescribeTransactionsResponse.TransactionState
_Item: TypeAlias = tuple[str, Transaction]


class TransactionStateHandlers:
    """List and describe transactions; write markers, such as for transactions that hang (KIP-664)."""

    def __init__(self, context: HandlerContext) -> None:
        self._transactions = context.transactions
        self._markers = context.markers
        self._access = context.access
        self._clock = context.clock
        self._work = context.work
        self.apis = (
            ServedApi(ListTransactionsRequest, self._list, 0, 2),
            ServedApi(DescribeTransactionsRequest, self._describe, 0, 0),
            ServedApi(WriteTxnMarkersRequest, self._write_markers, 1, 2),
        )

    async def _list(self, request: ListTransactionsRequest, call: Call) -> ListTransactionsResponse:
        await self._transactions.durable()
        pattern, transactions = request.transactional_id_pattern, tuple(self._transactions.by_id.items())
        if pattern:
            try:
                transactions = await self._work.in_thread(_matching, pattern, transactions)
            except ValueError:
                return ListTransactionsResponse(error_code=ErrorCode.INVALID_REGULAR_EXPRESSION)
        wanted, state = _Filters(request, self._clock.now_ms()), ListTransactionsResponse.TransactionState
        found = [
            state(transactional_id, transaction.producer_id, transaction.state.value)
            async for transactional_id, transaction in in_slices(transactions)
            if wanted.lets_through(transaction) and self._may_describe(transactional_id, call)
        ]
        return ListTransactionsResponse(unknown_state_filters=wanted.unknown_states, transaction_states=tuple(found))

    async def _describe(self, request: DescribeTransactionsRequest, call: Call) -> DescribeTransactionsResponse:
        await self._transactions.durable()
        described = [self._described(each, call) async for each in in_slices(request.transactional_ids)]
        return DescribeTransactionsResponse(transaction_states=tuple(described))

    def _described(self, transactional_id: str, call: Call) -> Described:
        if not self._may_describe(transactional_id, call):
            return Described(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, transactional_id)
        if not transactional_id:
            return Described(ErrorCode.INVALID_REQUEST, transactional_id)
        transaction = self._transactions.by_id.get(transactional_id)
        if transaction is None:
            return Described(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, transactional_id)
        topics: dict[str, list[int]] = {}
        for name, number in sorted(transaction.partitions):
            topics.setdefault(name, []).append(number)
        return Described(
            transactional_id=transactional_id,
            transaction_state=transaction.state.value,
            transaction_timeout_ms=transaction.timeout_ms,
            transaction_start_time_ms=transaction.started_ms,
            producer_id=transaction.producer_id,
            producer_epoch=transaction.producer_epoch,
            topics=tuple(
                DescribeTransactionsResponse.TopicData(name, tuple(numbers))
                for name, numbers in topics.items()
                if self._access.allows(call.session, AclOperation.DESCRIBE, ResourceType.TOPIC, name)
            ),
        )

    def _may_describe(self, transactional_id: str, call: Call) -> bool:
        kind = ResourceType.TRANSACTIONAL_ID
        return self._access.allows(call.session, AclOperation.DESCRIBE, kind, transactional_id)

    async def _write_markers(self, request: WriteTxnMarkersRequest, call: Call) -> WriteTxnMarkersResponse | Refused:
        allows = self._access.allows_on_cluster
        if not allows(call.session, AclOperation.ALTER) and not allows(call.session, AclOperation.CLUSTER_ACTION):
            return Refused(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
        results = [await self._written(asked) async for asked in in_slices(request.markers)]
        return WriteTxnMarkersResponse(tuple(results))

    async def _written(
        self, asked: WriteTxnMarkersRequest.WritableTxnMarker
    ) -> WriteTxnMarkersResponse.WritableTxnMarkerResult:
        marker = EndMarker(
            Producer(asked.producer_id, asked.producer_epoch),
            asked.transaction_result,
            asked.coordinator_epoch,
            asked.transaction_version >= V2,
        )
        partitions = dict.fromkeys((topic.name, number) for topic in asked.topics for number in topic.partition_indexes)
        errors = await self._markers.write(marker, partitions)
        return WriteTxnMarkersResponse.WritableTxnMarkerResult(asked.producer_id, tuple(_topics(errors.items())))


class _Filters:
    """Which transactions a request wants, apart from the pattern for ids."""

    def __init__(self, request: ListTransactionsRequest, now_ms: int) -> None:
        known = {state.value: state for state in TransactionState}
        self.unknown_states = tuple(dict.fromkeys(each for each in request.state_filters if each not in known))
        self._states = {known[each] for each in request.state_filters if each in known}
        self._has_states = bool(request.state_filters)
        self._producer_ids = frozenset(request.producer_id_filters)
        self._duration_ms = request.duration_filter
        self._now_ms = now_ms

    def lets_through(self, transaction: Transaction) -> bool:
        """Whether a transaction is wanted."""
        if self._producer_ids and transaction.producer_id not in self._producer_ids:
            return False
        if self._has_states and transaction.state not in self._states:
            return False
        return self._duration_ms < 0 or self._now_ms - transaction.started_ms > self._duration_ms


def _matching(pattern: str, transactions: tuple[_Item, ...]) -> tuple[_Item, ...]:
    """The transactions whose id matches a pattern.

    Raises:
        ValueError: the pattern is not valid, or it takes too long.
    """
    regex = Regex(pattern)
    return tuple(item for item in transactions if regex.matches(item[0]))


def _topics(
    errors: Iterable[tuple[Partition, ErrorCode]],
) -> Iterator[WriteTxnMarkersResponse.WritableTxnMarkerTopicResult]:
    response = WriteTxnMarkersResponse
    by_topic: dict[str, list[WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult]] = {}
    for (name, number), error in errors:
        by_topic.setdefault(name, []).append(response.WritableTxnMarkerPartitionResult(number, error))
    return (response.WritableTxnMarkerTopicResult(name, tuple(results)) for name, results in by_topic.items())
