"""``kafkawire cluster features``, and how their levels are set."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Final

import typer

from kafkawire.admin import FeatureUpdate, UpgradeType
from kafkawire.cli.access.changes import ChangeOptions, confirm, outcome_rows, print_outcomes
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.access.live_nodes import check_live, live_nodes
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.rows.row import Row


class FeatureRow(Row, frozen=True):
    """A feature of the cluster (KIP-584).

    Attributes:
        feature: its name.
        level: the level at which the cluster works; None if it is off.
        lowest, highest: the levels at which the node can work; None if it does not know the feature.
    """

    feature: str
    level: int | None
    lowest: int | None
    highest: int | None


class Downgrade(StrEnum):
    """Which downgrades are allowed."""

    SAFE = "safe"
    UNSAFE = "unsafe"


_UPGRADE_TYPES: Final = {
    None: UpgradeType.UPGRADE,
    Downgrade.SAFE: UpgradeType.SAFE_DOWNGRADE,
    Downgrade.UNSAFE: UpgradeType.UNSAFE_DOWNGRADE,
}

NodeOption = Annotated[int | None, typer.Option(metavar="ID", help="The node to ask; by default any.")]
LevelsArgument = Annotated[
    list[str], typer.Argument(metavar="FEATURE=LEVEL...", help="Features and their new levels; 0 switches one off.")
]
DowngradeOption = Annotated[
    Downgrade | None,
    typer.Option(help="Allow lower levels: those that lose nothing, or also those by which metadata may be lost."),
]


@cluster_command
def list_(cluster: Cluster, node: NodeOption = None, output: FormatOption = RowFormat.TABLE) -> None:
    """List features: the level at which the cluster works, and the levels at which a node can."""
    with cluster.connected() as client:
        if node is not None:
            check_live("--node", [node], live_nodes(client, cluster.options.timeout))
        found = client.describe_features(node=node, timeout=cluster.options.timeout)
    rows = []
    for name in sorted({*found.supported, *found.finalized}):
        supported, finalized = found.supported.get(name), found.finalized.get(name)
        rows.append(
            FeatureRow(
                name,
                None if finalized is None else finalized.highest,
                None if supported is None else supported.lowest,
                None if supported is None else supported.highest,
            )
        )
    print_rows(rows, FeatureRow, output, empty="no features")


@cluster_command
def set_(
    cluster: Cluster,
    levels: LevelsArgument,
    downgrade: DowngradeOption = None,
    *,
    options: ChangeOptions,
) -> None:
    """Change the levels of features, such as metadata.version after an upgrade of all nodes."""
    dry_run, yes, output = options
    updates = {name: FeatureUpdate(level, _UPGRADE_TYPES[downgrade]) for name, level in _pairs(levels)}
    timeout = cluster.options.timeout
    if not dry_run:
        confirm(
            cluster,
            f"set {', '.join(f'{name} to {each.max_version_level}' for name, each in updates.items())}",
            yes=yes,
        )
    with cluster.connected() as client:
        results = client.update_features(updates, validate_only=dry_run, timeout=timeout)
    print_outcomes(outcome_rows(results, "feature", "change", dry_run=dry_run), output)


def _pairs(texts: Sequence[str]) -> list[tuple[str, int]]:
    pairs = []
    for text in texts:
        name, _, level = text.partition("=")
        if not name or not level.isascii() or not level.isdigit():
            raise CommandError(f"{text}: write FEATURE=LEVEL, such as metadata.version=25", ExitCode.USAGE)
        pairs.append((name, int(level)))
    return pairs
