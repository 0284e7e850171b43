"""Resources that have a configuration: the rights that they need, and the ids of brokers in their names."""

from __future__ import annotations

import re
from typing import Final

from kafkawire.broker.authorization import Authorization
from kafkawire.broker.item_errors import ItemError
from kafkawire.broker.sessions import Session
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.model.configs.resources import ConfigResourceType
from kafkawire.protocol.error_codes import ErrorCode

_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,10}", re.ASCII)
_MAXIMUM: Final = 2**31 - 1


def broker_id(name: str) -> int | None:
    """The broker id in a resource name; None if the name is not a number."""
    if not _NUMBER.fullmatch(name):
        return None
    number = int(name)
    return number if -_MAXIMUM - 1 <= number <= _MAXIMUM else None


def is_allowed(access: Authorization, session: Session, operation: AclOperation, resource_type: int, name: str) -> bool:
    """Whether a session may perform an operation on the configuration of a resource."""
    match resource_type:
        case ConfigResourceType.TOPIC:
            return access.allows(session, operation, ResourceType.TOPIC, name)
        case ConfigResourceType.GROUP:
            return access.allows(session, operation, ResourceType.GROUP, name)
    return access.allows_on_cluster(session, operation)


def unauthorized(resource_type: int) -> ItemError:
    """The error for a session without the right."""
    match resource_type:
        case ConfigResourceType.TOPIC:
            return ItemError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, "Topic authorization failed.")
        case ConfigResourceType.GROUP:
            return ItemError(ErrorCode.GROUP_AUTHORIZATION_FAILED, "Group authorization failed.")
    return ItemError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "Cluster authorization failed.")
