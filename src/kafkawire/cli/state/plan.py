"""``kafkawire plan``."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
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
from kafkawire.cli.state.plan_options import (
    CallerOption,
    PruneKindOption,
    PruneOption,
    PrunePrefixOption,
    PrunePrincipalOption,
    SetSecretsOption,
    SuperUserOption,
    plan_options,
)
from kafkawire.cli.state.plan_rows import PlanRow, plan_rows
from kafkawire.cli.state.plan_text import plan_lines
from kafkawire.cli.state.planning_cluster import planned
from kafkawire.cli.state.selection_options import OnlyOption
from kafkawire.declared.documents.declared import Declared
from kafkawire.declared.planned import Action, Plan
from kafkawire.declared.saved_plan import SavedPlanError, save_plan

UnchangedOption = Annotated[bool, typer.Option("--unchanged", help="List unchanged items too.")]


@cluster_command
def run(
    cluster: Cluster,
    documents: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Documents: files, folders, and - for standard input."),
    ],
    only: OnlyOption = None,
    prune: PruneOption = False,
    prune_prefix: PrunePrefixOption = None,
    prune_principal: PrunePrincipalOption = None,
    prune_kind: PruneKindOption = None,
    set_secrets: SetSecretsOption = False,
    caller: CallerOption = None,
    super_user: SuperUserOption = None,
    unchanged: UnchangedOption = False,
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
    options = plan_options(
        only=only,
        prune=prune,
        prefixes=prune_prefix,
        principals=prune_principal,
        kinds=prune_kind,
        caller=caller,
        super_users=super_user,
        set_secrets=set_secrets,
    )
    declared = read_sound_documents(documents)
    with cluster.connected() as client:
        plan, effects = planned(cluster, client, declared, options)
    with reader_may_leave():
        if output is RowFormat.TABLE:
            print_lines(plan_lines(plan, effects, with_unchanged=unchanged))
        else:
            print_rows(plan_rows(plan, with_unchanged=unchanged), PlanRow, output, empty="nothing to do")
    if out is not None:
        save(plan, declared, out)
    if exit_code and any(item.action is not Action.UNCHANGED for item in plan.items):
        raise typer.Exit(ExitCode.CHANGES)


def save(plan: Plan, declared: Declared, path: Path) -> None:
    """Write a plan into a file.

    Raises:
        CommandError: it needs a secret that no document refers to.
    """
    try:
        content = save_plan(plan, declared.secrets, datetime.now(UTC))
    except SavedPlanError as error:
        raise CommandError(str(error)) from None
    with whole_file(path) as stream:
        stream.write(content)
    print(f"kafkawire: the plan is in {path}; carry it out with kafkawire apply {path}", file=sys.stderr)
