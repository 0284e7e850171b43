"""``kafkawire schema``: work with message definitions. One module for each command."""

from __future__ import annotations

import typer

from kafkawire.cli.schema import lint

schema = typer.Typer(help="Check message definitions.", no_args_is_help=True)


@schema.callback()
def _group() -> None:
    """Check message definitions."""


schema.command("lint")(lint.run)
