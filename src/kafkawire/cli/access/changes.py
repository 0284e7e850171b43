"""Commands that change something: the options they share, the question before, and the outcome of each item after."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from itertools import islice
from typing import Annotated, ClassVar, Final, TypeVar

import typer

from kafkawire.admin import AclBindingFilter, ClientQuotaFilter, ConfigResource, Results
from kafkawire.cli.access.cluster_command import Cluster, without_values
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.rows.formats import RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.rows.row import Row
from kafkawire.cli.visible import visible_lines
from kafkawire.column_roles import ColumnRole
from kafkawire.declared.wording import item_in_words
from kafkawire.near_names import did_you_mean
from kafkawire.wire.kafka_errors import ApiError, KafkaError

_SHOWN_FAILURES: Final = 10

K = TypeVar("K")
V = TypeVar("V")

DryRunOption = Annotated[
    bool,
    typer.Option("--dry-run", help="Change nothing; say what would be changed, checked by the brokers if they can."),
]
YesOption = Annotated[bool, typer.Option("-y", "--yes", help="Do not ask before the change.")]


class Status(StrEnum):
    """The outcome of an item."""

    DONE = "done"
    WOULD_BE_DONE = "would be done"
    UNCHANGED = "unchanged"
    FAILED = "failed"
    NOT_TRIED = "not tried"
    UNKNOWN = "unknown"
    """Sent, and interrupted before the answer."""


class OutcomeRow(Row, frozen=True):
    """The outcome of an item of a change.

    Attributes:
        item: its name.
        kind: what it is: topic, config, acl, quota, user.
        action: what was to be done: create, change, delete.
        status: its outcome.
        error: Kafka's name of the error.
        reason: the text of the error, or another remark.
    """

    item: str
    kind: str
    action: str
    status: Status
    error: str | None = None
    reason: str | None = None

    ROLES: ClassVar[Mapping[str, ColumnRole]] = {
        "status": ColumnRole.KEY,
        "error": ColumnRole.DETAIL,
        "reason": ColumnRole.ERROR,
    }

    @classmethod
    def failed(cls, item: str, kind: str, action: str, error: KafkaError) -> OutcomeRow:
        """The row of an error."""
        name = error.NAME if isinstance(error, ApiError) else type(error).__name__
        return cls(item, kind, action, Status.FAILED, name, _remark(error))


def outcome_rows(
    results: Results[K, V],
    kind: str,
    action: str,
    *,
    dry_run: bool = False,
    name: Callable[[K], str] = str,
    reason: Callable[[V], str | None] = lambda _value: None,
) -> list[OutcomeRow]:
    """The outcome of each item of a call.

    Args:
        results: of the call.
        kind: of the items.
        action: what the call did.
        dry_run: whether it changed nothing.
        name: the name of an item.
        reason: a remark about a value.
    """
    done = Status.WOULD_BE_DONE if dry_run else Status.DONE
    rows = []
    for item, outcome in results.items():
        if isinstance(outcome, KafkaError):
            rows.append(OutcomeRow.failed(name(item), kind, action, outcome))
        else:
            rows.append(OutcomeRow(name(item), kind, action, done, reason=reason(outcome)))
    return rows


def _remark(error: KafkaError) -> str:
    """The text of an error, whose code and item are in other columns."""
    if not isinstance(error, ApiError) or not error.message:
        return str(without_values(error, with_name=False))
    return f"{error.message} (an attempt had an unknown outcome)" if error.outcome_unknown else error.message


def print_outcomes(rows: Iterable[OutcomeRow], form: RowFormat) -> None:
    """Print outcomes, and end with the exit code that they mean: 0 all done, 1 all failed, 3 some failed.

    Raises:
        typer.Exit: some failed.
    """
    listed = list(rows)
    print_rows(listed, OutcomeRow, form, empty="nothing to do")
    end_with(listed)


def end_with(rows: Sequence[OutcomeRow]) -> None:
    """End with the exit code that outcomes mean, as ``print_outcomes`` does.

    Raises:
        typer.Exit: some failed.
    """
    failed = sum(row.status in {Status.FAILED, Status.NOT_TRIED} for row in rows)
    if failed:
        raise typer.Exit(ExitCode.FAILED if failed == len(rows) else ExitCode.SOME_FAILED)


def confirm(cluster: Cluster, question: str, *, yes: bool, destructive: bool = True) -> None:
    """Ask before a change. Every command that changes something calls this before it does, except for a dry run.

    Args:
        cluster: that would change. A context marked as production asks before every change.
        question: what would be done, such as "delete 3 topics".
        yes: whether the user has said yes already.
        destructive: whether every cluster asks; False for a change such as a new topic.

    Raises:
        CommandError: there is no terminal to ask on.
        typer.Exit: the answer is not yes, with exit code 1.
    """
    production = cluster.production_context
    if yes or not (destructive or production):
        return
    asked = f"{question} (context {production} is production)" if production else question
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        message = f"{asked}: there is no terminal to ask on; give --yes, or --dry-run to look"
        raise CommandError(message, ExitCode.USAGE)
    print(f"{asked}? [y/N] ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline()
    if not answer.endswith("\n"):
        print(file=sys.stderr)  # Ctrl-D leaves the cursor after the question
    if answer.strip().lower() not in {"y", "yes"}:
        print("nothing was changed", file=sys.stderr)
        raise typer.Exit(ExitCode.FAILED)


def unless_failed(results: Results[K, V], empty: str) -> str | None:
    """What a table without rows says; None if an item has failed, whose error says more."""
    return None if results.errors() else empty


@contextmanager
def failures_printed(results: Results[K, V], names: Iterable[str] = ()) -> Iterator[None]:
    """After the rows of what was read: a line on standard error for each item that failed, and their exit code.

    Args:
        results: of the call.
        names: those that exist; the message of an item that is none of them suggests a similar one.

    Raises:
        typer.Exit: with exit code 1 if all failed, 3 if some did.
    """
    yield
    errors = results.errors()
    known = frozenset(names)
    for item, error in islice(errors.items(), _SHOWN_FAILURES):
        named = error if isinstance(error.item, str) else f"{_item(item)}{without_values(error)}"
        meant = did_you_mean(str(item), known) if known and item not in known else ""
        print(visible_lines(f"kafkawire: {named}{'; ' if meant else ''}{meant}"), file=sys.stderr)
    if len(errors) > _SHOWN_FAILURES:
        print(f"kafkawire: and {len(errors) - _SHOWN_FAILURES} more have failed", file=sys.stderr)
    if errors:
        raise typer.Exit(ExitCode.FAILED if len(errors) == len(results) else ExitCode.SOME_FAILED)


def _item(item: object) -> str:
    """The name of an item before its error; a filter has none."""
    if isinstance(item, (AclBindingFilter, ClientQuotaFilter)):
        return ""
    return f"{item_in_words(item) if isinstance(item, ConfigResource) else item}: "
