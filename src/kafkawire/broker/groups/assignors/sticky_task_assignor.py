"""The assignor ``sticky`` of streams groups: the rules of Apache Kafka's ``StickyTaskAssignor``."""

from __future__ import annotations

from collections.abc import Mapping

from kafkawire.broker.groups.assignors.tasks import MemberSpec, SubtopologySpec, Tasks


def assigned_tasks(
    members: Mapping[str, MemberSpec], subtopologies: Mapping[str, SubtopologySpec], num_standby_replicas: int
) -> Mapping[str, Tasks]:
    """What each member shall have.

    Args:
        members: by id, in Kafka's order: that of a ``HashMap``.
        subtopologies: by id.
        num_standby_replicas: how many standby tasks each task with state shall have.
    """
    raise NotImplementedError
