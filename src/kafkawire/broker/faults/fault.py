"""One fault: what it does, and to which requests."""

from __future__ import annotations

from collections.abc import Callable, Collection
from types import TracebackType
from typing import Final, NamedTuple, Self, TypedDict, Unpack

from kafkawire.broker.faults.actions import Action
from kafkawire.broker.faults.parts import About, Parts, TopicIds, parts_of
from kafkawire.broker.requests import Call
from kafkawire.near_names import did_you_mean
from kafkawire.protocol.api_table import ApiKey
from kafkawire.wire import Message

_TO_CONNECT: Final = frozenset({ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE})
_ANYTHING: Final = About()
_LIMITS: Final = "there are versions, client_id, topic, partition, group and times"


class FaultLimits(TypedDict, total=False):
    """The requests to which a fault applies; without limits, to all until it is removed.

    Attributes:
        versions: the versions of requests.
        client_id: the client id of requests.
        topic: the name of a topic that requests name, by name or id.
        partition: the number of a partition that requests name, of that topic or of any.
        group: the id of a group that requests name.
        times: the number of requests.
    """

    versions: Collection[int] | None
    client_id: str | None
    topic: str | None
    partition: int | None
    group: str | None
    times: int | None


class Occasion(NamedTuple):
    """A request to which faults may apply.

    Attributes:
        request: the request.
        call: its version and client.
        topic_ids: finds topics.
    """

    request: Message
    call: Call
    topic_ids: TopicIds


class Fault:
    """A fault that was set; used as a context manager, it is removed at the end.

    Attributes:
        hits: to how many requests it was applied.
    """

    def __init__(
        self,
        action: Action,
        keys: frozenset[int],
        remove: Callable[[Fault], None],
        **limits: Unpack[FaultLimits],
    ) -> None:
        for name in limits.keys() - FaultLimits.__optional_keys__:
            hint = did_you_mean(name, FaultLimits.__optional_keys__)
            raise TypeError(f"a fault has no limit {name!r}; {hint or _LIMITS}")
        times = limits.get("times")
        if times is not None and times < 1:
            raise ValueError(f"times is {times}: pass 1 or more, or None to apply the fault until it is removed")
        self.action = action
        self.hits: int = 0
        self._keys = keys
        self._versions = limits.get("versions")
        self._client_id = limits.get("client_id")
        self._about = About(limits.get("topic"), None, limits.get("partition"), limits.get("group"))
        self._times = times
        self._remove = remove

    def __repr__(self) -> str:
        apis = ", ".join(ApiKey(key).name for key in sorted(self._keys)) or "all APIs"
        return f"<{self.action!r} for {apis}, {self.hits} hits>"

    def remove(self) -> None:
        """Stop applying it; nothing happens if it is no longer applied.

        Example:
            ```python
            from kafkawire.broker import ThreadedBroker
            from kafkawire.protocol import MetadataRequest

            with ThreadedBroker() as broker:
                slow = broker.faults.delay(MetadataRequest, seconds=2.0)
                slow.remove()  # `with` does the same
            ```
        """
        self._remove(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    def concerns(self, key: int) -> bool:
        """Whether it applies to an API; without named APIs, to all except those with which clients connect."""
        return key in self._keys if self._keys else key not in _TO_CONNECT

    def parts(self, occasion: Occasion) -> Parts:
        """The part of a request to which it applies, which is None if there is none, and the rest."""
        request, call, topic_ids = occasion
        if (
            not self.concerns(call.api_key)
            or (self._versions is not None and call.version not in self._versions)
            or (self._client_id is not None and call.client_id != self._client_id)
        ):
            return Parts(None, request)
        if self._about == _ANYTHING:
            return Parts(request, None)
        topic = self._about.topic
        return parts_of(request, self._about._replace(topic_id=None if topic is None else topic_ids(topic)))

    def hit(self) -> None:
        """Count a request; after the last of its times it is removed."""
        self.hits += 1
        if self._times is not None and self.hits >= self._times:
            self.remove()
