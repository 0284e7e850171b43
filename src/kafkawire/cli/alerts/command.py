"""``kafkawire alerts``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer

from kafkawire.cli.alerts.alert_rows import AlertRow, AlertRuleRow
from kafkawire.cli.alerts.alerts_sarif import sarif_of
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.rows.formats import FindingFormat, FindingFormatOption
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.tables.table_batches import command_errors
from kafkawire.logs import ReadMode, ReadOptions, TableChanges, read_changes
from kafkawire.logs.alert_rules.files import read_alert_rules
from kafkawire.logs.alert_rules.rules import ALERT_RULES, AlertRule
from kafkawire.logs.alerts.finding import Alert
from kafkawire.logs.alerts.table import AlertsTable
from kafkawire.logs.option_records import TIME, value_of
from kafkawire.logs.past_alerts import read_alerts
from kafkawire.logs.planning import find_logs
from kafkawire.near_names import did_you_mean

_TIMES: Final = "Times"
_RULES: Final = "Rules"


def run(
    log: Annotated[
        str | None,
        typer.Option(
            metavar="PATH", help="The metadata log: the folder __cluster_metadata-0, a folder with it, or a URI."
        ),
    ] = None,
    from_time: Annotated[
        str | None,
        typer.Option(
            metavar="DATE",
            help="Only changes from this time on, such as 2026-03-01T12:30Z. By default from the log's beginning.",
            rich_help_panel=_TIMES,
        ),
    ] = None,
    until_time: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="Only changes before this time.", rich_help_panel=_TIMES),
    ] = None,
    state: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Only what is new since the last run with this file. It is replaced after the alerts are written; the "
            "first run writes all alerts.",
            rich_help_panel=_TIMES,
        ),
    ] = None,
    rule: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Only this rule; repeatable. By default all.", rich_help_panel=_RULES),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Not this rule; repeatable.", rich_help_panel=_RULES),
    ] = None,
    alert_rules: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Rules of your own, beside those that are always there.", rich_help_panel=_RULES
        ),
    ] = None,
    list_rules: Annotated[
        bool, typer.Option("--list-rules", help="List the rules, and read no log.", rich_help_panel=_RULES)
    ] = False,
    output: FindingFormatOption = FindingFormat.TABLE,
) -> None:
    """Find risky changes in a cluster's metadata log: denials removed, everyone allowed, retention shortened.

    It reads a copy of the log, and needs no broker. Each alert has its time and its offset in the log; --list-rules
    says what to do. A change that was undone later is an alert too.

    Exit code: 0 if there is no alert, 1 if there is one, or if the log is damaged or cannot be read; 2 for wrong usage,
    and for a time of which the log does not know the state.
    """
    with command_errors():
        own = () if alert_rules is None else read_alert_rules(alert_rules)
    known = {**ALERT_RULES, **{each.id: each for each in own}}
    rules = _chosen(known, rule, ignore)
    if list_rules:
        _print_rules(rules, output)
        return
    if log is None:
        raise CommandError("--log is missing; give the folder of the metadata log, or --list-rules", ExitCode.USAGE)
    changes = None
    with command_errors():
        since, until = _time(from_time, "from_time"), _time(until_time, "until_time")
        if state is None:
            alerts = read_alerts(log, since=since, until=until, rules=rules)
        else:
            changes = _changes(
                log,
                state,
                ReadOptions(mode=ReadMode.FAILFAST, from_time=since, until_time=until, alert_rules=own),
            )
            alerts = _new_alerts(changes, rules)
    if output is FindingFormat.SARIF:
        sys.stdout.write(sarif_of(alerts, log, known))
    else:
        print_rows(map(AlertRow.of, alerts), AlertRow, output.of_rows, empty="no alerts")
    if changes is not None:
        with command_errors():
            changes.commit()
        if changes.started_over is not None:
            sys.stderr.write(f"All alerts, not only new ones: {changes.started_over}.\n")
    raise typer.Exit(ExitCode.FAILED if alerts else ExitCode.DONE)


def _changes(log: str, state: str, options: ReadOptions) -> TableChanges:
    """The changes of the only metadata log."""
    table = AlertsTable(options)
    find_logs([log]).needed_by(table).one_metadata_log()
    return read_changes(table.name, log, state, options)


def _new_alerts(changes: TableChanges, rules: Sequence[AlertRule]) -> list[Alert]:
    """The alerts of some rules."""
    found = [msgspec.convert(row, Alert) for batch in changes for row in batch.to_pylist()]
    chosen = {rule.id for rule in rules}
    return [alert for alert in found if alert.rule in chosen]


def _chosen(
    known: Mapping[str, AlertRule], wanted: Sequence[str] | None, ignored: Sequence[str] | None
) -> list[AlertRule]:
    """The rules that the options choose, in the order of all.

    Raises:
        CommandError: there is no such rule, or none is left.
    """
    for option, names in (("--rule", wanted), ("--ignore", ignored)):
        for name in names or ():
            if name not in known:
                meant = did_you_mean(name, known) or "--list-rules lists them"
                raise CommandError(f"{option}: there is no rule {name!r}; {meant}", ExitCode.USAGE)
    chosen = [each for each in known.values() if (not wanted or each.id in wanted) and each.id not in (ignored or ())]
    if not chosen:
        raise CommandError("--rule and --ignore leave no rule; leave out one of them", ExitCode.USAGE)
    return chosen


def _print_rules(rules: Sequence[AlertRule], output: FindingFormat) -> None:
    if output is FindingFormat.SARIF:
        raise CommandError("rules are no findings, which SARIF has; choose another --format", ExitCode.USAGE)
    print_rows(map(AlertRuleRow.of, rules), AlertRuleRow, output.of_rows)


def _time(text: str | None, option: str) -> datetime | None:
    return None if text is None else value_of(text, TIME, option)
