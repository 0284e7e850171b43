"""Checks named nodes before a command queries them: a call waits for a node until its timeout."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafkawire.admin import BlockingAdminClient
from kafkawire.cli.outcome import CommandError


def live_nodes(client: BlockingAdminClient, timeout: float) -> list[int]:
    """The ids of the nodes that live now."""
    return [member.node.id for member in client.describe_cluster(timeout=timeout).nodes if not member.is_fenced]


def check_live(option: str, nodes: Iterable[int], live: Sequence[int]) -> None:
    """Refuse a node that does not live.

    Args:
        option: that names the nodes.
        nodes: ids that are named.
        live: ids of those that live.

    Raises:
        CommandError: one of them does not.
    """
    for node in nodes:
        if node not in live:
            ids = ", ".join(map(str, sorted(live)))
            raise CommandError(f"{option}: the cluster has no live node {node}; live nodes: {ids}")
