"""``kafkawire spark``: commands that use Apache Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from kafkawire.cli.outcome import CommandError, ExitCode


def tables(words: Sequence[str]) -> int:
    """Read Kafka's own logs as tables, and write them as Parquet, JSON or CSV; the job has a parser of its own."""
    with _old_release_reported():
        from kafkawire.spark import job  # noqa: PLC0415 PySpark takes a second, which the other commands need not wait

    return job.main(words)


def bundle(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="The zip to write, such as kafkawire.zip.")],
) -> None:
    """Write kafkawire as a zip for spark-submit --py-files, and print the command to submit."""
    if out.suffix != ".zip":
        raise CommandError(f"{out}: Spark needs a zip; give a name that ends with .zip", ExitCode.USAGE)
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
