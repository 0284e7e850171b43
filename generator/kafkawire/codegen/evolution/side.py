"""One of the two sets of definitions that are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.findings import Finding
from kafkawire.codegen.versions import NO_VERSIONS, Versions


@dataclass(frozen=True, slots=True)
class Side:
    """A set of definitions, wherever it came from.

    Attributes:
        name: what the user called it: ``specs``, ``git:main``, ``kafka:3.9.2``, ``builtin``.
        messages: message name to its definition.
        unstable: message name to the versions that may still change (conv-unstable); stable messages are left out.
        sources: file, as it is shown, to its text.
        findings: what the rules of the language have to say; messages with errors are not among ``messages``.
        is_single_file: whether one file was named, so that nothing can be said about messages it lacks.
    """

    name: str
    messages: Mapping[str, MessageDefinition]
    unstable: Mapping[str, Versions]
    sources: Mapping[str, str]
    findings: tuple[Finding, ...] = ()
    is_single_file: bool = False

    def unstable_versions(self, message: str) -> Versions:
        """The versions of a message that may still change."""
        return self.unstable.get(message, NO_VERSIONS)
