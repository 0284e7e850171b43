"""``kafkawire apply``."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import msgspec
import typer

from kafkawire.admin import BlockingAdminClient
from kafkawire.cli.access.changes import ChangeOptions, OutcomeRow, Status, confirm, end_with
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.closed_pipe import reader_may_leave
from kafkawire.cli.documents.reading import read_sound_documents
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.rows.formats import RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.state.comparison_text import Line, print_lines, shown
from kafkawire.cli.state.plan_options import GivenPlanOptions, PlanOptions, plan_options
from kafkawire.cli.state.plan_text import plan_lines
from kafkawire.cli.state.planning_cluster import keeping_access, planned, progress_of
from kafkawire.cli.state.reading_cluster import read_with_progress
from kafkawire.cli.visible import visible
from kafkawire.declared.applying import AFTER_SILENCE, Application, AppliedItem, Result
from kafkawire.declared.documents.secret_references import UnavailableSecretError
from kafkawire.declared.drift import DriftedItem, compare_with_now, scope_of_plan
from kafkawire.declared.effects_of_plan import PlanEffects, effects_of_plan
from kafkawire.declared.planned import Action, Kind, Plan
from kafkawire.declared.planned_values import SecretKey
from kafkawire.declared.requests_of_plan import secret_keys
from kafkawire.declared.saved_plan import LARGEST, SavedPlan, SavedPlanError, is_saved_plan, load_plan
from kafkawire.declared.wording import item_in_words

_KINDS: Final = {
    Kind.TOPICS: "topic",
    Kind.CONFIGS: "config",
    Kind.ACLS: "acl",
    Kind.QUOTAS: "quota",
    Kind.USERS: "user",
}
_STATUS: Final = {
    Result.DONE: Status.DONE,
    Result.FAILED: Status.FAILED,
    Result.UNKNOWN: Status.UNKNOWN,
    Result.NOT_TRIED: Status.NOT_TRIED,
}
_CARRIED_OUT: Final = (Action.CREATE, Action.CHANGE, Action.DELETE)
_DRIFTED_SHOWN: Final = 20
_ALIKE_SHOWN: Final = 10
_INTERRUPTED: Final = "kafkawire: interrupted; run it again for the rest"
_WITHOUT_ANSWER: Final = "kafkawire: the cluster did not answer; run it again for the rest"


class _ToApply(NamedTuple):
    """What is carried out."""

    plan: Plan
    effects: PlanEffects
    secret: Callable[[SecretKey], str | None]


@cluster_command
def run(
    cluster: Cluster,
    documents: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Documents: files, folders, - for standard input; or one saved plan."),
    ],
    *,
    given: GivenPlanOptions,
    changing: ChangeOptions,
) -> None:
    """Bring a cluster to its declared state: plan, ask, carry out.

    A saved plan is carried out as it is, unless the cluster has changed since. Items are sent together; each has an
    outcome. Nothing is deleted after a failure. After an interruption or a failure run it again: what is done is
    unchanged then.

    Exit code: 0 all is done; 1 all failed; 3 some failed or are impossible; 130 interrupted.
    """
    dry_run, yes, output = changing
    options = plan_options(given)
    saved = _saved_plan(documents, options)
    declared = read_sound_documents(documents) if saved is None else None
    with cluster.connected() as client:
        if declared is not None:
            plan, effects, _ = planned(cluster, client, declared, options)
            to_apply = _ToApply(plan, effects, declared.secret)
        else:
            assert saved is not None  # noqa: S101 one of the two is given
            to_apply = _still_fitting(saved, client, cluster, options)
        _apply(cluster, client, to_apply, dry_run=dry_run, yes=yes, output=output)


def _apply(
    cluster: Cluster, client: BlockingAdminClient, to_apply: _ToApply, *, dry_run: bool, yes: bool, output: RowFormat
) -> None:
    plan = to_apply.plan
    if output is RowFormat.TABLE:
        with reader_may_leave():
            print_lines(plan_lines(plan, to_apply.effects, with_unchanged=False))
    to_do = sum(item.action in _CARRIED_OUT for item in plan.items)
    if dry_run:
        _print(_dry_rows(plan), output)
        return
    secrets = _secrets(to_apply) if to_do else {}
    if to_do:
        if output is not RowFormat.TABLE and sys.stderr.isatty() and not yes:
            lines = plan_lines(plan, to_apply.effects, with_unchanged=False)
            sys.stderr.writelines(f"{line.text}\n" for line in lines)
        confirm(cluster, f"carry this out: {_changes(plan)}", yes=yes)
    application = Application(plan, secrets.get, timeout=cluster.options.timeout)
    try:
        with progress_of("carrying out") as report:
            application.progress = report
            client.run(application.run)
    except (KeyboardInterrupt, CancelledError):
        _show(_rows(application), output)
        print(_INTERRUPTED, file=sys.stderr)
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    _print(_rows(application), output)


def _changes(plan: Plan) -> str:
    """The numbers of changes, for the question; all counts are in the line above it."""
    found = Counter(item.action for item in plan.items)
    return ", ".join(f"{found[action]} to {action}" for action in _CARRIED_OUT if found[action])


def _print(rows: list[OutcomeRow], output: RowFormat) -> None:
    """Print outcomes; raises the exit code that they mean."""
    _show(rows, output)
    if any(row.status is Status.UNKNOWN or row.reason == AFTER_SILENCE for row in rows):
        print(_WITHOUT_ANSWER, file=sys.stderr)
    end_with(rows)


@reader_may_leave()
def _show(rows: list[OutcomeRow], output: RowFormat) -> None:
    if output is RowFormat.TABLE:
        unusual = [row for row in rows if row.status not in {Status.DONE, Status.WOULD_BE_DONE}]
        if unusual:
            print_rows(_folded(unusual), OutcomeRow, output)
        found = Counter(row.status for row in rows)
        print(", ".join(f"{count} {status}" for status, count in found.items()) or "nothing to do")
    else:
        print_rows(rows, OutcomeRow, output, empty="nothing to do")


def _folded(rows: list[OutcomeRow]) -> Iterator[OutcomeRow]:
    """Rows of a table: of those that differ in their item only, the first ten, and the number of the others."""
    alike = dict[OutcomeRow, list[OutcomeRow]]()
    for row in rows:
        alike.setdefault(msgspec.structs.replace(row, item=""), []).append(row)
    for same in alike.values():
        yield from same[:_ALIKE_SHOWN]
        if len(same) > _ALIKE_SHOWN:
            yield msgspec.structs.replace(same[0], item=f"and {len(same) - _ALIKE_SHOWN} more", reason="the same")


def _rows(application: Application) -> list[OutcomeRow]:
    return [_row(each) for each in application.outcomes()]


def _row(applied: AppliedItem) -> OutcomeRow:
    item = applied.planned
    name, kind = item_in_words(item.item), _KINDS[item.kind]
    if applied.error is not None:
        failed = OutcomeRow.failed(name, kind, item.action, applied.error)
        return msgspec.structs.replace(failed, status=_STATUS[applied.result])
    return OutcomeRow(name, kind, item.action, _STATUS[applied.result], reason=applied.reason or None)


def _dry_rows(plan: Plan) -> list[OutcomeRow]:
    rows = []
    for item in plan.items:
        if item.action is Action.UNCHANGED:
            continue
        name, kind = item_in_words(item.item), _KINDS[item.kind]
        if item.action is Action.IMPOSSIBLE:
            rows.append(OutcomeRow(name, kind, item.action, Status.NOT_TRIED, reason=item.reason))
        elif item.error is not None:
            code, _, text = item.error.partition(": ")
            rows.append(OutcomeRow(name, kind, item.action, Status.FAILED, code, text))
        else:
            rows.append(OutcomeRow(name, kind, item.action, Status.WOULD_BE_DONE, reason=str(item.check)))
    return rows


def _secrets(to_apply: _ToApply) -> dict[SecretKey, str | None]:
    """All secrets that are needed, before anything is changed.

    Raises:
        CommandError: one cannot be had.
    """
    try:
        secrets = {key: to_apply.secret(key) for key in secret_keys(to_apply.plan.items)}
    except UnavailableSecretError as error:
        raise CommandError(f"{error}; nothing was changed") from None
    for (_, name), secret in secrets.items():
        if secret is None:
            message = f"the secret of {name} is not known: the plan does not say where it is"
            raise CommandError(f"{message}; nothing was changed: plan again")
    return secrets


def _saved_plan(documents: list[str], options: PlanOptions) -> SavedPlan | None:
    """The plan that the only file is; None if documents are given.

    Raises:
        CommandError: it is malformed, or given with options that would change it.
    """
    if len(documents) != 1 or not Path(documents[0]).is_file():
        return None
    name = documents[0]
    with Path(name).open("rb") as file:
        head = file.read(4096)
        if not is_saved_plan(head):
            return None
        content = head + file.read(LARGEST)
    if options._replace(caller=None, super_users=None) != PlanOptions():
        raise CommandError(
            f"{name} is a saved plan, carried out as it is: plan again with these options", ExitCode.USAGE
        )
    try:
        return load_plan(content, name)
    except SavedPlanError as error:
        raise CommandError(str(error)) from None


def _secret_of(saved: SavedPlan) -> Callable[[SecretKey], str | None]:
    def secret(key: SecretKey) -> str | None:
        reference = saved.secrets.get(key)
        return None if reference is None else reference.read()

    return secret


def _still_fitting(saved: SavedPlan, client: BlockingAdminClient, cluster: Cluster, options: PlanOptions) -> _ToApply:
    """The saved plan and what it means now, if it is of this cluster, fits, and leaves its caller its rights.

    Raises:
        CommandError: it does not fit any longer.
    """
    read = read_with_progress(client, scope_of_plan(saved.plan), cluster.options.timeout)
    if saved.plan.cluster_id != read.cluster_id:
        message = f"the plan is for the cluster {saved.plan.cluster_id}, and this is {read.cluster_id}; plan it again"
        raise CommandError(message)
    plan, drifted = compare_with_now(saved.plan, read.state)
    if drifted:
        for line in _drift_lines(drifted):
            print(line.text, file=sys.stderr)
        made = saved.created.strftime("%Y-%m-%d %H:%M:%S %Z")
        raise CommandError(f"the cluster has changed since the plan was made ({made}); nothing was done: plan it again")
    super_users = saved.authority.super_users if options.super_users is None else options.super_users
    deciding = msgspec.structs.replace(saved.authority, super_users=super_users)
    _refuse_own_loss(plan, keeping_access(plan, read.state.acls, cluster, client, options.caller, deciding))
    return _ToApply(plan, effects_of_plan(plan, read.state, deciding), _secret_of(saved))


def _refuse_own_loss(plan: Plan, kept: Plan) -> None:
    """Another caller than the one that planned may carry a plan out, and would lose its own rights by it."""
    lost = [item for before, item in zip(plan.items, kept.items, strict=True) if before is not item]
    if lost:
        first = f"{_KINDS[lost[0].kind]} {visible(item_in_words(lost[0].item))}: {lost[0].reason}"
        more = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
        raise CommandError(f"{first}{more}; nothing was done")


def _drift_lines(drifted: tuple[DriftedItem, ...]) -> Iterator[Line]:
    for each in drifted[:_DRIFTED_SHOWN]:
        reason = f": {each.reason}" if each.reason else ""
        yield Line(f"  {_KINDS[each.kind]} {visible(item_in_words(each.item))}{reason}")
        for value in each.values:
            yield Line(f"      {visible(value.name)}: planned from {shown(value.before)}, now {shown(value.after)}")
    if len(drifted) > _DRIFTED_SHOWN:
        yield Line(f"  and {len(drifted) - _DRIFTED_SHOWN} more")
