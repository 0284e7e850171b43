"""Adds a release: finds what it has published, imports it, and lists what is new."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.importing.extract import extract_definitions
from kafkawire.codegen.importing.fetch import fetch_published, find_offline
from kafkawire.codegen.importing.problem import SpecsImportError
from kafkawire.codegen.importing.run import ImportRequest, ImportResult, Progress, import_specs
from kafkawire.codegen.importing.sources import (
    SOURCES_FILE,
    Jar,
    Sources,
    parse_sources,
    read_sources_text,
    with_release,
)
from kafkawire.codegen.importing.summary import ReleaseChange, changes_of
from kafkawire.codegen.importing.write import replace_files
from kafkawire.codegen.merge.released_versions import (
    RELEASES_FILE,
    ReleasedVersion,
    read_released_versions,
    releases_of,
)
from kafkawire.codegen.parse.error_codes import ERROR_CODES_FILE, ErrorCode, read_error_codes

Generate = Callable[[Path], object]
"""Generates all output from a folder of definitions, or raises an exception and changes nothing."""

_Versions = Mapping[str, frozenset[int]]


@dataclass(frozen=True, slots=True)
class AddedRelease:
    """What is new with a release.

    Attributes:
        result: the import.
        unpublished: artifacts that it has not published.
        without_definitions: artifacts whose jars have no definitions. Both are listed as absent.
        new_messages: messages that no release had before.
        new_versions: message to versions that no release had before.
        dropped_versions: message to versions that the release dropped.
        changes: new changes of versions that older releases have.
        error_codes: error codes that no release had before.
    """

    result: ImportResult
    unpublished: tuple[str, ...]
    without_definitions: tuple[str, ...]
    new_messages: tuple[MessageDefinition, ...]
    new_versions: _Versions
    dropped_versions: _Versions
    changes: tuple[ReleaseChange, ...]
    error_codes: tuple[ErrorCode, ...]


def add_release(
    version: str, specs: Path, *, offline_jars: Path | None, generate: Generate, progress: Progress
) -> AddedRelease:
    """Add a release to a folder of definitions: its entry in ``sources.toml``, its digests and its definitions.

    The import works on a copy. The folder is changed after the merge is verified and the output generated. If anything
    fails, folder and output stay unchanged.

    Args:
        version: Maven's version of the release, ``4.4.0``.
        specs: the folder of definitions with its ``sources.toml``.
        offline_jars: a folder of jars to take instead of calling Maven.
        generate: called with the folder to generate from.
        progress: called with each step.

    Raises:
        SpecsImportError: the release is already listed or not published, or the import fails.
        OSError: a file cannot be written.
    """
    path = specs / SOURCES_FILE
    text = read_sources_text(path)
    sources = parse_sources(with_release(text, str(path), version, ()), str(path))
    progress(f"searching for what Apache Kafka {version} has published")
    unpublished, empty = _absent_artifacts(version, sources, offline_jars)
    with tempfile.TemporaryDirectory(prefix="kafkawire-add-") as work:
        staged = Path(work, "specs")
        shutil.copytree(specs, staged)
        added = with_release(text, str(path), version, (*unpublished, *empty))
        result = import_specs(
            ImportRequest(staged / SOURCES_FILE, staged, offline_jars, pin=True, added=added), progress
        )
        news = _compared(version, specs, staged, result)
        progress("generating")
        generate(staged)
        try:
            _take_over(staged, specs, sources)
        except BaseException:
            generate(specs)
            raise
    return replace(news, unpublished=unpublished, without_definitions=empty)


def _absent_artifacts(
    version: str, sources: Sources, offline_jars: Path | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The artifacts that are not published, and those without definitions."""
    jars = {Jar(artifact.organisation, artifact.name, version): artifact for artifact in sources.artifacts}
    with tempfile.TemporaryDirectory(prefix="kafkawire-published-") as work:
        if offline_jars is None:
            published = fetch_published(list(jars), Path(work))
        else:
            published = find_offline(list(jars), jars.keys(), offline_jars)
        empty = [
            jar.name
            for jar, path in published.items()
            if not extract_definitions(path, jars[jar].folder, may_lack=True)
        ]
    unpublished = [jar.name for jar in jars if jar not in published]
    where = "Maven's repositories have" if offline_jars is None else f"{offline_jars} has"
    if not published:
        raise SpecsImportError(f"{where} no artifact of release {version}: check the version")
    if sources.error_codes and sources.error_codes.artifact in unpublished:
        raise SpecsImportError(
            f"{where} no {sources.error_codes.artifact} of release {version}, which error codes need"
        )
    return tuple(unpublished), tuple(empty)


def _compared(version: str, before: Path, after: Path, result: ImportResult) -> AddedRelease:
    """What the folder after the import has, and the one before it lacks."""
    known = read_released_versions(before)
    old, new = _merged(known), _merged(result.versions)
    codes = {code.code for code in read_error_codes(before)}
    changes = set(changes_of(known))
    return AddedRelease(
        result=result,
        unpublished=(),
        without_definitions=(),
        new_messages=tuple(message for message in result.messages if message.name in new and message.name not in old),
        new_versions={name: new[name] - old[name] for name in sorted(old) if new.get(name, old[name]) - old[name]},
        dropped_versions=_dropped(version, result.versions),
        changes=tuple(change for change in changes_of(result.versions) if change not in changes),
        error_codes=tuple(code for code in read_error_codes(after) if code.code not in codes),
    )


def _merged(versions: Iterable[ReleasedVersion]) -> dict[str, frozenset[int]]:
    merged: dict[str, set[int]] = {}
    for row in versions:
        if row.version >= 0:
            merged.setdefault(row.merged_message, set()).add(row.merged_version)
    return {name: frozenset(numbers) for name, numbers in merged.items()}


def _dropped(version: str, versions: tuple[ReleasedVersion, ...]) -> dict[str, frozenset[int]]:
    """The versions of the release before `version` that it lacks, in the folders of definitions that both have."""
    releases = releases_of(versions)
    at = releases.index(version)
    if not at:
        return {}
    own = [row for row in versions if row.release == version]
    groups = {row.group for row in own}
    has = _merged(own)
    had = _merged(row for row in versions if row.release == releases[at - 1] and row.group in groups)
    gone = {name: numbers - has.get(name, frozenset()) for name, numbers in sorted(had.items())}
    return {name: numbers for name, numbers in gone.items() if numbers}


def _take_over(staged: Path, specs: Path, sources: Sources) -> None:
    """Copy the staged files to the folder, and remove others."""
    groups = [artifact.group for artifact in sources.artifacts]
    names = [f"{group}/{path.name}" for group in groups for path in (staged / group).glob("*.json")]
    names += [name for name in (SOURCES_FILE, RELEASES_FILE, ERROR_CODES_FILE) if (staged / name).is_file()]
    replace_files(specs, {name: (staged / name).read_text("utf-8") for name in names}, groups)
