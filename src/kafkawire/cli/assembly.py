"""Builds the typer application from the commands that a call needs."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from importlib.metadata import version as distribution_version
from typing import Annotated

import typer

from kafkawire.cli.outcome import CommandError, missing_library_message


def build_application(targets: Mapping[str, str]) -> typer.Typer:
    """The application with the given commands.

    Args:
        targets: command name to ``module:attribute``; the attribute is a function (one command) or a
            ``typer.Typer`` (a group of commands).

    A command whose optional libraries are missing is listed too; when called, it says what to install.
    """
    application = typer.Typer(
        name="kafkawire",
        help="Apache Kafka's protocol in Python: generate it, encode and decode it, check definitions.",
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    application.callback()(_root)
    for name, target in targets.items():
        _add_command(application, name, target)
    return application


def _add_command(application: typer.Typer, name: str, target: str) -> None:
    module_name, _, attribute = target.partition(":")
    try:
        command = getattr(importlib.import_module(module_name), attribute)
    except ModuleNotFoundError as error:
        message = missing_library_message(error)
        if message is None:
            raise
        _add_unavailable(application, name, message)
        return
    if isinstance(command, typer.Typer):
        application.add_typer(command, name=name)
    else:
        application.command(name)(command)


def _add_unavailable(application: typer.Typer, name: str, message: str) -> None:
    @application.command(
        name,
        help=f"Not available: {message}",
        add_help_option=False,
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )
    def unavailable(_context: typer.Context) -> None:
        raise CommandError(message)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"kafkawire {distribution_version('kafkawire')}")
        raise typer.Exit


def _root(
    *,
    _version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Holds the options that come before a command."""
