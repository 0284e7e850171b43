"""Reads the state of a cluster for a command, with a progress bar on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from kafkawire.admin import BlockingAdminClient
from kafkawire.cli.visible import visible
from kafkawire.declared.planned import Kind
from kafkawire.declared.reading import ReadCluster, ReadProgress, read_cluster
from kafkawire.declared.scope import ReadScope
from kafkawire.declared.unread import Unread

_NAMED = 5
"""Parts of one kind that cannot be read for the same reason, such as topics: as many are named."""


def read_with_progress(client: BlockingAdminClient, scope: ReadScope, timeout: float | None) -> ReadCluster:
    """The state of a cluster.

    Raises:
        KafkaError: the cluster does not answer.
    """
    if not sys.stderr.isatty():
        return client.run(lambda admin: read_cluster(admin, scope, timeout=timeout))
    from rich.console import Console  # noqa: PLC0415 slow to import, and most calls are not on a terminal

    from kafkawire.cli.progress import progress_bar  # noqa: PLC0415 the same

    with progress_bar(Console(stderr=True)) as bar:
        report = _summed(bar)
        return client.run(lambda admin: read_cluster(admin, scope, timeout=timeout, progress=report))


def print_unread(unread: Sequence[Unread], of: str = "") -> None:
    """Say on standard error what could not be read, one line for each reason.

    Args:
        unread: what could not be read.
        of: the name of the cluster, where there are several.
    """
    by_reason: dict[str, list[str]] = {}
    for each in unread:
        by_reason.setdefault(each.reason, []).append(each.what)
    where = f" of {visible(of)}" if of else ""
    for reason, parts in by_reason.items():
        more = f" and {len(parts) - _NAMED} more" if len(parts) > _NAMED else ""
        named = visible(", ".join(parts[:_NAMED]))
        print(f"kafkawire: not read{where}: {named}{more}: {visible(reason)}", file=sys.stderr)


def _summed(bar: Callable[[str, int, int], None]) -> ReadProgress:
    """Progress of all kinds together."""
    done: dict[Kind, int] = {}
    total: dict[Kind, int] = {}

    def report(kind: Kind, number: int, of: int) -> None:
        done[kind], total[kind] = number, of
        bar("reading the cluster", sum(done.values()), sum(total.values()))

    return report
