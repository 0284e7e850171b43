"""What commands say on standard error while they talk to a cluster: warnings of the client, and traces of requests."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from kafkawire.admin import ObservedRequest
from kafkawire.cli.visible import visible


def print_trace(request: ObservedRequest) -> None:
    """Print one line for a request: API, version, node, bytes, time, errors."""
    node = "" if request.node_id is None else f" (node {request.node_id})"
    errors = "".join(f" {name}" for name in request.errors)
    print(
        f"> {request.api} v{request.version} {visible(request.address)}{node}: {request.sent_bytes:,} bytes sent, "
        f"{request.received_bytes:,} received, {request.seconds * 1000:.1f} ms{errors}",
        file=sys.stderr,
    )


class _Messages(logging.Handler):
    """Prints warnings in the form of all messages.

    Args:
        timeout: seconds of a call, which the message of a retry ends with.
    """

    def __init__(self, timeout: float) -> None:
        super().__init__(logging.WARNING)
        self._timeout = timeout

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        seconds = f", {self._timeout:g} s" if message.endswith("until the timeout of the call") else ""
        print(f"kafkawire: {visible(message)}{seconds}", file=sys.stderr)


@contextmanager
def warnings_as_messages(timeout: float) -> Iterator[None]:
    """Print what the client warns about, such as a broker that it tries to reach again.

    Args:
        timeout: seconds of a call.
    """
    logger = logging.getLogger("kafkawire.admin")
    handler, propagates = _Messages(timeout), logger.propagate
    logger.addHandler(handler)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagates
