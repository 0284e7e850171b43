"""The assignor ``uniform``: each member gets the same number of partitions, and keeps what it has where it can."""

from __future__ import annotations

from collections.abc import Mapping

from kafkawire.broker.groups.assignors.assignment import Assignment, GroupSpec
from kafkawire.broker.groups.assignors.uniform_heterogeneous import assign_unequal
from kafkawire.broker.groups.assignors.uniform_homogeneous import assign_equal


def assign_uniformly(spec: GroupSpec) -> Mapping[str, Assignment]:
    """What each member shall have."""
    if not spec.members:
        return {}
    return assign_equal(spec) if spec.is_homogeneous else assign_unequal(spec)
