"""The whole state of a cluster, made of its parts."""

from __future__ import annotations

from collections.abc import Iterator

from kafkawire.broker.image.acls import AclsImage
from kafkawire.broker.image.client_quotas import ClientQuotasImage
from kafkawire.broker.image.configs import ConfigsImage
from kafkawire.broker.image.features import FeaturesImage
from kafkawire.broker.image.scram import ScramImage
from kafkawire.broker.image.topics import TopicsImage
from kafkawire.protocol import (
    AccessControlEntryRecord,
    ClientQuotaRecord,
    ConfigRecord,
    FeatureLevelRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveAccessControlEntryRecord,
    RemoveTopicRecord,
    RemoveUserScramCredentialRecord,
    TopicRecord,
    UserScramCredentialRecord,
)
from kafkawire.wire import Message

__all__ = ["MetadataImage"]


class MetadataImage:
    """What the records of a metadata log amount to.

    Attributes:
        features, topics, configs, acls, client_quotas, scram: the parts.
    """

    def __init__(self) -> None:
        self.features = FeaturesImage()
        self.topics = TopicsImage()
        self.configs = ConfigsImage()
        self.acls = AclsImage()
        self.client_quotas = ClientQuotasImage()
        self.scram = ScramImage()

    def apply(self, record: Message) -> None:
        """Take in one record; records of kinds that nothing here depends on change nothing."""
        match record:
            case AccessControlEntryRecord():
                self.acls.apply(record)
            case RemoveAccessControlEntryRecord():
                self.acls.apply_remove(record)
            case ClientQuotaRecord():
                self.client_quotas.apply(record)
            case ConfigRecord():
                self.configs.apply(record)
            case TopicRecord():
                self.topics.apply_topic(record)
            case PartitionRecord():
                self.topics.apply_partition(record)
            case PartitionChangeRecord():
                self.topics.apply_partition_change(record)
            case RemoveTopicRecord():
                self.configs.remove_topic(self.topics.apply_remove_topic(record))
            case UserScramCredentialRecord():
                self.scram.apply(record)
            case RemoveUserScramCredentialRecord():
                self.scram.apply_remove(record)
            case FeatureLevelRecord():
                self.features.apply(record)

    def records(self) -> Iterator[Message]:
        """Records that make an equal image, in an order in which they can be applied."""
        for part in (self.features, self.topics, self.configs, self.client_quotas, self.scram, self.acls):
            yield from part.records()
