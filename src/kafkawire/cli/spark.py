"""``kafkawire spark``: commands that use Apache Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from kafkawire.cli.outcome import CommandError

app = typer.Typer(help="Read Kafka's own logs with Apache Spark.", no_args_is_help=True)


@app.command(
    "tables",
    add_help_option=False,  # the job has its own, since spark-submit runs it without this command
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
)
def tables(context: typer.Context) -> None:
    """Read Kafka's own logs as tables, and write them as Parquet, JSON or CSV."""
    with _old_release_reported():
        from kafkawire.spark import job  # noqa: PLC0415 PySpark takes a second, which the other commands need not wait

    raise typer.Exit(job.main(context.args))


@app.command("bundle")
def bundle(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="The zip to write, such as kafkawire.zip.")],
) -> None:
    """Write kafkawire as a zip for spark-submit --py-files, and print the command to submit."""
    if out.suffix != ".zip":
        raise typer.BadParameter("Spark needs a zip: give a name that ends with .zip")
    with _old_release_reported():
        from kafkawire.spark import job  # noqa: PLC0415 as above
        from kafkawire.spark.bundle import write_bundle  # noqa: PLC0415

    write_bundle(out)
    print(f"spark-submit --py-files {out} {job.__file__} --log ... --table ... --out ...")


@contextmanager
def _old_release_reported() -> Iterator[None]:
    """A PySpark that is too old is an expected failure; the application reports one that is missing."""
    try:
        yield
    except ModuleNotFoundError:
        raise
    except ImportError as error:
        raise CommandError(error.msg) from None
