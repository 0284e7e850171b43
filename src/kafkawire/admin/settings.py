"""The settings of an admin client."""

from __future__ import annotations

import re

import msgspec

from kafkawire.arguments.fields import check_fields
from kafkawire.version import __version__

DEFAULT_CLIENT_ID = "kafkawire-admin"
SOFTWARE_NAME = "kafkawire"
SOFTWARE_VERSION = re.sub("[^a-zA-Z0-9.-]", "-", __version__)
"""The version of this package, in the letters that brokers accept."""


class AdminSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Times are in seconds; the defaults are those of Kafka's own admin client where it has the setting.

    Attributes:
        client_id: the client id in logs and quotas of the brokers.
        request_timeout: how long one request may take before it is tried elsewhere (``request.timeout.ms``).
        call_timeout: how long a whole call may take, lookups and retries included (``default.api.timeout.ms``).
        retry_backoff, retry_backoff_maximum: pause before a retry, doubled each time, a fifth more or less.
        reconnect_backoff, reconnect_backoff_maximum: the same before a node is connected to again.
        connect_timeout: how long setting up one connection may take, login included.
        metadata_maximum_age: after how long the list of nodes is refreshed (``metadata.max.age.ms``).
        idle_timeout: after how long an unused connection is closed (``connections.max.idle.ms``).
        requests_in_flight: how many requests of one call may be on their way to one node together.
        retry_throttled: whether items that a quota refused (THROTTLING_QUOTA_EXCEEDED) are sent again when the
            broker's waiting time is over.
        cluster_check: whether new connections name the node and the cluster that they should lead to, so that the
            broker refuses a connection that leads elsewhere (``metadata.cluster.check.enable``, KIP-1242). Brokers
            before 4.4 do not check.
        proposals: whether versions that are not final may be used where a broker offers them (KIP-888, KIP-248).

    Raises:
        TypeError: if a value is of another type.
        ValueError: if a time or a number is not positive, or ``request_timeout`` is longer than ``call_timeout``.

    Example:
        ```python
        settings = AdminSettings(client_id="deployment", call_timeout=10.0, request_timeout=5.0)
        async with AdminClient("localhost:9092", settings=settings) as admin:
            print(sorted(await admin.list_topics()))
        ```
    """

    client_id: str = DEFAULT_CLIENT_ID
    request_timeout: float = 30.0
    call_timeout: float = 60.0
    retry_backoff: float = 0.1
    retry_backoff_maximum: float = 1.0
    reconnect_backoff: float = 0.05
    reconnect_backoff_maximum: float = 1.0
    connect_timeout: float = 10.0
    metadata_maximum_age: float = 300.0
    idle_timeout: float = 300.0
    requests_in_flight: int = 16
    retry_throttled: bool = True
    cluster_check: bool = True
    proposals: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        for name in (
            "request_timeout", "call_timeout", "retry_backoff", "retry_backoff_maximum", "reconnect_backoff",
            "reconnect_backoff_maximum", "connect_timeout", "metadata_maximum_age", "idle_timeout",
            "requests_in_flight",
        ):  # fmt: skip
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be above 0, not {getattr(self, name)}")
        if self.request_timeout > self.call_timeout:
            raise ValueError(
                f"request_timeout ({self.request_timeout} s) is longer than call_timeout ({self.call_timeout} s): pass "
                f"request_timeout={self.call_timeout} too, or a longer call_timeout"
            )
