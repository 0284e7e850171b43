"""Carries a plan out, stage by stage, with an outcome for each item, whenever it ends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import groupby
from typing import Final, TypeAlias, TypeVar

import msgspec

from kafkawire.admin import AdminClient, Results
from kafkawire.declared.planned import Action, Plan, PlannedItem
from kafkawire.declared.requests_of_plan import (
    SecretOf,
    config_changes,
    has_configs,
    new_partitions,
    new_topic,
    quota_alteration,
    resource_of,
    scram_alteration,
)
from kafkawire.declared.stages import Stage, stage_of
from kafkawire.model.acls.bindings import AclBinding
from kafkawire.wire.kafka_errors import ApiError, KafkaError

K = TypeVar("K")
V = TypeVar("V")

ApplyProgress: TypeAlias = Callable[[int, int], None]
"""Called with the number of items that have an outcome, and of those that are to be carried out."""

_Errors: TypeAlias = Mapping[object, KafkaError]

_PORTION: Final = 1_000
"""Items of one call, whose outcomes are unknown if it is interrupted."""

NOT_REACHED: Final = "interrupted before"
AFTER_FAILURE: Final = "an earlier step failed; nothing is taken away before everything else is there"
AFTER_SILENCE: Final = "the cluster did not answer before; nothing more was sent"
AFTER_DENIAL: Final = "a denial could not be created; permissions come after it"


class Result(StrEnum):
    """The outcome of an item."""

    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"
    """Sent, and no answer came: the call was interrupted, or the cluster went away."""

    NOT_TRIED = "not tried"


class AppliedItem(msgspec.Struct, frozen=True):
    """An item and its outcome.

    Attributes:
        planned: the item.
        result: its outcome.
        error: what went wrong.
        reason: why it was not tried, or what is unknown.
    """

    planned: PlannedItem
    result: Result
    error: KafkaError | None = None
    reason: str = ""


class Application:
    """Carries a plan out once. Its outcomes can be read at any time, also after it was cancelled.

    Args:
        plan: from `plan_of`.
        secret: supplies the secrets that `secret_keys` names.
        timeout: seconds that each call to the cluster may take; by default ``call_timeout`` of the settings.
        progress: called at the beginning, and after each portion.

    Attributes:
        progress: the same; it can be replaced.

    Example:
        ```python
        from kafkawire.declared import Application, ClusterState, TopicState, plan_of, read_cluster

        declared = ClusterState(topics={"orders": TopicState(partitions=6)})
        read = await read_cluster(admin)
        application = Application(plan_of(declared, read.state))
        await application.run(admin)
        for each in application.outcomes():
            print(each.planned.item, each.result)
        ```
    """

    def __init__(
        self,
        plan: Plan,
        secret: SecretOf = lambda _key: None,
        *,
        timeout: float | None = None,
        progress: ApplyProgress | None = None,
    ) -> None:
        self._plan = plan
        self._secret = secret
        self._timeout = timeout
        self.progress: ApplyProgress = progress or (lambda _done, _total: None)
        self._to_do = [item for item in plan.items if item.action in {Action.CREATE, Action.CHANGE, Action.DELETE}]
        self._outcomes: dict[int, AppliedItem] = {}
        self._sent: frozenset[int] = frozenset()
        self._failed: set[Stage] = set()
        self._is_silent = False

    async def run(self, client: AdminClient) -> None:
        """Carry the plan out. Errors of items are in the outcomes.

        After a portion without any answer nothing more is sent.

        Raises:
            UnavailableSecretError: a secret is not known; nothing was changed in its portion.
        """
        self.progress(0, len(self._to_do))
        for stage, of_stage in groupby(self._to_do, key=_stage):
            reason = self._reason_against(stage)
            items = list(of_stage)
            for at in range(0, len(items), _PORTION):
                portion = items[at : at + _PORTION]
                reason = AFTER_SILENCE if self._is_silent else reason
                if reason:
                    self._settle(AppliedItem(item, Result.NOT_TRIED, reason=reason) for item in portion)
                else:
                    await self._carry_out(client, stage, portion)

    def outcomes(self) -> tuple[AppliedItem, ...]:
        """The outcome of each item that was to be carried out, and of those that cannot be."""
        return tuple(self._all_outcomes())

    def _all_outcomes(self) -> Iterator[AppliedItem]:
        for item in self._plan.items:
            if item.action is Action.IMPOSSIBLE:
                yield AppliedItem(item, Result.NOT_TRIED, reason=item.reason)
            elif item.action is not Action.UNCHANGED:
                yield self._outcomes.get(id(item)) or self._without_answer(item)

    def _without_answer(self, item: PlannedItem) -> AppliedItem:
        if id(item) in self._sent:
            return AppliedItem(item, Result.UNKNOWN, reason="interrupted before the answer; a new plan shows it")
        return AppliedItem(item, Result.NOT_TRIED, reason=NOT_REACHED)

    def _reason_against(self, stage: Stage) -> str:
        if stage.deletes and self._failed:
            return AFTER_FAILURE
        return AFTER_DENIAL if stage is Stage.NEW_PERMISSIONS and Stage.NEW_DENIALS in self._failed else ""

    async def _carry_out(self, client: AdminClient, stage: Stage, portion: Sequence[PlannedItem]) -> None:
        self._sent = frozenset(map(id, portion))
        calls = _Calls(client, self._secret, self._timeout)
        try:
            errors = await calls.of(stage)(portion)
        except KafkaError as error:  # of the whole call
            errors = dict.fromkeys((item.item for item in portion), error)
        if errors:
            self._failed.add(stage)
        self._is_silent = all(_is_silence(errors.get(item.item)) for item in portion)
        self._settle(_applied(item, errors.get(item.item)) for item in portion)
        self._sent = frozenset()

    def _settle(self, applied: Iterable[AppliedItem]) -> None:
        self._outcomes.update((id(each.planned), each) for each in applied)
        self.progress(len(self._outcomes), len(self._to_do))


class _Calls:
    """The calls of the client that carry items out; each returns the errors by item."""

    def __init__(self, client: AdminClient, secret: SecretOf, timeout: float | None) -> None:
        self._client = client
        self._secret = secret
        self._timeout = timeout

    def of(self, stage: Stage) -> Callable[[Sequence[PlannedItem]], Awaitable[_Errors]]:
        """The call of a stage."""
        match stage:
            case Stage.TOPICS:
                return self._topics
            case Stage.CONFIGS | Stage.OLD_CONFIGS:
                return self._configs
            case Stage.QUOTAS | Stage.OLD_QUOTAS:
                return self._quotas
            case Stage.USERS | Stage.OLD_USERS:
                return self._users
            case Stage.NEW_DENIALS | Stage.NEW_PERMISSIONS:
                return self._new_acls
            case Stage.OLD_DENIALS | Stage.OLD_PERMISSIONS:
                return self._old_acls
            case Stage.OLD_TOPICS:
                return self._old_topics

    async def _topics(self, items: Sequence[PlannedItem]) -> _Errors:
        errors: dict[object, KafkaError] = {}
        new = [new_topic(item, self._secret) for item in items if item.action is Action.CREATE]
        if new:
            errors.update((await self._client.create_topics(new, timeout=self._timeout)).errors())
        present = [item for item in items if item.action is Action.CHANGE]
        grown = {str(item.item): to for item in present if (to := new_partitions(item)) is not None}
        if grown:
            errors.update((await self._client.create_partitions(grown, timeout=self._timeout)).errors())
        changed = [item for item in present if has_configs(item) and item.item not in errors]
        return {**errors, **await self._configs(changed)} if changed else errors

    async def _configs(self, items: Sequence[PlannedItem]) -> _Errors:
        item_of = {resource_of(item): item for item in items}
        wanted = {resource: config_changes(item, self._secret) for resource, item in item_of.items()}
        results = await self._client.incremental_alter_configs(wanted, timeout=self._timeout)
        return {item_of[resource].item: error for resource, error in results.errors().items()}

    async def _quotas(self, items: Sequence[PlannedItem]) -> _Errors:
        return _errors(await self._client.alter_client_quotas(map(quota_alteration, items), timeout=self._timeout))

    async def _users(self, items: Sequence[PlannedItem]) -> _Errors:
        alterations = [scram_alteration(item, self._secret) for item in items]
        return _errors(await self._client.alter_user_scram_credentials(alterations, timeout=self._timeout))

    async def _new_acls(self, items: Sequence[PlannedItem]) -> _Errors:
        return _errors(await self._client.create_acls(_acls(items), timeout=self._timeout))

    async def _old_acls(self, items: Sequence[PlannedItem]) -> _Errors:
        filters = {acl.to_filter(): acl for acl in _acls(items)}
        results = await self._client.delete_acls(filters, timeout=self._timeout)
        errors: dict[object, KafkaError] = {filters[each]: error for each, error in results.errors().items()}
        for of_filter in results.values().values():
            errors.update(_errors(of_filter))
        return errors

    async def _old_topics(self, items: Sequence[PlannedItem]) -> _Errors:
        return _errors(await self._client.delete_topics([str(item.item) for item in items], timeout=self._timeout))


def _errors(results: Results[K, V]) -> _Errors:
    return {item: error for item, error in results.errors().items()}  # noqa: C416 widens the type of the keys


def _acls(items: Sequence[PlannedItem]) -> list[AclBinding]:
    return [item.item for item in items if isinstance(item.item, AclBinding)]


def _applied(item: PlannedItem, error: KafkaError | None) -> AppliedItem:
    if error is None:
        return AppliedItem(item, Result.DONE)
    is_unknown = error.outcome_unknown and _is_silence(error)
    return AppliedItem(item, Result.UNKNOWN if is_unknown else Result.FAILED, error)


def _is_silence(error: KafkaError | None) -> bool:
    """Whether no broker has answered, in place of an answer that refuses something."""
    return error is not None and not isinstance(error, ApiError)


def _stage(item: PlannedItem) -> Stage:
    return stage_of(item.kind, item.item, item.action)
