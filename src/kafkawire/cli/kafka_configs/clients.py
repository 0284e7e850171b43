"""The client that a command line of another tool asks for, and what is said when a call fails."""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec.structs import replace

from kafkawire.admin import AdminSettings, BlockingAdminClient
from kafkawire.admin.client_properties import client_arguments
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.wire.kafka_errors import ApiError, KafkaError


def client_of(
    properties: str | os.PathLike[str] | Mapping[str, str],
    *,
    servers: str | None = None,
    controllers: str | None = None,
    proposals: bool = False,
) -> BlockingAdminClient:
    """A client with the properties of a Java client.

    Args:
        properties: the path of a file, or names and values.
        servers: brokers to ask first.
        controllers: controllers to ask first.
        proposals: whether it may use APIs of proposals where a broker offers them.

    Raises:
        OSError: the file cannot be read.
        ValueError: a property or an address is malformed.
    """
    given = client_arguments(properties, bootstrap_servers=servers, bootstrap_controllers=controllers)
    settings = replace(given.settings or AdminSettings(), proposals=proposals)
    return BlockingAdminClient(
        given.bootstrap_servers, bootstrap_controllers=given.bootstrap_controllers, tls=given.tls,
        credentials=given.credentials, settings=settings,
    )  # fmt: skip


def check_live(client: BlockingAdminClient, broker: str) -> None:
    """Check that a broker is in the cluster: a call to one that is not would wait until it times out.

    Raises:
        CommandError: it is not.
    """
    live = sorted(each.node.id for each in client.describe_cluster().nodes)
    if int(broker) not in live:
        listed = ", ".join(map(str, live))
        raise CommandError(f"broker {broker} is not in the cluster; live brokers: {listed}", ExitCode.FAILED)


def failed(whom: str, error: KafkaError) -> CommandError:
    """A failed call as a message.

    Args:
        whom: whose configs were described or altered.
        error: of the call.
    """
    if not isinstance(error, ApiError):
        return CommandError(str(error))
    return CommandError(f"{whom}: {error.message} ({error.NAME})" if error.message else f"{whom}: {error.NAME}")
