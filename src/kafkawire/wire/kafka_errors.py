"""What goes wrong between a client and a cluster.

::

    KafkaError
     ├─ ApiError                   a broker answered with an error code; the generated package has a class for each code
     │   └─ UnrecognizedCodeError  a code that the table lacks, from a newer broker
     ├─ DisconnectedError          the connection ended before the answer came; also a ConnectionError
     ├─ ConnectionFailedError      no connection could be made; also a ConnectionError
     │   ├─ ConnectionImpossibleError  none will be, until a setting or a certificate is changed
     │   └─ UnresolvedHostError        the name of the host does not exist
     ├─ OperationTimeoutError      the deadline of a call passed; also a TimeoutError
     ├─ BrokenStreamError          a broker sent bytes that make no sense
     └─ ClosedError                the client is closed

All of them can be pickled and copied; attributes, notes and the cause survive both.
"""

from __future__ import annotations

import re
from typing import TypeVar

_LONGEST_ITEM = 200
_LONGEST_BEFORE_THE_TEXT = 60
_QUOTES = "'\""

_Error = TypeVar("_Error", bound="KafkaError")


class KafkaError(Exception):
    """Base of everything that a call to a cluster raises.

    Attributes:
        message: what was wrong, for people. Holds no secrets, but may be text from a broker: do not compare it.
        retriable: whether the same call may succeed later; an attribute of the class.
        node: id of the broker or controller that the last attempt went to, or None if there was none.
        attempts: how many requests were sent for it; 0 if none.
        throttle_ms: milliseconds that the broker throttles the client for; 0 if none.
        outcome_unknown: whether an attempt to change something ended without an answer, so that the change may be there
            despite this error.
        item: the failed item, of a call for many: the name of the topic, the ACL ... None if the call has no items.
    """

    retriable: bool = False
    item: object = None

    def __init__(
        self,
        message: str | None = None,
        *,
        node: int | None = None,
        attempts: int = 0,
        throttle_ms: int = 0,
        outcome_unknown: bool = False,
    ) -> None:
        self.message: str = message or ""
        self.node = node
        self.attempts = attempts
        self.throttle_ms = throttle_ms
        self.outcome_unknown = outcome_unknown
        super().__init__(self.message)

    def __str__(self) -> str:
        text = _printable(self.message)
        item = "" if _names(text, self.item) else item_in_words(self.item)
        is_short = len(item) <= _LONGEST_BEFORE_THE_TEXT
        head = ": ".join(filter(None, (self._name(), item if is_short else "", text))) or type(self).__name__
        circumstances = ", ".join([*self._circumstances(), *([] if is_short else [f"item {item}"])])
        return f"{head} [{circumstances}]" if circumstances else head

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (type(self), self.args, self.__cause__), self.__dict__

    def _name(self) -> str:
        return ""

    def _circumstances(self) -> list[str]:
        found = []
        if self.node is not None:
            found.append(f"node {self.node}")
        if self.attempts:
            found.append(f"attempt {self.attempts}")
        if self.throttle_ms:
            found.append(f"throttled for {self.throttle_ms} ms")
        if self.outcome_unknown:
            found.append("an attempt had an unknown outcome")
        return found


class ApiError(KafkaError):
    """An error code that a broker answered, or that the client gives before sending, since a broker would.

    Attributes:
        code: the number on the wire.
        NAME: Kafka's constant, ``TOPIC_ALREADY_EXISTS``.
        retriable: as Kafka's table of error codes says.
        invalid_metadata: whether cluster metadata must be fetched before the retry.
    """

    code: int
    NAME: str
    invalid_metadata: bool = False

    def _name(self) -> str:
        return f"{self.NAME} ({self.code})"


class UnrecognizedCodeError(ApiError):
    """A code that the table lacks: it comes from a newer broker and is treated as final.

    Attributes:
        code: the number on the wire.
    """

    NAME = "UNRECOGNIZED_CODE"

    def __init__(
        self,
        code: int,
        message: str | None = None,
        *,
        node: int | None = None,
        attempts: int = 0,
        throttle_ms: int = 0,
        outcome_unknown: bool = False,
    ) -> None:
        self.code = code
        super().__init__(
            message, node=node, attempts=attempts, throttle_ms=throttle_ms, outcome_unknown=outcome_unknown
        )


class DisconnectedError(KafkaError, ConnectionError):
    """The connection ended before the answer came."""

    retriable = True


class ConnectionFailedError(KafkaError, ConnectionError):
    """No connection could be made: refused, unknown host, TLS handshake. The reason is the cause."""

    retriable = True


class ConnectionImpossibleError(ConnectionFailedError):
    """No connection can be made, and another try would end in the same way.

    The certificate of one side is refused by the other, the listener wants TLS or has none, what listens there is no
    Kafka, or none of the bootstrap servers has a name that exists.
    """

    retriable = False


class UnresolvedHostError(ConnectionFailedError):
    """The name of a host does not exist. That of a broker that restarts may be back soon, so it is tried again."""


class OperationTimeoutError(KafkaError, TimeoutError):
    """The deadline of a call passed. The last thing that went wrong before is the cause.

    Attributes:
        operation: the method of the client, ``create_topics``.
        waited: seconds from the start of the step of the call that did not end; None if they are not known.
    """

    retriable = True

    def __init__(
        self,
        operation: str,
        message: str | None = None,
        *,
        node: int | None = None,
        attempts: int = 0,
        throttle_ms: int = 0,
        outcome_unknown: bool = False,
        waited: float | None = None,
    ) -> None:
        self.operation = operation
        self.waited = waited
        super().__init__(
            message, node=node, attempts=attempts, throttle_ms=throttle_ms, outcome_unknown=outcome_unknown
        )

    def _name(self) -> str:
        after = "" if self.waited is None else f" after {round(self.waited, 1):g} s"
        return f"{self.operation} timed out{after}"

    def _circumstances(self) -> list[str]:
        cause = self.__cause__
        found = super()._circumstances()
        return found if cause is None else [*found, f"last cause: {type(cause).__name__}: {_printable(str(cause))}"]


class BrokenStreamError(KafkaError):
    """A broker sent bytes that make no sense, so the connection is closed."""


class ClosedError(KafkaError):
    """The client is closed or was closed while the call ran."""


def _restore(cls: type[_Error], args: tuple[object, ...], cause: BaseException | None) -> _Error:
    error = cls.__new__(cls)
    error.args = args
    error.__cause__ = cause
    return error


def _names(text: str, item: object) -> bool:
    """Whether a text names an item as a word of its own."""
    words = item_in_words(item).strip(_QUOTES)
    return bool(words) and re.search(rf"(?<![\w.-]){re.escape(words)}(?![\w.-])", text) is not None


def item_in_words(item: object) -> str:
    """An item of a call for an error; empty where it is a number, which the error has as its node."""
    if item is None or isinstance(item, int):
        return ""
    if isinstance(item, tuple) and type(item) is tuple:
        words = ", ".join(item_in_words(part) or str(part) for part in item)
    else:
        words = repr(item) if isinstance(item, str) else _printable(str(item))
    return words if len(words) <= _LONGEST_ITEM else f"{words[:_LONGEST_ITEM]}..."


def _printable(text: str) -> str:
    """Text from a broker with control characters escaped: they could change the terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
