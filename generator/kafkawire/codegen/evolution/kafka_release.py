"""The definitions of any release of Apache Kafka: fetched with Maven once, then from the user's cache."""

from __future__ import annotations

import os
import re
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from kafkawire.codegen.evolution.origin_error import OriginError
from kafkawire.codegen.importing.extract import MAXIMUM_FILE_BYTES, extract_definitions
from kafkawire.codegen.importing.fetch import check_digests, digests_of, fetch_published
from kafkawire.codegen.importing.problem import SpecsImportError
from kafkawire.codegen.importing.sources import SOURCES_FILE, Artifact, Jar, read_sources

Progress = Callable[[str], None]
"""Is told what is being done, one short text for each step."""

_VERSION = re.compile(r"[0-9]{1,4}(\.[0-9]{1,4}){1,3}(-(?!SNAPSHOT)[0-9A-Za-z]{1,20})?")
# Before the coordinators had jars of their own, their records were defined in the broker's.
_BROKER = Artifact("kafka_2.13", "org.apache.kafka", "common/message", "core")
_MANIFEST = "manifest.json"


class _Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a cache file was made from.

    Attributes:
        sha256: artifact name to the digest of its jar; null where the release has no such jar.
    """

    sha256: dict[str, str | None]


def release_definitions(version: str, specs: Path, progress: Progress) -> dict[str, bytes]:
    """The definition files of a release.

    The releases that ``sources.toml`` pins are fetched as it says, and their digests must be right. Of any other
    release those jars are taken that exist. Either way the definitions are kept in the user's cache folder, and
    with them there neither Maven nor a network is needed.

    Args:
        version: Maven's version of the release, ``3.9.2``.
        specs: the folder with ``sources.toml``.
        progress: is told when Maven is called, which takes some seconds.

    Returns:
        ``GROUP/Name.json`` to content.

    Raises:
        OriginError: if there is no such release, it cannot be fetched, or cannot be kept.
    """
    if not _VERSION.fullmatch(version):
        raise OriginError(f"kafka:{version}: this is not the version of a release, such as kafka:3.9.2")
    try:
        wanted = _wanted_jars(version, specs)
        file = cache_file(version)
        kept = _read(file, wanted)
        if kept is None:
            progress(f"fetching Apache Kafka {version} with Maven")
            kept = _fetch(version, wanted, file)
    except SpecsImportError as error:
        raise OriginError(f"kafka:{version}: " + "\n  ".join(error.problems)) from None
    return kept


def _wanted_jars(version: str, specs: Path) -> dict[Artifact, str | None]:
    """The jars to take definitions from; with their digests if they are pinned, else those that may exist."""
    sources = read_sources(specs / SOURCES_FILE)
    pinned = next((release for release in sources.releases if release.version == version), None)
    if pinned is None:
        return dict.fromkeys((*sources.artifacts, _BROKER))
    return {artifact: pinned.sha256.get(artifact.name) for artifact in sources.artifacts_of(pinned)}


def cache_file(version: str) -> Path:
    """Where the definitions of a release are kept: a zip file below ``$XDG_CACHE_HOME``, or else ``~/.cache``.

    Raises:
        OriginError: if there is neither.
    """
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        # A relative path is to be ignored, says the XDG Base Directory specification.
        folder = named if named.is_absolute() else Path.home() / ".cache"
    except RuntimeError as error:
        raise OriginError("there is no home folder to keep releases in: set XDG_CACHE_HOME to a folder") from error
    return folder / "kafkawire" / "releases" / f"{version}.zip"


def _read(file: Path, wanted: Mapping[Artifact, str | None]) -> dict[str, bytes] | None:
    """What is kept; None if that is nothing, damaged, or made from other jars than those that are wanted."""
    try:
        with zipfile.ZipFile(file) as archive, archive.open(_MANIFEST) as entry:
            digests = msgspec.json.decode(entry.read(MAXIMUM_FILE_BYTES), type=_Manifest).sha256
        pinned = {artifact.name: digest for artifact, digest in wanted.items() if digest is not None}
        if digests.keys() != {artifact.name for artifact in wanted} or not pinned.items() <= digests.items():
            return None
        return {
            name: text.encode()
            for artifact in wanted
            for name, text in extract_definitions(file, artifact.group, may_lack=True).items()
        }
    except (OSError, EOFError, KeyError, NotImplementedError, zipfile.BadZipFile, zlib.error):
        return None
    except (msgspec.DecodeError, SpecsImportError):
        return None


def _fetch(version: str, wanted: Mapping[Artifact, str | None], file: Path) -> dict[str, bytes]:
    """Fetch the jars, take the definitions out of them and keep those."""
    jars = {artifact: Jar(artifact.organisation, artifact.name, version) for artifact in wanted}
    with tempfile.TemporaryDirectory(prefix="kafkawire-release-") as work:
        paths = fetch_published(list(jars.values()), Path(work))
        digests = digests_of(paths)
        _check_pinned(digests, {jars[artifact]: pinned for artifact, pinned in wanted.items() if pinned is not None})
        definitions = {
            f"{artifact.group}/{name.rpartition('/')[2]}": text.encode()
            for artifact, jar in jars.items()
            if jar in paths
            for name, text in extract_definitions(paths[jar], artifact.folder, may_lack=True).items()
        }
    if not paths:
        raise OriginError(f"kafka:{version}: Maven's repositories have no such release of Apache Kafka")
    if not definitions:
        raise OriginError(f"kafka:{version}: this release has no message definitions; it is too old, or no release")
    _keep(file, definitions, _Manifest({artifact.name: digests.get(jar) for artifact, jar in jars.items()}))
    return definitions


def _check_pinned(digests: Mapping[Jar, str], pinned: Mapping[Jar, str]) -> None:
    missing = [f"{jar} was not found, and it is a jar of this release" for jar in pinned if jar not in digests]
    if missing:
        raise SpecsImportError(*missing)
    check_digests({jar: digests[jar] for jar in pinned}, pinned, pin=False)


def _keep(file: Path, definitions: Mapping[str, bytes], manifest: _Manifest) -> None:
    """Write the cache file: beside its place, and renamed when it is whole."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=file.parent) as work:
            written = Path(work, file.name)
            with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, content in definitions.items():
                    archive.writestr(name, content)
                archive.writestr(_MANIFEST, msgspec.json.encode(manifest))
            written.replace(file)
    except OSError as error:
        raise OriginError(
            f"cannot keep the release in {file.parent}: {error.strerror}; set XDG_CACHE_HOME to a folder that can be "
            "written"
        ) from None
