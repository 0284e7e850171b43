"""A table that is read for the command line: with a progress bar, and with errors that name options as flags."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
from rich.console import Console

from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.tables.bytes_bar import BytesBar
from kafkawire.logs import (
    Accounts,
    BeforeKnowledgeError,
    LogReadError,
    NoLogsError,
    OptionError,
    ReadOptions,
    Table,
    TableChanges,
    UnknownColumnError,
    UnknownTableError,
    plan,
)
from kafkawire.logs.accounts import TooManyErrorsError
from kafkawire.logs.errors import OwnDefinitionsError
from kafkawire.logs.planning import FoundLogs
from kafkawire.logs.table_stream import read_parts


@contextmanager
def command_errors() -> Iterator[None]:
    """Errors of reading as errors of the command.

    Raises:
        CommandError: in their place.
    """
    try:
        yield
    except OptionError as error:
        flag = "" if error.option is None else f"--{error.option.replace('_', '-')}: "
        raise CommandError(f"{flag}{error.reason}", ExitCode.USAGE) from None
    except (UnknownTableError, UnknownColumnError, OwnDefinitionsError, BeforeKnowledgeError) as error:
        raise CommandError(str(error), ExitCode.USAGE) from None
    except NoLogsError as error:
        raise CommandError(f"{error.path}: {error.reason}", ExitCode.USAGE) from None
    except LogReadError as error:
        raise CommandError(f"{error.path}: {error.reason}" if error.code == "unreadable" else str(error)) from None
    except TooManyErrorsError as error:
        raise CommandError(str(error)) from None


def changed_batches_of(
    changes: TableChanges, accounts: Accounts, console: Console, max_errors: int | None
) -> Iterator[pa.RecordBatch]:
    """The rows of a table that are new or changed; for the arguments see ``batches_of``.

    Raises:
        CommandError: as ``batches_of``.
    """
    with command_errors(), BytesBar(console, changes.table.name, changes.bytes, accounts):
        for batch in changes:
            accounts.check_errors(max_errors)
            yield batch
        accounts.check_errors(max_errors)


def batches_of(
    table: Table,
    logs: FoundLogs,
    options: ReadOptions,
    accounts: Accounts,
    console: Console,
    max_errors: int | None = None,
    processes: int = 1,
) -> Iterator[pa.RecordBatch]:
    """All rows of a table.

    Args:
        table: what is read.
        logs: the files.
        options: what to read, and how.
        accounts: get the counts.
        console: for the progress bar, if it is a terminal.
        max_errors: how many errors are allowed; None for any number.
        processes: how many processes read.

    Raises:
        CommandError: the logs cannot be read, or there are too many errors.
    """
    with command_errors():
        parts = plan(table, logs.files, store=logs.store, options=options)
        with BytesBar(console, table.name, sum(part.bytes for part in parts), accounts):
            yield from read_parts(
                table, parts, options, accounts, store=logs.store, max_errors=max_errors, processes=processes
            )
