"""Words of a command line, read against the description of the commands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kafkawire.cli.description import HELP_OPTIONS, CommandDescription, Parameter
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.near_names import did_you_mean, near_names

_LIKENESS = 0.75
"""Of names of options, all of which begin alike."""


class ReadWords(NamedTuple):
    """What the words of a command mean, as far as the description has it.

    Attributes:
        given: the options that were given, in their order.
        arguments: the values of arguments.
        open: the option whose value is still missing when the words end.
        unknown: words in the place of options that are none.
        unwanted: values given to flags, as ``--flag=value``.
        wants_help: whether ``-h`` or ``--help`` is among the options.
        only_arguments: whether ``--`` was given, after which no word is an option.
        values: texts of options by title, the last one of each.
    """

    given: Sequence[Parameter]
    arguments: Sequence[str]
    open: Parameter | None
    unknown: Sequence[str]
    unwanted: Sequence[str]
    wants_help: bool
    only_arguments: bool
    values: dict[str, str]


def found_command(root: CommandDescription, words: Sequence[str]) -> tuple[Sequence[str], CommandDescription]:
    """The names of the command that words begin with, and its description."""
    command = root
    names: list[str] = []
    for word in words:
        if word not in command.commands:
            break
        command = command.commands[word]
        names.append(word)
    return names, command


def read_words(command: CommandDescription, words: Iterable[str]) -> ReadWords:
    """The words after the names of a command."""
    options = command.options
    given: list[Parameter] = []
    arguments: list[str] = []
    unknown: list[str] = []
    unwanted: list[str] = []
    values: dict[str, str] = {}
    open_option: Parameter | None = None
    wants_help = only_arguments = False
    for word in words:
        if open_option is not None:
            values[open_option.title] = word
            open_option = None
        elif only_arguments or not word.startswith("-") or word == "-":
            arguments.append(word)
        elif word == "--":
            only_arguments = True
        elif word in HELP_OPTIONS:
            wants_help = True
        else:
            name, value = _split(word, options.keys())
            option = options.get(name)
            if option is None:
                unknown.append(name)
                continue
            given.append(option)
            if option.is_flag:
                unwanted += [] if value is None else [name]
            elif value is None:
                open_option = option
            else:
                values[option.title] = value
    return ReadWords(given, arguments, open_option, unknown, unwanted, wants_help, only_arguments, values)


def _split(word: str, names: Iterable[str]) -> tuple[str, str | None]:
    """A name and its value in one word: ``--out=file``, ``-ojson``."""
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        return name, value if equals else None
    return (word[:2], word[2:]) if len(word) > 2 and word[:2] in names else (word, None)


def check_words(path: str, command: CommandDescription, read: ReadWords, *, own_parser: bool = False) -> None:
    """Refuse words that cannot work.

    Args:
        path: the names of the command, such as ``kafkawire schema lint``.
        command: its description.
        read: the words after the names.
        own_parser: whether the command has a parser of its own, which checks values.

    Raises:
        CommandError: with exit code 2, for the first problem.
    """
    values = () if own_parser else _problems_of_values(read)
    for problem in (*_problems(path, command, read), *values):
        raise CommandError(problem, ExitCode.USAGE)


def _problems(path: str, command: CommandDescription, read: ReadWords) -> Iterable[str]:
    for name in read.unknown:
        near = near_names(name, command.options, likeness=_LIKENESS)
        hint = f"did you mean {near[0]}?" if near else f"{path} --help lists the options"
        yield f"there is no option {name}; {hint}"
    for name in read.unwanted:
        yield f"{name} takes no value; leave out what follows the ="
    if read.open is not None:
        yield f"{read.open.title} needs a value; give {read.open.title} {read.open.metavar}"
    room = command.arguments
    if len(read.arguments) > len(room) and not any(each.repeatable for each in room):
        yield f"{read.arguments[len(room)]!r} is one word too many; {path} --help shows the usage"
    absent = [each.title for each in command.parameters if each.is_option and each.required and each not in read.given]
    absent += [each.title for each in room[len(read.arguments) :] if each.required]
    if absent:
        verb = "is" if len(absent) == 1 else "are"
        yield f"{' and '.join(absent)} {verb} missing; {path} --help explains {'it' if len(absent) == 1 else 'them'}"


def _problems_of_values(read: ReadWords) -> Iterable[str]:
    for option in read.given:
        value = read.values.get(option.title)
        if value is not None and option.choices and value.casefold() not in map(str.casefold, option.choices):
            near = near_names(value, option.choices)
            hint = f"did you mean {near[0]}?" if near else f"give one of {', '.join(option.choices)}"
            yield f"{option.title}: there is no {value!r}; {hint}"


def no_such_command(path: str, group: CommandDescription, word: str) -> CommandError:
    """The error of a word that names no command of a group."""
    hint = did_you_mean(word, group.commands) or f"{path} --help lists the commands"
    kind = "option" if word.startswith("-") else "command"
    return CommandError(f"there is no {kind} {word!r}; {hint}", ExitCode.USAGE)
