"""``kafkawire schema``: work with message definitions. One module for each command."""

from __future__ import annotations

import typer

from kafkawire.cli.schema import check, diff, lint

schema = typer.Typer(help="Check and compare message definitions.", no_args_is_help=True)


schema.command("lint")(lint.run)
schema.command("diff")(diff.run)
schema.command("check")(check.run)
