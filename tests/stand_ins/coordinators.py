"""The answers of a `StandInCluster` to FindCoordinator."""

from __future__ import annotations

from collections.abc import Mapping

from tests.stand_ins.cluster import NodeHandler

from kafkawire.protocol import FindCoordinatorRequest, FindCoordinatorResponse
from kafkawire.rpc import Request
from kafkawire.wire import Message

COORDINATOR_NOT_AVAILABLE = 15


def coordinators(homes: Mapping[str, int], *, default: int = 1) -> dict[type[Message], NodeHandler]:
    """The handler of FindCoordinator.

    Args:
        homes: group or transactional id to the id of its coordinator, -1 for none; tests may change it.
        default: the coordinator of all others.
    """

    def found(key: str) -> FindCoordinatorResponse.Coordinator:
        node = homes.get(key, default)
        code = 0 if node >= 0 else COORDINATOR_NOT_AVAILABLE
        return FindCoordinatorResponse.Coordinator(key, node, "", 0, code, None)

    def answer(_: int, request: Request) -> Message:
        body = request.body
        assert isinstance(body, FindCoordinatorRequest)
        if request.header.request_api_version >= 4:
            return FindCoordinatorResponse(coordinators=tuple(map(found, body.coordinator_keys)))
        return FindCoordinatorResponse(node_id=homes.get(body.key, default), host="", port=0)

    return {FindCoordinatorRequest: answer}
