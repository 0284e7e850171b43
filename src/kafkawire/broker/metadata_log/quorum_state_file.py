"""The file ``quorum-state``, with the last leader of the metadata log (KIP-595)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.storage.files import replace_file
from kafkawire.protocol import QuorumStateData
from kafkawire.records.quorum_state import decode_quorum_state, encode_quorum_state
from kafkawire.wire import DecodeError

_QUORUM_STATE: Final = "quorum-state"


def voted_epoch(folder: Path) -> int:
    """The highest leader epoch that the node took part in; -1 before the first one.

    Raises:
        StorageError: the file is damaged.
    """
    path = folder / _QUORUM_STATE
    if not path.exists():
        return -1
    try:
        return decode_quorum_state(path.read_bytes())[0].leader_epoch
    except DecodeError as error:
        raise StorageError(f"{path}: {error}; restore it, or delete it if no other node has this log") from error


def note_leader(folder: Path, node_id: int, leader_epoch: int, kraft_version: int) -> None:
    """Write the leader and its epoch, before the epoch is used: so no epoch is used twice.

    Raises:
        OSError: it could not be written.
    """
    voters = () if kraft_version else (QuorumStateData.Voter(node_id),)
    state = QuorumStateData(leader_id=node_id, leader_epoch=leader_epoch, current_voters=voters)
    replace_file(folder / _QUORUM_STATE, [encode_quorum_state(state, kraft_version)])
