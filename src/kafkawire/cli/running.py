"""Runs one command: imports it, and reads its words with Typer."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import partial
from typing import Any

import typer
from typer.exceptions import TyperException
from typer.main import get_command

from kafkawire.cli.commands import OwnParser
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.hidden_pandas import hidden_pandas


def attribute_of(target: str) -> Callable[..., Any]:
    """The function that ``module:attribute`` names. No command needs pandas when it is imported."""
    module, _, attribute = target.partition(":")
    with hidden_pandas():
        function: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
    return function


def typer_command(function: Callable[..., Any]) -> Any:  # noqa: ANN401 Typer has its classes of commands in private
    """The command that Typer makes of a function."""
    application = typer.Typer(add_completion=False, rich_markup_mode=None)
    application.command(context_settings={"help_option_names": []})(function)
    return get_command(application)


def run_command(entry: str | OwnParser, path: str, words: Sequence[str], values: Mapping[str, str]) -> int:
    """Import a command and run it.

    Args:
        entry: where it is defined.
        path: its names, such as ``kafkawire schema lint``.
        words: those after the names.
        values: of options, by their longest names; for messages.

    Returns:
        The exit code.

    Raises:
        CommandError: a value is malformed, with exit code 2; or the command raised it.
    """
    if isinstance(entry, OwnParser):
        try:
            return _exit_code(attribute_of(entry.target)(list(words)))
        except SystemExit as end:  # by argparse, which has printed the reason
            return _exit_code(end.code)
    command = typer_command(attribute_of(entry))
    for parameter in command.params:
        parameter.process_value = partial(_converted, parameter, parameter.process_value)
    try:
        with command.make_context(path, list(words)) as context:
            command.invoke(context)
    except typer.Exit as end:
        return _exit_code(end.exit_code)
    except typer.Abort:
        return ExitCode.INTERRUPTED
    except TyperException as error:
        raise CommandError(_in_words(error, path, values), ExitCode.USAGE) from None
    return ExitCode.DONE


def _converted(parameter: Any, convert: Callable[[Any, Any], Any], context: Any, value: Any) -> Any:  # noqa: ANN401
    """The value of a parameter as the command takes it.

    Typer imports Pydantic for the first value that it converts, also for a default, which takes longer than a request
    to a cluster. Only words for numbers, paths and lists of choices need that.

    Args:
        parameter: of Typer, which has its classes of parameters in private.
        convert: how Typer converts a value in a context.
        context: of Typer.
        value: a default, a word, several words, or None.
    """
    annotation = parameter.type_descriptor.annotation
    is_many = parameter.multiple or parameter.nargs != 1
    if value and is_many and annotation == list[str]:
        return list(value)
    if value is None and not parameter.required:
        return () if is_many else None
    if not is_many and isinstance(annotation, type):
        if isinstance(value, annotation):
            return value
        if issubclass(annotation, Enum) and value in {each.value for each in annotation}:
            return annotation(value)
    return convert(context, value)


def _exit_code(code: object) -> int:
    return code if isinstance(code, int) else ExitCode.DONE


def _in_words(error: TyperException, path: str, values: Mapping[str, str]) -> str:
    """A value of the wrong kind; the description has found everything else that can be wrong."""
    parameter = getattr(error, "param", None)
    if not isinstance(error, typer.BadParameter) or parameter is None:
        return f"{error.message.rstrip('.')}; {path} --help explains it"
    is_option = parameter.param_type_name == "option"
    name = max(parameter.opts, key=len) if is_option else parameter.metavar or parameter.name.upper()
    if parameter.type_descriptor.annotation in {int, float}:
        return f"{name}: {values.get(name, 'it')!r} does not fit; give {_numbers(parameter.min, parameter.max)}"
    return f"{name}: {error.message.removeprefix('Value error, ').rstrip('.')}; {path} --help explains it"


def _numbers(least: float | None, most: float | None) -> str:
    if least is not None and most is not None:
        return f"a number from {least} to {most}"
    return "a whole number" if least is None else f"a number of at least {least}"
