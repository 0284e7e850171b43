"""First chapter: the generator reads Kafka's message definitions and writes a typed Python package."""

from __future__ import annotations

import re
from itertools import takewhile
from pathlib import Path
from typing import Final

from kafkawire.cli.demo.stage import Stage, timed
from kafkawire.cli.outcome import CommandError
from kafkawire.cli.progress import progress_bar
from kafkawire.codegen.emit.formatting import FormattingError
from kafkawire.codegen.generate import Target, checked_specs, generate
from kafkawire.codegen.package_data import specs_dir

_PACKAGE: Final = "kafka_messages"
_DEFINITION: Final = Path("clients", "ListGroupsRequest.json")
_MODULE: Final = Path("clients", "list_groups_request.py")
_FIELD: Final = re.compile(r"    [a-z_]+: .* = ")


def show(stage: Stage) -> None:
    """Generate a package from all definitions, and show one of them with what it became.

    Raises:
        CommandError: nothing was generated.
    """
    target = Target(specs_dir(), _PACKAGE, stage.folder / "package", None)
    try:
        with progress_bar(stage.console) as progress, timed() as seconds:
            summary = generate(target, checked_specs(target.specs, progress), progress)
    except FormattingError as error:
        raise CommandError(f"ruff did not format the package: {error}") from None
    if summary is None:
        raise CommandError(f"{target.package_folder} was there already")
    stage.say(
        f"{summary.messages:,} messages in {summary.versions:,} versions with {summary.fields:,} fields became "
        f"{summary.lines:,} lines of typed Python in {seconds[0]:.1f} s. One of them, as Kafka defines it:"
    )
    stage.item((target.specs / _DEFINITION).read_text("utf-8").strip(), "green")
    stage.say("and the class that came of it, without its comments and codecs:")
    stage.item("\n".join(_class_lines((target.package_folder / _MODULE).read_text("utf-8"))), "green")
    stage.gap()
    stage.say("The same command makes a package of your own definitions:")
    stage.command("generate", "--package", _PACKAGE, "--out", stage.folder / "package")


def _class_lines(module: str) -> list[str]:
    """The head of the first class, and its fields."""
    lines = module.splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("class "))
    fields = takewhile(lambda line: "unknown_tagged_fields" not in line, lines[begin + 1 :])
    return [lines[begin], *filter(_FIELD.match, fields)]
