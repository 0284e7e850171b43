"""The whole state of a cluster, made of its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kafkawire.broker.image.acls import AclsImage
from kafkawire.broker.image.client_quotas import ClientQuotasImage
from kafkawire.broker.image.configs import ConfigsImage
from kafkawire.broker.image.delegation_tokens import DelegationTokensImage
from kafkawire.broker.image.features import FeaturesImage
from kafkawire.broker.image.producer_ids import ProducerIdsImage
from kafkawire.broker.image.registrations import RegistrationsImage
from kafkawire.broker.image.scram import ScramImage
from kafkawire.broker.image.topics import TopicsImage
from kafkawire.protocol import (
    AccessControlEntryRecord,
    BrokerRegistrationChangeRecord,
    ClearElrRecord,
    ClientQuotaRecord,
    ConfigRecord,
    DelegationTokenRecord,
    FeatureLevelRecord,
    FenceBrokerRecord,
    PartitionChangeRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveTopicRecord,
    RemoveUserScramCredentialRecord,
    TopicRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
    UserScramCredentialRecord,
)
from kafkawire.wire import Message

__all__ = ["MetadataImage"]


class MetadataImage:
    """What the records of a metadata log amount to.

    Attributes:
        features, registrations, topics, configs, client_quotas, producer_ids, scram, tokens, acls: the parts.
    """

    def __init__(self) -> None:
        self.features = FeaturesImage()
        self.registrations = RegistrationsImage()
        self.topics = TopicsImage()
        self.configs = ConfigsImage()
        self.client_quotas = ClientQuotasImage()
        self.producer_ids = ProducerIdsImage()
        self.scram = ScramImage()
        self.tokens = DelegationTokensImage()
        self.acls = AclsImage()
        self._parts: Mapping[type[Message], Callable[[Any], object]] = {
            FeatureLevelRecord: self.features.apply,
            RegisterBrokerRecord: self.registrations.apply_broker,
            BrokerRegistrationChangeRecord: self.registrations.apply_broker_change,
            FenceBrokerRecord: self.registrations.apply_fence,
            UnfenceBrokerRecord: self.registrations.apply_fence,
            UnregisterBrokerRecord: self.registrations.apply_unregister,
            RegisterControllerRecord: self.registrations.apply_controller,
            TopicRecord: self.topics.apply_topic,
            PartitionRecord: self.topics.apply_partition,
            PartitionChangeRecord: self.topics.apply_partition_change,
            ClearElrRecord: self.topics.apply_clear_elr,
            RemoveTopicRecord: self._remove_topic,
            ConfigRecord: self.configs.apply,
            ClientQuotaRecord: self.client_quotas.apply,
            ProducerIdsRecord: self.producer_ids.apply,
            UserScramCredentialRecord: self.scram.apply,
            RemoveUserScramCredentialRecord: self.scram.apply_remove,
            DelegationTokenRecord: self.tokens.apply,
            RemoveDelegationTokenRecord: self.tokens.apply_remove,
            AccessControlEntryRecord: self.acls.apply,
            RemoveAccessControlEntryRecord: self.acls.apply_remove,
        }

    def apply(self, record: Message) -> None:
        """Take in one record. Those of other kinds (NoOp, marks of transactions, of migrations) change nothing."""
        apply = self._parts.get(type(record))
        if apply is not None:
            apply(record)

    def records(self) -> Iterator[Message]:
        """Records that make an equal image, in an order in which they can be applied."""
        for part in (
            self.features,
            self.registrations,
            self.topics,
            self.configs,
            self.client_quotas,
            self.producer_ids,
            self.scram,
            self.tokens,
            self.acls,
        ):
            yield from part.records()

    def _remove_topic(self, record: RemoveTopicRecord) -> None:
        self.configs.remove_topic(self.topics.apply_remove_topic(record))
