"""Loads definitions from a text, a file, or a folder with its sub-folders, and applies the rules to them.

All problems are collected as findings; files that are invalid or cannot be read raise no exception.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath, PurePosixPath

from kafkawire.codegen.check import check_message, check_set, in_order
from kafkawire.codegen.check.json_level import FILE_DISCOVERY, FILE_UNREADABLE
from kafkawire.codegen.check.sentences import check_names
from kafkawire.codegen.definition import MessageDefinition, Span
from kafkawire.codegen.findings import Finding
from kafkawire.codegen.parse.files import read_bytes, text_of
from kafkawire.codegen.parse.meanings import Meanings, load_meanings
from kafkawire.codegen.parse.model import read_message
from kafkawire.codegen.parse.source import parse_source

_START = Span(1, 1, 1, 1)


@dataclass(frozen=True, slots=True)
class Definitions:
    """The content of a folder of definitions.

    Attributes:
        messages: the messages of all files without errors, in the order of their files.
        findings: all problems of the files and of the set, in the order of files, lines and columns.
        sources: file to its text, for showing findings.
    """

    messages: tuple[MessageDefinition, ...]
    findings: tuple[Finding, ...]
    sources: Mapping[str, str]

    @property
    def files(self) -> frozenset[str]:
        """All files and folders that were read or have findings."""
        return frozenset(self.sources) | {finding.file for finding in self.findings}

    @property
    def has_errors(self) -> bool:
        """Whether an error must be corrected before code can be generated."""
        return _is_error(self.findings)


@dataclass(frozen=True, slots=True)
class _File:
    """A file; `text` is None if it could not be read, `message` may have placeholders where `findings` has errors."""

    name: str
    group: str
    text: str | None
    message: MessageDefinition | None
    findings: tuple[Finding, ...]


def parse_message(text: str, file: str, group: str = "") -> tuple[MessageDefinition | None, list[Finding]]:
    """Read one definition and apply the rules about the text and form of a file only.

    Returns:
        The message, or None if there is an error, and the findings; `check_message` applies the other rules.
    """
    message, findings = _read(text, file, group)
    return (None if _is_error(findings) else message), in_order(findings)


def load_definitions(root: Path, shown: Callable[[Path], str] = str) -> Definitions:
    """Read and check all ``*.json`` files of a folder and its sub-folders, or one file.

    The folder of a file relative to `root` is its group. Rules about messages together are applied to each group, but
    not if `root` is a single file, whose partners may be in other files.

    Args:
        root: the folder or file.
        shown: makes the displayed name of a path; by default the path itself.
    """
    return _load(root, set(), shown)


def load_with_meanings(root: Path) -> tuple[Definitions, Meanings]:
    """The definitions of a folder, and the sentences of its ``field-meanings.toml``; findings are of both."""
    return _with_meanings(load_definitions(root), root)


def load_paths(roots: Sequence[Path]) -> Definitions:
    """The definitions of several folders and files, each root by itself, with the findings about their sentences.

    A file that is named twice is read once.
    """
    seen: set[Path] = set()
    parts = [_load(root, seen, str) for root in roots]
    joined = Definitions(
        messages=tuple(message for part in parts for message in part.messages),
        findings=tuple(in_order(finding for part in parts for finding in part.findings)),
        sources={name: text for part in parts for name, text in part.sources.items()},
    )
    for root in {root.resolve(): root for root in reversed(roots)}.values():
        joined, _ = _with_meanings(joined, root)
    return joined


def read_definitions(
    contents: Mapping[str, bytes], shown: Callable[[str], str], tolerated: Collection[str] = ()
) -> Definitions:
    """Read and check the definition files of a folder in memory.

    Args:
        contents: path below the folder, with ``/`` between its parts, to content.
        shown: makes the displayed name of such a path.
        tolerated: ids of rules whose violations are only warnings, so that the message is kept, with placeholders.
    """
    paths = sorted(contents, key=lambda path: PurePosixPath(path).parts)
    files = [_file(contents[path], shown(path), _group_of(PurePosixPath(path).parent)) for path in paths]
    return _definitions(files, [], is_folder=True, tolerated=tolerated)


def read_definition(content: bytes, name: str) -> Definitions:
    """Read and check one definition file in memory, without the rules about messages together."""
    return _definitions([_file(content, name, "")], [], is_folder=False)


def _with_meanings(definitions: Definitions, root: Path) -> tuple[Definitions, Meanings]:
    """Names are checked only if all definitions could be read: those that were left out may have them."""
    meanings = load_meanings(root)
    findings = [*definitions.findings, *meanings.findings]
    if not definitions.has_errors:
        findings.extend(check_names(meanings.entries, definitions.messages))
    return (
        Definitions(definitions.messages, tuple(in_order(findings)), {**definitions.sources, **meanings.sources}),
        meanings,
    )


def _load(root: Path, seen: set[Path], shown: Callable[[Path], str]) -> Definitions:
    findings: list[Finding] = []
    is_folder = root.is_dir()
    paths = _discover(root, findings, shown) if is_folder else [root]
    if not paths and not findings:
        findings.append(FILE_DISCOVERY.finding(shown(root), _START, "no *.json file in this folder or below"))
    files = [_read_file(path, shown(path), _group(path, root)) for path in paths if path.resolve() not in seen]
    seen.update(path.resolve() for path in paths)
    return _definitions(files, findings, is_folder=is_folder)


def _definitions(
    files: list[_File], findings: list[Finding], *, is_folder: bool, tolerated: Collection[str] = ()
) -> Definitions:
    for file in files:
        findings.extend(file.findings)
    if is_folder:
        # A file that could not be read, or not its key, may be the partner of another message.
        incomplete = {file.group for file in files if not _has_key(file)}
        findings.extend(check_set((file.message for file in files if file.message is not None), incomplete))
    findings = [replace(finding, severity="warning") if finding.rule in tolerated else finding for finding in findings]
    faulty = {finding.file for finding in findings if finding.severity == "error"}
    return Definitions(
        messages=tuple(file.message for file in files if file.message is not None and file.name not in faulty),
        findings=tuple(in_order(findings)),
        sources={file.name: file.text for file in files if file.text is not None},
    )


def _discover(root: Path, findings: list[Finding], shown: Callable[[Path], str]) -> list[Path]:
    """All definition files below a folder in the order of their names; folders that cannot be read are reported."""

    def report(error: OSError) -> None:
        name = shown(Path(str(error.filename)))
        findings.append(FILE_UNREADABLE.finding(name, _START, f"cannot read this folder: {error.strerror}"))

    found = [
        Path(folder, name)
        for folder, _, names in os.walk(root, onerror=report)
        for name in names
        if name.endswith(".json")
    ]
    return sorted(found, key=lambda path: path.parts)


def _group(path: Path, root: Path) -> str:
    return _group_of(path.parent.relative_to(root)) if path != root else ""


def _group_of(folder: PurePath) -> str:
    return "" if not folder.parts else folder.as_posix()


def _read_file(path: Path, name: str, group: str) -> _File:
    data = read_bytes(path, name)
    return _File(name, group, None, None, (data,)) if isinstance(data, Finding) else _file(data, name, group)


def _file(data: bytes, name: str, group: str) -> _File:
    text, findings = text_of(data, name)
    if text is None:
        return _File(name, group, None, None, tuple(findings))
    message, more = _read(text, name, group)
    findings.extend(more)
    if message is not None:
        findings.extend(check_message(message))
    return _File(name, group, text, message, tuple(findings))


def _read(text: str, file: str, group: str) -> tuple[MessageDefinition | None, list[Finding]]:
    """The message, with placeholders for invalid parts, and the findings."""
    node, findings = parse_source(text, file)
    message = None if node is None else read_message(node, file, group, findings)
    return message, findings


def _has_key(file: _File) -> bool:
    return file.message is not None and not file.message.place.refused & {"apiKey", "type"}


def _is_error(findings: Iterable[Finding]) -> bool:
    return any(finding.severity == "error" for finding in findings)
