"""The whole import in order: fetch, check, read, merge, prove, write."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from kafkawire.codegen.check import check_message, check_set
from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.findings import Finding
from kafkawire.codegen.importing.canonical import canonical_text
from kafkawire.codegen.importing.error_code_table import java_command, read_error_codes_with_java
from kafkawire.codegen.importing.extract import extract_definitions
from kafkawire.codegen.importing.fetch import check_digests, digests_of, fetch_with_maven, find_offline
from kafkawire.codegen.importing.history import MessageHistory, merge_releases
from kafkawire.codegen.importing.problem import SpecsImportError
from kafkawire.codegen.importing.proof import prove
from kafkawire.codegen.importing.release import ReleaseMessages, read_release
from kafkawire.codegen.importing.sources import (
    Jar,
    Sources,
    jar_of,
    jars_of,
    parse_sources,
    read_sources_text,
    with_digests,
)
from kafkawire.codegen.importing.write import Changes, replace_files
from kafkawire.codegen.merge.released_versions import RELEASES_FILE, ReleasedVersion, format_released_versions
from kafkawire.codegen.parse.error_codes import ERROR_CODES_FILE, format_error_codes
from kafkawire.codegen.parse.load import parse_message

Progress = Callable[[str], None]
"""Called with a short text for each step."""


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """What to import.

    Attributes:
        sources: path of ``sources.toml``.
        specs: the folder of definitions to write.
        offline_jars: a folder of jars to take instead of calling Maven.
        pin: whether to record the digests of jars that have none in ``sources``.
        added: the text of ``sources.toml`` with a further release, to be imported and written in place of the file's;
            empty to import what the file says.
    """

    sources: Path
    specs: Path
    offline_jars: Path | None = None
    pin: bool = False
    added: str = ""


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What was imported.

    Attributes:
        messages: the merged definitions.
        versions: every version of every release, with its merged version.
        changes: the files that were written.
        pinned: jars whose digest was recorded.
        notes: messages for the user, such as that error codes were not updated.
    """

    messages: tuple[MessageDefinition, ...]
    versions: tuple[ReleasedVersion, ...]
    changes: Changes
    pinned: tuple[str, ...]
    notes: tuple[str, ...]


def import_specs(request: ImportRequest, progress: Progress) -> ImportResult:
    """Import the releases that ``sources.toml`` names into a folder of definitions.

    If anything fails, the folder and ``sources.toml`` stay unchanged.

    Raises:
        SpecsImportError: if the import is not possible.
        OSError: if files cannot be written.
    """
    text = request.added or read_sources_text(request.sources)
    sources = parse_sources(text, str(request.sources))
    with tempfile.TemporaryDirectory(prefix="kafkawire-import-") as work:
        paths = _fetch(sources, request.offline_jars, Path(work), progress)
        progress("checking digests")
        pinned, digests = jars_of(sources), digests_of(paths)
        check_digests(digests, pinned, pin=request.pin)
        releases = _read_releases(sources, paths, progress)
        error_codes, notes = _error_codes(sources, paths, progress)
    progress("merging releases")
    histories = merge_releases(releases)
    progress("proving the merge")
    versions = prove(histories, [release.version for release in sources.releases], sources.decisions)
    progress("writing definitions")
    messages = tuple(_placed(history) for history in histories)
    groups = [artifact.group for artifact in sources.artifacts]
    fresh = {jar: digest for jar, digest in digests.items() if pinned[jar] is None}
    files = _files(messages, versions, error_codes)
    changes = _write(request, files, groups, _pinned_sources(text, request.sources, sources, fresh))
    return ImportResult(messages, versions, changes, tuple(str(jar) for jar in fresh), notes)


def _fetch(sources: Sources, offline_jars: Path | None, work: Path, progress: Progress) -> dict[Jar, Path]:
    jars = list(jars_of(sources))
    if offline_jars is not None:
        return find_offline(jars, _libraries(sources), offline_jars)
    progress(f"fetching {len(jars)} jars with Maven")
    return fetch_with_maven(jars, work)


def _read_releases(sources: Sources, paths: Mapping[Jar, Path], progress: Progress) -> list[ReleaseMessages]:
    releases = []
    for release in sources.releases:
        progress(f"reading the definitions of {release.version}")
        texts = {
            artifact.group: extract_definitions(paths[jar_of(artifact, release)], artifact.folder)
            for artifact in sources.artifacts_of(release)
        }
        releases.append(read_release(release.version, texts))
    return releases


def _error_codes(sources: Sources, paths: Mapping[Jar, Path], progress: Progress) -> tuple[str | None, tuple[str, ...]]:
    """The table of the newest release as text, or notes on why there is none."""
    if sources.error_codes is None:
        return None, ()
    missing = [str(jar) for jar in _libraries(sources) if jar not in paths]
    java = java_command()
    if java is None or missing:
        lacks = "java on the path" if java is None else f"jar of {', '.join(missing)}"
        return None, (f"There is no {lacks}, so {ERROR_CODES_FILE} was not updated.",)
    newest = sources.releases[-1]
    progress(f"reading the error codes of {newest.version}")
    jars = [paths[jar_of(a, newest)] for a in sources.artifacts_of(newest) if a.name == sources.error_codes.artifact]
    jars += [paths[library] for library in _libraries(sources)]
    return format_error_codes(read_error_codes_with_java(java, jars)), ()


def _libraries(sources: Sources) -> list[Jar]:
    return [library.jar for library in sources.error_codes.libraries] if sources.error_codes else []


def _placed(history: MessageHistory) -> MessageDefinition:
    """The merged message, read back from the text that is written for it.

    Raises:
        SpecsImportError: if the text has another meaning, or the merged message breaks a rule.
    """
    message = history.message
    file = f"{message.group}/{message.name}.json"
    read, findings = parse_message(canonical_text(message), file, message.group)
    _refuse([*findings, *(check_message(read) if read else ())])
    if read != replace(message, place=read.place if read else message.place):
        raise SpecsImportError(
            f"{file}: the written definition differs when it is read; report this as a bug of kafkawire"
        )
    return message


def _refuse(findings: Iterable[Finding]) -> None:
    errors = [f"{f.file}: {f.rule}: {f.message}" for f in findings if f.severity == "error"]
    if errors:
        raise SpecsImportError("the merged definitions break rules of the language:", *errors)


def _files(
    messages: tuple[MessageDefinition, ...], versions: tuple[ReleasedVersion, ...], error_codes: str | None
) -> dict[str, str]:
    errors = [f for f in check_set(messages) if f.severity == "error"]
    if errors:
        raise SpecsImportError(
            *(f"merging made {error.file} illegal: {error.rule}: {error.message}" for error in errors)
        )
    files = {f"{message.group}/{message.name}.json": canonical_text(message) for message in messages}
    files[RELEASES_FILE] = format_released_versions(versions)
    if error_codes is not None:
        files[ERROR_CODES_FILE] = error_codes
    return files


def _pinned_sources(text: str, path: Path, sources: Sources, fresh: Mapping[Jar, str]) -> str:
    """The text of ``sources.toml`` with fresh digests."""
    digests = {
        release.version: {
            artifact.name: fresh[jar_of(artifact, release)]
            for artifact in sources.artifacts_of(release)
            if jar_of(artifact, release) in fresh
        }
        for release in sources.releases
    }
    return with_digests(text, str(path), digests)


def _write(request: ImportRequest, files: Mapping[str, str], groups: list[str], sources: str) -> Changes:
    """Write definitions and sources, in one step if the sources are in the folder of the definitions."""
    if request.sources.parent.resolve() == request.specs.resolve():
        return replace_files(request.specs, {**files, request.sources.name: sources}, groups)
    changes = replace_files(request.specs, files, groups)
    replace_files(request.sources.parent, {request.sources.name: sources}, ())
    return changes
