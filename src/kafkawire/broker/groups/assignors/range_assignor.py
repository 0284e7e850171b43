"""The assignor ``range``: of each topic, each subscriber gets partitions that follow each other.

Subscribers of the same topics get the same partitions of all topics with equal partition counts, so that these can be
joined. The rules are those of Apache Kafka's ``RangeAssignor``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from kafkawire.broker.groups.assignors.assignment import Assignment, GroupSpec, MemberSpec, normalized
from kafkawire.layout.uuid import Uuid


def assign_by_range(spec: GroupSpec) -> Mapping[str, Assignment]:
    """What each member shall have: static members first, by instance id, then the others by member id."""
    subscribers: Counter[Uuid] = Counter()
    for member in spec.members.values():
        subscribers.update(member.topics)
    given: Counter[Uuid] = Counter()
    next_partition: Counter[Uuid] = Counter()
    targets = {}
    for member_id, member in sorted(spec.members.items(), key=_rank):
        ranges = {}
        for topic in member.topics:
            least, extra = divmod(spec.partitions[topic], subscribers[topic])
            start = next_partition[topic]
            end = start + least + (given[topic] < extra)
            given[topic] += 1
            next_partition[topic] = end
            if start < end:
                ranges[topic] = range(start, end)
        targets[member_id] = normalized(ranges.items())
    return targets


def _rank(item: tuple[str, MemberSpec]) -> tuple[bool, bytes]:
    """Java compares strings by UTF-16 units."""
    member_id, member = item
    name = member_id if member.instance_id is None else member.instance_id
    return member.instance_id is None, name.encode("utf-16-be", "surrogatepass")
