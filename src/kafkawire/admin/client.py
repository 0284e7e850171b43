"""The admin clients: all families of operations over one cluster, for asyncio and for programs without it."""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable, Coroutine, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from kafkawire.admin.blocking import DEFAULT_GRACE, BlockingClient, blocking
from kafkawire.admin.connection.sasl.credentials import CredentialsSource
from kafkawire.admin.connection.tls import Tls
from kafkawire.admin.observed_requests import Observer
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
from kafkawire.admin.operations.scram_users import ScramOperations
from kafkawire.admin.operations.share_group_offsets import ShareGroupOffsetOperations
from kafkawire.admin.operations.streams_groups import StreamsGroupOperations
from kafkawire.admin.operations.tokens import TokenOperations
from kafkawire.admin.operations.topic_descriptions import TopicDescriptionOperations
from kafkawire.admin.operations.topic_offsets import TopicOffsetOperations
from kafkawire.admin.operations.topics import TopicOperations
from kafkawire.admin.operations.transactions import TransactionOperations
from kafkawire.admin.operations.visibility import VisibilityOperations
from kafkawire.admin.settings import AdminSettings
from kafkawire.arguments.checks import checked
from kafkawire.model.nodes import Node, bootstrap_nodes
from kafkawire.wire.kafka_errors import ConnectionFailedError, ConnectionImpossibleError

if TYPE_CHECKING:
    from kafkawire.admin.cluster import Kind
    from kafkawire.admin.connection.channel import Channel
    from kafkawire.admin.pool import Connect

T = TypeVar("T")


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


class BlockingAdminClient(BlockingClient):
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

    create_topics = blocking(AdminClient.create_topics)
    delete_topics = blocking(AdminClient.delete_topics)
    create_partitions = blocking(AdminClient.create_partitions)
    list_topics = blocking(AdminClient.list_topics)
    describe_topics = blocking(AdminClient.describe_topics)
    wait_for_topics = blocking(AdminClient.wait_for_topics)
    elect_leaders = blocking(AdminClient.elect_leaders)
    alter_partition_reassignments = blocking(AdminClient.alter_partition_reassignments)
    list_partition_reassignments = blocking(AdminClient.list_partition_reassignments)
    delete_records = blocking(AdminClient.delete_records)
    list_offsets = blocking(AdminClient.list_offsets)
    list_topic_offsets = blocking(AdminClient.list_topic_offsets)
    describe_cluster = blocking(AdminClient.describe_cluster)
    capabilities = blocking(AdminClient.capabilities)
    describe_api_versions = blocking(AdminClient.describe_api_versions)
    describe_features = blocking(AdminClient.describe_features)
    update_features = blocking(AdminClient.update_features)
    unregister_broker = blocking(AdminClient.unregister_broker)
    unregister_controller = blocking(AdminClient.unregister_controller)
    client_instance_id = blocking(AdminClient.client_instance_id)
    describe_metadata_quorum = blocking(AdminClient.describe_metadata_quorum)
    add_raft_voter = blocking(AdminClient.add_raft_voter)
    remove_raft_voter = blocking(AdminClient.remove_raft_voter)
    describe_log_dirs = blocking(AdminClient.describe_log_dirs)
    alter_replica_log_dirs = blocking(AdminClient.alter_replica_log_dirs)
    describe_replica_log_dirs = blocking(AdminClient.describe_replica_log_dirs)
    describe_configs = blocking(AdminClient.describe_configs)
    incremental_alter_configs = blocking(AdminClient.incremental_alter_configs)
    alter_configs = blocking(AdminClient.alter_configs)
    list_config_resources = blocking(AdminClient.list_config_resources)
    describe_user_scram_credentials = blocking(AdminClient.describe_user_scram_credentials)
    alter_user_scram_credentials = blocking(AdminClient.alter_user_scram_credentials)
    create_delegation_token = blocking(AdminClient.create_delegation_token)
    renew_delegation_token = blocking(AdminClient.renew_delegation_token)
    expire_delegation_token = blocking(AdminClient.expire_delegation_token)
    describe_delegation_token = blocking(AdminClient.describe_delegation_token)
    describe_acls = blocking(AdminClient.describe_acls)
    create_acls = blocking(AdminClient.create_acls)
    delete_acls = blocking(AdminClient.delete_acls)
    wait_for_acls = blocking(AdminClient.wait_for_acls)
    describe_client_quotas = blocking(AdminClient.describe_client_quotas)
    alter_client_quotas = blocking(AdminClient.alter_client_quotas)
    wait_for_client_quotas = blocking(AdminClient.wait_for_client_quotas)
    list_quotas = blocking(AdminClient.list_quotas)
    describe_quotas = blocking(AdminClient.describe_quotas)
    alter_quotas = blocking(AdminClient.alter_quotas)
    list_groups = blocking(AdminClient.list_groups)
    list_consumer_groups = blocking(AdminClient.list_consumer_groups)
    describe_consumer_groups = blocking(AdminClient.describe_consumer_groups)
    describe_classic_groups = blocking(AdminClient.describe_classic_groups)
    describe_share_groups = blocking(AdminClient.describe_share_groups)
    describe_streams_groups = blocking(AdminClient.describe_streams_groups)
    delete_consumer_groups = blocking(AdminClient.delete_consumer_groups)
    delete_share_groups = blocking(AdminClient.delete_share_groups)
    delete_streams_groups = blocking(AdminClient.delete_streams_groups)
    remove_members_from_consumer_group = blocking(AdminClient.remove_members_from_consumer_group)
    list_consumer_group_offsets = blocking(AdminClient.list_consumer_group_offsets)
    list_streams_group_offsets = blocking(AdminClient.list_streams_group_offsets)
    alter_consumer_group_offsets = blocking(AdminClient.alter_consumer_group_offsets)
    alter_streams_group_offsets = blocking(AdminClient.alter_streams_group_offsets)
    delete_consumer_group_offsets = blocking(AdminClient.delete_consumer_group_offsets)
    delete_streams_group_offsets = blocking(AdminClient.delete_streams_group_offsets)
    list_share_group_offsets = blocking(AdminClient.list_share_group_offsets)
    alter_share_group_offsets = blocking(AdminClient.alter_share_group_offsets)
    delete_share_group_offsets = blocking(AdminClient.delete_share_group_offsets)
    group_lag = blocking(AdminClient.group_lag)
    reset_offsets = blocking(AdminClient.reset_offsets)
    list_transactions = blocking(AdminClient.list_transactions)
    describe_transactions = blocking(AdminClient.describe_transactions)
    fence_producers = blocking(AdminClient.fence_producers)
    force_terminate_transaction = blocking(AdminClient.force_terminate_transaction)
    describe_producers = blocking(AdminClient.describe_producers)
    abort_transaction = blocking(AdminClient.abort_transaction)
    find_hanging_transactions = blocking(AdminClient.find_hanging_transactions)


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
