"""Whether the tasks of a streams group are assigned at once or beside the requests of others."""

from __future__ import annotations

import pytest

from kafkawire.broker.groups.streams.target_assignment import Rules, is_long
from kafkawire.broker.groups.streams.topology import ConfiguredSubtopology, ConfiguredTopology


@pytest.mark.parametrize(
    ("tasks", "replicas", "members"), [(1000, 0, 0), (995, 0, 1), (500, 1, 0), (330, 2, 2), (0, 3, 200), (5, 0, 199)]
)
def test_each_task_standby_task_and_member_takes_time(tasks: int, replicas: int, members: int) -> None:
    def takes_long(tasks: int) -> bool:
        subtopologies = {
            str(number): ConfiguredSubtopology(each, frozenset()) for number, each in enumerate((tasks, 0))
        }
        return is_long(ConfiguredTopology(subtopologies), Rules(replicas, is_later=False), members)

    assert not takes_long(tasks)
    assert takes_long(tasks + 1)
