"""What consumers exchange through the group coordinator: subscriptions and assignments (consumer-proto)."""

from __future__ import annotations

import msgspec

from kafkawire import protocol
from kafkawire.records.version_prefix import decode_prefixed, encode_prefixed
from kafkawire.wire import DecodeError
from kafkawire.wire.message import Octets

_STREAMS_VERSION_SIZE = 4


def decode_subscription(metadata: Octets) -> tuple[protocol.ConsumerProtocolSubscription, int]:
    """The subscription in the ``metadata`` of a JoinGroup member with protocol type ``consumer``, and its version.

    A version newer than the newest known is read as that one, and bytes after it are ignored (consumer-proto-future).

    Raises:
        DecodeError: kind ``version`` (below 0, consumer-proto-negative), or the error of the body.

    Example:
        ```python
        from kafkawire.protocol import ConsumerProtocolSubscription
        from kafkawire.records.consumer_protocol import decode_subscription, encode_subscription

        metadata = encode_subscription(ConsumerProtocolSubscription(topics=("orders",)), 3)
        subscription, version = decode_subscription(metadata)
        assert (subscription.topics, version) == (("orders",), 3)
        ```
    """
    return decode_prefixed(protocol.ConsumerProtocolSubscription, metadata, newer_as_highest=True)


def decode_assignment(assignment: Octets) -> tuple[protocol.ConsumerProtocolAssignment, int]:
    """The assignment in the ``assignment`` of a SyncGroup member with protocol type ``consumer``, and its version.

    Raises:
        DecodeError: as ``decode_subscription``.

    Example:
        ```python
        from kafkawire.records.consumer_protocol import decode_assignment

        for group in (await admin.describe_classic_groups(["billing"])).all().values():
            for member in group.members:
                assignment, _ = decode_assignment(member.assignment)
                for topic in assignment.assigned_partitions:
                    print(member.client_id, topic.topic, topic.partitions)
        ```
    """
    return decode_prefixed(protocol.ConsumerProtocolAssignment, assignment, newer_as_highest=True)


def encode_subscription(subscription: protocol.ConsumerProtocolSubscription, version: int) -> bytes:
    """The bytes of a subscription, with topics and owned partitions sorted as by Java (consumer-proto-sorted).

    Raises:
        UnsupportedVersionError, EncodeError: as ``Message.encode``.

    Example:
        ```python
        from kafkawire.protocol import ConsumerProtocolSubscription
        from kafkawire.records.consumer_protocol import encode_subscription

        metadata = encode_subscription(ConsumerProtocolSubscription(topics=("orders", "invoices")), 3)
        ```
    """
    owned = sorted(subscription.owned_partitions, key=lambda each: each.topic)
    ordered = msgspec.structs.replace(
        subscription,
        topics=tuple(sorted(subscription.topics)),
        owned_partitions=tuple(
            msgspec.structs.replace(each, partitions=tuple(sorted(each.partitions))) for each in owned
        ),
    )
    return encode_prefixed(ordered, version)


def encode_assignment(assignment: protocol.ConsumerProtocolAssignment, version: int) -> bytes:
    """The bytes of an assignment.

    Raises:
        UnsupportedVersionError, EncodeError: as ``Message.encode``.

    Example:
        ```python
        from kafkawire.protocol import ConsumerProtocolAssignment
        from kafkawire.records.consumer_protocol import decode_assignment, encode_assignment

        partitions = ConsumerProtocolAssignment.TopicPartition("orders", (0, 1))
        assignment = ConsumerProtocolAssignment((partitions,))
        assert decode_assignment(encode_assignment(assignment, 3)) == (assignment, 3)
        ```
    """
    return encode_prefixed(assignment, version)


def decode_streams_subscription(user_data: Octets) -> tuple[protocol.SubscriptionInfoData, int]:
    """The message in the user data of a subscription of Kafka Streams; its first field is its version.

    Raises:
        DecodeError: kind ``truncated``, ``version``, or the error of the body.
    """
    name = protocol.SubscriptionInfoData.NAME
    octets = bytes(user_data)
    if len(octets) < _STREAMS_VERSION_SIZE:
        reason = f"needs {_STREAMS_VERSION_SIZE} bytes, {len(octets)} are left"
        raise DecodeError("truncated", reason, message_name=name, path="version", offset=0)
    version = int.from_bytes(octets[:_STREAMS_VERSION_SIZE], "big", signed=True)
    if version not in protocol.SubscriptionInfoData.VERSIONS:
        raise DecodeError("version", f"there is no version {version}", message_name=name, path="version", offset=0)
    message, _ = protocol.SubscriptionInfoData.decode_from(octets, 0, version)
    return message, version
