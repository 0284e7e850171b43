"""The small files that Kafka keeps beside the segments of its metadata log."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.storage.files import replace_file
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import QuorumStateData
from kafkawire.records.quorum_state import decode_quorum_state, encode_quorum_state
from kafkawire.wire import DecodeError

__all__ = ["note_leader", "read_leader_epochs", "voted_epoch", "write_leader_epochs", "write_partition_metadata"]

_METADATA_TOPIC_ID: Final = Uuid(bytes(15) + b"\1")
_QUORUM_STATE: Final = "quorum-state"
_LEADER_EPOCHS: Final = "leader-epoch-checkpoint"
_PARTITION_METADATA: Final = "partition.metadata"


def voted_epoch(folder: Path) -> int:
    """The highest leader epoch that the node took part in; -1 before the first one.

    Raises:
        StorageError: the file makes no sense.
    """
    path = folder / _QUORUM_STATE
    if not path.exists():
        return -1
    try:
        return decode_quorum_state(path.read_bytes())[0].leader_epoch
    except DecodeError as error:
        raise StorageError(f"{path}: {error}; restore it, or delete it if no other node knows this log") from error


def note_leader(folder: Path, node_id: int, leader_epoch: int, kraft_version: int) -> None:
    """Write down who leads, before the epoch is used: so no epoch is used twice.

    Raises:
        OSError: it could not be written.
    """
    voters = () if kraft_version else (QuorumStateData.Voter(node_id),)
    state = QuorumStateData(leader_id=node_id, leader_epoch=leader_epoch, current_voters=voters)
    replace_file(folder / _QUORUM_STATE, [encode_quorum_state(state, kraft_version)])


def read_leader_epochs(folder: Path) -> dict[int, int]:
    """Leader epoch to the offset that it begins with; empty if it is not there.

    Raises:
        StorageError: the file makes no sense.
    """
    path = folder / _LEADER_EPOCHS
    if not path.exists():
        return {}
    try:
        _version, _count, *lines = path.read_text("utf-8").splitlines()
        pairs = (line.split(" ", 1) for line in lines)
        return {int(epoch): int(offset) for epoch, offset in pairs}
    except ValueError as error:
        raise StorageError(f"{path}: {error}; restore it, or delete it") from error


def write_leader_epochs(folder: Path, epochs: Mapping[int, int]) -> None:
    """Write which epoch begins where.

    Raises:
        OSError: it could not be written.
    """
    lines = [0, len(epochs), *(f"{epoch} {offset}" for epoch, offset in epochs.items())]
    replace_file(folder / _LEADER_EPOCHS, ["".join(f"{line}\n" for line in lines).encode()])


def write_partition_metadata(folder: Path) -> None:
    """Write which topic the partition is of, if it is not there yet.

    Raises:
        OSError: it could not be written.
    """
    path = folder / _PARTITION_METADATA
    if not path.exists():
        replace_file(path, [f"version: 0\ntopic_id: {_METADATA_TOPIC_ID}".encode()])
