"""Changes that rules look at, and what they have to know besides."""

from __future__ import annotations

from typing import Final, TypeAlias

import msgspec

from kafkawire.model.acls.bindings import WILDCARD, AclBinding, PatternType, ResourceType
from kafkawire.model.configs.resources import ConfigResource, ConfigResourceType


class AclChange(msgspec.Struct, frozen=True, gc=False):
    """An ACL was added or removed.

    Attributes:
        acl_id: id of the ACL.
        acl: the ACL.
        is_removal: whether it was removed.
    """

    acl_id: str
    acl: AclBinding
    is_removal: bool


class ConfigChange(msgspec.Struct, frozen=True, gc=False):
    """A config of a resource was set or unset. What goes with a deleted topic is no change.

    Attributes:
        resource: whose config it is.
        name: of the config.
        before, after: the values; None where it is not set.
        time: when, in milliseconds since the epoch; None if unknown.
    """

    resource: ConfigResource
    name: str
    before: str | None
    after: str | None
    time: int | None


class TopicChange(msgspec.Struct, frozen=True, gc=False):
    """A topic was created or deleted.

    Attributes:
        topic_id: id of the topic.
        name: of the topic.
        is_deletion: whether it was deleted.
        time: when, in milliseconds since the epoch; None if unknown.
    """

    topic_id: str
    name: str
    is_deletion: bool
    time: int | None


class CredentialChange(msgspec.Struct, frozen=True, gc=False):
    """A SCRAM credential got a new password or other iterations.

    Attributes:
        user: whose.
        mechanism: such as ``SCRAM_SHA_512``.
        before, after: the iterations.
    """

    user: str
    mechanism: str
    before: int
    after: int


AnyChange: TypeAlias = AclChange | ConfigChange | TopicChange | CredentialChange

_CLUSTER_DEFAULT: Final = ConfigResource.broker_default()


class KnownState(msgspec.Struct, array_like=True):
    """What rules know besides the change. It has the state before the change that a rule looks at.

    Attributes:
        acls: those with the name of a topic: by name, then by id.
        topics: when they were created, in milliseconds since the epoch; None if unknown. By name, then by id.
        left: ids of the ACLs that were there when a topic was deleted, by its name.
        all_brokers: the configs that are set for all brokers.
    """

    acls: dict[str, dict[str, AclBinding]] = {}
    topics: dict[str, dict[str, int | None]] = {}
    left: dict[str, set[str]] = {}
    all_brokers: dict[str, str] = {}

    def acls_of_topic(self, name: str) -> dict[str, AclBinding]:
        """The ACLs with the name of a topic, by id; prefixes and ``*`` are about other topics too."""
        return self.acls.get(name, {})

    def acls_of_deleted(self, name: str) -> dict[str, AclBinding]:
        """The ACLs with the name of a deleted topic that were there when it was deleted, by id."""
        left = self.left.get(name, ())
        return {acl_id: acl for acl_id, acl in self.acls_of_topic(name).items() if acl_id in left}

    def has_other_topic(self, topic: TopicChange) -> bool:
        """Whether another topic has the same name."""
        return not self.topics.get(topic.name, {}).keys() <= {topic.topic_id}

    def is_created_with(self, change: ConfigChange) -> bool:
        """Whether the topic of a config was created with it: the records of one request have one time."""
        is_topic = change.resource.resource_type == ConfigResourceType.TOPIC
        created = self.topics.get(change.resource.name, {}).values() if is_topic else ()
        return change.before is None and change.time is not None and change.time in created

    def of_all_brokers(self, name: str) -> str | None:
        """The value of a config that was set for all brokers; None if it is not set in the log."""
        return self.all_brokers.get(name)

    def apply(self, change: AnyChange) -> None:
        """Take a change over."""
        match change:
            case AclChange():
                self._apply_acl(change)
            case TopicChange():
                self._apply_topic(change)
            case ConfigChange(resource=resource) if resource == _CLUSTER_DEFAULT:
                self.all_brokers.pop(change.name, None)
                if change.after is not None:
                    self.all_brokers[change.name] = change.after
            case _:
                pass

    def _apply_acl(self, change: AclChange) -> None:
        acl = change.acl
        if not _names_a_topic(acl):
            return
        acls = self.acls.setdefault(acl.resource_name, {})
        if not change.is_removal:
            acls[change.acl_id] = acl
            return
        acls.pop(change.acl_id, None)
        if not acls:
            del self.acls[acl.resource_name]

    def _apply_topic(self, change: TopicChange) -> None:
        topics = self.topics.setdefault(change.name, {})
        if not change.is_deletion:
            topics[change.topic_id] = change.time
            self.left.pop(change.name, None)
            return
        topics.pop(change.topic_id, None)
        if not topics:
            del self.topics[change.name]
            if acls := self.acls_of_topic(change.name):
                self.left[change.name] = set(acls)


def _names_a_topic(acl: AclBinding) -> bool:
    return (
        acl.resource_type == ResourceType.TOPIC
        and acl.pattern_type == PatternType.LITERAL
        and acl.resource_name != WILDCARD
    )
