"""All commands: the one table of their names, and of where each is defined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Union


class Group(NamedTuple):
    """A command that only has sub-commands.

    Attributes:
        help: one sentence.
        commands: the sub-commands by name.
        otherwise: ``module:attribute`` of a function that gets words which begin with an option, and returns the exit
            code: the grammar of another tool. It explains itself when the words have ``--help``.
    """

    help: str
    commands: Mapping[str, Entry]
    otherwise: str = ""


class OwnParser(NamedTuple):
    """A command with an ``argparse`` parser of its own, because it runs without this command line too.

    Attributes:
        target: ``module:attribute`` of a function that takes the words and returns the exit code.
        parser: ``module:attribute`` of a function that returns the parser.
    """

    target: str
    parser: str


Entry = Union[str, Group, OwnParser]  # noqa: UP007 an alias is evaluated, and names a class in quotes
"""What a name means. Of a command: ``module:attribute`` of a function whose parameters Typer reads."""

COMMANDS: Mapping[str, Entry] = {
    "broker": "kafkawire.cli.broker:run",
    "codec": Group(
        "Encode and decode messages: a filter on JSON lines.",
        {"decode": "kafkawire.cli.codec:decode", "encode": "kafkawire.cli.codec:encode"},
    ),
    "configs": Group(
        "Describe and change configs; also with the options of Kafka's kafka-configs.",
        {},
        otherwise="kafkawire.cli.kafka_configs.command:main",
    ),
    "demo": "kafkawire.cli.demo.command:run",
    "generate": "kafkawire.cli.generate:run",
    "report": Group(
        "Write pages, each one file that needs no network.",
        {"logs": "kafkawire.cli.report:logs"},
    ),
    "schema": Group(
        "Check and compare message definitions.",
        {
            "check": "kafkawire.cli.schema.check:run",
            "diff": "kafkawire.cli.schema.diff:run",
            "lint": "kafkawire.cli.schema.lint:run",
        },
    ),
    "spark": Group(
        "Read Kafka's own logs with Apache Spark.",
        {
            "bundle": "kafkawire.cli.spark:bundle",
            "tables": OwnParser("kafkawire.cli.spark:tables", "kafkawire.spark.job:argument_parser"),
        },
    ),
    "specs": Group(
        "Import message definitions from Apache Kafka's releases.",
        {
            "add": "kafkawire.cli.specs_add:add",
            "check": "kafkawire.cli.specs:check",
            "import": "kafkawire.cli.specs:import_",
        },
    ),
    "tables": "kafkawire.cli.tables.command:run",
    "topics": Group(
        "List and describe topics, create, change and delete them.",
        {"list": "kafkawire.cli.topics.listing:run"},
    ),
}
"""A new command is one entry here; ``pytest tests/golden/cli --update-golden`` adds it to the help and completion."""
