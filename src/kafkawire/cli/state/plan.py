"""``kafkawire plan``."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.closed_pipe import reader_may_leave
from kafkawire.cli.destination import whole_file
from kafkawire.cli.documents.reading import read_sound_documents
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.state.comparison_text import print_lines
from kafkawire.cli.state.effect_rows import (
    AccessEffectRow,
    QuotaEffectRow,
    access_effect_rows,
    quota_effect_rows,
)
from kafkawire.cli.state.plan_options import GivenPlanOptions, plan_options
from kafkawire.cli.state.plan_rows import PlanRow, plan_rows
from kafkawire.cli.state.plan_text import access_lines, plan_lines, quota_lines
from kafkawire.cli.state.planning_cluster import CheckedPlan, planned
from kafkawire.declared.documents.declared import Declared
from kafkawire.declared.planned import Action
from kafkawire.declared.saved_plan import SavedPlanError, save_plan


class Part(StrEnum):
    """What ``plan`` prints."""

    ITEMS = "items"
    ACCESS = "access"
    QUOTAS = "quotas"


ShowOption = Annotated[
    Part,
    typer.Option(
        "--show",
        help="The items and, as text, what they mean; or that alone, in full and in every form: who gains and who "
        "loses what, or whose limits change.",
    ),
]
UnchangedOption = Annotated[bool, typer.Option("--unchanged", help="List unchanged items too.")]


@cluster_command
def run(
    cluster: Cluster,
    documents: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Documents: files, folders, and - for standard input."),
    ],
    *,
    given: GivenPlanOptions,
    unchanged: UnchangedOption = False,
    show: ShowOption = Part.ITEMS,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Save the plan, which kafkawire apply FILE carries out as it is."),
    ] = None,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 4 if there is something to do.")] = False,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """Say what would bring a cluster to its declared state, and what that means; nothing is changed.

    Brokers validate topics, partitions, configs and quotas, with their policies. ACLs and credentials are checked by
    Kafka's rules here. Passwords cannot be read back: a credential is unchanged if its mechanism and iterations are.
    The form "table" is a text by kind and item; "wide" is a table.

    Exit code: 0, whether there is something to do or not; with --exit-code 4 if there is.
    """
    options = plan_options(given)
    declared = read_sound_documents(documents)
    with cluster.connected() as client:
        checked = planned(cluster, client, declared, options)
    with reader_may_leave():
        _print(checked, show, output, with_unchanged=unchanged)
    if out is not None:
        save(checked, declared, out)
    if exit_code and any(item.action is not Action.UNCHANGED for item in checked.plan.items):
        raise typer.Exit(ExitCode.CHANGES)


def _print(checked: CheckedPlan, show: Part, output: RowFormat, *, with_unchanged: bool) -> None:
    plan, effects = checked.plan, checked.effects
    match show:
        case Part.ACCESS if output is RowFormat.TABLE:
            print_lines(access_lines(effects))
        case Part.ACCESS:
            print_rows(access_effect_rows(effects), AccessEffectRow, output, empty="no right changes")
        case Part.QUOTAS if output is RowFormat.TABLE:
            print_lines(quota_lines(effects))
        case Part.QUOTAS:
            print_rows(quota_effect_rows(effects), QuotaEffectRow, output, empty="no limit changes")
        case Part.ITEMS if output is RowFormat.TABLE:
            print_lines(plan_lines(plan, effects, with_unchanged=with_unchanged))
        case Part.ITEMS:
            print_rows(plan_rows(plan, with_unchanged=with_unchanged), PlanRow, output, empty="nothing to do")


def save(checked: CheckedPlan, declared: Declared, path: Path) -> None:
    """Write a plan into a file.

    Raises:
        CommandError: it needs a secret that no document refers to.
    """
    try:
        content = save_plan(checked.plan, declared.secrets, datetime.now(UTC), checked.authority)
    except SavedPlanError as error:
        raise CommandError(str(error)) from None
    with whole_file(path) as stream:
        stream.write(content)
    print(f"kafkawire: the plan is in {path}; carry it out with kafkawire apply {path}", file=sys.stderr)
