"""Print the lag of all groups of a cluster, the largest first.

Usage: python examples/lag_of_groups.py HOST:PORT
"""

from __future__ import annotations

import sys

from kafkawire.admin import BlockingAdminClient


def main(address: str) -> None:
    """Print a line for each group, and one for each partition with a lag."""
    with BlockingAdminClient(address) as admin:
        names = [group.group_id for group in admin.list_groups().all()]
        lags = admin.group_lag(names)
    for group in sorted(lags.values().values(), key=lambda each: -each.total):
        print(f"{group.group_id} ({group.type}, {group.state}): {group.total}")
        for partition, each in group.partitions.values().items():
            if each.lag:
                print(f"  {partition}: {each.lag}, of which {each.lost} are deleted")
        for partition, error in group.partitions.errors().items():
            print(f"  {partition}: {error}")
    for name, error in lags.errors().items():
        print(f"{name}: {error}")


if __name__ == "__main__":
    main(sys.argv[1])
