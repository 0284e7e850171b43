"""All commands: the one table of their names, and of where each is defined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    "acls": Group(
        "List, create and delete ACLs, say what they allow, review them.",
        {
            "create": "kafkawire.cli.acls.changing:create",
            "delete": "kafkawire.cli.acls.changing:delete",
            "list": "kafkawire.cli.acls.reading:list_",
            "may": "kafkawire.cli.acls.asking:may",
            "minimise": "kafkawire.cli.acls.reviewing:minimise",
            "review": "kafkawire.cli.acls.reviewing:review",
            "who-can": "kafkawire.cli.acls.asking:who_can",
            "who-could": "kafkawire.cli.acls.asking_past:run",
        },
    ),
    "alerts": "kafkawire.cli.alerts.command:run",
    "apply": "kafkawire.cli.state.apply:run",
    "broker": "kafkawire.cli.broker:run",
    "cluster": Group(
        "Show brokers, API versions, quorum, features and disks, and set levels of features.",
        {
            "api-versions": "kafkawire.cli.cluster.versions:api_versions",
            "describe": "kafkawire.cli.cluster.members:describe",
            "features": "kafkawire.cli.cluster.features:list_",
            "log-dirs": "kafkawire.cli.cluster.log_dirs:run",
            "nodes": "kafkawire.cli.cluster.members:nodes",
            "quorum": "kafkawire.cli.cluster.members:quorum",
            "set-features": "kafkawire.cli.cluster.features:set_",
        },
    ),
    "codec": Group(
        "Encode and decode messages: a filter on JSON lines.",
        {"decode": "kafkawire.cli.codec:decode", "encode": "kafkawire.cli.codec:encode"},
    ),
    "configs": Group(
        "Describe and change configs of any resource; also with the options of Kafka's kafka-configs.",
        {
            "append": "kafkawire.cli.configs.changing:append",
            "delete": "kafkawire.cli.configs.changing:delete",
            "describe": "kafkawire.cli.configs.describing:run",
            "set": "kafkawire.cli.configs.changing:set_",
            "subtract": "kafkawire.cli.configs.changing:subtract",
        },
        otherwise="kafkawire.cli.kafka_configs.command:main",
    ),
    "context": Group(
        "Name clusters and how to reach them, and choose the current one.",
        {
            "current": "kafkawire.cli.context.showing:current",
            "delete": "kafkawire.cli.context.changing:delete",
            "list": "kafkawire.cli.context.showing:list_",
            "rename": "kafkawire.cli.context.changing:rename",
            "set": "kafkawire.cli.context.changing:set_",
            "show": "kafkawire.cli.context.showing:show",
            "unset": "kafkawire.cli.context.changing:unset",
            "use": "kafkawire.cli.context.changing:use",
        },
    ),
    "demo": "kafkawire.cli.demo.command:run",
    "diff": "kafkawire.cli.state.diff:run",
    "doctor": "kafkawire.cli.doctor.command:run",
    "evidence": Group(
        "Verify the manifests of tables: whether logs and results are unchanged.",
        {"verify": "kafkawire.cli.evidence.verifying:verify"},
    ),
    "export": "kafkawire.cli.state.export:run",
    "generate": "kafkawire.cli.generate:run",
    "groups": Group(
        "List and describe groups, show their lag, reset their offsets.",
        {
            "delete": "kafkawire.cli.groups.deleting:delete",
            "delete-offsets": "kafkawire.cli.groups.deleting:delete_offsets",
            "describe": "kafkawire.cli.groups.describing:describe",
            "lag": "kafkawire.cli.groups.lag:run",
            "list": "kafkawire.cli.groups.listing:run",
            "members": "kafkawire.cli.groups.describing:members",
            "remove-members": "kafkawire.cli.groups.removing:run",
            "reset": "kafkawire.cli.groups.resetting:run",
        },
    ),
    "plan": "kafkawire.cli.state.plan:run",
    "quotas": Group(
        "List and describe client quotas, set and delete them, and show those in effect.",
        {
            "delete": "kafkawire.cli.quotas.changing:delete",
            "describe": "kafkawire.cli.quotas.reading:describe",
            "effective": "kafkawire.cli.quotas.effective:run",
            "list": "kafkawire.cli.quotas.reading:list_",
            "metrics": "kafkawire.cli.quotas.metrics:run",
            "set": "kafkawire.cli.quotas.changing:set_",
        },
    ),
    "reassign": Group(
        "Move replicas to other brokers, watch and cancel it, elect leaders.",
        {
            "cancel": "kafkawire.cli.reassign.watching:cancel",
            "elect-leaders": "kafkawire.cli.reassign.leaders:run",
            "list": "kafkawire.cli.reassign.watching:list_",
            "plan": "kafkawire.cli.reassign.planning:run",
            "run": "kafkawire.cli.reassign.running:run",
            "watch": "kafkawire.cli.reassign.watching:watch",
        },
    ),
    "replicas": Group(
        "Compare and merge replicas of logs that were copied from several brokers.",
        {
            "compare": "kafkawire.cli.replicas.comparing:compare",
            "merge": "kafkawire.cli.replicas.merging:merge",
        },
    ),
    "report": Group(
        "Write a page of who had which rights, quotas and topics, and when.",
        {"logs": "kafkawire.cli.report:logs"},
    ),
    "schema": Group(
        "Check and compare message definitions.",
        {
            "check": "kafkawire.cli.schema.check:run",
            "diff": "kafkawire.cli.schema.diff:run",
            "documents": "kafkawire.cli.schema.documents:run",
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
    "tokens": Group(
        "List delegation tokens, create, renew and expire them.",
        {
            "create": "kafkawire.cli.tokens.commands:create",
            "expire": "kafkawire.cli.tokens.lifetimes:expire",
            "list": "kafkawire.cli.tokens.commands:list_",
            "renew": "kafkawire.cli.tokens.lifetimes:renew",
        },
    ),
    "topics": Group(
        "List and describe topics, create, change and delete them.",
        {
            "alter": "kafkawire.cli.topics.altering:run",
            "create": "kafkawire.cli.topics.creating:run",
            "delete": "kafkawire.cli.topics.deleting:run",
            "describe": "kafkawire.cli.topics.describing:run",
            "list": "kafkawire.cli.topics.listing:run",
        },
    ),
    "transactions": Group(
        "List and describe transactions, find those that hang, end them.",
        {
            "abort": "kafkawire.cli.transactions.ending:abort",
            "describe": "kafkawire.cli.transactions.listing:describe",
            "fence": "kafkawire.cli.transactions.ending:fence",
            "hanging": "kafkawire.cli.transactions.ending:hanging",
            "list": "kafkawire.cli.transactions.listing:list_",
            "producers": "kafkawire.cli.transactions.listing:producers",
            "terminate": "kafkawire.cli.transactions.ending:terminate",
        },
    ),
    "users": Group(
        "List and describe users with SCRAM credentials, set their passwords and delete them.",
        {
            "delete": "kafkawire.cli.users.changing:delete",
            "describe": "kafkawire.cli.users.reading:describe",
            "list": "kafkawire.cli.users.reading:list_",
            "set": "kafkawire.cli.users.changing:set_",
        },
    ),
}
"""A new command is one entry here and one in ``PANELS``.

``pytest tests/golden/cli --update-golden`` adds it to the help and completion.
"""

PANELS: Mapping[str, Sequence[str]] = {
    "Declare the state of a cluster": ("plan", "apply", "export", "diff"),
    "Administer a cluster": (
        "topics", "configs", "acls", "quotas", "users", "groups", "cluster", "reassign", "tokens", "transactions",
    ),
    "Connect": ("doctor", "context"),
    "Try, test and audit": ("demo", "broker", "tables", "alerts", "evidence", "replicas", "report", "spark"),
    "Definitions and messages": ("schema", "generate", "specs", "codec"),
}  # fmt: skip
"""The headings of the help of ``kafkawire``, and the commands below each, in the order that it shows."""
