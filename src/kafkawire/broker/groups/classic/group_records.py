"""The members of a classic group in the records of ``__consumer_offsets``, and the topics that they subscribe to."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from kafkawire.broker.groups.classic.roster import Member
from kafkawire.protocol import ConsumerProtocolSubscription, GroupMetadataValue
from kafkawire.records.version_prefix import PREFIX_SIZE
from kafkawire.wire import DecodeError

CONSUMER: Final = "consumer"
"""The protocol type of consumers, whose metadata is a subscription."""


def members_of(value: GroupMetadataValue) -> Iterator[Member]:
    """The members in the record of a group; each supports the selected protocol only, as far as the record says."""
    for member in value.members:
        has_own = member.rebalance_timeout != -1
        yield Member(
            member.member_id,
            member.group_instance_id,
            member.client_id,
            member.client_host,
            member.rebalance_timeout if has_own else member.session_timeout,
            member.session_timeout,
            ((value.protocol or "", member.subscription),),
            member.assignment,
        )


def subscribed_topics(protocol_type: str, protocol: str | None, members: Collection[Member]) -> frozenset[str] | None:
    """The topics that consumers subscribe to; None for other members, and if a subscription cannot be read.

    As in Kafka's coordinator, the fields of version 0 are enough: all versions begin with them.
    """
    if protocol_type != CONSUMER:
        return None
    try:
        read = (
            ConsumerProtocolSubscription.decode_from(member.metadata(protocol), PREFIX_SIZE, 0)[0] for member in members
        )
        return frozenset(topic for subscription in read for topic in subscription.topics)
    except DecodeError:
        return None
