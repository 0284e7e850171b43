"""The states of share partitions as the group coordinator uses them: it begins and ends them, and reads where they are.

The states themselves are those of the share coordinator.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from kafkawire.layout.uuid import Uuid


class ShareSummary(NamedTuple):
    """How far a group is in a partition.

    Attributes:
        state_epoch: the epoch of the group that began the state.
        leader_epoch: of the leader that wrote the state last; 0 before the first write.
        start_offset: of the first record that is not completed; -1 before the first read.
        delivery_complete_count: the completed records from the start offset on; -1 if it is not known.
    """

    state_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int


class ShareStates(Protocol):
    """The states of all share partitions."""

    def initialize(self, group: str, topic_id: Uuid, partition: int, state_epoch: int, start_offset: int) -> None:
        """Begin a state, or begin it again; ``start_offset`` is -1 if the configuration of the group decides."""

    def delete(self, group: str, topic_id: Uuid, partition: int) -> None:
        """End a state, if there is one."""

    def summary(self, group: str, topic_id: Uuid, partition: int) -> ShareSummary | None:
        """How far a group is; None without a state."""


class StatesInMemory:
    """States that nothing has read with yet."""

    def __init__(self) -> None:
        self._states: dict[tuple[str, Uuid, int], ShareSummary] = {}

    def initialize(self, group: str, topic_id: Uuid, partition: int, state_epoch: int, start_offset: int) -> None:
        """Begin a state, or begin it again."""
        completed = -1 if start_offset < 0 else 0
        self._states[group, topic_id, partition] = ShareSummary(state_epoch, 0, start_offset, completed)

    def delete(self, group: str, topic_id: Uuid, partition: int) -> None:
        """End a state, if there is one."""
        self._states.pop((group, topic_id, partition), None)

    def summary(self, group: str, topic_id: Uuid, partition: int) -> ShareSummary | None:
        """How far a group is; None without a state."""
        return self._states.get((group, topic_id, partition))
