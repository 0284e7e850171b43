"""JoinGroup and ConsumerGroupHeartbeat, which are refused since groups have no members here.

The two APIs are offered so that clients get an error: they report UNSUPPORTED_VERSION and stop. Several clients retry
forever if a broker does not offer the APIs.
"""

from __future__ import annotations

from typing import Final

from kafkawire.broker.handlers.client_warnings import ClientWarnings
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.requests import Call, Refused
from kafkawire.broker.served_apis import ServedApi
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.protocol import ConsumerGroupHeartbeatRequest, JoinGroupRequest
from kafkawire.protocol.error_codes import ErrorCode

_WANTED: Final = "to join a group"
_REASON: Final = "This broker has no members of groups: assign partitions instead of subscribing, or use Apache Kafka."


class GroupMemberHandlers:
    """Refuse clients that try to join a group; a client without the right gets the error for that instead."""

    def __init__(self, context: HandlerContext) -> None:
        self._access = context.access
        self._warnings = ClientWarnings()
        self.apis = (
            ServedApi(JoinGroupRequest, self._refuse, 0, 9),
            ServedApi(ConsumerGroupHeartbeatRequest, self._refuse, 0, 1),
        )

    def _refuse(self, request: JoinGroupRequest | ConsumerGroupHeartbeatRequest, call: Call) -> Refused:
        if not self._access.allows(call.session, AclOperation.READ, ResourceType.GROUP, request.group_id):
            return Refused(ErrorCode.GROUP_AUTHORIZATION_FAILED)
        self._warnings.warn(call, _WANTED, _REASON)
        return Refused(ErrorCode.UNSUPPORTED_VERSION, _REASON)
