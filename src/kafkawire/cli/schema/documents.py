"""``kafkawire schema documents``: the JSON Schema of documents that declare a cluster's state."""

from __future__ import annotations

import json

import typer

from kafkawire.declared.documents.json_schema import json_schema


def run() -> None:
    """Print the JSON Schema of the documents that plan and apply read, for editors.

    By it an editor with a YAML language server completes keys, operations and names of configs, and marks mistakes.
    Save it beside the documents, and begin each with the line "# yaml-language-server: $schema=PATH".
    """
    typer.echo(json.dumps(json_schema(), indent=2))
