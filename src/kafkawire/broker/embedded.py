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
from kafkawire.broker.addresses import BrokerAddresses
from kafkawire.broker.assembly import assemble
from kafkawire.broker.authorization import Authorization
from kafkawire.broker.clock import Clock, SystemClock
from kafkawire.broker.cluster import Cluster
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration, ConfigurationError
from kafkawire.broker.configuration.dynamic_configuration import DynamicConfiguration
from kafkawire.broker.dispatch import Dispatcher
from kafkawire.broker.faults import Faults
from kafkawire.broker.listener.acceptor import ListenerContext
from kafkawire.broker.listener.admission import Admission
from kafkawire.broker.listener.configured_listeners import configured_listeners
from kafkawire.broker.listener.connection import Service
from kafkawire.broker.listener.frame_room import FrameRoom
from kafkawire.broker.listener.server import Server
from kafkawire.broker.opened_state import OpenedState
from kafkawire.broker.partitions.cleaner import RecordCleaner
from kafkawire.broker.plugins.configured_authorizer import configured_authorizer
from kafkawire.broker.quotas.client_quotas import ClientQuotas
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


class EmbeddedBroker(BrokerAddresses):
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
        super().__init__(cluster, Faults(), RequestLog(requests_kept))
        self._data_dir = None if data_dir is None else Path(data_dir)
        self._host = host
        self._port = port
        self._clock = clock or SystemClock()
        self._topics = tuple(NewTopic(topic) if isinstance(topic, str) else topic for topic in topics)
        self._resources: AsyncExitStack | None = None
        self._halt: asyncio.Future[StorageError] | None = None
        self._server: Server | None = None
        self._state: OpenedState | None = None
        self._quotas: ClientQuotas | None = None
        self._cleaner: RecordCleaner | None = None
        self._closing: asyncio.Task[None] | None = None
        self._failure: StorageError | None = None

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
        ports = self._server.ports
        await self.stop()
        await self._start(ports)

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
                self._listener_context(state, assembled.dispatcher, updates.quotas),
            )
            resources.push_async_callback(server.stop)
            server.bind()
            self._cluster.endpoints = dict(server.endpoints)
            first = next(iter(self._cluster.endpoints.values()))
            self._cluster.host, self._cluster.port = first.host, first.port
            await state.arrive()
            assembled.classic_groups.load()
            updates.begin()
            await create_missing(self._topics, assembled.creation, state.controller)
            assembled.cleaner.begin()
            resources.push_async_callback(assembled.cleaner.end)
            server.start()
            self._cleaner, self._state = assembled.cleaner, state
            self._server, self._quotas = server, updates.quotas
            self._resources = resources.pop_all()

    async def stop(self) -> None:
        """Close all connections, and write what is not durable yet.

        Raises:
            StorageError: the broker had halted because a write failed.
        """
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
        if self._quotas is None or self._resources is None:
            raise RuntimeError("the broker does not run: enter its `with` block, or call start()")
        return self._quotas.metrics()

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
        if self._cleaner is None or self._resources is None:
            raise RuntimeError("the broker does not run: enter its `with` block, or call start()")
        await self._cleaner.clean(topic)

    async def copy_state(self) -> StateCopy:
        """A copy of the state at this moment, with which other brokers can begin; it stays as it is.

        Topics and their records, configurations, ACLs, quotas, users and the offsets of groups are in it; members of
        groups are not. The copies and this broker share the bytes of the records.

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
        if self._state is None or self._resources is None:
            raise RuntimeError("the broker does not run: enter its `with` block, or call start()")
        return await self._state.copied()

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

    def _listener_context(self, state: OpenedState, dispatcher: Dispatcher, quotas: ClientQuotas) -> ListenerContext:
        image = state.controller.image
        admission = Admission(DynamicConfiguration(state.configuration, image.configs))
        service = Service(dispatcher, state.controller, self._clock, FrameRoom())
        # Clients cannot read the directory's id, and it stays the same as long as the users stored there.
        return ListenerContext(service, admission, quotas.connections, image.scram, secret=state.directory_id)

    def _fail(self, error: StorageError) -> None:
        """At the first error, close all connections and wake the callers of ``halted``."""
        if self._failure is not None:
            return
        self._failure = error
        if self._halt is not None:
            self._halt.set_result(error)
        if self._server is not None:
            self._closing = asyncio.get_running_loop().create_task(self._server.stop())
