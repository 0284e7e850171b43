"""The members of a classic group in the records of ``__consumer_offsets``, and the topics that they subscribe to."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from kafkawire.broker.groups.classic.roster import Member
from kafkawire.protocol import GroupMetadataValue
from kafkawire.records.consumer_protocol import decode_subscription
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
    """The topics that consumers subscribe to; None for other members, and if a subscription cannot be read."""
    if protocol_type != CONSUMER:
        return None
    try:
        read = (decode_subscription(member.metadata(protocol))[0].topics for member in members)
        return frozenset(topic for topics in read for topic in topics)
    except DecodeError:
        return None
