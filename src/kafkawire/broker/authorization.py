"""What a session is allowed to do: the authorizer as handlers use it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from kafkawire.broker.image.topics import Topic
from kafkawire.broker.plugins.authorizer import Authorizer
from kafkawire.broker.sessions import Session
from kafkawire.model.acls.bindings import CLUSTER_NAME, OPERATIONS_OF_RESOURCES, AclOperation, ResourceType
from kafkawire.protocol.error_codes import ErrorCode

NO_OPERATIONS_REQUESTED: Final = -(1 << 31)
"""The authorized operations in a response to a client that did not request them (A26)."""

_OPERATIONS: Final = {kind: operations - {AclOperation.ALL} for kind, operations in OPERATIONS_OF_RESOURCES.items()}


class Authorization:
    """Decides what sessions may do.

    Args:
        authorizer: decides; without one, every session may do everything.

    Attributes:
        is_restricted: whether there is an authorizer; without one there are no ACLs either (A16).
    """

    def __init__(self, authorizer: Authorizer | None = None) -> None:
        self.is_restricted = authorizer is not None
        self._authorizer = authorizer

    def allows(self, session: Session, operation: AclOperation, resource_type: ResourceType, name: str) -> bool:
        """Whether a session may perform an operation on a resource."""
        return self._authorizer is None or self._authorizer.authorize(session, operation, resource_type, name)

    def allows_on_cluster(self, session: Session, operation: AclOperation) -> bool:
        """Whether a session may perform an operation on the cluster."""
        return self.allows(session, operation, ResourceType.CLUSTER, CLUSTER_NAME)

    def allows_on_any(self, session: Session, operation: AclOperation, resource_type: ResourceType) -> bool:
        """Whether a session may perform an operation on at least one resource of a type, existing or not."""
        return self._authorizer is None or self._authorizer.authorize_by_resource_type(
            session, operation, resource_type
        )

    def may_describe(self, session: Session, resource_type: ResourceType) -> Callable[[str], bool]:
        """A check whether a session may describe a resource of a type, by its name."""
        return partial(self.allows, session, AclOperation.DESCRIBE, resource_type)

    def topic_error(
        self, session: Session, operation: AclOperation, topic: Topic | None, name: str, *, by_id: bool = False
    ) -> ErrorCode:
        """The error for an operation on a topic; only sessions that may perform it learn whether the topic exists.

        Args:
            session: the client.
            operation: the operation.
            topic: the topic, None if it does not exist.
            name: its name in the request.
            by_id: whether the request has an id in place of a name.
        """
        if by_id and topic is None:
            return ErrorCode.UNKNOWN_TOPIC_ID
        if not self.allows(session, operation, ResourceType.TOPIC, name if topic is None else topic.name):
            return ErrorCode.TOPIC_AUTHORIZATION_FAILED
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if topic is None else ErrorCode.NONE

    def operations(self, session: Session, resource_type: ResourceType, name: str) -> int:
        """The operations that a session may perform on a resource, as bits: bit n for the operation n (A26).

        0 for a session that may not ``DESCRIBE`` it.
        """
        possible: Iterable[AclOperation] = _OPERATIONS[resource_type]
        if self._authorizer is not None:
            if not self.allows(session, AclOperation.DESCRIBE, resource_type, name):
                return 0
            possible = (operation for operation in possible if self.allows(session, operation, resource_type, name))
        return sum(1 << operation for operation in possible)
