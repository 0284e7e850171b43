"""The admin client for programs without asyncio: the same methods, which give their results when they return.

A thread of its own runs the event loop. The methods are those of `AdminClient`, wrapped one by one, so that names,
arguments, types and documentation are the same.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import ssl
import threading
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import CancelledError
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from kafkawire.admin.client import DEFAULT_GRACE, AdminClient
from kafkawire.admin.connection.sasl import CredentialsSource
from kafkawire.admin.connection.tls import Tls
from kafkawire.admin.running_calls import MADE_BEFORE_FORK
from kafkawire.admin.settings import AdminSettings
from kafkawire.arguments.checks import parameters_of
from kafkawire.wire.kafka_errors import ClosedError

P = ParamSpec("P")
T = TypeVar("T")


def blocking(
    method: Callable[Concatenate[AdminClient, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[BlockingAdminClient, P], T]:
    """A method of the asyncio client as one that blocks. The caller's thread checks and iterates the arguments."""
    unchecked: Callable[..., Coroutine[Any, Any, T]] = inspect.unwrap(method)
    parameters = parameters_of(method)

    @functools.wraps(method)
    def call(self: BlockingAdminClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        given = parameters.checked((self._client, *args), kwargs)
        return self._wait_for(functools.partial(unchecked, *given.args, **given.kwargs))

    return call


class BlockingAdminClient:
    """Administers a Kafka cluster, from any thread.

    ::

        with BlockingAdminClient("localhost:9092") as admin:
            admin.create_topics([NewTopic("orders", num_partitions=6)]).all()

    Args:
        bootstrap_servers, bootstrap_controllers, tls, credentials, settings: as for `AdminClient`.

    Raises:
        ValueError, TypeError: as `AdminClient`. Every method raises RuntimeError where an event loop is running: there
            it would stop all other tasks, and `AdminClient` is to be used; and in a process that was forked after the
            client was made: make one there.
    """

    def __init__(
        self,
        bootstrap_servers: str | Iterable[str] | None = None,
        *,
        bootstrap_controllers: str | Iterable[str] | None = None,
        tls: ssl.SSLContext | Tls | None = None,
        credentials: CredentialsSource | None = None,
        settings: AdminSettings | None = None,
    ) -> None:
        self._client = AdminClient(
            bootstrap_servers,
            bootstrap_controllers=bootstrap_controllers,
            tls=tls,
            credentials=credentials,
            settings=settings,
        )
        self._process = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._is_closed = False
        self._beginning = threading.Lock()
        # A daemon: a program that forgets to close its client still ends.
        self._thread = threading.Thread(target=_run, args=(self._loop,), name="kafkawire admin client", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self, grace: float = DEFAULT_GRACE) -> None:
        """Close all connections and end the thread; see `AdminClient.close`.

        In a process that was forked from the client's own, nothing is done: the connections are those of the other.
        """
        if os.getpid() != self._process:
            return
        _refuse_event_loop()
        with self._beginning:
            is_first, self._is_closed = not self._is_closed, True
            closing = asyncio.run_coroutine_threadsafe(self._client.close(grace), self._loop) if is_first else None
        try:
            if closing is not None:
                closing.result()
        finally:
            if closing is not None:
                self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()

    def _wait_for(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if os.getpid() != self._process:
            raise RuntimeError(MADE_BEFORE_FORK)  # the thread that would answer is not in this process
        _refuse_event_loop()
        with self._beginning:
            if self._is_closed:
                raise ClosedError("the client is closed")
            future = asyncio.run_coroutine_threadsafe(work(), self._loop)
        try:
            return future.result()
        except CancelledError:
            raise ClosedError("the client was closed during the call") from None
        except BaseException:
            future.cancel()  # Ctrl-C: nobody waits for the call any more
            raise

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


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Run the event loop until it is stopped, then end what is left in it: nobody waits for ever."""
    loop.run_forever()
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


def _refuse_event_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError(
        "BlockingAdminClient would stop the event loop that runs in this thread; use AdminClient and await its methods"
    )
