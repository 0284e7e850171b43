"""The embedded broker: everything put together."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import datetime
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Self

from kafkawire.arguments.checks import checked
from kafkawire.broker.any_broker import AnyBroker
from kafkawire.broker.assembly import Assembled, assemble
from kafkawire.broker.authorization import Authorization
from kafkawire.broker.clock import Clock, SystemClock, pass_time, some_turns
from kafkawire.broker.cluster import Cluster
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration, ConfigurationError
from kafkawire.broker.configuration.dynamic_configuration import DynamicConfiguration
from kafkawire.broker.faults.faults import Faults
from kafkawire.broker.listener.acceptor import ListenerContext
from kafkawire.broker.listener.admission import Admission
from kafkawire.broker.listener.configured_listeners import configured_listeners
from kafkawire.broker.listener.connection import Service
from kafkawire.broker.listener.frame_room import FrameRoom
from kafkawire.broker.listener.sasl.offered import Users
from kafkawire.broker.listener.server import Server
from kafkawire.broker.opened_state import OpenedState
from kafkawire.broker.plugins.configured_authorizer import configured_authorizer
from kafkawire.broker.quotas.metrics import QuotaMetric
from kafkawire.broker.quotas.quota_updates import QuotaUpdates
from kafkawire.broker.request_log import REQUESTS_KEPT, RequestLog
from kafkawire.broker.state_copy import StateCopy
from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.topics.declared import create_missing
from kafkawire.broker.twin import TwinSource
from kafkawire.broker.version_tables import version_table
from kafkawire.model.topics import NewTopic

_log = logging.getLogger(__name__)


class EmbeddedBroker(AnyBroker):
    """A broker in this process; it runs while its context is open.

    It may be started again after it was stopped; without a data directory it is empty again then.

    Args:
        properties: as in Kafka's ``server.properties``. ``node.id``, ``process.roles`` and ``listeners`` have
            defaults; ``log.dirs`` is ignored.
        data_dir: path of the directory for its state, in Kafka's format; None to keep it in memory only.
        host: the address to listen on, unless the properties have ``listeners``.
        port: the port; 0 for a free one.
        clock: the clock for timestamps, measurements and delays.
        topics: topics, or names of topics with the broker's defaults, that are created at the start if they do not
            exist.
        requests_kept: how many requests `requests` keeps at most; 0 for none.
        from_log: a data directory of another cluster, or the folder of its metadata log: the broker is a twin of that
            cluster, beginning with its topics, configurations, ACLs, quotas and users. The files are only read. The
            twin answers for all brokers of the cluster. Clients that have not logged in are super users, and
            Kafka's authorizer evaluates the ACLs, unless the properties say otherwise. With ``data_dir``, which must
            be new, changes are kept; start the broker without ``from_log`` to go on.
        as_of: the twin begins with the state at this time, which is in UTC if it has no zone; None for the newest.
        state: the state of another broker (`copy_state`), with which this broker begins, in memory; ``node.id`` must
            be the same.
        release: the release of Apache Kafka, such as ``3.9``, whose versions of APIs and features clients are offered,
            as far as this broker serves them; None for those of 4.3. What the broker does and writes stays as in 4.3.

    Raises:
        ConfigurationError: a property has a wrong value.
        ValueError: a release that is not known, ``as_of`` without ``from_log``, or ``state`` with ``data_dir`` or
            ``from_log``.
        TypeError: an argument is something else, such as a number as the value of a property.

    Example:
        ```python
        from kafkawire.admin import AdminClient, NewTopic
        from kafkawire.broker import EmbeddedBroker

        payments = NewTopic("payments", num_partitions=6)
        async with EmbeddedBroker({"num.partitions": "3"}, topics=["orders", payments]) as broker:
            async with AdminClient(broker.bootstrap_servers) as admin:
                assert set(await admin.list_topics()) == {"orders", "payments"}
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
        if as_of is not None and from_log is None:
            raise ValueError("as_of is the time of a state in a log: pass from_log too")
        if state is not None and (data_dir, from_log) != (None, None):
            raise ValueError(
                "state is for a broker in memory, without from_log. To begin with a copy of a data directory, stop its "
                "broker, copy the directory, and pass the copy as data_dir"
            )
        self._table = None if release is None else version_table(release)
        self._source = state if from_log is None else TwinSource(Path(from_log), as_of)
        self._configuration = BrokerConfiguration(properties or {})
        if state is not None and state.node_id != self._configuration.integer("node.id"):
            raise ConfigurationError(f"the state is of the node {state.node_id}: set node.id to {state.node_id}")
        rack = self._configuration.text("broker.rack") or None
        cluster = Cluster("", self._configuration.integer("node.id"), host, port, rack)
        faults = Faults(None if data_dir is None else self._restart_soon)
        super().__init__(cluster, faults, RequestLog(requests_kept), clock or SystemClock())
        self._data_dir = None if data_dir is None else Path(data_dir)
        self._host = host
        self._port = port
        self._topics = tuple(NewTopic(topic) if isinstance(topic, str) else topic for topic in topics)
        self._resources: AsyncExitStack | None = None
        self._halt: asyncio.Future[StorageError] | None = None
        self._server: Server | None = None
        self._assembled: Assembled | None = None
        self._closing: asyncio.Task[None] | None = None
        self._failure: StorageError | None = None
        self._restarting: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Read the data directory, and listen.

        Raises:
            ConfigurationError: a topic of `topics` cannot be created.
            StorageError: another broker uses the directory, or its files are damaged.
            OSError: a file cannot be read or made, or the address cannot be bound.

        Example:
            ```python
            from kafkawire.broker import EmbeddedBroker

            broker = EmbeddedBroker()
            await broker.start()  # `async with` does the same
            try:
                print("listens on", broker.bootstrap_servers)
            finally:
                await broker.stop()
            ```
        """
        await self._start({})

    async def restart(self) -> None:
        """Stop, and start again on the same ports.

        The state is that of the data directory; without one only `topics` exist, or what ``from_log`` or ``state`` has.

        Raises:
            ConfigurationError, StorageError, OSError: as of `start`; the broker is stopped then.

        Example:
            ```python
            from kafkawire.admin import AdminClient
            from kafkawire.broker import EmbeddedBroker

            async with EmbeddedBroker(topics=["orders"]) as broker, AdminClient(broker.bootstrap_servers) as admin:
                await admin.list_topics()
                await broker.restart()
                await admin.list_topics()  # the client has connected again
            ```
        """
        if self._server is None:
            raise RuntimeError("the broker was not started")
        await self._restarted()
        await self._restart()

    async def _restart(self) -> None:
        ports = {} if self._server is None else self._server.ports
        await self._stop()
        await self._start(ports)

    def _restart_soon(self) -> None:
        """Restart after this turn of the event loop: a fault demands it while a request is answered."""
        if self._restarting is None or self._restarting.done():
            self._restarting = asyncio.get_running_loop().create_task(self._restart())

    async def _restarted(self) -> None:
        """Wait until a restart that a fault demanded is over.

        Raises:
            StorageError, OSError: it failed.
        """
        while (restarting := self._restarting) is not None:
            await asyncio.wait((restarting,))
            if self._restarting is restarting:
                self._restarting = None
            await restarting

    async def _before_write(self, files: str) -> None:
        seconds = self.faults.seconds_before_write(files) if self.faults else 0.0
        if seconds:
            await pass_time(self._clock, seconds)

    async def _start(self, ports: Mapping[str, int]) -> None:
        """Start on these ports; on those of the properties where a listener has none."""
        if self._resources is not None:
            raise RuntimeError("the broker runs already")
        self._failure = self._server = self._closing = None
        self._halt = asyncio.get_running_loop().create_future()
        async with AsyncExitStack() as resources:
            state = await OpenedState.opened(
                self._data_dir,
                self._source,
                self._configuration,
                self._cluster,
                clock=self._clock,
                on_failure=self._fail,
                before_write=self._before_write,
            )
            resources.push_async_callback(state.depart)
            if self._data_dir is not None:
                self._source = None  # the directory has the state from now on
            configuration = state.configuration
            updates = QuotaUpdates(configuration, state.controller, self._cluster, state.nodes, self._clock)
            resources.callback(updates.quotas.close)
            authorizer = configured_authorizer(configuration, state.controller)
            if authorizer is not None:
                resources.callback(authorizer.close)
            assembled = assemble(
                state,
                access=Authorization(authorizer),
                quotas=updates.quotas,
                faults=self.faults,
                clock=self._clock,
                received=self.requests,
                resources=resources,
                table=self._table,
            )
            listeners = configured_listeners(configuration, self._host, self._port)
            server = Server(
                [replace(listener, port=ports.get(listener.name, listener.port)) for listener in listeners],
                configuration,
                self._listener_context(state, assembled),
            )
            resources.push_async_callback(server.stop)
            server.bind()
            self._cluster.endpoints = dict(server.endpoints)
            first = next(iter(self._cluster.endpoints.values()))
            self._cluster.host, self._cluster.port = first.host, first.port
            await state.arrive()
            assembled.load()
            updates.begin()
            await create_missing(self._topics, assembled.creation, state.controller)
            assembled.begin(resources)
            server.start()
            self._assembled = assembled
            self._server = server
            self._resources = resources.pop_all()

    async def stop(self) -> None:
        """Close all connections, and write what is not durable yet.

        Raises:
            StorageError: the broker had halted because a write failed.
        """
        try:
            await self._restarted()
        finally:
            await self._stop()

    async def _stop(self) -> None:
        resources, self._resources = self._resources, None
        if self._closing is not None:
            await self._closing
        if resources is not None:
            await resources.aclose()
        if self._failure is not None:
            raise self._failure

    async def halted(self) -> StorageError:
        """Wait until a write fails, after which the broker answers no more requests; returns the error."""
        if self._halt is None:
            raise RuntimeError("the broker was not started")
        return await asyncio.shield(self._halt)

    async def advance(self, seconds: float) -> None:
        """Move the clock forward, and wait until the broker has done what became due.

        The clock goes from one time at which something is due to the next. So a session that ends after 10 seconds
        ends at second 10 of an hour, and what follows from that is on time too.

        Args:
            seconds: how far.

        Raises:
            RuntimeError: the broker does not run, or its clock is the machine's.
            ValueError: the time is negative.
            StorageError: a write failed.

        Example:
            ```python
            from kafkawire.broker import EmbeddedBroker, ManualClock

            async with EmbeddedBroker(clock=ManualClock()) as broker:
                await broker.advance(8 * 24 * 3600)  # records that are older than retention.ms are deleted
            ```
        """
        clock = self.clock
        await self._restarted()
        self._running()
        await clock.advance_in_steps(seconds, self._settled)

    async def _settled(self) -> None:
        await some_turns()
        await self._restarted()
        if self._assembled is not None:
            await self._assembled.settled()

    def quota_metrics(self) -> Sequence[QuotaMetric]:
        """The use of the client quotas: a row for each group of clients that share one, as in Kafka's metrics.

        Only quotas that limit a client since an hour ago or less are measured, and those of a quota callback.

        Returns:
            Rows by quota type and tags.

        Raises:
            RuntimeError: the broker does not run.

        Example:
            ```python
            from kafkawire.admin import AdminClient, ClientQuotaAlteration, ClientQuotaEntity, NewTopic
            from kafkawire.broker import EmbeddedBroker

            async with EmbeddedBroker() as broker, AdminClient(broker.bootstrap_servers) as admin:
                quota = ClientQuotaAlteration(ClientQuotaEntity({"user": None}), {"controller_mutation_rate": 10.0})
                (await admin.alter_client_quotas([quota])).all()
                (await admin.create_topics([NewTopic("orders", num_partitions=6)])).all()
                (metric,) = broker.quota_metrics()
                assert (metric.tags["user"], metric.limit) == ("ANONYMOUS", 10.0)
            ```
        """
        return self._running().quotas.metrics()

    async def clean_records(self, topic: str | None = None) -> None:
        """Delete and compact records now, as otherwise in the background by the broker's clock.

        A compacted topic is compacted to its last record, whatever ``min.cleanable.dirty.ratio`` says.

        Args:
            topic: the name of the topic; None for all topics.

        Raises:
            RuntimeError: the broker does not run.
            StorageError: a file could not be written.

        Example:
            ```python
            from kafkawire.broker import EmbeddedBroker, ManualClock

            async with EmbeddedBroker(topics=["orders"], clock=ManualClock()) as broker:
                await broker.clean_records("orders")
            ```
        """
        await self._restarted()
        await self._running().cleaner.clean(topic)

    async def copy_state(self) -> StateCopy:
        """A copy of the state at this moment, with which other brokers can begin; it stays as it is.

        Topics and their records, configurations, ACLs, quotas, users, transactions, the offsets of groups and the
        states of share groups are in it; members of groups are not. The copies and this broker share the bytes of the
        records.

        Raises:
            RuntimeError: the broker does not run.
            StorageError: records could not be written.
            OSError: a file of the data directory cannot be read.

        Example:
            ```python
            from kafkawire.admin import AdminClient
            from kafkawire.broker import EmbeddedBroker

            async with EmbeddedBroker(topics=["orders"]) as prepared:
                state = await prepared.copy_state()
            async with EmbeddedBroker(state=state) as broker, AdminClient(broker.bootstrap_servers) as admin:
                assert list(await admin.list_topics()) == ["orders"]
            ```
        """
        await self._restarted()
        return await self._running().state.copied()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.stop()
        except StorageError:
            if error is None:
                raise

    def _is_running(self) -> bool:
        return self._resources is not None

    def _running(self) -> Assembled:
        if self._assembled is None or self._resources is None:
            raise RuntimeError("the broker does not run: enter its `with` block, or call start()")
        return self._assembled

    def _listener_context(self, state: OpenedState, assembled: Assembled) -> ListenerContext:
        image = state.controller.image
        admission = Admission(DynamicConfiguration(state.configuration, image.configs))
        service = Service(
            assembled.dispatcher, state.controller, self._clock, FrameRoom(), assembled.shares.connection_closed
        )
        # Clients cannot read the directory's id, and it stays the same as long as the users stored there.
        users = Users(image.scram, assembled.tokens.login, secret=state.directory_id)
        return ListenerContext(service, admission, assembled.quotas.connections, users)

    def _fail(self, error: StorageError) -> None:
        """At the first error, close all connections and wake the callers of ``halted``."""
        if self._failure is not None:
            return
        self._failure = error
        if self._halt is not None:
            self._halt.set_result(error)
        if self._server is not None:
            self._closing = asyncio.get_running_loop().create_task(self._server.stop())
