"""The embedded broker, for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Self

from kafkawire.arguments.checks import checked
from kafkawire.broker.any_broker import AnyBroker
from kafkawire.broker.assembly import Assembled
from kafkawire.broker.broker_run import BrokerRun, BrokerSetup
from kafkawire.broker.clock import Clock, SystemClock, some_turns
from kafkawire.broker.cluster import Cluster
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration, ConfigurationError
from kafkawire.broker.faults.faults import Faults
from kafkawire.broker.quotas.metrics import QuotaMetric
from kafkawire.broker.request_log import REQUESTS_KEPT, RequestLog
from kafkawire.broker.state_copy import StateCopy
from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.twin import TwinSource
from kafkawire.broker.version_tables import version_table
from kafkawire.model.topics import NewTopic


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
            as far as this broker serves them; None for those of 4.3. All else is as in 4.3, except ACLs of a
            range of addresses, which have clients from 4.4 on.

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
        configuration = BrokerConfiguration(properties or {})
        node_id = configuration.integer("node.id")
        if state is not None and state.node_id != node_id:
            raise ConfigurationError(f"the state is of the node {state.node_id}: set node.id to {state.node_id}")
        cluster = Cluster("", node_id, host, port, configuration.text("broker.rack") or None)
        faults = Faults(None if data_dir is None else self._restart_soon)
        super().__init__(cluster, faults, RequestLog(requests_kept), clock or SystemClock())
        self._setup = BrokerSetup(
            configuration,
            cluster,
            self._clock,
            self.faults,
            self.requests,
            data_dir=None if data_dir is None else Path(data_dir),
            source=state if from_log is None else TwinSource(Path(from_log), as_of),
            host=host,
            port=port,
            topics=tuple(NewTopic(topic) if isinstance(topic, str) else topic for topic in topics),
            table=None if release is None else version_table(release),
        )
        self._run: BrokerRun | None = None
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
        self._last_run()
        await self._restarted()
        await self._restart()

    async def _restart(self) -> None:
        ports = self._last_run().ports
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

    async def _start(self, ports: Mapping[str, int]) -> None:
        if self._is_running():
            raise RuntimeError("the broker runs already")
        self._run = await BrokerRun.started(self._setup, ports)

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
        if self._run is not None:
            await self._run.stop()

    async def halted(self) -> StorageError:
        """Wait until a write fails, after which the broker answers no more requests; returns the error."""
        return await self._last_run().halted()

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
        if self._is_running():
            await self._running().settled()

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
        return self._run is not None and not self._run.is_over

    def _running(self) -> Assembled:
        if self._run is None or self._run.is_over:
            raise RuntimeError("the broker does not run: enter its `with` block, or call start()")
        return self._run.assembled

    def _last_run(self) -> BrokerRun:
        if self._run is None:
            raise RuntimeError("the broker was not started")
        return self._run
