"""Release artifacts, by way of Maven and the settings that the machine has for it."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from kafkawire.codegen.importing.problem import SpecsImportError
from kafkawire.codegen.importing.sources import Jar

_PROJECT = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>kafkawire</groupId><artifactId>specs-import</artifactId><version>0</version><packaging>pom</packaging>
  <build><plugins><plugin>
    <groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId>
    <configuration><artifactItems>
{items}
    </artifactItems></configuration>
  </plugin></plugins></build>
</project>
"""
_ITEM = (
    "      <artifactItem><groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version>"
    "<outputDirectory>{folder}</outputDirectory><destFileName>{name}.jar</destFileName></artifactItem>"
)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_TOLD_LINES = 15
_TIMEOUT_SECONDS = 600
_PIN_ADVICE = "If these jars can be trusted, record their digests: import with --pin"


def fetch_with_maven(jars: Sequence[Jar], work: Path) -> dict[Jar, Path]:
    """Have Maven copy jars into a folder; one run for all of them.

    Args:
        jars: what to fetch.
        work: an empty folder.

    Raises:
        SpecsImportError: if there is no ``mvn``, or it fails (no network, no such artifact): its first lines are told.
    """
    maven = shutil.which("mvn")
    if maven is None:
        raise SpecsImportError(
            "Maven is needed to fetch releases, and there is no mvn on the path: install it "
            "(Debian: apt install maven), or give a folder of jars with --offline-jars"
        )
    items = [
        _ITEM.format(
            group=escape(jar.organisation), name=escape(jar.name), version=escape(jar.version),
            folder=escape(str(work / jar.version)),
        )
        for jar in jars
    ]  # fmt: skip
    project = work / "pom.xml"
    project.write_text(_PROJECT.format(items="\n".join(items)), "utf-8")
    command = [maven, "-q", "-B", "-f", str(project), "dependency:copy"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise SpecsImportError(f"Maven did not finish within {_TIMEOUT_SECONDS} seconds") from error
    if result.returncode:
        told = (result.stdout + result.stderr).strip().splitlines()
        raise SpecsImportError(
            "Maven could not fetch the releases. Network, proxy and repositories are set up in Maven's own settings; "
            "an artifact that a release does not have is listed as absent in the sources. Maven says:",
            *(_COLOUR.sub("", line) for line in told[:_TOLD_LINES]),
        )
    return {jar: work / jar.version / f"{jar.name}.jar" for jar in jars}


def find_offline(jars: Sequence[Jar], optional: Collection[Jar], folder: Path) -> dict[Jar, Path]:
    """Jars that lie in a folder, as ``VERSION/NAME.jar``, ``VERSION/NAME-VERSION.jar`` or ``NAME-VERSION.jar``.

    Args:
        jars: what is needed.
        optional: those of them that may be missing.
        folder: where to look.

    Raises:
        SpecsImportError: naming every jar that is not there.
    """
    found: dict[Jar, Path] = {}
    for jar in jars:
        full_name = f"{jar.name}-{jar.version}.jar"
        places = [folder / jar.version / f"{jar.name}.jar", folder / jar.version / full_name, folder / full_name]
        there = next((place for place in places if place.is_file()), None)
        if there is not None:
            found[jar] = there
    missing = [f"{folder}: there is no jar of {jar}" for jar in jars if jar not in found and jar not in optional]
    if missing:
        raise SpecsImportError(*missing)
    return found


def digests_of(paths: Mapping[Jar, Path]) -> dict[Jar, str]:
    """The sha256 of each jar, in hexadecimal."""
    digests: dict[Jar, str] = {}
    for jar, path in paths.items():
        with path.open("rb") as file:
            digests[jar] = hashlib.file_digest(file, "sha256").hexdigest()
    return digests


def check_digests(digests: Mapping[Jar, str], pinned: Mapping[Jar, str | None], *, pin: bool) -> None:
    """Compare jars with what is pinned.

    Args:
        digests: of the jars that were fetched.
        pinned: the digest that each of them must have, None where there is none yet.
        pin: whether jars without a pinned digest are welcome.

    Raises:
        SpecsImportError: naming every jar that differs, and without ``pin`` every jar that has no digest.
    """
    unknown = [f"{jar} has no sha256 in the sources; it is {d}" for jar, d in digests.items() if pinned[jar] is None]
    other = [
        f"{jar} is not the jar that was pinned: sha256 {digest}, expected {expected}"
        for jar, digest in digests.items()
        if (expected := pinned[jar]) is not None and expected != digest
    ]
    if unknown and not pin:
        raise SpecsImportError(
            *other, *unknown, "If these jars can be trusted, record their digests: import with --pin"
        )
    if other:
        raise SpecsImportError(*other)
