"""``share_group_history``: a row for each state of a partition in a share group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, cast

import msgspec
import pyarrow as pa

from kafkawire.logs.folding.coordinator_states import Cells, StatesReducer, state_history
from kafkawire.logs.histories.share_deliveries import Deliveries, combined, counted, deliveries, times_and_state
from kafkawire.protocol import ShareSnapshotKey, ShareSnapshotValue, ShareUpdateKey, ShareUpdateValue
from kafkawire.wire import Message

SHARE_GROUP_STATE: Final = "__share_group_state"
"""The topic of the share coordinators."""

_AVAILABLE, _ACKNOWLEDGED, _ARCHIVED = 0, 2, 4
_STATES: Final[Mapping[int, str]] = {
    _AVAILABLE: "AVAILABLE",
    1: "ACQUIRED",
    _ACKNOWLEDGED: "ACKNOWLEDGED",
    3: "ARCHIVING",
    _ARCHIVED: "ARCHIVED",
}
"""The states of a record in a share group by their number; brokers persist those that the table has columns of."""

_DELIVERIES: Final[Mapping[str, pa.DataType]] = {
    "state": pa.string(),
    "delivery_count": pa.int16(),
    "records": pa.int64(),
}
_KEYS: Final[Mapping[str, pa.DataType]] = {
    "group_id": pa.string(),
    "topic_id": pa.string(),
    "partition": pa.int32(),
}
_VALUES: Final[Mapping[str, pa.DataType]] = {
    "start_offset": pa.int64(),
    "delivery_complete_count": pa.int32(),
    "available": pa.int64(),
    "acknowledged": pa.int64(),
    "archived": pa.int64(),
    "deliveries": pa.list_(pa.struct(pa.schema(_DELIVERIES))),
    "state_epoch": pa.int32(),
    "partition_leader_epoch": pa.int32(),
}


class _State(msgspec.Struct, gc=False):
    """The state of a partition in a group; what is not known is None.

    Attributes:
        state_epoch: of the group's state for the partition.
        leader_epoch: of the leader of the partition that wrote the state.
        start_offset: all records before it are done.
        complete_count: how many records after it are done.
        batches: the deliveries from it on.
    """

    state_epoch: int | None
    leader_epoch: int | None
    start_offset: int | None
    complete_count: int | None
    batches: Deliveries | None


class _ShareGroups(StatesReducer):
    """The states of partitions: a snapshot has all of a state, and updates change it.

    An update changes what it states. Without the snapshot that it is for, its batches are only some of all.
    """

    RECORDS: ClassVar[frozenset[str]] = frozenset({"ShareSnapshot", "ShareUpdate"})

    def __init__(self) -> None:
        super().__init__()
        self._states: dict[Cells, _State] = {}

    def key_of(self, key: Message) -> Cells:
        """See ``StatesReducer``."""
        match key:
            case ShareSnapshotKey() | ShareUpdateKey():
                return key.group_id, str(key.topic_id), key.partition
            case _:
                return (None,) * len(_KEYS)

    def change(self, key: Message, value: Message | None) -> Cells | None:
        """See ``StatesReducer``."""
        of = self.key_of(key)
        match value:
            case ShareSnapshotValue():
                state = _of_snapshot(value)
            case ShareUpdateValue():
                state = _updated(self._states.get(of), value)
            case _ if isinstance(key, ShareSnapshotKey):
                self._states.pop(of, None)
                return None
            case _:
                raise ValueError("an update has no value")
        self._states[of] = state
        return _cells(state)

    def forget(self, key: Message) -> None:
        """See ``StatesReducer``."""
        self._states.pop(self.key_of(key), None)

    def memory(self) -> object:
        """See ``StatesReducer``."""
        return {key: msgspec.structs.astuple(state) for key, state in self._states.items()}

    def remember(self, memory: object) -> None:
        """See ``StatesReducer``."""
        self._states = {key: _State(*values) for key, values in cast("dict[Cells, tuple[Any, ...]]", memory).items()}


def _of_snapshot(value: ShareSnapshotValue) -> _State:
    return _State(
        value.state_epoch,
        value.leader_epoch,
        _stated(value.start_offset),
        _stated(value.delivery_complete_count),
        combined((), deliveries(value.state_batches), value.start_offset),
    )


def _updated(before: _State | None, value: ShareUpdateValue) -> _State:
    if before is None:
        before = _State(None, None, None, None, None)
    start_offset = before.start_offset if value.start_offset < 0 else value.start_offset
    now = deliveries(value.state_batches)
    return _State(
        before.state_epoch,
        before.leader_epoch if value.leader_epoch < 0 else value.leader_epoch,
        start_offset,
        _stated(value.delivery_complete_count),
        None if before.batches is None else combined(before.batches, now, -1 if start_offset is None else start_offset),
    )


def _stated(number: int) -> int | None:
    """None for -1, which means an offset or count that is not known yet."""
    return None if number < 0 else number


def _cells(state: _State) -> Cells:
    if state.batches is None:
        of_batches: Cells = (None,) * 4
    else:
        counts = {times_and_state(each): records for each, records in counted(state.batches).items()}
        of_states = dict.fromkeys((_AVAILABLE, _ACKNOWLEDGED, _ARCHIVED), 0)
        for (_, number), records in counts.items():
            if number in of_states:
                of_states[number] += records
        listed = [
            (_STATES.get(number, f"UNKNOWN({number})"), times, counts[times, number])
            for times, number in sorted(counts)
        ]
        of_batches = (*of_states.values(), tuple(listed))
    return (state.start_offset, state.complete_count, *of_batches, state.state_epoch, state.leader_epoch)


HISTORY: Final = state_history(
    "share_group_history",
    "share groups, how far they are in each partition, and the states of their records",
    SHARE_GROUP_STATE,
    _ShareGroups,
    keys=_KEYS,
    values=_VALUES,
    details=("deliveries",),
)
