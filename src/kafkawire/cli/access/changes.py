"""Commands that change something: the options they share, the question before, and the outcome of each item after."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from itertools import islice
from typing import Annotated, ClassVar, Final, NamedTuple, TypeVar

import typer

from kafkawire.admin import AclBindingFilter, ClientQuotaFilter, ConfigResource, Results
from kafkawire.cli.access.cluster_command import Cluster, without_values
from kafkawire.cli.closed_pipe import reader_may_leave
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.rows.formats import FormatOption, RowFormat
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


_TO_LOOK: Final = "--dry-run"
_NO_TERMINAL: Final = "there is no terminal to ask on; give --yes, or --dry-run to look"


class ChangeOptions(NamedTuple):
    """The options of commands that change something.

    Attributes:
        dry_run: whether nothing is changed.
        yes: whether the user has said yes already.
        output: the form of the outcomes.
    """

    dry_run: DryRunOption = False
    yes: YesOption = False
    output: FormatOption = RowFormat.TABLE


class Status(StrEnum):
    """The outcome of an item."""

    DONE = "done"
    WOULD_BE_DONE = "would be done"
    UNCHANGED = "unchanged"
    FAILED = "failed"
    NOT_TRIED = "not tried"
    UNKNOWN = "unknown"
    """Sent, and no answer came."""


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
    with reader_may_leave():
        print_rows(listed, OutcomeRow, form, empty="nothing to do")
    end_with(listed)


def end_with(rows: Sequence[OutcomeRow]) -> None:
    """End with the exit code that outcomes mean, as ``print_outcomes`` does.

    Raises:
        typer.Exit: some failed.
    """
    failed = sum(row.status in {Status.FAILED, Status.NOT_TRIED, Status.UNKNOWN} for row in rows)
    if failed:
        raise typer.Exit(ExitCode.FAILED if failed == len(rows) else ExitCode.SOME_FAILED)


def confirm(cluster: Cluster, question: str, *, yes: bool, destructive: bool = True, to_look: str = _TO_LOOK) -> None:
    """Ask before a change. Every command that changes something calls this before it does, except for a dry run.

    Args:
        cluster: that would change. A context marked as production asks before every change.
        question: what would be done, such as "delete 3 topics".
        yes: whether the user has said yes already.
        destructive: whether every cluster asks; False for a change such as a new topic.
        to_look: what the user can give to change nothing.

    Raises:
        CommandError: there is no terminal to ask on.
        typer.Exit: the answer is not yes, with exit code 1.
    """
    production = cluster.production_context
    if (destructive or production) and not yes:
        _ask(f"{question} (context {production} is production)" if production else question, to_look)
    cluster.is_changed = True


def _ask(asked: str, to_look: str) -> None:
    """Return if the answer is yes.

    Raises:
        CommandError: there is no terminal to ask on.
        typer.Exit: the answer is not yes.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise CommandError(f"{asked}: {_NO_TERMINAL.replace(_TO_LOOK, to_look)}", ExitCode.USAGE)
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
    for line in failure_lines(errors, names):
        print(f"kafkawire: {line}", file=sys.stderr)
    if errors:
        raise typer.Exit(ExitCode.SOME_FAILED if results.values() else ExitCode.FAILED)


def failure_lines(errors: Mapping[K, KafkaError], names: Iterable[str] = ()) -> Iterator[str]:
    """A line for each item that failed, and the number of those after the first ten.

    Args:
        errors: by item.
        names: see `failures_printed`.
    """
    known = frozenset(names)
    for item, error in islice(errors.items(), _SHOWN_FAILURES):
        named = error if isinstance(error.item, str) else f"{_item(item)}: {without_values(error)}"
        meant = did_you_mean(str(item), known) if known and item not in known else ""
        yield visible_lines(f"{named}{'; ' if meant else ''}{meant}")
    if len(errors) > _SHOWN_FAILURES:
        yield f"and {len(errors) - _SHOWN_FAILURES} more have failed"


class WatchedFailures:
    """The failures of what a command with ``--watch`` reads again and again."""

    def __init__(self) -> None:
        self._errors: Mapping[object, KafkaError] = {}

    def checked(self, results: Results[K, V]) -> Results[K, V]:
        """Results, if one of them did not fail.

        Raises:
            typer.Exit: all failed; they are printed.
        """
        self._errors = {item: error for item, error in results.errors().items()}  # noqa: C416 widens the type of keys
        if self._errors and not results.values():
            with failures_printed(results):
                pass
        return results

    def lines(self) -> Iterator[str]:
        """A line for each failure of the results that were checked last."""
        return failure_lines(self._errors)


def _item(item: object) -> str:
    match item:
        case ConfigResource():
            return item_in_words(item)
        case AclBindingFilter():
            return "ACLs"
        case ClientQuotaFilter():
            return "quotas"
        case int():
            return f"node {item}"
        case _:
            return str(item)
