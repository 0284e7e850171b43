"""The definitions of any release of Apache Kafka: fetched with Maven once, then from the user's cache."""

from __future__ import annotations

import os
import re
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from kafkawire.codegen.evolve.side import OriginError
from kafkawire.codegen.importing.extract import MAXIMUM_FILE_BYTES, extract_definitions
from kafkawire.codegen.importing.fetch import check_digests, digests_of, fetch_published
from kafkawire.codegen.importing.problem import SpecsImportError
from kafkawire.codegen.importing.sources import SOURCES_FILE, Artifact, Jar, Sources, read_sources

Progress = Callable[[str], None]
"""Called with a short text for each step."""

_VERSION = re.compile(r"[0-9]{1,4}(\.[0-9]{1,4}){1,3}(-(?!SNAPSHOT)[0-9A-Za-z]{1,20})?")
# Before the coordinators had jars of their own, their records were defined in the broker's.
_BROKER = Artifact("kafka_2.13", "org.apache.kafka", "common/message", "core")
_MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class ReleaseFiles:
    """The definition files of a release.

    Attributes:
        contents: ``GROUP/Name.json`` to content.
        absent: artifacts of an earlier release that this one lacks: Maven does not have them (yet), or ``sources.toml``
            lists them as absent.
    """

    contents: dict[str, bytes]
    absent: tuple[Artifact, ...]


@dataclass(frozen=True, slots=True)
class _Kept:
    """The definitions of a release in the cache, and the digests of the jars that they come from."""

    contents: dict[str, bytes]
    sha256: Mapping[str, str | None]


class _Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of the manifest in a cache file.

    Attributes:
        sha256: artifact name to the digest of its jar; null where the release has no such jar.
    """

    sha256: dict[str, str | None]


def release_definitions(version: str, specs: Path, progress: Progress) -> ReleaseFiles:
    """The definition files of a release.

    The releases in ``sources.toml`` are fetched from the artifacts listed there, and their digests are verified. Of any
    other release, the jars that exist are used. The definitions are kept in the user's cache folder, and the next call
    needs neither Maven nor a network, except to search again for a jar that an earlier release has and Maven lacked.

    Args:
        version: Maven's version of the release, ``3.9.2``.
        specs: the folder with ``sources.toml``.
        progress: called before Maven, which takes some seconds.

    Raises:
        OriginError: if there is no such release, or it cannot be fetched or stored.
    """
    if not _VERSION.fullmatch(version):
        raise OriginError(f"kafka:{version} does not name a release: write a version, such as kafka:3.9.2")
    try:
        sources = read_sources(specs / SOURCES_FILE)
        wanted = _wanted_jars(version, sources)
        expected = _expected(version, sources)
        file = cache_file(version)
        kept = _read(file, wanted)
        if kept is None:
            progress(f"fetching Apache Kafka {version} with Maven")
            kept = _fetch(version, wanted, file)
        else:
            again = [one for one in expected if kept.sha256.get(one.name, "") is None]
            kept = _look_again(version, again, kept, file, progress) if again else kept
    except SpecsImportError as error:
        raise OriginError(f"kafka:{version}: " + "\n  ".join(error.problems)) from None
    return ReleaseFiles(kept.contents, tuple(one for one in expected if kept.sha256.get(one.name) is None))


def _wanted_jars(version: str, sources: Sources) -> dict[Artifact, str | None]:
    """The jars to read definitions from, with their digests if these are pinned; else all that may exist."""
    pinned = next((release for release in sources.releases if release.version == version), None)
    if pinned is None:
        return dict.fromkeys((*sources.artifacts, _BROKER))
    return {artifact: pinned.sha256.get(artifact.name) for artifact in sources.artifacts_of(pinned)}


def _expected(version: str, sources: Sources) -> tuple[Artifact, ...]:
    """The artifacts that this release or an earlier one of the sources has."""
    earlier = [release for release in sources.releases if _numbers(release.version) <= _numbers(version)]
    return tuple(one for one in sources.artifacts if any(one.name not in release.absent for release in earlier))


def _numbers(version: str) -> tuple[int, ...]:
    """``4.4.0-rc1`` as (4, 4, 0)."""
    return tuple(int(part) for part in version.partition("-")[0].split("."))


def cache_file(version: str) -> Path:
    """The cache file of a release: a zip file below ``$XDG_CACHE_HOME``, or else ``~/.cache``.

    Raises:
        OriginError: if neither exists.
    """
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        # The XDG Base Directory specification says to ignore a relative path.
        folder = named if named.is_absolute() else Path.home() / ".cache"
    except RuntimeError as error:
        raise OriginError("there is no home folder to store releases in: set XDG_CACHE_HOME to a folder") from error
    return folder / "kafkawire" / "releases" / f"{version}.zip"


def _read(file: Path, wanted: Mapping[Artifact, str | None]) -> _Kept | None:
    """The content of the cache; None if it is missing, damaged, or made from other jars than those that are wanted."""
    try:
        with zipfile.ZipFile(file) as archive, archive.open(_MANIFEST) as entry:
            digests = msgspec.json.decode(entry.read(MAXIMUM_FILE_BYTES), type=_Manifest).sha256
        pinned = {artifact.name: digest for artifact, digest in wanted.items() if digest is not None}
        if digests.keys() != {artifact.name for artifact in wanted} or not pinned.items() <= digests.items():
            return None
        contents = {
            name: text.encode()
            for artifact in wanted
            for name, text in extract_definitions(file, artifact.group, may_lack=True).items()
        }
        return _Kept(contents, digests)
    except (OSError, EOFError, KeyError, NotImplementedError, zipfile.BadZipFile, zlib.error):
        return None
    except (msgspec.DecodeError, SpecsImportError):
        return None


def _fetch(version: str, wanted: Mapping[Artifact, str | None], file: Path) -> _Kept:
    """Fetch the jars, and store their definitions in the cache."""
    fetched = _published(version, wanted, again=False)
    if not any(fetched.sha256.values()):
        raise OriginError(
            f"kafka:{version}: Maven's repositories do not have this release of Apache Kafka: check the version"
        )
    if not fetched.contents:
        raise OriginError(f"kafka:{version}: this release has no message definitions; it is too old, or not a release")
    _keep(file, fetched)
    return fetched


def _look_again(version: str, artifacts: Collection[Artifact], kept: _Kept, file: Path, progress: Progress) -> _Kept:
    """Search again for jars that Maven did not have; without Maven or a network, they stay missing."""
    progress(f"searching for {', '.join(one.name for one in artifacts)} {version} with Maven")
    try:
        fetched = _published(version, dict.fromkeys(artifacts), again=True)
    except SpecsImportError:
        return kept
    if not any(fetched.sha256.values()):
        return kept
    both = _Kept({**kept.contents, **fetched.contents}, {**kept.sha256, **fetched.sha256})
    _keep(file, both)
    return both


def _published(version: str, wanted: Mapping[Artifact, str | None], *, again: bool) -> _Kept:
    """The definitions in the jars that Maven has; the digest of a missing jar is None."""
    jars = {artifact: Jar(artifact.organisation, artifact.name, version) for artifact in wanted}
    with tempfile.TemporaryDirectory(prefix="kafkawire-release-") as work:
        paths = fetch_published(list(jars.values()), Path(work), again=again)
        digests = digests_of(paths)
        _check_pinned(digests, {jars[artifact]: pinned for artifact, pinned in wanted.items() if pinned is not None})
        contents = {
            f"{artifact.group}/{name.rpartition('/')[2]}": text.encode()
            for artifact, jar in jars.items()
            if jar in paths
            for name, text in extract_definitions(paths[jar], artifact.folder, may_lack=True).items()
        }
    return _Kept(contents, {artifact.name: digests.get(jar) for artifact, jar in jars.items()})


def _check_pinned(digests: Mapping[Jar, str], pinned: Mapping[Jar, str]) -> None:
    missing = [f"{jar} was not found, although the release has it" for jar in pinned if jar not in digests]
    if missing:
        raise SpecsImportError(*missing)
    check_digests({jar: digests[jar] for jar in pinned}, pinned, pin=False)


def _keep(file: Path, kept: _Kept) -> None:
    """Write the cache file under a temporary name and rename it, so that readers never see a part of it."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=file.parent) as work:
            written = Path(work, file.name)
            with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, content in kept.contents.items():
                    archive.writestr(name, content)
                archive.writestr(_MANIFEST, msgspec.json.encode(_Manifest(dict(kept.sha256))))
            written.replace(file)
    except OSError as error:
        raise OriginError(
            f"cannot write the release to {file.parent}: {error.strerror}; set XDG_CACHE_HOME to a folder that can be "
            "written"
        ) from None
