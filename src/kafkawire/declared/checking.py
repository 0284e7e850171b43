"""Checks a plan before it is carried out: brokers validate what they can, the rest is checked by Kafka's rules here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias, TypeVar

import msgspec

from kafkawire.admin import AdminClient, Results
from kafkawire.admin.event_loop import together
from kafkawire.declared.planned import Action, Check, Kind, Plan, PlannedItem
from kafkawire.declared.requests_of_plan import (
    config_changes,
    has_configs,
    new_partitions,
    new_topic,
    quota_alteration,
    resource_of,
    scram_alteration,
    without_secrets,
)
from kafkawire.model.acls.bindings import AclBinding
from kafkawire.model.acls.validation import reason_without_effect, refusal_of_binding
from kafkawire.model.scram import refusal_of_alteration
from kafkawire.wire.kafka_errors import ApiError, KafkaError

K = TypeVar("K")
V = TypeVar("V")

CheckProgress: TypeAlias = Callable[[int, int], None]
"""Called with the number of items that have been checked, and of those that are to be checked."""

_ANY: Final = "any"


async def check_plan(
    client: AdminClient, plan: Plan, *, timeout: float | None = None, progress: CheckProgress | None = None
) -> Plan:
    """Check a plan; nothing is changed.

    Brokers validate new topics, new partitions, configs and quotas, with their policies. They cannot validate ACLs,
    credentials and deletions: for ACLs and credentials the rules of Kafka are applied here. Secret configs are not
    sent.

    Args:
        client: of the cluster.
        plan: from `plan_of`.
        timeout: seconds that each call to the cluster may take; by default ``call_timeout`` of the settings.
        progress: called after each step.

    Returns:
        The plan; each item that would change something says who has checked it, and what is wrong with it.

    Example:
        ```python
        from kafkawire.declared import ClusterState, TopicState, check_plan, plan_of, read_cluster

        declared = ClusterState(topics={"orders": TopicState(partitions=6)})
        read = await read_cluster(admin)
        checked = await check_plan(admin, plan_of(declared, read.state))
        for item in checked.items:
            if item.error is not None:
                print(item.item, item.error)
        ```
    """
    checker = _Checker(client, plan.items, timeout, progress or (lambda _done, _total: None))
    await checker.ask_brokers()
    return msgspec.structs.replace(plan, items=tuple(map(checker.checked, plan.items)))


class _Checker:
    """Checks the items of a plan once."""

    def __init__(
        self, client: AdminClient, items: Sequence[PlannedItem], timeout: float | None, progress: CheckProgress
    ) -> None:
        self._client = client
        self._items = [
            without_secrets(item)
            for item in items
            if item.action in {Action.CREATE, Action.CHANGE, Action.DELETE} and item.kind not in {Kind.ACLS, Kind.USERS}
        ]
        self._timeout = timeout
        self._progress = progress
        self._done = 0
        self._found: dict[tuple[Kind, object], str | None] = {}

    async def ask_brokers(self) -> None:
        """Have the brokers validate everything that they can, all kinds at the same time."""
        existing = [item for item in self._items if item.kind is Kind.TOPICS and item.action is Action.CHANGE]
        async with together() as tasks:
            tasks.create_task(self._new_topics([item for item in self._items if _is_new_topic(item)]))
            tasks.create_task(self._topic_changes(existing))
            tasks.create_task(self._configs([item for item in self._items if item.kind is Kind.CONFIGS]))
            tasks.create_task(self._quotas([item for item in self._items if item.kind is Kind.QUOTAS]))

    async def _new_topics(self, items: Sequence[PlannedItem]) -> None:
        if items:
            wanted = [new_topic(item, _no_secret) for item in items]
            self._note(items, await self._client.create_topics(wanted, validate_only=True, timeout=self._timeout))

    async def _topic_changes(self, items: Sequence[PlannedItem]) -> None:
        added = {str(item.item): each for item in items if (each := new_partitions(item)) is not None}
        if added:
            grown = [item for item in items if item.item in added]
            self._note(grown, await self._client.create_partitions(added, validate_only=True, timeout=self._timeout))
        await self._configs([item for item in items if has_configs(item)])

    async def _configs(self, items: Sequence[PlannedItem]) -> None:
        wanted = {resource_of(item): config_changes(item, _no_secret) for item in items if has_configs(item)}
        if not wanted:
            return
        results = await self._client.incremental_alter_configs(wanted, validate_only=True, timeout=self._timeout)
        self._note([item for item in items if resource_of(item) in wanted], results, resource_of)

    async def _quotas(self, items: Sequence[PlannedItem]) -> None:
        if items:
            wanted = list(map(quota_alteration, items))
            self._note(items, await self._client.alter_client_quotas(wanted, validate_only=True, timeout=self._timeout))

    def _note(
        self,
        items: Iterable[PlannedItem],
        results: Results[K, V],
        key: Callable[[PlannedItem], object] = lambda item: item.item,
    ) -> None:
        outcomes: Mapping[object, V | KafkaError] = dict(results.items())
        for item in items:
            outcome = outcomes[key(item)]
            error = error_in_words(outcome) if isinstance(outcome, KafkaError) else None
            about = (item.kind, item.item)
            self._found[about] = self._found.get(about) or error
            self._done += 1
        self._progress(self._done, max(self._done, len(self._items)))

    def checked(self, item: PlannedItem) -> PlannedItem:
        """An item with what its check has found."""
        if item.action not in {Action.CREATE, Action.CHANGE, Action.DELETE}:
            return item
        about = (item.kind, item.item)
        if about in self._found:
            return msgspec.structs.replace(item, check=Check.BROKERS, error=self._found[about])
        if item.kind in {Kind.ACLS, Kind.USERS}:
            refused = _refusal(item)
            error = None if refused is None else error_in_words(refused)
            return msgspec.structs.replace(item, check=Check.SIMULATED, error=error)
        return item


def error_in_words(error: KafkaError) -> str:
    """Kafka's name of an error and its text."""
    name = error.NAME if isinstance(error, ApiError) else type(error).__name__
    return f"{name}: {error.message}" if error.message else name


def _refusal(item: PlannedItem) -> ApiError | None:
    """What Kafka's rules say about an ACL or a credential."""
    if isinstance(item.item, AclBinding):
        if item.action is Action.DELETE:
            return None
        return refusal_of_binding(item.item) or reason_without_effect(item.item)
    return refusal_of_alteration(scram_alteration(item, lambda _key: _ANY))


def _is_new_topic(item: PlannedItem) -> bool:
    return item.kind is Kind.TOPICS and item.action is Action.CREATE


def _no_secret(_key: object) -> str | None:
    return None
