"""The client that a command line of another tool asks for."""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec.structs import replace

from kafkawire.admin import AdminSettings, BlockingAdminClient
from kafkawire.admin.client_properties import client_arguments


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
