"""Faults that a seed decides: the same seed decides the same about the same requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from random import Random
from typing import Final

from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.message import Struct

_MOST_COUNTED: Final = 10_000
"""Clients and APIs whose requests are counted apart; more share one count, as clients make up their ids."""

_COORDINATOR: Final = (
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
)
_CONTROLLER: Final = (ErrorCode.NOT_CONTROLLER, ErrorCode.REQUEST_TIMED_OUT)
_LEADER: Final = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.KAFKA_STORAGE_ERROR)

RETRIABLE: Final[Mapping[int, Sequence[ErrorCode]]] = {
    ApiKey.PRODUCE: (
        *_LEADER,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        ErrorCode.REQUEST_TIMED_OUT,
    ),
    ApiKey.FETCH: _LEADER,
    ApiKey.LIST_OFFSETS: (*_LEADER, ErrorCode.LEADER_NOT_AVAILABLE),
    ApiKey.OFFSET_COMMIT: _COORDINATOR,
    ApiKey.OFFSET_FETCH: _COORDINATOR,
    ApiKey.OFFSET_DELETE: _COORDINATOR,
    ApiKey.FIND_COORDINATOR: (ErrorCode.COORDINATOR_NOT_AVAILABLE,),
    ApiKey.JOIN_GROUP: _COORDINATOR,
    ApiKey.SYNC_GROUP: _COORDINATOR,
    ApiKey.HEARTBEAT: _COORDINATOR,
    ApiKey.LEAVE_GROUP: _COORDINATOR,
    ApiKey.DESCRIBE_GROUPS: _COORDINATOR,
    ApiKey.DELETE_GROUPS: _COORDINATOR,
    ApiKey.LIST_GROUPS: (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE),
    ApiKey.INIT_PRODUCER_ID: (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,),
    ApiKey.DELETE_RECORDS: (*_LEADER, ErrorCode.REQUEST_TIMED_OUT),
    ApiKey.CREATE_TOPICS: _CONTROLLER,
    ApiKey.DELETE_TOPICS: _CONTROLLER,
    ApiKey.CREATE_PARTITIONS: _CONTROLLER,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: _CONTROLLER,
    ApiKey.LIST_PARTITION_REASSIGNMENTS: _CONTROLLER,
    ApiKey.ELECT_LEADERS: _CONTROLLER,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: _CONTROLLER,
    ApiKey.ALTER_CLIENT_QUOTAS: _CONTROLLER,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: _CONTROLLER,
    ApiKey.CREATE_ACLS: _CONTROLLER,
    ApiKey.DELETE_ACLS: _CONTROLLER,
}
"""The errors after which Kafka's clients send a request again, by its API."""

AFTERWARDS: Final = frozenset({ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND})
"""The errors that a client gets although the request was carried out."""


@dataclass(frozen=True, slots=True)
class Chance:
    """How often which fault happens, and the seed that decides when.

    Shares are from 0 to 1: 0.05 is five of a hundred requests. A request has at most one of a refusal, a cut and a
    restart, so these shares together are at most 1; a delay comes on top.

    Attributes:
        seed: any integer. It decides about the n-th request that a client, by its id, sends to an API, whenever it
            comes and whatever others do.
        delays: the share of requests that are handled later. Those of other connections overtake them.
        longest_delay: the longest delay in seconds.
        refusals: the share of requests that get an error that clients retry: one that Kafka has for the API, such as
            NOT_COORDINATOR or NOT_LEADER_OR_FOLLOWER. The request is not carried out, except with
            REQUEST_TIMED_OUT and NOT_ENOUGH_REPLICAS_AFTER_APPEND, with which it is. APIs without such an error are
            not refused.
        cuts: the share of requests at which the connection is closed, one half before the request is carried out and
            one half after it, so that the acknowledgement is lost.
        restarts: the share of requests at which the broker restarts, before or after it has carried them out. Only for
            a broker with a data directory.
        slow_writes: the share of writes to the disk that begin later, before their fsync.
        longest_write: the longest such delay in seconds.

    Raises:
        ValueError: a share or a time is out of range.
    """

    seed: int
    delays: float = 0.0
    longest_delay: float = 0.1
    refusals: float = 0.0
    cuts: float = 0.0
    restarts: float = 0.0
    slow_writes: float = 0.0
    longest_write: float = 0.1

    def __post_init__(self) -> None:
        for field in fields(self)[1:]:
            value, is_time = getattr(self, field.name), field.name.startswith("longest")
            if not 0 <= value <= (float("inf") if is_time else 1):
                raise ValueError(f"{field.name} is {value}: pass {'0 or more seconds' if is_time else 'from 0 to 1'}")
        together = self.refusals + self.cuts + self.restarts
        if together > 1:
            raise ValueError(
                f"refusals, cuts and restarts are {together:g} together: a request has one of them at most"
            )


class Decision(Struct, frozen=True, gc=False):
    """What happens to one request.

    Attributes:
        delay: seconds before it is handled.
        code: the error that it gets; 0 for none.
        cuts: whether the connection is closed.
        restarts: whether the broker restarts; ``cuts`` is set too then.
        after_handling: whether that is after the request was carried out.
    """

    delay: float = 0.0
    code: int = 0
    cuts: bool = False
    restarts: bool = False
    after_handling: bool = False


NOTHING: Final = Decision()


class Draws:
    """Decides about requests and writes, each by its number.

    Args:
        chance: the seed and the shares.
    """

    def __init__(self, chance: Chance) -> None:
        self.chance = chance
        self._counts: dict[tuple[str, int], int] = {}
        self._writes: dict[str, int] = {}

    def __repr__(self) -> str:
        return repr(self.chance)

    def decision(self, client_id: str, api_key: int) -> Decision:
        """What happens to the next request that a client sends to an API."""
        key = (client_id, api_key)
        if key not in self._counts and len(self._counts) >= _MOST_COUNTED:
            key = ("", api_key)
        number = self._counts[key] = self._counts.get(key, 0) + 1
        # All numbers are drawn, whatever they are used for: so a share that is changed changes nothing else.
        drawn = Random(f"{self.chance.seed} request {number} {api_key} {client_id}")  # noqa: S311 no secrets
        delayed, length, kind, half, which = (drawn.random() for _ in range(5))
        delay = length * self.chance.longest_delay if delayed < self.chance.delays else 0.0
        return self._of_kind(kind, delay, RETRIABLE.get(api_key, ()), which, after_handling=half < 1 / 2)

    def _of_kind(
        self, kind: float, delay: float, errors: Sequence[ErrorCode], which: float, *, after_handling: bool
    ) -> Decision:
        chance = self.chance
        if kind < chance.restarts:
            return Decision(delay, cuts=True, restarts=True, after_handling=after_handling)
        if kind < chance.restarts + chance.cuts:
            return Decision(delay, cuts=True, after_handling=after_handling)
        if errors and kind < chance.restarts + chance.cuts + chance.refusals:
            code = errors[int(which * len(errors))]
            return Decision(delay, code, after_handling=code in AFTERWARDS)
        return Decision(delay) if delay else NOTHING

    def seconds_before_write(self, files: str) -> float:
        """For how long the next write to some files waits.

        Args:
            files: the name of what is written; writes are counted by it.
        """
        number = self._writes[files] = self._writes.get(files, 0) + 1
        drawn = Random(f"{self.chance.seed} write {number} {files}")  # noqa: S311 no secrets
        slow, length = drawn.random(), drawn.random()
        return length * self.chance.longest_write if slow < self.chance.slow_writes else 0.0
