"""Reads a side of a comparison from what the user gave: a folder, a file, a git ref, or a release of Kafka."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from kafkawire.codegen.check.json_level import JSON_TRAILING_TOKENS
from kafkawire.codegen.check.required import FIELD_STRUCT_EXPLICIT_VERSIONS, MESSAGE_FLEXIBLE_REQUIRED
from kafkawire.codegen.check.struct import undeclared
from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.evolve.git_tree import GitRepository
from kafkawire.codegen.evolve.kafka_release import release_definitions
from kafkawire.codegen.evolve.side import AbsentJar, OriginError, Side
from kafkawire.codegen.merge.overlay import overlay_proposals
from kafkawire.codegen.package_data import specs_dir
from kafkawire.codegen.parse.load import Definitions, load_definitions, read_definition, read_definitions
from kafkawire.codegen.specs_tree import unstable_versions

BUILTIN = "builtin"
GIT = "git:"
KAFKA = "kafka:"

_OF_THE_PAST = frozenset({undeclared.rule.id})
"""Rules that Kafka's own generator does not have. Committed definitions cannot be corrected, and their meaning is
clear: a struct that is not declared has no fields."""

_OF_RELEASES = _OF_THE_PAST | {
    rule.id for rule in (JSON_TRAILING_TOKENS, MESSAGE_FLEXIBLE_REQUIRED, FIELD_STRUCT_EXPLICIT_VERSIONS)
}
"""Rules that Kafka's own generator did not have in older releases. Definitions that break them are still clear:
additional brackets are ignored, flexible versions that are not given are none, and versions that are not given are the
tagged ones."""


def load_side(text: str, other: str = BUILTIN, progress: Callable[[str], None] = lambda _: None) -> Side:
    """Read one side of a comparison.

    Args:
        text: one of

            * a folder of definitions, read with its sub-folders, or one definition file; a folder that has one of
              the following names is written with ``./`` before it;
            * ``builtin``: the definitions that come with kafkawire;
            * ``kafka:VERSION``: a release of Apache Kafka, from Maven or the user's cache;
            * ``git:REF:PATH``: a folder or file of the current folder's repository at a ref; PATH counts from the
              root of the repository, or with ``./`` from the current folder;
            * ``git:REF``: the same path as that of the other side, if that is a folder, a file or ``git:REF:PATH``;
              else all definition files at the ref that are not below a folder named ``test`` or ``tests``.

        other: the text for the other side.
        progress: called with each step that takes long.

    Raises:
        OriginError: if it cannot be found, or one message is defined twice. Problems of definitions are findings of
            the side, not exceptions.
    """
    if text == BUILTIN:
        return _builtin()
    if text.startswith(KAFKA):
        return _from_release(text, progress)
    if text.startswith(GIT):
        return _from_git(text, other)
    return _from_disk(text)


def _builtin() -> Side:
    root = specs_dir()
    return _side(BUILTIN, load_definitions(root, lambda path: f"{BUILTIN}/{path.relative_to(root).as_posix()}"))


def _from_release(text: str, progress: Callable[[str], None]) -> Side:
    version = text.removeprefix(KAFKA)
    files = release_definitions(version, specs_dir(), progress)
    side = _side(text, read_definitions(files.contents, lambda path: f"{text}/{path}", _OF_RELEASES))
    absent = (AbsentJar(f"{one.organisation}:{one.name}:{version}", one.group) for one in files.absent)
    return replace(side, absent=tuple(absent))


def _from_git(text: str, other: str) -> Side:
    repository = GitRepository(Path())
    ref, colon, path = text.removeprefix(GIT).partition(":")
    if not colon:
        same = _path_in(repository, other)
        files = repository.find(ref) if same is None else repository.read(ref, same)
    else:
        files = repository.read(ref, path)
    shown = f"{GIT}{ref}:{files.root}"
    if files.is_file:
        return _side(text, read_definition(files.contents[""], shown), is_single_file=True)
    if not files.contents:
        raise OriginError(f"{text}: there is no definition (*.json) in {shown}")
    prefix = f"{shown}/" if files.root else shown
    return _side(text, read_definitions(files.contents, lambda name: prefix + name, _OF_THE_PAST))


def _path_in(repository: GitRepository, text: str) -> str | None:
    """The path in the text of the other side, as `GitRepository.read` takes it; None if there is none."""
    if text.startswith(GIT):
        _, colon, path = text.removeprefix(GIT).partition(":")
        return path if colon else None
    if text == BUILTIN or text.startswith(KAFKA):
        return None
    return repository.path_of(Path(text))


def _from_disk(text: str) -> Side:
    root = Path(text)
    if not text or not root.exists():
        raise OriginError(f"there is no file or folder {text!r}")
    return _side(text, load_definitions(root), is_single_file=not root.is_dir())


def _side(name: str, definitions: Definitions, *, is_single_file: bool = False) -> Side:
    """The side with these definitions; proposals are merged into the released messages."""
    overlaid = overlay_proposals(definitions.messages)
    messages: dict[str, MessageDefinition] = {}
    for message in sorted(overlaid.messages, key=lambda message: (message.group, message.name)):
        first = messages.setdefault(message.name, message)
        if first is not message:
            raise OriginError(
                f"{name} defines {message.name} twice, in {first.place.file} and {message.place.file}: "
                "name the folder to compare"
            )
    return Side(
        name=name,
        messages=messages,
        unstable=unstable_versions(definitions.messages, overlaid.proposed),
        sources=definitions.sources,
        findings=(*definitions.findings, *overlaid.findings),
        is_single_file=is_single_file,
    )
