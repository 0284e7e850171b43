"""JoinGroup and ConsumerGroupHeartbeat: refused, since groups have no members here.

The two are offered so that clients get an answer to them. Clients take UNSUPPORTED_VERSION for final and report it;
several try for ever when a broker does not offer the APIs.
"""

from __future__ import annotations

from typing import Final

from kafkawire.broker.access import Access
from kafkawire.broker.calls import Call, Refused, Routes
from kafkawire.broker.unserved_clients import UnservedClients
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.protocol import ConsumerGroupHeartbeatRequest, JoinGroupRequest
from kafkawire.protocol.error_codes import ErrorCode

__all__ = ["GroupMemberHandlers"]

_WANTED: Final = "to join a group"
_REASON: Final = "This broker has no members of groups: assign partitions in place of subscribing, or use Apache Kafka."


class GroupMemberHandlers:
    """Refuses those who want to join a group.

    Args:
        access: who may join; others learn only that they may not.
        unserved: warns about the clients.
    """

    def __init__(self, access: Access, unserved: UnservedClients) -> None:
        self._access = access
        self._unserved = unserved

    @property
    def routes(self) -> Routes:
        """Request to handler."""
        return {JoinGroupRequest: self._refuse, ConsumerGroupHeartbeatRequest: self._refuse}

    def _refuse(self, request: JoinGroupRequest | ConsumerGroupHeartbeatRequest, call: Call) -> Refused:
        if not self._access.allows(call.session, AclOperation.READ, ResourceType.GROUP, request.group_id):
            return Refused(ErrorCode.GROUP_AUTHORIZATION_FAILED)
        self._unserved.warn(call, _WANTED, _REASON)
        return Refused(ErrorCode.UNSUPPORTED_VERSION, _REASON)
