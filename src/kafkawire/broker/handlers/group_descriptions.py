"""Which groups a request describes: of every kind, Kafka answers first for those that the client may not see."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from kafkawire.broker.fair_slices import in_slices

D = TypeVar("D")


async def of_groups(
    group_ids: Iterable[str], *, may: Callable[[str], bool], describe: Callable[[str], D], refuse: Callable[[str], D]
) -> tuple[D, ...]:
    """The descriptions of groups, in the order of a response.

    Args:
        group_ids: the groups of the request.
        may: whether the client may see a group.
        describe: describes a group that it may see.
        refuse: the answer for one that it may not see.
    """
    refused, described = [], []
    async for group_id in in_slices(group_ids):
        if may(group_id):
            described.append(describe(group_id))
        else:
            refused.append(refuse(group_id))
    return (*refused, *described)
