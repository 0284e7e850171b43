"""The base of all families of operations: the cluster that they query, and the way into the engine."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kafkawire.admin.engine.operation import K, Operation, Progress, V
from kafkawire.admin.event_loop import now
from kafkawire.admin.results import Results
from kafkawire.admin.running_calls import RunningCalls
from kafkawire.arguments.checks import checked

if TYPE_CHECKING:
    from kafkawire.admin.cluster import Cluster


class OperationFamily:
    """Base of the families that `AdminClient` is made of. Their public methods check their arguments (`checked`).

    Args:
        cluster: the cluster that all calls go to.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if not cls.__module__.startswith("kafkawire."):
            return  # a user's own methods are the user's
        for name, method in list(vars(cls).items()):
            if inspect.isfunction(method) and not name.startswith("_"):
                setattr(cls, name, checked(method))

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._calls = RunningCalls()

    async def _each(
        self,
        operation: Operation[K, V, Any],
        items: Iterable[K],
        timeout: float | None,
        progress: Progress | None = None,
    ) -> Results[K, V]:
        """The outcome of each item.

        Args:
            operation: the operation.
            items: equal ones are sent once and reported as often as they are given.
            timeout: seconds; the settings' ``call_timeout`` by default.
            progress: called after each outcome.
        """
        return await self._until(self._deadline(timeout), operation, items, progress)

    async def _until(
        self, deadline: float, operation: Operation[K, V, Any], items: Iterable[K], progress: Progress | None = None
    ) -> Results[K, V]:
        """The same, for methods that make several calls with one deadline."""
        from kafkawire.admin.engine.batch_call import BatchCall  # noqa: PLC0415 the engine is needed to call

        call = BatchCall[K, V](self._cluster, deadline, progress=progress)
        with self._calls.one(call):
            return await call.run(operation, items)

    async def _only(self, operation: Operation[K, V, Any], item: K, timeout: float | None) -> V:
        """The value of the one item.

        Raises:
            KafkaError: if it has none.
        """
        return (await self._each(operation, (item,), timeout))[item]

    def _deadline(self, timeout: float | None) -> float:
        """The time of the event loop at which a call ends that begins now.

        Raises:
            ClosedError: if the client is closed; calls that have begun may continue.
            ValueError: if the timeout is not positive.
        """
        self._calls.check_open()
        from kafkawire.admin.engine import batch_call  # noqa: F401, PLC0415 before the time of the call begins

        seconds = self._cluster.settings.call_timeout if timeout is None else timeout
        if seconds <= 0:
            raise ValueError(f"a timeout must be above 0 seconds, not {timeout}")
        return now() + seconds
