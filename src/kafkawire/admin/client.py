"""The admin clients: all families of operations over one cluster, for asyncio and for programs without it."""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable, Coroutine, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from kafkawire.admin.blocking import DEFAULT_GRACE
from kafkawire.admin.blocking_methods import BlockingMethods
from kafkawire.admin.connection.sasl.credentials import CredentialsSource
from kafkawire.admin.connection.tls import Tls
from kafkawire.admin.families import Families
from kafkawire.admin.observed_requests import Observer
from kafkawire.admin.settings import AdminSettings
from kafkawire.arguments.checks import checked
from kafkawire.model.nodes import Node, bootstrap_nodes
from kafkawire.wire.kafka_errors import ConnectionFailedError, ConnectionImpossibleError

if TYPE_CHECKING:
    from kafkawire.admin.cluster import Kind
    from kafkawire.admin.connection.channel import Channel
    from kafkawire.admin.pool import Connect

T = TypeVar("T")


class AdminClient(Families):
    """Administers a Kafka cluster, for asyncio.

    Nothing is connected before the first call. A client belongs to the event loop and the process that it is first
    used in (RuntimeError in any other), and may be used by any number of tasks of the loop at once.

    The examples of the methods have a client ``admin``; names without an import are those of ``kafkawire.admin``. With
    a `BlockingAdminClient` they are the same without ``await``.

    Every method takes ``timeout``: the seconds for the whole call, by default ``call_timeout`` of the settings. Methods
    for many items take ``progress``: a function that is called after each outcome with the number of items that have
    one and the number of all items. The others raise their `KafkaError`.

    Args:
        bootstrap_servers: addresses of brokers: ``host:port``, several separated by commas or as a list.
        bootstrap_controllers: controllers instead (KIP-919), for what they serve; exactly one of the two is given.
        tls: for connections with TLS: an ``ssl.SSLContext``, or the parts of one. None for plain text.
        credentials: for the login (SASL), or a function that returns them, called for each login; None for no login.
        settings: timeouts and the like.
        observer: called for each request that ends, with its API, version, node, size and time; None for none.

    Raises:
        ValueError: for none or both kinds of bootstrap addresses, or an address that is not ``host:port``.
        TypeError: for an argument whose type contradicts its annotation. Every method raises it too, before anything is
            sent. A string is no collection: its letters would be names.

    Example:
        ```python
        async with AdminClient("localhost:9092") as admin:
            results = await admin.create_topics([NewTopic("orders", num_partitions=6)])
            for name, error in results.errors().items():
                print(name, error)
        ```
    """

    @checked
    def __init__(
        self,
        bootstrap_servers: str | Iterable[str] | None = None,
        *,
        bootstrap_controllers: str | Iterable[str] | None = None,
        tls: ssl.SSLContext | Tls | None = None,
        credentials: CredentialsSource | None = None,
        settings: AdminSettings | None = None,
        observer: Observer | None = None,
    ) -> None:
        from kafkawire.admin.backoff import Backoff  # noqa: PLC0415 clients are made later than imported
        from kafkawire.admin.cluster import Cluster  # noqa: PLC0415 the same
        from kafkawire.admin.pool import ConnectionPool  # noqa: PLC0415 the same

        settings = settings or AdminSettings()
        kind, nodes = _bootstrap(bootstrap_servers, bootstrap_controllers)
        pool = ConnectionPool(
            _connect(settings, tls, credentials, observer),
            Backoff(settings.reconnect_backoff, settings.reconnect_backoff_maximum),
            settings.connect_timeout,
        )
        super().__init__(Cluster(nodes, kind, pool, settings))

    @classmethod
    @checked
    def from_properties(
        cls,
        properties: str | os.PathLike[str] | Mapping[str, str],
        *,
        bootstrap_servers: str | Iterable[str] | None = None,
        bootstrap_controllers: str | Iterable[str] | None = None,
        tls: ssl.SSLContext | Tls | None = None,
        credentials: CredentialsSource | None = None,
        settings: AdminSettings | None = None,
        observer: Observer | None = None,
    ) -> Self:
        """A client with the properties of Kafka's Java clients, as in the files of ``--command-config``.

        ``docs/how-to/log-in.md`` lists the properties. Unknown ones are ignored with a warning in the log; properties
        that are known and cannot be honoured are errors. No error and no log contains a value that may be secret.

        Args:
            properties: the path of a ``.properties`` file, or names and values.
            bootstrap_servers, bootstrap_controllers, tls, credentials, settings: as for the class; each is used
                instead of the properties for it, which are not read then.
            observer: as for the class.

        Raises:
            OSError: if the file cannot be read.
            ValueError: for a property that is invalid or cannot be honoured, with what to do; and as for the class.
        """
        from kafkawire.admin.client_properties import client_arguments  # noqa: PLC0415 few programs have properties

        given = client_arguments(
            properties, bootstrap_servers=bootstrap_servers, bootstrap_controllers=bootstrap_controllers, tls=tls,
            credentials=credentials, settings=settings,
        )  # fmt: skip
        return cls(
            given.bootstrap_servers, bootstrap_controllers=given.bootstrap_controllers, tls=given.tls,
            credentials=given.credentials, settings=given.settings, observer=observer,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._summary() if hasattr(self, '_calls') else 'without addresses'}>"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self, grace: float = DEFAULT_GRACE) -> None:
        """Close all connections. New calls are refused at once; running calls have ``grace`` seconds to end.

        A call that needs longer ends with `ClosedError` for its open items. Closing twice does no harm.

        Example:
            ```python
            admin = AdminClient("localhost:9092")
            try:
                print((await admin.describe_cluster()).cluster_id)
            finally:
                await admin.close()  # `async with` does the same
            ```
        """
        await self._calls.finish(grace)
        await self._cluster.close()

    def _summary(self) -> str:
        return f"{self._cluster.addresses}, closed" if self._calls.are_over else str(self._cluster)


class BlockingAdminClient(BlockingMethods):
    """Administers a Kafka cluster, from any thread, in notebooks too.

    Its event loop runs in a thread of its own, from the first line to `close`. Inside a coroutine it works, and stops
    all other tasks of that loop for the time of the call: use `AdminClient` there.

    Its methods are those of `AdminClient`, and so are their examples, without ``await``.

    Args:
        bootstrap_servers, bootstrap_controllers, tls, credentials, settings, observer: as for `AdminClient`.

    Raises:
        ValueError, TypeError: as `AdminClient`.
        RuntimeError: by every method, in a process that was forked after the client was made: make one there; and in a
            function that the client itself calls, such as ``progress``.

    Example:
        ```python
        with BlockingAdminClient("localhost:9092") as admin:
            results = admin.create_topics([NewTopic("orders", num_partitions=6)])
            for name, error in results.errors().items():
                print(name, error)
        ```
    """

    _client: AdminClient

    def __init__(
        self,
        bootstrap_servers: str | Iterable[str] | None = None,
        *,
        bootstrap_controllers: str | Iterable[str] | None = None,
        tls: ssl.SSLContext | Tls | None = None,
        credentials: CredentialsSource | None = None,
        settings: AdminSettings | None = None,
        observer: Observer | None = None,
    ) -> None:
        self._client = AdminClient(
            bootstrap_servers,
            bootstrap_controllers=bootstrap_controllers,
            tls=tls,
            credentials=credentials,
            settings=settings,
            observer=observer,
        )
        super().__init__()

    def __repr__(self) -> str:
        if not hasattr(self, "_client"):
            return f"<{type(self).__name__} without addresses>"
        return f"<{type(self).__name__} {self._client._summary()}>"  # noqa: SLF001 both are the same client

    @classmethod
    @checked
    def from_properties(
        cls,
        properties: str | os.PathLike[str] | Mapping[str, str],
        *,
        bootstrap_servers: str | Iterable[str] | None = None,
        bootstrap_controllers: str | Iterable[str] | None = None,
        tls: ssl.SSLContext | Tls | None = None,
        credentials: CredentialsSource | None = None,
        settings: AdminSettings | None = None,
        observer: Observer | None = None,
    ) -> Self:
        """The same as `AdminClient.from_properties`."""
        from kafkawire.admin.client_properties import client_arguments  # noqa: PLC0415 few programs have properties

        given = client_arguments(
            properties, bootstrap_servers=bootstrap_servers, bootstrap_controllers=bootstrap_controllers, tls=tls,
            credentials=credentials, settings=settings,
        )  # fmt: skip
        return cls(
            given.bootstrap_servers, bootstrap_controllers=given.bootstrap_controllers, tls=given.tls,
            credentials=given.credentials, settings=given.settings, observer=observer,
        )  # fmt: skip

    def run(self, work: Callable[[AdminClient], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine in the client's thread, so that one program makes several calls at the same time.

        Args:
            work: gets the asyncio client whose calls this client makes, and returns the coroutine.

        Returns:
            What the coroutine returns; its errors are raised here.

        Example:
            ```python
            import asyncio


            async def count(client: AdminClient) -> tuple[int, int]:
                cluster, topics = await asyncio.gather(client.describe_cluster(), client.list_topics())
                return len(cluster.nodes), len(topics)


            with BlockingAdminClient("localhost:9092") as admin:
                print(admin.run(count))
            ```
        """
        return self._wait_for(lambda: work(self._client))


def _bootstrap(
    servers: str | Iterable[str] | None, controllers: str | Iterable[str] | None
) -> tuple[Kind, tuple[Node, ...]]:
    if servers is not None and controllers is not None:
        raise ValueError("give bootstrap_servers or bootstrap_controllers, not both")
    if servers is not None:
        return "brokers", bootstrap_nodes(servers)
    if controllers is not None:
        return "controllers", bootstrap_nodes(controllers)
    raise ValueError("give bootstrap_servers (or bootstrap_controllers): host:port, several separated by commas")


def _connect(
    settings: AdminSettings,
    tls: ssl.SSLContext | Tls | None,
    credentials: CredentialsSource | None,
    observer: Observer | None,
) -> Connect:
    """The function that connects to nodes, with the settings of the client."""
    from kafkawire.admin.connection.channel import Channel  # noqa: PLC0415 slow to import, needed to connect
    from kafkawire.admin.connection.settings import ConnectionSettings  # noqa: PLC0415 the same

    connection_settings = ConnectionSettings(
        client_id=settings.client_id, setup_timeout=settings.connect_timeout, idle_timeout=settings.idle_timeout
    )

    def settings_for(node: Node) -> ConnectionSettings:
        return connection_settings.expecting(node) if settings.cluster_check else connection_settings

    unexplained: set[str] = set()
    """Addresses where connecting failed for an unknown reason: the reason is diagnosed only once for each."""

    async def connect(node: Node, deadline: float) -> Channel:
        try:
            context = tls.context() if isinstance(tls, Tls) else tls
        except ValueError as error:
            raise ConnectionImpossibleError(f"{node.address}: TLS: {error}") from error
        try:
            channel = await Channel.connect(
                node.host, node.port, settings_for(node), credentials, context,
                deadline=deadline, ask_again=node.address not in unexplained, observer=observer,
            )  # fmt: skip
        except ConnectionFailedError as error:
            if error.retriable and not isinstance(error.__cause__, ConnectionRefusedError):
                unexplained.add(node.address)
            raise
        unexplained.discard(node.address)
        return channel

    return connect
