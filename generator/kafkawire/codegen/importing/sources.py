"""``sources.toml``: the releases to import, their artifacts, and the decisions of maintainers."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from kafkawire.codegen.importing.problem import SpecsImportError

SOURCES_FILE = "sources.toml"
_SHA256 = re.compile(r"[0-9a-f]{64}")
_VERSION = re.compile(r"\d+(\.\d+)*")
_TABLE = re.compile(r"\s*\[")


class Artifact(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A jar with definitions.

    Attributes:
        name: Maven's artifact id.
        organisation: Maven's group id.
        folder: folder of the definitions inside the jar, without its sub-folders (file-discovery).
        group: their folder in ``specs/``.
    """

    name: str
    organisation: str
    folder: str
    group: str


class Release(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A release to import.

    Attributes:
        version: Maven's version.
        absent: names of artifacts that were not published for it.
        sha256: artifact name to the digest of its jar, in hexadecimal.
    """

    version: str
    absent: tuple[str, ...] = ()
    sha256: dict[str, str] = {}


class Decision(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A version that a newer release changed in place: the newer layout is used, for the given reason.

    Attributes:
        message: name of the message.
        version: the version that changed.
        older, newer: the releases that disagree.
        reason: why the older layout is not needed.
    """

    message: str
    version: int
    older: str
    newer: str
    reason: str


class Library(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A jar that Kafka's classes need to run."""

    name: str
    organisation: str
    version: str
    sha256: str

    @property
    def jar(self) -> Jar:
        """Its coordinates."""
        return Jar(self.organisation, self.name, self.version)


class ErrorCodeSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The source of the table of error codes: an enumeration in the newest release.

    Attributes:
        artifact: name of the artifact whose jar has it.
        libraries: the jars that its class needs.
    """

    artifact: str
    libraries: tuple[Library, ...] = ()


class Sources(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of ``sources.toml``.

    Attributes:
        artifacts: the jars that carry definitions.
        releases: what is imported, oldest first.
        decisions: versions changed in place.
        error_codes: the source of the table of error codes, if it is wanted.
    """

    artifacts: tuple[Artifact, ...]
    releases: tuple[Release, ...]
    decisions: tuple[Decision, ...] = ()
    error_codes: ErrorCodeSource | None = None

    def artifacts_of(self, release: Release) -> tuple[Artifact, ...]:
        """The artifacts that a release has."""
        return tuple(artifact for artifact in self.artifacts if artifact.name not in release.absent)


@dataclass(frozen=True, slots=True)
class Jar:
    """A jar by its coordinates in Maven."""

    organisation: str
    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.organisation}:{self.name}:{self.version}"


def jars_of(sources: Sources) -> dict[Jar, str | None]:
    """Every jar that an import needs, with the sha256 that is pinned for it, if any."""
    jars: dict[Jar, str | None] = {
        jar_of(artifact, release): release.sha256.get(artifact.name)
        for release in sources.releases
        for artifact in sources.artifacts_of(release)
    }
    if sources.error_codes:
        jars |= {library.jar: library.sha256 for library in sources.error_codes.libraries}
    return jars


def jar_of(artifact: Artifact, release: Release) -> Jar:
    """The jar of an artifact in a release."""
    return Jar(artifact.organisation, artifact.name, release.version)


def read_sources(path: Path) -> Sources:
    """Read and check ``sources.toml``.

    Raises:
        SpecsImportError: if there is no such file or its content is invalid.
    """
    return parse_sources(read_sources_text(path), str(path))


def read_sources_text(path: Path) -> str:
    """The text of ``sources.toml``.

    Raises:
        SpecsImportError: if there is no such file.
    """
    if not path.is_file():
        raise SpecsImportError(f"{path}: there is no such file; it must list the artifacts and releases to import")
    return path.read_text("utf-8")


def parse_sources(text: str, file: str) -> Sources:
    """Read the text of a ``sources.toml``.

    Raises:
        SpecsImportError: as `read_sources`.
    """
    try:
        sources = msgspec.convert(tomllib.loads(text), Sources)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise SpecsImportError(f"{file}: {error}") from error
    problems = [f"{file}: {problem}" for problem in _problems(sources)]
    if problems:
        raise SpecsImportError(*problems)
    return sources


def _problems(sources: Sources) -> list[str]:
    artifacts = [artifact.name for artifact in sources.artifacts]
    versions = [release.version for release in sources.releases]
    groups = [artifact.group for artifact in sources.artifacts]
    problems = [] if versions else ["there is no release"]
    for what, names in (("artifact", artifacts), ("release", versions), ("group", groups)):
        problems += [f"{what} {name} is listed twice" for name in sorted({n for n in names if names.count(n) > 1})]
    for group in groups:
        if not re.fullmatch(r"[a-z][a-z0-9-]*", group) or group == "proposals":
            problems.append(f"{group!r} cannot be the folder of an artifact's definitions")
    for release in sources.releases:
        named = [*release.absent, *release.sha256]
        problems += [f"release {release.version} names the unknown artifact {n}" for n in named if n not in artifacts]
        problems += [
            f"release {release.version}: the sha256 of {name} must be 64 lower-case hexadecimal digits"
            for name, digest in release.sha256.items()
            if not _SHA256.fullmatch(digest)
        ]
    if sources.error_codes and sources.error_codes.artifact not in artifacts:
        problems.append(f"error_codes names the unknown artifact {sources.error_codes.artifact}")
    for decision in sources.decisions:
        problems += [
            f"the decision about {decision.message} {decision.version} names the unknown release {version}"
            for version in (decision.older, decision.newer)
            if version not in versions
        ]
        if not decision.reason.strip():
            problems.append(f"the decision about {decision.message} {decision.version} gives no reason")
    return problems


def with_digests(text: str, file: str, digests: Mapping[str, Mapping[str, str]]) -> str:
    """The text of a ``sources.toml`` with further digests; everything else stays unchanged.

    Args:
        text: the file as it is.
        file: its path, for errors.
        digests: release to artifact name to sha256, for artifacts that have none in ``text``.

    Raises:
        SpecsImportError: if the file has a form that this cannot extend.
    """
    before = parse_sources(text, file)
    lines = text.rstrip("\n").split("\n")
    for version, entries in digests.items():
        if entries:
            _insert(lines, version, [f'{name} = "{digest}"' for name, digest in entries.items()])
    extended = "\n".join(lines) + "\n"
    after = parse_sources(extended, file)
    expected = tuple(
        msgspec.structs.replace(release, sha256={**release.sha256, **digests.get(release.version, {})})
        for release in before.releases
    )
    if after != msgspec.structs.replace(before, releases=expected):
        raise SpecsImportError(f"{file}: cannot add the digests here; write them by hand: {dict(digests)}")
    return extended


def with_release(text: str, file: str, version: str, absent: Collection[str]) -> str:
    """The text of a ``sources.toml`` with a further release, after those with lower version numbers.

    The text may already have decisions about the release.

    Args:
        text: the file as it is.
        file: its path, for errors.
        version: of the release.
        absent: names of artifacts that were not published for it.

    Raises:
        SpecsImportError: if the version is invalid, the release is already listed, or the file has a form that this
            cannot extend.
    """
    if not _VERSION.fullmatch(version):
        raise SpecsImportError(f"{version!r} is not the version of a release, such as 4.4.0")
    known = _versions_in(text, file)
    if version in known:
        raise SpecsImportError(f"{file} already has release {version}; import it with: kafkawire specs import")
    entry = ["[[releases]]", f'version = "{version}"']
    if absent:
        entry.append(f"absent = {json.dumps(sorted(absent))}")
    lines = text.rstrip("\n").split("\n")
    lower = [each for each in known if _numbers(each) < _numbers(version)]
    if lower:
        at = _end_of_release(lines, max(lower, key=_numbers))
        lines[at:at] = ["", *entry]
    else:
        at = next((i for i, line in enumerate(lines) if line.strip() == "[[releases]]"), len(lines))
        lines[at:at] = [*entry, ""]
    extended = "\n".join(lines) + "\n"
    added = [release for release in parse_sources(extended, file).releases if release.version == version]
    if added != [Release(version, tuple(sorted(absent)))]:
        raise SpecsImportError(f"{file}: cannot add release {version} here; write its entry by hand")
    return extended


def _versions_in(text: str, file: str) -> list[str]:
    """The releases of a text, whose decisions may name others."""
    try:
        return [release.version for release in msgspec.convert(tomllib.loads(text), Sources).releases]
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise SpecsImportError(f"{file}: {error}") from error


def _numbers(version: str) -> list[int]:
    return [int(number) for number in version.split(".")]


def _end_of_release(lines: list[str], version: str) -> int:
    """Index after the last entry of a release, including its digests."""
    _, end = _digests(lines, version)
    return end


def _insert(lines: list[str], version: str, entries: list[str]) -> None:
    """Put digests into the table of a release, after those that it has."""
    has_digests, end = _digests(lines, version)
    lines[end:end] = entries if has_digests else ["", "[releases.sha256]", *entries]


def _digests(lines: list[str], version: str) -> tuple[bool, int]:
    """Whether a release has a table of digests, and the index after its last entry, or that of the release."""
    start = _heading(lines, version)
    following = next((i for i in range(start + 1, len(lines)) if _TABLE.match(lines[i])), len(lines))
    has_digests = following < len(lines) and lines[following].strip() == "[releases.sha256]"
    return has_digests, _end_of_table(lines, following if has_digests else start)


def _heading(lines: list[str], version: str) -> int:
    """Index of the line that gives the version of a release; the last line if there is none."""
    heading = re.compile(rf'\s*version\s*=\s*"{re.escape(version)}"\s*(#.*)?')
    return next((i for i, line in enumerate(lines) if heading.fullmatch(line)), len(lines) - 1)


def _end_of_table(lines: list[str], start: int) -> int:
    """Index after the last entry of a table; comments after it belong to the next table."""
    following = next((i for i in range(start + 1, len(lines)) if _TABLE.match(lines[i])), len(lines))
    return next(i for i in range(following, start, -1) if lines[i - 1].split("#")[0].strip())
