"""The ``kafkawire`` command: its commands, and how their failures become messages and exit codes.

Only the module of the called command is imported, so that a filter such as ``kafkawire codec`` starts fast.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from kafkawire.cli.outcome import CommandError, ExitCode, missing_library_message
from kafkawire.cli.visible import visible_lines

COMMANDS: Mapping[str, str] = {
    "broker": "kafkawire.cli.broker:run",
    "codec": "kafkawire.cli.codec:app",
    "demo": "kafkawire.cli.demo.command:run",
    "generate": "kafkawire.cli.generate:run",
    "report": "kafkawire.cli.report:report",
    "schema": "kafkawire.cli.schema:schema",
    "spark": "kafkawire.cli.spark:app",
    "specs": "kafkawire.cli.specs:app",
    "tables": "kafkawire.cli.tables.command:run",
}
"""Command name to ``module:attribute``: a function for one command, a ``typer.Typer`` for a group of commands."""


def main(arguments: Sequence[str] | None = None, *, commands: Mapping[str, str] = COMMANDS) -> int:
    """Runs one command.

    Args:
        arguments: the words after ``kafkawire``; those of the process by default.
        commands: all commands.

    Returns:
        The exit code: 0 done, 1 failed, 2 wrong usage, 3 some items failed, 130 interrupted.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        exit_code = _run(words, commands)
        sys.stdout.flush()
    except CommandError as error:
        return _fail(error.message, error.exit_code)
    except ModuleNotFoundError as error:
        message = missing_library_message(error)
        if message is None:
            raise
        return _fail(message, ExitCode.FAILED)
    except BrokenPipeError:
        # The reader, such as head, has closed the pipe; the last flush of the interpreter must not fail either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.FAILED
    except OSError as error:
        return _fail(_os_error_message(error), ExitCode.FAILED)
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    return exit_code


def _run(words: list[str], commands: Mapping[str, str]) -> int:
    from typer.main import get_command  # noqa: PLC0415 may be missing: it comes with an extra

    from kafkawire.cli.assembly import build_application  # noqa: PLC0415 imports typer

    exit_code: object = ExitCode.DONE
    try:
        get_command(build_application(_needed(words, commands))).main(args=words, prog_name="kafkawire")
    except SystemExit as end:
        exit_code = end.code
    return exit_code if isinstance(exit_code, int) else ExitCode.DONE


def _needed(words: list[str], commands: Mapping[str, str]) -> Mapping[str, str]:
    """The called command; none to print the version; all for help and completion."""
    first = words[0] if words else None
    if first == "--version":
        return {}
    return {first: commands[first]} if first is not None and first in commands else commands


def _os_error_message(error: OSError) -> str:
    if error.filename is None or error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror}"


def _fail(message: str, exit_code: int) -> int:
    print(f"kafkawire: {visible_lines(message)}", file=sys.stderr)
    return exit_code
