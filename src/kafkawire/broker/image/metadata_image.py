"""The whole state of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from kafkawire.broker.image.acls import AclsImage
from kafkawire.broker.image.client_quotas import ClientQuotasImage
from kafkawire.broker.image.configs import ConfigsImage
from kafkawire.broker.image.registrations import RegistrationsImage
from kafkawire.broker.image.scram_users import ScramImage
from kafkawire.broker.image.topics import TopicsImage
from kafkawire.broker.storage.errors import CorruptLogError
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
    UnregisterControllerRecord,
    UserScramCredentialRecord,
)
from kafkawire.wire import Message

METADATA_VERSION_FEATURE: Final = "metadata.version"
"""The feature whose level decides which records and versions of records there may be."""


class FeaturesImage:
    """All finalized features.

    Attributes:
        levels: feature to level; features at level 0 are left out.
    """

    def __init__(self) -> None:
        self.levels: dict[str, int] = {}

    def apply(self, record: FeatureLevelRecord) -> None:
        """Set the level of a feature."""
        if record.feature_level:
            self.levels[record.name] = record.feature_level
        else:
            self.levels.pop(record.name, None)

    def records(self) -> Iterator[Message]:
        """The records that set all levels; ``metadata.version`` is first, since others depend on it."""
        for name in sorted(self.levels, key=lambda name: (name != METADATA_VERSION_FEATURE, name)):
            yield FeatureLevelRecord(name, self.levels[name])


class DelegationTokensImage:
    """All delegation tokens.

    Attributes:
        by_id: token id to token.
        size: characters of their principals together.
    """

    def __init__(self) -> None:
        self.by_id: dict[str, DelegationTokenRecord] = {}
        self.size = 0

    def apply(self, record: DelegationTokenRecord) -> None:
        """Add or renew a token."""
        self._remove(record.token_id)
        self.by_id[record.token_id] = record
        self.size += _size(record)

    def apply_remove(self, record: RemoveDelegationTokenRecord) -> None:
        """Remove a token."""
        self._remove(record.token_id)

    def _remove(self, token_id: str) -> None:
        removed = self.by_id.pop(token_id, None)
        self.size -= 0 if removed is None else _size(removed)

    def records(self) -> Iterator[Message]:
        """The records that add all tokens."""
        yield from self.by_id.values()


def _size(token: DelegationTokenRecord) -> int:
    return sum(map(len, (token.owner, token.requester, *token.renewers)))


class ProducerIdsImage:
    """The next producer id.

    Attributes:
        last: the record of the last block of ids; None before the first one.
    """

    def __init__(self) -> None:
        self.last: ProducerIdsRecord | None = None

    def apply(self, record: ProducerIdsRecord) -> None:
        """Remember the last block."""
        self.last = record

    def records(self) -> Iterator[Message]:
        """The record of the last block."""
        if self.last is not None:
            yield self.last


class MetadataImage:
    """The state after the records of a metadata log.

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
            UnregisterControllerRecord: self.registrations.apply_unregister_controller,
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
        """Apply a record. Records of other kinds (NoOp, marks of transactions and migrations) change nothing."""
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


def image_of(records: Iterable[Message]) -> MetadataImage:
    """The state after records.

    Raises:
        CorruptLogError: a record refers to something that no earlier record has.
    """
    image = MetadataImage()
    for record in records:
        try:
            image.apply(record)
        except (KeyError, ValueError) as error:
            raise CorruptLogError(
                f"a {record.NAME} of the metadata log refers to something that no earlier record has "
                f"({type(error).__name__}: {error}); a newer Kafka wrote it, or records are missing: restore the "
                "directory from a backup"
            ) from error
    return image
