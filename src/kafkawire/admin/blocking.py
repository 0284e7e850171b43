"""Calls of an asyncio client that block. A thread of its own runs the event loop, whatever the caller's thread runs."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import os
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from types import MethodType, TracebackType
from typing import Any, Concatenate, ParamSpec, Protocol, Self, TypeAlias, TypeVar, cast

from kafkawire.admin.running_calls import MADE_BEFORE_FORK
from kafkawire.arguments.checks import parameters_of
from kafkawire.wire.kafka_errors import ClosedError, OperationTimeoutError

P = ParamSpec("P")
T = TypeVar("T")
C = TypeVar("C")

_LookUp: TypeAlias = Callable[[], Callable[..., Coroutine[Any, Any, Any]]]

DEFAULT_GRACE = 5.0
"""Seconds that running calls have to end when a client is closed."""

_FROM_ITS_OWN_THREAD = (
    "a function that the client calls, such as progress, cannot make a call of the same client: the call would wait "
    "for itself; use another client there"
)
_LOOP_WAS_STOPPED = (
    "an event loop runs in this thread, and stood still during the call: a broker that runs in it, such as an "
    "EmbeddedBroker, cannot answer; use AdminClient, or a ThreadedBroker"
)


class Closable(Protocol):
    """An asyncio client."""

    async def close(self, grace: float) -> None:
        """Close it."""


def blocking(
    method: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[BlockingClient, P], T]:
    """A method of the asyncio client as one that blocks, in the body of a class. It is made when it is first used.

    Args:
        method: of a class that is `not_yet` used.
    """
    return cast("Callable[Concatenate[BlockingClient, P], T]", _Blocking(cast(_LookUp, method)))


def not_yet(client: type[C]) -> type[C]:
    """A class whose methods are looked up later: that imports them."""
    return cast("type[C]", _LaterMethods(client))


class _LaterMethods:
    def __init__(self, client: type) -> None:
        self._client = client

    def __getattr__(self, name: str) -> _LookUp:
        return functools.partial(getattr, self._client, name)


class _Blocking:
    """A method that is not made yet; the method takes its place."""

    def __init__(self, look_up: _LookUp) -> None:
        self._look_up = look_up

    def __set_name__(self, owner: type, name: str) -> None:
        self._place = owner, name

    def __get__(self, client: BlockingClient | None, cls: type | None = None) -> object:
        call = _waiting_for(self._look_up())
        setattr(*self._place, call)
        return call if client is None else MethodType(call, client)


def _waiting_for(method: Callable[..., Coroutine[Any, Any, T]]) -> Callable[..., T]:
    """A method that blocks. The caller's thread checks and iterates the arguments."""
    unchecked: Callable[..., Coroutine[Any, Any, T]] = inspect.unwrap(method)
    parameters = parameters_of(method)

    @functools.wraps(method)
    def call(self: BlockingClient, /, *args: object, **kwargs: object) -> T:
        given = parameters.checked((self._client, *args), kwargs)
        return self._wait_for(functools.partial(unchecked, *given.args, **given.kwargs))

    return call


class BlockingClient:
    """Base of clients whose methods are `blocking` ones; ``_client`` is the asyncio client that makes the calls."""

    _client: Any

    def __init__(self) -> None:
        self._process = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._is_closed = False
        self._beginning = threading.Lock()
        # A daemon: a program that forgets to close its client still ends.
        self._thread = threading.Thread(target=_run, args=(self._loop,), name="kafkawire admin client", daemon=True)
        self._thread.start()
        self._finalizer = weakref.finalize(self, _forgotten, self._client, self._loop, self._process)
        self._finalizer.atexit = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self, grace: float = DEFAULT_GRACE) -> None:
        """Close all connections and end the thread; see `AdminClient.close`.

        In a process that was forked from the client's own, nothing is done: the connections are those of the other.

        Example:
            ```python
            admin = BlockingAdminClient("localhost:9092")
            try:
                print(admin.describe_cluster().cluster_id)
            finally:
                admin.close()  # `with` does the same
            ```
        """
        if os.getpid() != self._process:
            return
        self._refuse_own_thread()
        with self._beginning:
            is_first, self._is_closed = not self._is_closed, True
            closing = asyncio.run_coroutine_threadsafe(self._client.close(grace), self._loop) if is_first else None
        try:
            if closing is not None:
                closing.result()
        finally:
            if closing is not None:
                self._finalizer.detach()
                self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()

    def _wait_for(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if os.getpid() != self._process:
            raise RuntimeError(MADE_BEFORE_FORK)  # the thread that would answer is not in this process
        self._refuse_own_thread()
        call = _Call()
        try:
            return self._begun(call, work).result()
        except CancelledError:
            raise ClosedError("the client was closed during the call") from None
        except OperationTimeoutError as error:
            if _runs_a_loop():
                error.add_note(_LOOP_WAS_STOPPED)
            raise
        except BaseException:
            call.give_up(self._loop)  # Ctrl-C, perhaps before the future is known: no one waits for the call any more
            raise

    def _begun(self, call: _Call, work: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        with self._beginning:
            if self._is_closed:
                raise ClosedError("the client is closed")
            return asyncio.run_coroutine_threadsafe(call.run(work()), self._loop)

    def _refuse_own_thread(self) -> None:
        if threading.current_thread() is self._thread:
            raise RuntimeError(_FROM_ITS_OWN_THREAD)


class _Call:
    """A call that runs in the event loop of another thread."""

    def __init__(self) -> None:
        self._task: asyncio.Task[object] | None = None
        self._is_given_up = False

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Make the call.

        Raises:
            CancelledError: it was given up before.
        """
        self._task = asyncio.current_task()
        if self._is_given_up:
            work.close()
            raise asyncio.CancelledError
        return await work

    def give_up(self, loop: asyncio.AbstractEventLoop) -> None:
        """Cancel it, whether or not it has begun; a call that has ended stays as it is."""
        with contextlib.suppress(RuntimeError):  # the loop is closed, and the call has ended with it
            loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        self._is_given_up = True
        if self._task is not None:
            self._task.cancel()


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Run the event loop until it is stopped, then cancel the remaining tasks, so that no caller waits for ever."""
    loop.run_forever()
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


def _forgotten(client: Closable, loop: asyncio.AbstractEventLoop, process: int) -> None:
    """End the thread of a client that was dropped without being closed, and its connections."""
    if os.getpid() != process or loop.is_closed() or sys.is_finalizing():
        return

    async def end() -> None:
        try:
            await client.close(0)
        finally:
            loop.stop()

    warnings.warn("a BlockingAdminClient was not closed: use it in a with block", ResourceWarning, stacklevel=2)
    asyncio.run_coroutine_threadsafe(end(), loop)


def _runs_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
