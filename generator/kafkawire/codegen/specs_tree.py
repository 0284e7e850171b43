"""A folder of definitions as the generator uses it: messages with their proposals, and where each comes from.

``specs/`` of this project has all parts; a user's own folder may have only definition files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.findings import Finding
from kafkawire.codegen.merge.meanings import with_meanings
from kafkawire.codegen.merge.overlay import overlay_proposals, proposal_of
from kafkawire.codegen.merge.released_versions import ReleasedVersion, aliases_of, read_released_versions, releases_of
from kafkawire.codegen.parse.error_codes import ErrorCode, read_error_codes
from kafkawire.codegen.parse.load import load_with_meanings
from kafkawire.codegen.versions import Versions


@dataclass(frozen=True, slots=True)
class LoadedSpecs:
    """The content of a folder of definitions.

    Attributes:
        messages: every message once, proposals merged in, sorted by group and name; ``about`` of a field is what the
            folder's ``field-meanings.toml`` says, unless the definition has a text of its own.
        unstable: message name to the versions that may still change: those of proposals, and the highest one
            of a request (and its response) marked ``latestVersionUnstable``. Stable messages are not included.
        aliases: name of a message in an older release to its name here.
        releases: the releases that were merged, oldest first.
        proposals: message name to the proposals that gave it versions, in order of the versions.
        released: every version of every imported release, with its merged version.
        proposed: message name to the versions that proposals add, each with its proposal.
        sources: file to its text.
        findings: of all checks.
        error_codes: the table of error codes, if the folder has one.
    """

    messages: tuple[MessageDefinition, ...]
    unstable: Mapping[str, Versions]
    aliases: Mapping[str, str]
    releases: tuple[str, ...]
    proposals: Mapping[str, tuple[str, ...]]
    released: tuple[ReleasedVersion, ...]
    proposed: Mapping[str, Mapping[int, str]]
    sources: Mapping[str, str]
    findings: tuple[Finding, ...]
    error_codes: tuple[ErrorCode, ...]

    @property
    def own_findings(self) -> tuple[Finding, ...]:
        """The findings about definitions that were not imported from a release, and so can be changed."""
        imported = {row.merged_message for row in self.released}
        files = {message.place.file for message in self.messages if message.name in imported}
        return tuple(finding for finding in self.findings if finding.file not in files)


def load_specs(root: Path) -> LoadedSpecs:
    """Read a folder of definitions.

    Problems of definitions are findings, never exceptions; messages with errors are left out.

    Raises:
        ErrorCodesError, ReleasedVersionsError: if a table that the import wrote there cannot be read.
    """
    definitions, meanings = load_with_meanings(root)
    overlaid = overlay_proposals(definitions.messages)
    released = read_released_versions(root)
    explained = with_meanings(overlaid.messages, meanings.entries)
    messages = tuple(sorted(explained, key=lambda message: (message.group, message.name)))
    return LoadedSpecs(
        messages=messages,
        unstable=unstable_versions(definitions.messages, overlaid.proposed),
        aliases=aliases_of(released),
        releases=releases_of(released),
        proposals=overlaid.proposals,
        released=released,
        proposed=_proposed_versions(definitions.messages),
        sources=definitions.sources,
        findings=(*definitions.findings, *overlaid.findings),
        error_codes=read_error_codes(root),
    )


def unstable_versions(messages: tuple[MessageDefinition, ...], proposed: Mapping[str, Versions]) -> dict[str, Versions]:
    """The highest versions of unstable requests and of the responses to them, and all that proposals add.

    Only requests have the attribute (message-unstable-only-request); it applies to both messages (conv-pair).

    Args:
        messages: the definitions as the files have them.
        proposed: message name to the versions that proposals add (`Overlaid.proposed`).
    """
    marked = {
        (message.group, message.api_key)
        for message in messages
        if message.type == "request" and message.latest_version_unstable
    }
    unstable: dict[str, Versions] = {}
    for message in messages:
        pair = (message.group, message.api_key)
        if message.type in ("request", "response") and pair in marked and message.valid_versions:
            highest = message.valid_versions.highest
            unstable[message.name] = Versions(highest, highest)
    for name, versions in proposed.items():
        marked_too = unstable.get(name, versions)
        unstable[name] = Versions(min(marked_too.lowest, versions.lowest), versions.highest)
    return unstable


def _proposed_versions(messages: tuple[MessageDefinition, ...]) -> dict[str, dict[int, str]]:
    proposed: dict[str, dict[int, str]] = {}
    for message in messages:
        proposal = proposal_of(message)
        if proposal is not None:
            proposed.setdefault(message.name, {}).update(dict.fromkeys(message.valid_versions, proposal))
    return proposed
