"""A group and its members, of any kind: classic, consumer (KIP-848), share (KIP-932) or streams (KIP-1071)."""

from __future__ import annotations

from typing import Final, TypeAlias

import msgspec

from kafkawire.protocol import GroupMetadataValue
from kafkawire.records.consumer_protocol import decode_assignment, decode_subscription
from kafkawire.wire import DecodeError

CLASSIC: Final = "classic"
CONSUMER: Final = "consumer"
SHARE: Final = "share"
STREAMS: Final = "streams"

_EMBEDDED_PROTOCOL: Final = "consumer"
"""The protocol type of classic groups whose members exchange topics in Kafka's own format."""

Assigned: TypeAlias = tuple[str | None, str | None, str | None, str | None, tuple[int, ...]]
"""Partitions of a topic or tasks of a topology: topic, its id, id of the subtopology, role of the tasks, partitions.

Roles are ``active``, ``standby`` and ``warmup``.
"""


class Member(msgspec.Struct, gc=False):
    """A member of a group.

    Attributes:
        protocol: its preferred assignor.
        client_id, client_host, instance_id: of the client.
        topics: its subscription; None if unknown.
        regex: regular expression for the names of more topics.
        assignment: its partitions or tasks.
        error: why the bytes of its subscription or assignment could not be decoded, or None.
    """

    protocol: str | None = None
    client_id: str | None = None
    client_host: str | None = None
    instance_id: str | None = None
    topics: tuple[str, ...] | None = None
    regex: str | None = None
    assignment: tuple[Assigned, ...] | None = None
    error: str | None = None


class Group(msgspec.Struct, gc=False):
    """A group.

    Attributes:
        kind: the protocol of its members.
        epoch: of the group; the generation of a classic group.
        protocol: the assignor of a classic group.
        leader: of a classic group.
        members: by their ids.
        topics_of_regex: the topics that match each regular expression of a member.
        source_topics: the topics that a streams group reads.
    """

    kind: str
    epoch: int | None = None
    protocol: str | None = None
    leader: str | None = None
    members: dict[str, Member] = {}
    topics_of_regex: dict[str, tuple[str, ...]] = {}
    source_topics: tuple[str, ...] | None = None

    def topics_of(self, member: Member) -> tuple[str, ...] | None:
        """The topics that a member reads, with those that match its regular expression."""
        if self.kind == STREAMS:
            return self.source_topics
        if not member.regex:
            return member.topics
        return tuple(dict.fromkeys((*(member.topics or ()), *self.topics_of_regex.get(member.regex, ()))))


def classic_group(value: GroupMetadataValue) -> Group:
    """A classic group, from its one record. Malformed bytes of a member are an error of that member only."""
    embedded = value.protocol_type == _EMBEDDED_PROTOCOL
    members = {each.member_id: _classic_member(each, embedded=embedded) for each in value.members}
    return Group(CLASSIC, value.generation, value.protocol, value.leader, members)


def _classic_member(member: GroupMetadataValue.MemberMetadata, *, embedded: bool) -> Member:
    known = Member(client_id=member.client_id, client_host=member.client_host, instance_id=member.group_instance_id)
    if not embedded:
        return known
    try:
        if member.subscription:
            known.topics = tuple(decode_subscription(member.subscription)[0].topics)
        if member.assignment:
            assigned = decode_assignment(member.assignment)[0].assigned_partitions
            known.assignment = tuple((each.topic, None, None, None, tuple(each.partitions)) for each in assigned)
    except DecodeError as error:
        known.error = str(error)
    return known
