"""The admin client: all families of operations over one cluster."""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Self

from kafkawire.admin.backoff import Backoff
from kafkawire.admin.cluster import Cluster, Kind
from kafkawire.admin.connection.sasl import CredentialsSource
from kafkawire.admin.connection.tls import Tls
from kafkawire.admin.operations.acls import AclOperations
from kafkawire.admin.operations.capabilities import CapabilityOperations
from kafkawire.admin.operations.cluster import ClusterOperations
from kafkawire.admin.operations.configs import ConfigOperations
from kafkawire.admin.operations.group_descriptions import GroupDescriptionOperations
from kafkawire.admin.operations.group_lag import GroupLagOperations
from kafkawire.admin.operations.group_listings import GroupListingOperations
from kafkawire.admin.operations.group_offsets import GroupOffsetOperations
from kafkawire.admin.operations.groups import GroupOperations
from kafkawire.admin.operations.hanging_transactions import HangingTransactionOperations
from kafkawire.admin.operations.log_dirs import LogDirOperations
from kafkawire.admin.operations.offset_resets import OffsetResetOperations
from kafkawire.admin.operations.partitions import PartitionOperations
from kafkawire.admin.operations.producers import ProducerOperations
from kafkawire.admin.operations.quorum import QuorumOperations
from kafkawire.admin.operations.quota_configs import QuotaConfigOperations
from kafkawire.admin.operations.quotas import QuotaOperations
from kafkawire.admin.operations.records import RecordOperations
from kafkawire.admin.operations.scram import ScramOperations
from kafkawire.admin.operations.share_group_offsets import ShareGroupOffsetOperations
from kafkawire.admin.operations.streams_groups import StreamsGroupOperations
from kafkawire.admin.operations.tokens import TokenOperations
from kafkawire.admin.operations.topic_descriptions import TopicDescriptionOperations
from kafkawire.admin.operations.topic_offsets import TopicOffsetOperations
from kafkawire.admin.operations.topics import TopicOperations
from kafkawire.admin.operations.transactions import TransactionOperations
from kafkawire.admin.operations.visibility import VisibilityOperations
from kafkawire.admin.pool import Connect, ConnectionPool
from kafkawire.admin.settings import AdminSettings
from kafkawire.arguments.checks import checked
from kafkawire.model.nodes import Node, bootstrap_nodes
from kafkawire.wire.kafka_errors import ConnectionFailedError, ConnectionImpossibleError

if TYPE_CHECKING:
    from kafkawire.admin.connection.channel import Channel

DEFAULT_GRACE = 5.0
"""Seconds that running calls have to end when a client is closed."""


class AdminClient(
    TopicOperations,
    TopicDescriptionOperations,
    VisibilityOperations,
    PartitionOperations,
    RecordOperations,
    TopicOffsetOperations,
    ClusterOperations,
    CapabilityOperations,
    QuorumOperations,
    LogDirOperations,
    ConfigOperations,
    ScramOperations,
    TokenOperations,
    AclOperations,
    QuotaOperations,
    QuotaConfigOperations,
    GroupListingOperations,
    GroupDescriptionOperations,
    StreamsGroupOperations,
    GroupOperations,
    GroupOffsetOperations,
    ShareGroupOffsetOperations,
    GroupLagOperations,
    OffsetResetOperations,
    TransactionOperations,
    ProducerOperations,
    HangingTransactionOperations,
):
    """Administers a Kafka cluster, for asyncio.

    Nothing is connected before the first call. A client belongs to the event loop and the process that it is first
    used in (RuntimeError in any other), and may be used by any number of tasks of the loop at once::

        async with AdminClient("localhost:9092") as admin:
            results = await admin.create_topics([NewTopic("orders", num_partitions=6)])
            results.all()

    Args:
        bootstrap_servers: brokers to begin with: ``host:port``, several separated by commas or as a list.
        bootstrap_controllers: controllers instead (KIP-919), for what they serve; exactly one of the two is given.
        tls: how to talk TLS; an ``ssl.SSLContext`` or what one is made of. None for plain text.
        credentials: how to log in (SASL), or a function that gives it, called for each login; None for no login.
        settings: timeouts and the like.

    Raises:
        ValueError: for none or both kinds of bootstrap addresses, or one that is no ``host:port``.
        TypeError: for an argument of another type than the annotation says. Every method raises it likewise, before
            anything is sent: also for a string where a collection is due, whose letters would be taken for names.
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
    ) -> None:
        settings = settings or AdminSettings()
        kind, nodes = _bootstrap(bootstrap_servers, bootstrap_controllers)
        pool = ConnectionPool(
            _connect(settings, tls, credentials),
            Backoff(settings.reconnect_backoff, settings.reconnect_backoff_maximum),
            settings.connect_timeout,
        )
        super().__init__(Cluster(nodes, kind, pool, settings))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self, grace: float = DEFAULT_GRACE) -> None:
        """Close all connections. New calls are refused at once, those that run have so many seconds to end.

        A call that needs longer ends with `ClosedError` for what is still open. Closing twice does no harm.
        """
        await self._calls.finish(grace)
        await self._cluster.close()


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
    settings: AdminSettings, tls: ssl.SSLContext | Tls | None, credentials: CredentialsSource | None
) -> Connect:
    """What connects to nodes the way the user wants it."""
    from kafkawire.admin.connection.channel import Channel  # noqa: PLC0415 slow to import, needed to connect
    from kafkawire.admin.connection.settings import ConnectionSettings  # noqa: PLC0415 the same

    connection_settings = ConnectionSettings(
        client_id=settings.client_id, setup_timeout=settings.connect_timeout, idle_timeout=settings.idle_timeout
    )

    def settings_for(node: Node) -> ConnectionSettings:
        return connection_settings.expecting(node) if settings.cluster_check else connection_settings

    unexplained: set[str] = set()
    """Addresses that did not show why they cannot be connected to: each is asked in other ways only once."""

    async def connect(node: Node, deadline: float) -> Channel:
        try:
            context = tls.context() if isinstance(tls, Tls) else tls
        except ValueError as error:
            raise ConnectionImpossibleError(f"{node.address}: TLS: {error}") from error
        try:
            channel = await Channel.connect(
                node.host, node.port, settings_for(node), credentials, context,
                deadline=deadline, ask_again=node.address not in unexplained,
            )  # fmt: skip
        except ConnectionFailedError as error:
            if error.retriable and not isinstance(error.__cause__, ConnectionRefusedError):
                unexplained.add(node.address)
            raise
        unexplained.discard(node.address)
        return channel

    return connect
