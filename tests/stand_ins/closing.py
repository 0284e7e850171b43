"""The end of a server after that of its connections, also of those in a TLS handshake, which have no handler yet."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

_SECONDS = 1.0


@contextlib.asynccontextmanager
async def closing(server: asyncio.Server) -> AsyncIterator[None]:
    """Listen no more; end the connections in the context. Its end waits a moment for those that end by themselves.

    ``wait_closed`` waits for connections from Python 3.12 on; before, it does if it is called before ``close``.
    """
    closed = asyncio.ensure_future(server.wait_closed())
    await asyncio.sleep(0)  # it waits now
    server.close()
    yield
    await asyncio.wait([closed], timeout=_SECONDS)
    closed.cancel()
