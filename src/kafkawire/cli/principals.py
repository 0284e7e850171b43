"""Principals that words on the command line name."""

from __future__ import annotations

from collections.abc import Iterable

from kafkawire.cli.outcome import CommandError, ExitCode


def check_principals(option: str, principals: Iterable[str] | None) -> None:
    """Check that principals are written with their types.

    Raises:
        CommandError: one has no type; says what to write.
    """
    for principal in principals or ():
        if ":" not in principal:
            raise CommandError(f"{option} {principal}: write its type too: User:{principal}", ExitCode.USAGE)
