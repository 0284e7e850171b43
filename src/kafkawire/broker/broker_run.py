"""One run of a broker: everything put together at its start, and taken apart at its stop."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from kafkawire.broker.assembly import Assembled, assemble
from kafkawire.broker.authorization import Authorization
from kafkawire.broker.clock import Clock, pass_time
from kafkawire.broker.cluster import Cluster
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration
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
from kafkawire.broker.quotas.quota_updates import QuotaUpdates
from kafkawire.broker.request_log import RequestLog
from kafkawire.broker.state_copy import StateCopy
from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.topics.declared import create_missing
from kafkawire.broker.twin import TwinSource
from kafkawire.broker.version_tables import VersionTable
from kafkawire.model.topics import NewTopic


@dataclass
class BrokerSetup:
    """What the runs of a broker begin with.

    Attributes:
        configuration: of the broker.
        cluster: the node and its listeners; a run sets its ids, host and ports.
        clock: the broker's.
        faults: the faults that tests set.
        requests: gets every request that is handled.
        data_dir: the directory of the state; None to keep it in memory only.
        source: what a new twin begins with, or a broker in memory; None once a data directory has it, and for any
            other broker.
        host, port: where to listen, unless the properties have ``listeners``.
        topics: are created if they do not exist.
        table: the versions of another release, which limit those that are offered.
    """

    configuration: BrokerConfiguration
    cluster: Cluster
    clock: Clock
    faults: Faults
    requests: RequestLog
    data_dir: Path | None
    source: TwinSource | StateCopy | None
    host: str
    port: int
    topics: Sequence[NewTopic]
    table: VersionTable | None


class _Halt:
    """The end of the answers after a write has failed.

    Attributes:
        error: done with the error of the first write that failed.
    """

    def __init__(self) -> None:
        self.error: asyncio.Future[StorageError] = asyncio.get_running_loop().create_future()
        self.server: Server | None = None
        self._closing: asyncio.Task[None] | None = None

    def fail(self, error: StorageError) -> None:
        """At the first error, close all connections."""
        if self.error.done():
            return
        self.error.set_result(error)
        if self.server is not None:
            self._closing = asyncio.get_running_loop().create_task(self.server.stop())

    async def closed(self) -> None:
        """Wait until the connections are closed, if a write has failed."""
        if self._closing is not None:
            await self._closing


class BrokerRun:
    """A broker from its start to its stop.

    Attributes:
        assembled: the parts that answer requests.
        ports: the name of each listener to its port.
        is_over: whether the broker has been stopped.
    """

    def __init__(self, assembled: Assembled, server: Server, halt: _Halt, resources: AsyncExitStack) -> None:
        self.assembled = assembled
        self.ports: Mapping[str, int] = server.ports
        self.is_over = False
        self._halt = halt
        self._resources = resources

    @classmethod
    async def started(cls, setup: BrokerSetup, ports: Mapping[str, int]) -> Self:
        """Read the data directory, and listen.

        Args:
            setup: of the broker.
            ports: where listeners had been before; one that is missing listens where the properties say.

        Raises:
            ConfigurationError: a topic cannot be created.
            StorageError: another broker uses the directory, or its files are damaged.
            OSError: a file cannot be read or made, or the address cannot be bound.
        """
        halt = _Halt()
        async with AsyncExitStack() as resources:
            state = await _opened(setup, halt)
            resources.push_async_callback(state.depart)
            cluster, clock, configuration = setup.cluster, setup.clock, state.configuration
            updates = QuotaUpdates(configuration, state.controller, cluster, state.nodes, clock)
            resources.callback(updates.quotas.close)
            ranges = setup.table is not None and setup.table.has_ranges
            authorizer = configured_authorizer(configuration, state.controller, ranges=ranges)
            if authorizer is not None:
                resources.callback(authorizer.close)
            assembled = assemble(
                state,
                access=Authorization(authorizer),
                quotas=updates.quotas,
                faults=setup.faults,
                clock=clock,
                received=setup.requests,
                resources=resources,
                table=setup.table,
            )
            listeners = configured_listeners(configuration, setup.host, setup.port)
            server = Server(
                [replace(listener, port=ports.get(listener.name, listener.port)) for listener in listeners],
                configuration,
                _listener_context(state, assembled, clock),
            )
            resources.push_async_callback(server.stop)
            server.bind()
            cluster.endpoints = dict(server.endpoints)
            first = next(iter(cluster.endpoints.values()))
            cluster.host, cluster.port = first.host, first.port
            await state.arrive()
            assembled.load()
            updates.begin()
            await create_missing(setup.topics, assembled.creation, state.controller)
            assembled.begin(resources)
            server.start()
            halt.server = server
            return cls(assembled, server, halt, resources.pop_all())

    async def stop(self) -> None:
        """Close all connections, and write what is not durable yet.

        Raises:
            StorageError: a write had failed.
        """
        self.is_over = True
        resources = self._resources.pop_all()
        await self._halt.closed()
        await resources.aclose()
        if self._halt.error.done():
            raise self._halt.error.result()

    async def halted(self) -> StorageError:
        """Wait until a write fails, after which no more requests are answered; returns the error."""
        return await asyncio.shield(self._halt.error)


async def _opened(setup: BrokerSetup, halt: _Halt) -> OpenedState:
    async def before_write(files: str) -> None:
        seconds = setup.faults.seconds_before_write(files) if setup.faults else 0.0
        if seconds:
            await pass_time(setup.clock, seconds)

    state = await OpenedState.opened(
        setup.data_dir,
        setup.source,
        setup.configuration,
        setup.cluster,
        clock=setup.clock,
        on_failure=halt.fail,
        before_write=before_write,
    )
    if setup.data_dir is not None:
        setup.source = None  # the directory has the state from now on
    return state


def _listener_context(state: OpenedState, assembled: Assembled, clock: Clock) -> ListenerContext:
    controller = state.controller
    admission = Admission(DynamicConfiguration(state.configuration, controller.image.configs))
    service = Service(assembled.dispatcher, controller, clock, FrameRoom(), assembled.shares.connection_closed)
    # Clients cannot read the directory's id, and it stays the same as long as the users stored there.
    users = Users(controller.image.scram, assembled.tokens.login, secret=state.directory_id)
    return ListenerContext(service, admission, assembled.quotas.connections, users)
