"""Changes of one node of the cluster, whose answer is one error."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypeVar

from kafkawire.admin.engine.operation import Operation, Outcomes, Request, failure

if TYPE_CHECKING:
    from kafkawire import protocol

    OneError: TypeAlias = (
        protocol.AddRaftVoterResponse
        | protocol.RemoveRaftVoterResponse
        | protocol.UnregisterBrokerResponse
        | protocol.UnregisterControllerResponse
    )

K = TypeVar("K")


class NodeChange(Operation[K, None, "OneError"]):
    """A change that controllers make, one node to a request."""

    mutates = True
    on_controllers = True
    batch = 1

    def read(self, request: Request[K], response: OneError) -> Outcomes[K, None]:
        return {request.items[0]: failure(response.error_code, response.error_message)}
