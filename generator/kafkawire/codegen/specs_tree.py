"""A folder of definitions as the generator uses it: messages, proposals laid over them, where each came from.

``specs/`` of this project has all parts; a user's own folder may be nothing but definition files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.error_codes import ErrorCode, read_error_codes
from kafkawire.codegen.findings import Finding
from kafkawire.codegen.parse import load_definitions
from kafkawire.codegen.versions import Versions


@dataclass(frozen=True, slots=True)
class LoadedSpecs:
    """All that a folder of definitions says.

    Attributes:
        messages: every message once, proposals merged in, sorted by group and name.
        unstable: message name to the versions that may still change: those of proposals, and the highest one
            of a request (and its response) marked ``latestVersionUnstable``. Stable messages are left out.
        aliases: name of a message in an older release to its name here.
        releases: the releases that were merged, oldest first.
        origins: message name to the releases and proposals that gave it versions, oldest first.
        sources: file to its text.
        findings: everything that the checks have to say.
        error_codes: the table of error codes, if the folder has one.
    """

    messages: tuple[MessageDefinition, ...]
    unstable: Mapping[str, Versions]
    aliases: Mapping[str, str]
    releases: tuple[str, ...]
    origins: Mapping[str, tuple[str, ...]]
    sources: Mapping[str, str]
    findings: tuple[Finding, ...]
    error_codes: tuple[ErrorCode, ...]


def load_specs(root: Path) -> LoadedSpecs:
    """Read a folder of definitions.

    Problems of definitions are findings, never exceptions; a message with errors is left out where it cannot
    be read at all.

    Raises:
        OSError: if the folder cannot be read.
        ErrorCodesError: if its table of error codes cannot be read.
    """
    definitions = load_definitions(root)
    messages = tuple(sorted(definitions.messages, key=lambda message: (message.group, message.name)))
    return LoadedSpecs(
        messages=messages,
        unstable=_unstable_versions(messages),
        aliases={},
        releases=(),
        origins={},
        sources=definitions.sources,
        findings=tuple(definitions.findings),
        error_codes=read_error_codes(root),
    )


def _unstable_versions(messages: tuple[MessageDefinition, ...]) -> dict[str, Versions]:
    """The highest versions of unstable requests, and of the responses to them (message-unstable-only-request)."""
    unstable = {
        (message.group, message.api_key)
        for message in messages
        if message.type == "request" and message.latest_version_unstable and message.valid_versions
    }
    return {
        message.name: Versions(message.valid_versions.highest, message.valid_versions.highest)
        for message in messages
        if message.type in ("request", "response") and (message.group, message.api_key) in unstable
    }
