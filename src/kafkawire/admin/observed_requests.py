"""What an observer of a client sees of each request: names, sizes and times, and never what is in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import msgspec


class ObservedRequest(msgspec.Struct, frozen=True):
    """A request that has ended: answered, failed or given up.

    Attributes:
        api: Kafka's name of the API, such as ``CreateTopics``; requests of the login are among them.
        version: of the request and its answer.
        address: ``host:port`` that the connection was made to.
        node_id: the node that the client expects there; None at a bootstrap address.
        sent_bytes: size of the request.
        received_bytes: size of the answer; 0 if there is none.
        seconds: from the request to its end.
        errors: the names of Kafka's errors in the answer, each once; without an answer the class of the error that
            ended the connection, or ``GivenUp`` if the client waits no longer.

    Example:
        ```python
        def show(request: ObservedRequest) -> None:
            print(request.api, request.version, request.address, f"{request.seconds:.3f} s", *request.errors)


        with BlockingAdminClient("localhost:9092", observer=show) as admin:
            admin.list_topics()
        ```
    """

    api: str
    version: int
    address: str
    node_id: int | None
    sent_bytes: int
    received_bytes: int
    seconds: float
    errors: tuple[str, ...]


Observer: TypeAlias = Callable[[ObservedRequest], None]
"""Called for each request when it has ended, in the thread of the client's event loop. It must not block.

What it raises is logged, and disturbs no request.
"""
