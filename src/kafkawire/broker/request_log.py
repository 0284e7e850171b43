"""The requests that a broker has received last, with their responses: for tests of clients."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from typing import Final, Generic, NamedTuple, TypeVar

from kafkawire.broker.sessions import Session
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire import Message
from kafkawire.wire.message import Struct

R = TypeVar("R", bound=Message)

REQUESTS_KEPT: Final = 1_000
_BYTES_KEPT: Final = 4 << 20
"""The most bytes of all kept requests and responses, as frames; the last request is kept whatever its size."""

_ERRORS_SHOWN: Final = 3
_ERROR_CODE: Final = "error_code"


class ResponseError(NamedTuple):
    """An error code in a response.

    Attributes:
        path: the field, ``topics[0].error_code``.
        code: its number.
        message: the text beside it; None if there is none.
    """

    path: str
    code: int
    message: str | None

    def __str__(self) -> str:
        name = next((known.name for known in ErrorCode if known == self.code), "unknown")
        item, _, field = self.path.rpartition(".")
        place = item if field == _ERROR_CODE else self.path
        return ": ".join(text for text in (place, f"{name} ({self.code})", self.message) if text)


class ReceivedRequest(Struct, Generic[R], frozen=True, repr_omit_defaults=True):
    """A request that a broker has handled.

    Its ``repr`` is one line without the contents of the messages, which may be secret.

    Attributes:
        request: the message.
        version: of the request and of its response.
        client_id: from the request's header; empty if it has none.
        session: the client's principal, address and software.
        response: None if the client got none: Produce with acks 0, or the broker closed the connection.
    """

    request: R
    version: int
    client_id: str
    session: Session
    response: Message | None

    @property
    def errors(self) -> tuple[ResponseError, ...]:
        """The error codes in the response that are not 0, in the order of its fields."""
        return () if self.response is None else tuple(_errors(self.response, ""))

    def __repr__(self) -> str:
        return f"<{self}>"

    def __str__(self) -> str:
        client = self.client_id or "a client without an id"
        return f"{self.request.NAME} v{self.version} from {client}, {self.session.principal}: {self._outcome()}"

    def _outcome(self) -> str:
        if self.response is None:
            return "no response"
        errors = self.errors
        shown = "; ".join(map(str, errors[:_ERRORS_SHOWN])) or "no errors"
        more = len(errors) - _ERRORS_SHOWN
        return f"{shown}; and {more:,} more" if more > 0 else shown


class RequestLog:
    """The last requests of all clients, oldest first; any thread may read it while the broker runs.

    It has what reaches a handler: no logins, and no requests that the broker cannot read.

    Args:
        kept: how many requests; their frames have at most 4 MiB together.

    Example:
        ```python
        from kafkawire.admin import BlockingAdminClient, TopicPartition
        from kafkawire.broker import ThreadedBroker
        from kafkawire.protocol import OffsetCommitRequest

        with ThreadedBroker(topics=["orders"]) as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
            admin.alter_consumer_group_offsets("billing", {TopicPartition("orders", 0): 0}).all()
            commits = broker.requests.of(OffsetCommitRequest)
        assert commits[-1].request.group_id == "billing"
        assert not commits[-1].errors
        ```
    """

    def __init__(self, kept: int = REQUESTS_KEPT) -> None:
        self._kept = kept
        self._lock = threading.Lock()
        self._requests: deque[tuple[ReceivedRequest[Message], int]] = deque()
        self._bytes = 0

    def add(self, received: ReceivedRequest[Message], size: int) -> None:
        """Append a request; the oldest ones make room.

        Args:
            received: the request.
            size: bytes of its frame and of the response's.
        """
        if not self._kept:
            return
        with self._lock:
            self._requests.append((received, size))
            self._bytes += size
            while len(self._requests) > self._kept or (self._bytes > _BYTES_KEPT and len(self._requests) > 1):
                self._bytes -= self._requests.popleft()[1]

    def of(self, request: type[R]) -> list[ReceivedRequest[R]]:
        """The requests of one class, oldest first.

        Raises:
            TypeError: it is not the class of a message.
        """
        check_message_class(request)
        return [each for each in self if isinstance(each.request, request)]  # type: ignore[misc]

    def clear(self) -> None:
        """Forget all requests."""
        with self._lock:
            self._requests.clear()
            self._bytes = 0

    def __iter__(self) -> Iterator[ReceivedRequest[Message]]:
        with self._lock:
            requests = [received for received, _ in self._requests]
        return iter(requests)

    def __len__(self) -> int:
        return len(self._requests)

    def __repr__(self) -> str:
        return f"<{len(self)} requests>"


def check_message_class(value: object) -> None:
    """Refuse what is not the class of a message, such as its name.

    Raises:
        TypeError: it is something else.
    """
    if not (isinstance(value, type) and issubclass(value, Message)):
        raise TypeError(f"expected the class of a request, got {value!r}; write it as CreateTopicsRequest, unquoted")


def _errors(value: object, path: str) -> Iterator[ResponseError]:
    """The error codes of a message or struct and all inside it, in the order of the fields."""
    if isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from _errors(item, f"{path}[{index}]")
    elif isinstance(value, Struct):
        for name in value.__struct_fields__:
            content = getattr(value, name)
            place = f"{path}.{name}" if path else name
            if name.endswith(_ERROR_CODE) and isinstance(content, int):
                if content:
                    yield ResponseError(place, content, _message_beside(value, name))
            else:
                yield from _errors(content, place)


def _message_beside(struct: Struct, name: str) -> str | None:
    message = getattr(struct, name.removesuffix("code") + "message", None)
    return message if isinstance(message, str) else None
