"""The embedded broker beside blocking tests: in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager

from tests.interop.broker.same_answers.talk import Side

from kafkawire.broker import EmbeddedBroker

_SECONDS = 20.0
_SASL_LISTENER = "SASL_PLAINTEXT"


@contextmanager
def embedded_side(properties: Mapping[str, str]) -> Iterator[Side]:
    """Start an embedded broker; it is stopped when the context ends."""
    ready: Future[Side] = Future()
    loop = asyncio.new_event_loop()
    stopped = asyncio.Event()

    async def serve() -> None:
        try:
            async with EmbeddedBroker(properties) as broker:
                sasl_port = 0
                if any(listener.startswith(_SASL_LISTENER) for listener in properties.get("listeners", "").split(",")):
                    sasl_port = int(broker.address(_SASL_LISTENER).rpartition(":")[2])
                ready.set_result(Side("the embedded broker", broker.host, broker.port, sasl_port))
                await stopped.wait()
        except BaseException as error:
            if not ready.done():
                ready.set_exception(error)
            raise

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        yield ready.result(_SECONDS)
    finally:
        if thread.is_alive():
            loop.call_soon_threadsafe(stopped.set)
        thread.join(_SECONDS)
        loop.close()
