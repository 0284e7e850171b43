"""The embedded broker for programs without asyncio, in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from datetime import datetime
from os import PathLike
from types import TracebackType
from typing import Self

from kafkawire.arguments.checks import checked
from kafkawire.broker.any_broker import AnyBroker
from kafkawire.broker.clock import Clock
from kafkawire.broker.embedded import EmbeddedBroker
from kafkawire.broker.quotas.metrics import QuotaMetric
from kafkawire.broker.request_log import REQUESTS_KEPT
from kafkawire.broker.state_copy import StateCopy
from kafkawire.model.topics import NewTopic


class ThreadedBroker(AnyBroker):
    """A broker that runs in a thread of its own, so that the caller may block.

    Args:
        properties, data_dir, host, port, clock, topics, requests_kept, from_log, as_of, state, release: as for
            `EmbeddedBroker`.

    Raises:
        ConfigurationError: a property has a wrong value.
        TypeError: an argument is something else, such as a number as the value of a property.
        ValueError: a release that is not known, or arguments that exclude each other, as for `EmbeddedBroker`.

    Example:
        ```python
        from kafkawire.admin import BlockingAdminClient, NewTopic
        from kafkawire.broker import ThreadedBroker

        with ThreadedBroker(topics=["orders"]) as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
            admin.create_topics([NewTopic("payments")]).all()
            assert set(admin.list_topics()) == {"orders", "payments"}
        ```
    """

    @checked
    def __init__(
        self,
        properties: Mapping[str, str] | None = None,
        *,
        data_dir: str | PathLike[str] | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        clock: Clock | None = None,
        topics: Iterable[NewTopic | str] = (),
        requests_kept: int = REQUESTS_KEPT,
        from_log: str | PathLike[str] | None = None,
        as_of: datetime | None = None,
        state: StateCopy | None = None,
        release: str | None = None,
    ) -> None:
        broker = EmbeddedBroker(
            properties,
            data_dir=data_dir,
            host=host,
            port=port,
            clock=clock,
            topics=topics,
            requests_kept=requests_kept,
            from_log=from_log,
            as_of=as_of,
            state=state,
            release=release,
        )
        cluster, clock = broker._cluster, broker._clock  # noqa: SLF001 both are the same broker
        super().__init__(cluster, broker.faults, broker.requests, clock)
        self._broker = broker
        self._running: _Running | None = None

    def start(self) -> None:
        """Read the data directory, and listen.

        Raises:
            ConfigurationError, StorageError, OSError: as of `EmbeddedBroker.start`.

        Example:
            ```python
            from kafkawire.broker import ThreadedBroker

            broker = ThreadedBroker()
            broker.start()  # `with` does the same
            try:
                print("listens on", broker.bootstrap_servers)
            finally:
                broker.stop()
            ```
        """
        if self._running is not None:
            raise RuntimeError("the broker runs already")
        running = _Running(self._broker)
        running.started.result()
        self._running = running

    def stop(self) -> None:
        """Close all connections, and write what is not durable yet.

        Raises:
            StorageError: the broker had halted because a write failed.
        """
        running, self._running = self._running, None
        if running is not None:
            running.stop()

    def _is_running(self) -> bool:
        return self._running is not None

    def restart(self) -> None:
        """Stop, and start again on the same ports; see `EmbeddedBroker.restart`.

        Raises:
            ConfigurationError, StorageError, OSError: as of `EmbeddedBroker.restart`.

        Example:
            ```python
            from kafkawire.admin import BlockingAdminClient
            from kafkawire.broker import ThreadedBroker

            with ThreadedBroker(topics=["orders"]) as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
                admin.list_topics()
                broker.restart()
                admin.list_topics()  # the client has connected again
            ```
        """
        if self._running is None:
            raise RuntimeError("the broker was not started")
        self._running.restart()

    def advance(self, seconds: float) -> None:
        """Move the clock forward, and wait until the broker has done what became due; see `EmbeddedBroker.advance`.

        Raises:
            RuntimeError: the broker does not run, or its clock is the machine's.
            ValueError: the time is negative.
            StorageError: a write failed.

        Example:
            ```python
            from kafkawire.broker import ManualClock, ThreadedBroker

            with ThreadedBroker(clock=ManualClock()) as broker:
                broker.advance(45)  # the sessions of silent members end
            ```
        """
        if self._running is None:
            raise RuntimeError("the broker does not run: enter its `with` block, or call start()")
        self._running.advance(seconds)

    def quota_metrics(self) -> Sequence[QuotaMetric]:
        """The use of the client quotas; see `EmbeddedBroker.quota_metrics`.

        Raises:
            RuntimeError: the broker does not run.

        Example:
            ```python
            from kafkawire.broker import ThreadedBroker

            with ThreadedBroker() as broker:
                for metric in broker.quota_metrics():
                    print(metric.quota_type.value, metric.tags, metric.limit, metric.rate, metric.throttle_ms)
            ```
        """
        if self._running is None:
            raise RuntimeError("the broker does not run: enter its `with` block, or call start()")
        return self._running.quota_metrics()

    def clean_records(self, topic: str | None = None) -> None:
        """Delete and compact records now; see `EmbeddedBroker.clean_records`.

        Args:
            topic: the name of the topic; None for all topics.

        Raises:
            RuntimeError: the broker does not run.
            StorageError: a file could not be written.

        Example:
            ```python
            from kafkawire.broker import ThreadedBroker

            with ThreadedBroker(topics=["orders"]) as broker:
                broker.clean_records("orders")
            ```
        """
        if self._running is None:
            raise RuntimeError("the broker does not run: enter its `with` block, or call start()")
        self._running.clean_records(topic)

    def copy_state(self) -> StateCopy:
        """A copy of the state at this moment; see `EmbeddedBroker.copy_state`.

        Raises:
            RuntimeError: the broker does not run.
            StorageError: records could not be written.
            OSError: a file of the data directory cannot be read.

        Example:
            ```python
            from kafkawire.admin import BlockingAdminClient
            from kafkawire.broker import ThreadedBroker

            with ThreadedBroker(topics=["orders"]) as prepared:
                state = prepared.copy_state()
            with ThreadedBroker(state=state) as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
                assert list(admin.list_topics()) == ["orders"]
            ```
        """
        if self._running is None:
            raise RuntimeError("the broker does not run: enter its `with` block, or call start()")
        return self._running.copy_state()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class _Running:
    """A broker in its thread.

    Attributes:
        started: done when the broker listens, or its start has failed.
    """

    def __init__(self, broker: EmbeddedBroker) -> None:
        self.started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        self._stopped: Future[None] = Future()
        self._broker = broker
        # A daemon, so that a program that does not stop its broker still exits.
        self._thread = threading.Thread(target=self._run, name="kafkawire broker", daemon=True)
        self._thread.start()

    def restart(self) -> None:
        loop, _ = self.started.result()
        asyncio.run_coroutine_threadsafe(self._broker.restart(), loop).result()

    def advance(self, seconds: float) -> None:
        loop, _ = self.started.result()
        asyncio.run_coroutine_threadsafe(self._broker.advance(seconds), loop).result()

    def quota_metrics(self) -> Sequence[QuotaMetric]:
        async def in_loop() -> Sequence[QuotaMetric]:  # nothing else runs there meanwhile
            return self._broker.quota_metrics()

        loop, _ = self.started.result()
        return asyncio.run_coroutine_threadsafe(in_loop(), loop).result()

    def clean_records(self, topic: str | None) -> None:
        loop, _ = self.started.result()
        asyncio.run_coroutine_threadsafe(self._broker.clean_records(topic), loop).result()

    def copy_state(self) -> StateCopy:
        loop, _ = self.started.result()
        return asyncio.run_coroutine_threadsafe(self._broker.copy_state(), loop).result()

    def stop(self) -> None:
        loop, leave = self.started.result()
        loop.call_soon_threadsafe(leave.set)
        self._thread.join()
        self._stopped.result()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # noqa: BLE001 - raised in the thread that starts or stops the broker
            done = self._stopped if self.started.done() else self.started
            done.set_exception(error)
        else:
            self._stopped.set_result(None)

    async def _serve(self) -> None:
        leave = asyncio.Event()
        async with self._broker:
            self.started.set_result((asyncio.get_running_loop(), leave))
            await leave.wait()
