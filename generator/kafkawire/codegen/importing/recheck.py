"""The proof of the import again, from committed files alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.merge.layout_digest import layout_digest
from kafkawire.codegen.merge.released_versions import ReleasedVersion
from kafkawire.codegen.merge.undo import undo
from kafkawire.codegen.resolve.layouts import resolve_message
from kafkawire.layout import MessageLayouts


def recheck(messages: Iterable[MessageDefinition], versions: Iterable[ReleasedVersion]) -> tuple[str, ...]:
    """Hold definitions against the record of the releases that they were made from.

    Every version of every release must be there with the layout that the release had, once fields renamed and
    tagged fields added since are turned back.

    Returns:
        what does not hold, one text for each; empty if all is well.
    """
    layouts = {message.name: resolve_message(message) for message in messages}
    problems = (_problem(version, layouts) for version in versions if version.version >= 0)
    return tuple(problem for problem in problems if problem)


def _problem(version: ReleasedVersion, layouts: Mapping[str, MessageLayouts]) -> str | None:
    subject = f"{version.release} {version.message} {version.version}"
    found = layouts.get(version.merged_message)
    if found is None or version.merged_version not in found.by_version:
        return f"{subject}: there is no version {version.merged_version} of {version.merged_message}"
    if version.relation == "replaced":
        return None
    try:
        before = undo(found.of_version(version.merged_version), version.differences)
    except ValueError as error:
        return f"{subject}: {error}"
    if layout_digest(before) != version.layout:
        return f"{subject}: the layout of {version.merged_message} {version.merged_version} is not that of the release"
    return None
