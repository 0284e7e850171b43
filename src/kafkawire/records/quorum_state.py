"""The ``quorum-state`` file: the vote and the leader of a KRaft node, as JSON (file-quorum-state)."""

from __future__ import annotations

from typing import Final

import msgspec

from kafkawire.protocol import QuorumStateData, from_json, to_json
from kafkawire.wire import DecodeError

_VERSION_KEY: Final = "data_version"


def decode_quorum_state(text: bytes) -> tuple[QuorumStateData, int]:
    """The state and its version.

    Raises:
        DecodeError: kind ``json`` or ``version``.

    Example:
        ```python
        from pathlib import Path

        from kafkawire.records.quorum_state import decode_quorum_state

        file = Path("/var/lib/kafka/data/__cluster_metadata-0/quorum-state")
        state, version = decode_quorum_state(file.read_bytes())
        print("node", state.leader_id, "leads in epoch", state.leader_epoch)
        ```
    """
    name = QuorumStateData.NAME
    try:
        state = msgspec.json.decode(text, type=dict[str, object])
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise DecodeError("json", str(error), message_name=name) from None
    version = state.pop(_VERSION_KEY, None)
    if type(version) is not int:
        raise DecodeError("json", f"{_VERSION_KEY} is missing or not an integer", message_name=name, path=_VERSION_KEY)
    if version not in QuorumStateData.VERSIONS:
        raise DecodeError("version", f"there is no version {version}", message_name=name, path=_VERSION_KEY)
    return from_json(QuorumStateData, state, version), version


def encode_quorum_state(state: QuorumStateData, version: int) -> bytes:
    """The content of the file.

    Raises:
        UnsupportedVersionError, EncodeError: as ``kafkawire.protocol.to_json``.

    Example:
        ```python
        from kafkawire.protocol import QuorumStateData
        from kafkawire.records.quorum_state import encode_quorum_state

        text = encode_quorum_state(QuorumStateData(leader_id=1, leader_epoch=4, voted_id=-1), 1)
        ```
    """
    return msgspec.json.encode(to_json(state, version) | {_VERSION_KEY: version})
