"""Fourth chapter: a document declares a state; a plan says what it means, and the second plan is empty."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from typing import Any, Final

from kafkawire.cli.demo.stage import Stage, timed
from kafkawire.cli.demo.users import TOPIC, USERS
from kafkawire.cli.outcome import CommandError, ExitCode

_DOCUMENT: Final = "cluster.yaml"
_PROGRAM: Final = "import sys; from kafkawire.cli.app import main; sys.exit(main())"
_INDENT: Final = "    "
_GRANTED: Final = "User:etl"
_REFUSED: Final = "clicks"
_ALLOWED_PARTITIONS: Final = 12
_NEW_TOPIC: Final = f"topic:{TOPIC}-eu"


def show(stage: Stage) -> None:
    """Plan a document of which a policy refuses an item, apply it, and plan it again.

    Raises:
        CommandError: the broker does not start, or a command fails.
        KafkaError: the broker does not respond.
        OSError: the document cannot be written.
    """
    stage.prepare()
    _write_document(stage, partitions=64)
    stage.say(
        f"{_DOCUMENT} declares a topic, an ACL, and one more quota for each of {USERS:,} users. What would change?"
    )
    _show_plan(stage)
    _write_document(stage, partitions=_ALLOWED_PARTITIONS)
    with timed() as seconds:
        _run(stage, "apply", _DOCUMENT, "--yes")
    done = f"{USERS + 2:,} items in {seconds[0]:.2f} s, start of the command included"
    stage.say(f"With {_ALLOWED_PARTITIONS} partitions, kafkawire apply does it: {done}. After that:")
    _show(stage, _run(stage, "plan", _DOCUMENT), "plan", _DOCUMENT)
    writers = _rows(stage, "acls", "who-can", "WRITE", _NEW_TOPIC, "--super-user", "User:ANONYMOUS")
    if _GRANTED not in {row["principal"] for row in writers}:
        raise CommandError(f"{_GRANTED} may not write to {_NEW_TOPIC}, although the document says so")
    stage.say(f"acls who-can WRITE {_NEW_TOPIC} lists {len(writers)} principals now, {_GRANTED} among them.")
    quota, *_ = _rows(stage, "quotas", "effective", "--user", "user-0042", "--client-id", "batch")
    stage.say(f"quotas effective: client batch of user-0042 keeps its own {quota['value']:,.0f} bytes a second.")


def _write_document(stage: Stage, *, partitions: int) -> None:
    lines = [
        "topics:",
        f"  {_REFUSED}: {{partitions: {partitions}}}",
        "acls:",
        f"  - {{principal: {_GRANTED}, operation: WRITE, topic: {{prefix: {TOPIC}}}}}",
        "quotas:",
        *(f"  - {{user: user-{number:04}, producer_byte_rate: {1_000_000 + number}}}" for number in range(USERS)),
    ]
    (stage.folder / _DOCUMENT).write_text("\n".join(lines) + "\n", "utf-8")


def _show_plan(stage: Stage) -> None:
    """The plan without the items of users: their number is in its last lines."""
    lines = _run(stage, "plan", _DOCUMENT)
    quotas = lines.index("Quotas")
    meaning = next(number for number, line in enumerate(lines) if line.startswith("What this means for access"))
    of_quotas = next(number for number, line in enumerate(lines) if line.startswith("What this means for quotas"))
    counts = next(number for number, line in enumerate(lines) if " to create, " in line)
    shown = [*lines[: quotas + 2], "  ...", "", *lines[meaning:of_quotas], *lines[counts:]]
    _show(stage, [line for line in shown if line], "plan", _DOCUMENT)


def _show(stage: Stage, lines: Sequence[str], *words: str) -> None:
    stage.line(f"{_INDENT}$ kafkawire {' '.join(words)}", "cyan")
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()) + len(_INDENT))
        stage.line(
            textwrap.fill(line.strip(), stage.console.width, initial_indent=indent, subsequent_indent=f"{indent}  ")
        )


def _rows(stage: Stage, *words: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _run(stage, *words, "-o", "jsonl")]


def _run(stage: Stage, *words: str) -> list[str]:
    """The lines that a command prints; blanks at their ends are left out.

    Raises:
        CommandError: it failed otherwise than in single items.
    """
    width = str(stage.console.width - 4)
    ran = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *words, "--bootstrap-server", stage.broker.bootstrap_servers],
        cwd=stage.folder, env={**os.environ, "COLUMNS": width}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if ran.returncode not in {ExitCode.DONE, ExitCode.SOME_FAILED}:
        raise CommandError(f"kafkawire {words[0]} ended with {ran.returncode}: {ran.stderr.strip()}")
    return [line.rstrip() for line in ran.stdout.splitlines()]
