"""The ``kafkawire`` command: finds the command that the words name, runs it, and turns failures into messages.

Help, completion, the version and wrong usage need no library and import no command: they come from a stored
description of all commands.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import Mapping, Sequence

from kafkawire.cli.commands import COMMANDS, Entry, Group, OwnParser
from kafkawire.cli.description import HELP_OPTIONS, CommandDescription, stored_description
from kafkawire.cli.outcome import CommandError, ExitCode, missing_library_message
from kafkawire.cli.standard_streams import complete_streams, outlive_reader_of_remarks
from kafkawire.cli.visible import visible_lines
from kafkawire.cli.words import check_words, found_command, no_such_command, read_words

_NAME = "kafkawire"

_COLLECTED_AFTER = 50_000
"""New objects until Python looks for cycles, in a process of the command line: modules, documents and results have few,
and the usual 700 cost a tenth of the time of a plan."""


def main(arguments: Sequence[str] | None = None, *, commands: Mapping[str, Entry] = COMMANDS) -> int:
    """Runs one command.

    Args:
        arguments: the words after ``kafkawire``; those of the process by default, which then is the command's own.
        commands: all commands.

    Returns:
        The exit code: 0 done, 1 failed, 2 wrong usage, 3 some items failed, 130 interrupted.
    """
    complete_streams()
    if arguments is None:
        outlive_reader_of_remarks()
        gc.set_threshold(_COLLECTED_AFTER)
    words = sys.argv[1:] if arguments is None else list(arguments)
    exit_code: int = ExitCode.DONE
    try:
        exit_code = _run(words, commands)
        sys.stdout.flush()
    except CommandError as error:
        if error.exit_code == ExitCode.INTERRUPTED:
            _leave_line_of_ctrl_c()
        return _fail(error.message, error.exit_code)
    except (ModuleNotFoundError, RuntimeError) as error:
        message = _missing_part(error)
        if message is None:
            raise
        return _fail(message, ExitCode.FAILED)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            from kafkawire.cli.closed_pipe import reader_has_left  # noqa: PLC0415 most calls print to the end

            if reader_has_left():
                return exit_code
        return _fail(_os_error_message(error), _os_error_code(error, words))
    except KeyboardInterrupt:
        _leave_line_of_ctrl_c()
        return ExitCode.INTERRUPTED
    finally:
        if arguments is None:
            gc.freeze()  # a process ends with a collection, which would take a sixth of the time of a short command
    return exit_code


def _missing_part(error: Exception) -> str | None:
    """What to do, if the error is about a part of kafkawire that is not installed; None for any other error."""
    if isinstance(error, ModuleNotFoundError):
        return missing_library_message(error)
    from kafkawire.wire import EngineError  # noqa: PLC0415 most calls end without it

    return str(error) if isinstance(error, EngineError) else None


def _run(words: list[str], commands: Mapping[str, Entry]) -> int:
    from kafkawire.cli.completion import VARIABLE, print_replies  # noqa: PLC0415 most calls complete nothing

    shell = os.environ.get(VARIABLE)
    if shell is not None:
        print_replies(stored_description(), shell, words)
        return ExitCode.DONE
    root = _root_of(commands)
    if not words or words[0].startswith("-"):
        return _run_root(root, words)
    if words[0] == "help":
        return _print_help(root, words[1:])
    names, command = found_command(root, words)
    path = " ".join((_NAME, *names))
    rest = words[len(names) :]
    grammar = _other_grammar(commands, names)
    if command.commands or grammar:
        if grammar and rest and rest[0].startswith("-") and not (len(rest) == 1 and rest[0] in HELP_OPTIONS):
            from kafkawire.cli.running import attribute_of  # noqa: PLC0415 as below

            return int(attribute_of(grammar)(rest))
        return _refuse_group(path, command, rest)
    read = read_words(command, rest)
    if read.wants_help:
        return _show(path, command)
    entry = _command(commands, names)
    check_words(path, command, read, own_parser=isinstance(entry, OwnParser))
    from kafkawire.cli.running import run_command  # noqa: PLC0415 imports Typer, which comes with an extra

    return run_command(entry, path, rest, read.values)


def _root_of(commands: Mapping[str, Entry]) -> CommandDescription:
    if commands is COMMANDS:
        return stored_description().root
    from kafkawire.cli.describing import described_root  # noqa: PLC0415 imports the commands, for tests

    return described_root(commands)


def _command(commands: Mapping[str, Entry], names: Sequence[str]) -> str | OwnParser:
    """The command of the names, which are those of the description."""
    first, *others = names
    entry = commands[first]
    return _command(entry.commands, others) if isinstance(entry, Group) else entry


def _other_grammar(commands: Mapping[str, Entry], names: Sequence[str]) -> str:
    """Of the group of the names: what reads words that begin with an option; empty if there is none."""
    group = commands[names[0]] if len(names) == 1 else None
    return group.otherwise if isinstance(group, Group) else ""


def _run_root(root: CommandDescription, words: list[str]) -> int:
    """The options before a command; without any word, the help, and the exit code of wrong usage."""
    if not words:
        _show(_NAME, root)
        return ExitCode.USAGE
    from kafkawire.cli.completion import install_script, show_script  # noqa: PLC0415 as above

    option, equals, value = words[0].partition("=")
    shell = value if equals else next(iter(words[1:]), None)
    if words[0] in HELP_OPTIONS:
        return _show(_NAME, root)
    if words[0] in {"-V", "--version"}:
        from kafkawire.version import __version__  # noqa: PLC0415 only for this
        from kafkawire.wire import ENGINE  # noqa: PLC0415

        print(f"{_NAME} {__version__} ({ENGINE} engine)")
    elif option == "--install-completion":
        install_script(shell)
    elif option == "--show-completion":
        show_script(shell)
    else:
        check_words(_NAME, root, read_words(root, words))
        raise no_such_command(_NAME, root, words[0])
    return ExitCode.DONE


def _print_help(root: CommandDescription, words: Sequence[str]) -> int:
    """``kafkawire help schema lint``."""
    names, command = found_command(root, words)
    path = " ".join((_NAME, *names))
    if len(names) < len(words):
        raise no_such_command(path, command, words[len(names)])
    return _show(path, command)


def _refuse_group(path: str, group: CommandDescription, rest: Sequence[str]) -> int:
    """A group without a sub-command shows its help, with the exit code of wrong usage."""
    if rest and rest[0] not in HELP_OPTIONS:
        raise no_such_command(path, group, rest[0])
    _show(path, group)
    return ExitCode.DONE if rest else ExitCode.USAGE


def _show(path: str, command: CommandDescription) -> int:
    from kafkawire.cli.help_text import print_help  # noqa: PLC0415 most calls need no help

    print_help(path, command)
    return ExitCode.DONE


def _leave_line_of_ctrl_c() -> None:
    """End the line with ``^C``; a shell does that only for programs that a signal ends."""
    if sys.stderr.isatty():
        print(file=sys.stderr)


def _os_error_message(error: OSError) -> str:
    if error.filename is None and error.errno == errno.ENOSPC:  # of a file, the message has its name
        return f"standard output: {error.strerror}; free space, or write elsewhere"
    if error.filename is None or error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror}"


def _os_error_code(error: OSError, words: Sequence[str]) -> ExitCode:
    """A file or folder that the user named and that is not there, or is the other of the two, is wrong usage."""
    named = [word.partition("=")[2] if word.startswith("--") else word for word in words]
    is_absent = isinstance(error, (FileNotFoundError, NotADirectoryError, IsADirectoryError))
    return ExitCode.USAGE if is_absent and str(error.filename) in named else ExitCode.FAILED


def _fail(message: str, exit_code: int) -> int:
    print(f"{_NAME}: {visible_lines(message)}", file=sys.stderr)
    return exit_code
