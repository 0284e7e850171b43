"""The read options of ``kafkawire.logs`` as options of a command."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, Final

import typer

from kafkawire.cli.tables.table_batches import command_errors
from kafkawire.logs.option_records import Option, parsed
from kafkawire.logs.options import READ_OPTIONS, ReadOptions

_ANNOTATED: Final[Any] = Annotated
"""For types that are not known before run time."""


def with_read_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command all read options; its parameter ``options`` receives their values.

    Raises:
        CommandError: a value is malformed.
    """
    signature = inspect.signature(command, eval_str=True)
    own = [parameter for parameter in signature.parameters.values() if parameter.name != "options"]
    made = {each.spelling: _parameter(each) for each in READ_OPTIONS if each.in_commands}

    @wraps(command)
    def run(**given: object) -> None:
        texts = {name: str(text) for name in made if (text := given.pop(name)) is not None}
        with command_errors():
            options = parsed(ReadOptions, texts)
        command(**given, options=options)

    vars(run)["__signature__"] = signature.replace(parameters=[*own, *made.values()])
    return run


def _parameter(option: Option) -> inspect.Parameter:
    is_flag = option.kind.type is bool
    own_names = (option.flag,) if is_flag and not option.default else ()  # else Typer adds --no-... too
    info = typer.Option(
        *own_names,
        help=option.help,
        metavar=None if is_flag else option.kind.metavar,
        case_sensitive=False,
        show_default=True if is_flag else option.shown_default or False,
        rich_help_panel=option.panel,
    )
    return inspect.Parameter(
        option.spelling,
        inspect.Parameter.KEYWORD_ONLY,
        default=option.default if is_flag else None,
        annotation=_ANNOTATED[bool if is_flag else option.kind.type | None, info],
    )
