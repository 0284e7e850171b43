"""Merges proposals into released messages.

A proposal is a folder of definition files. A file for a released message has only the proposed *versions*
(``"validVersions": "4"``), with all their fields, and none of the released ones. So it stays valid when a later release
is imported, until that release has the version itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kafkawire.codegen.check.rule import Rule
from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.findings import Finding
from kafkawire.codegen.merge.conflict import MergeError, Sides
from kafkawire.codegen.merge.difference import Kind, layout_differences
from kafkawire.codegen.merge.merge import merge_messages
from kafkawire.codegen.resolve.layouts import resolve_message
from kafkawire.codegen.versions import Versions

PROPOSALS = "proposals"
"""Folder of the proposals, each a folder of its own, in a folder of definitions."""


PROPOSAL_OTHER_MESSAGE = Rule(
    "proposal-other-message",
    "A proposal for a released message has its type and key, and a new message has a key of its own.",
    "give the proposal the name, type and apiKey of the message that it extends",
)
PROPOSAL_VERSION_TAKEN = Rule(
    "proposal-version-taken",
    "A proposal has versions above those that are already released or proposed.",
    "propose the next free version, or drop the proposal if it was released",
)
PROPOSAL_CONFLICT = Rule(
    "proposal-conflict",
    "One definition can describe the released and the proposed versions.",
    "use another name for the field or struct that differs in the proposal",
)
PROPOSAL_CHANGES_RELEASED = Rule(
    "proposal-changes-released",
    "A proposal does not change the layouts of released versions.",
    "use another name for the field or struct that differs in the proposal",
)
PROPOSAL_RULES = (PROPOSAL_OTHER_MESSAGE, PROPOSAL_VERSION_TAKEN, PROPOSAL_CONFLICT, PROPOSAL_CHANGES_RELEASED)
"""The rules about proposals."""


@dataclass(frozen=True, slots=True)
class Overlaid:
    """Messages with proposals.

    Attributes:
        messages: released messages, with what proposals add, and messages that proposals add. A released message
            that is defined twice is here twice; the generator rejects it.
        proposed: message name to the versions that proposals add.
        proposals: message name to the proposals that it has versions of, in order of the versions.
        findings: errors of proposals, which are then left out.
    """

    messages: tuple[MessageDefinition, ...]
    proposed: dict[str, Versions]
    proposals: dict[str, tuple[str, ...]]
    findings: tuple[Finding, ...]


def proposal_of(message: MessageDefinition) -> str | None:
    """The proposal that a definition belongs to: ``kip-888`` in ``proposals/kip-888``; None for a released one."""
    folder, _, name = message.group.partition("/")
    return name if folder == PROPOSALS and name else None


def overlay_proposals(messages: Sequence[MessageDefinition]) -> Overlaid:
    """Merge proposals into the released messages of the same names.

    The versions of a proposal are added to the released ones. The layouts of both must stay the same, which is checked
    for each version. A proposal that cannot be merged is a finding.
    """
    merged: dict[str, MessageDefinition] = {}
    released = [message for message in messages if proposal_of(message) is None]
    repeated = [message for message in released if merged.setdefault(message.name, message) is not message]
    proposed: dict[str, Versions] = {}
    proposals: dict[str, tuple[str, ...]] = {}
    findings: list[Finding] = []
    for message in messages:
        proposal = proposal_of(message)
        if proposal is None:
            continue
        base = merged.get(message.name)
        result = _new_message(message, merged.values()) if base is None else _overlay(base, message, proposal)
        if isinstance(result, Finding):
            findings.append(result)
            continue
        merged[message.name] = result
        before = proposed.get(message.name)
        added = message.valid_versions
        proposed[message.name] = Versions(min(before.lowest, added.lowest), added.highest) if before else added
        proposals[message.name] = (*proposals.get(message.name, ()), proposal)
    return Overlaid((*merged.values(), *repeated), proposed, proposals, tuple(findings))


def _new_message(proposed: MessageDefinition, others: Iterable[MessageDefinition]) -> MessageDefinition | Finding:
    """The message that only a proposal has, or an error."""
    if proposed.type in ("request", "response"):
        for other in others:
            if (other.type, other.api_key) == (proposed.type, proposed.api_key):
                what = f"apiKey {proposed.api_key} of {proposed.name} is that of {other.name}"
                return _finding(proposed, PROPOSAL_OTHER_MESSAGE, "apiKey", what)
    return proposed


def _overlay(base: MessageDefinition, proposed: MessageDefinition, proposal: str) -> MessageDefinition | Finding:
    """The released message with the proposed versions, or an error."""
    if (base.type, base.api_key) != (proposed.type, proposed.api_key):
        what = (
            f"{proposed.name} is proposed as a {proposed.type} with apiKey {proposed.api_key}, "
            f"but it is a {base.type} with apiKey {base.api_key}"
        )
        return _finding(proposed, PROPOSAL_OTHER_MESSAGE, "apiKey", what)
    if proposed.valid_versions.lowest <= base.valid_versions.highest:
        what = f"{proposed.valid_versions} of {proposed.name} is proposed, but {base.valid_versions} are taken"
        return _finding(proposed, PROPOSAL_VERSION_TAKEN, "validVersions", what)
    try:
        # The released definition is the "newer" one: it governs its versions, and its names and attributes stay.
        merged = merge_messages(proposed, base, Sides(proposal, "the released definition"))
    except MergeError as error:
        return _finding(proposed, PROPOSAL_CONFLICT, "name", str(error))
    released = _changed_versions(base, merged, ("renamed", "added-tag", "attribute", "wire"))
    if released:
        what = f"{proposal} would change the released {released} of {base.name}"
        return _finding(proposed, PROPOSAL_CHANGES_RELEASED, "fields", what)
    own = _changed_versions(proposed, merged, ("renamed", "added-tag", "wire"))
    if own:
        return _finding(proposed, PROPOSAL_CONFLICT, "fields", f"{base.name} cannot have the proposed {own}")
    return merged


def _changed_versions(before: MessageDefinition, merged: MessageDefinition, kinds: Sequence[Kind]) -> str:
    """The versions whose layouts merging changed, and how; empty if there are none."""
    layouts, merged_layouts = resolve_message(before), resolve_message(merged)
    changed: list[str] = []
    for version in before.valid_versions:
        found = layout_differences(layouts.of_version(version), merged_layouts.of_version(version))
        changed += [f"version {version} ({difference})" for difference in found if difference.kind in kinds]
    return ", ".join(changed)


def _finding(message: MessageDefinition, rule: Rule, attribute: str, text: str) -> Finding:
    return rule.finding(message.place.file, message.place.of(attribute), text)
