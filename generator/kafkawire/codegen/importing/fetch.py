"""Fetches jars of releases with Maven and its settings on this machine."""

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
  <groupId>kafkawire</groupId><artifactId>{name}</artifactId><version>0</version><packaging>pom</packaging>
{content}
</project>
"""
_COPYING = """  <build><plugins><plugin>
    <groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId>
    <executions><execution><phase>validate</phase><goals><goal>copy</goal></goals><configuration><artifactItems>
{items}
    </artifactItems></configuration></execution></executions>
  </plugin></plugins></build>"""
_ITEM = (
    "      <artifactItem><groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version>"
    "<outputDirectory>{folder}</outputDirectory><destFileName>{name}.jar</destFileName></artifactItem>"
)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_SHOWN_LINES = 15
_TIMEOUT_SECONDS = 600


def fetch_with_maven(jars: Sequence[Jar], work: Path) -> dict[Jar, Path]:
    """Have Maven copy jars into a folder; one run for all of them.

    Args:
        jars: what to fetch.
        work: an empty folder.

    Raises:
        SpecsImportError: if there is no ``mvn``, or it fails (no network, no such artifact), with its first lines.
    """
    project = work / "pom.xml"
    project.write_text(_copying_project("specs-import", jars, work), "utf-8")
    output = _run_maven(["-q", "-B", "-f", str(project), "validate"], "give a folder of jars with --offline-jars")
    if output is not None:
        raise SpecsImportError(
            "Maven could not fetch the releases. Network, proxy and repositories are set up in Maven's own settings; "
            "list an artifact that a release does not have as absent in the sources. Output of Maven:",
            *output[:_SHOWN_LINES],
        )
    return {jar: _place(jar, work) for jar in jars}


def fetch_published(jars: Sequence[Jar], work: Path, *, again: bool = False) -> dict[Jar, Path]:
    """Have Maven copy those jars that were published; the others are left out.

    Each jar is a module of one Maven project, so that one run tries all of them. A jar counts as not published
    only if Maven reports that; after any other failure, such as a repository that cannot be reached, it may exist.

    Args:
        jars: what to fetch.
        work: an empty folder.
        again: whether to search again for jars that Maven has recorded as missing.

    Raises:
        SpecsImportError: if there is no ``mvn``, or it fails for another reason than a jar that does not exist.
    """
    for jar in jars:
        (work / jar.name).mkdir()
        (work / jar.name / "pom.xml").write_text(_copying_project(jar.name, [jar], work), "utf-8")
    modules = "".join(f"<module>{escape(jar.name)}</module>" for jar in jars)
    project = work / "pom.xml"
    project.write_text(_PROJECT.format(name="releases", content=f"  <modules>{modules}</modules>"), "utf-8")
    arguments = [
        "-q",
        "-B",
        *(["--update-snapshots"] if again else []),
        "--fail-at-end",
        "-f",
        str(project),
        "validate",
    ]
    output = _run_maven(arguments, "name a folder of definitions instead") or []
    places = {jar: _place(jar, work) for jar in jars}
    unclear = [str(jar) for jar, place in places.items() if not place.is_file() and not _is_unpublished(jar, output)]
    if unclear:
        others = f" and {len(unclear) - 1} more" if len(unclear) > 1 else ""
        raise SpecsImportError(
            f"Maven could not fetch {unclear[0]}{others}. Network, proxy and repositories are set up in Maven's own "
            "settings. Output of Maven:",
            *output[:_SHOWN_LINES],
        )
    return {jar: place for jar, place in places.items() if place.is_file()}


def _copying_project(name: str, jars: Sequence[Jar], work: Path) -> str:
    """A Maven project that copies jars."""
    items = [
        _ITEM.format(
            group=escape(jar.organisation), name=escape(jar.name), version=escape(jar.version),
            folder=escape(str(_place(jar, work).parent)),
        )
        for jar in jars
    ]  # fmt: skip
    return _PROJECT.format(name=escape(name), content=_COPYING.format(items="\n".join(items)))


def _place(jar: Jar, work: Path) -> Path:
    return work / jar.version / f"{jar.name}.jar"


def _run_maven(arguments: Sequence[str], otherwise: str) -> list[str] | None:
    """The output of Maven if it fails, else None; `otherwise` is what to do without Maven."""
    maven = shutil.which("mvn")
    if maven is None:
        raise SpecsImportError(
            "Maven is needed to fetch releases, but mvn is not on the path: install it "
            f"(Debian: apt install maven), or {otherwise}"
        )
    try:
        result = subprocess.run(
            [maven, *arguments], capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise SpecsImportError(f"Maven did not finish within {_TIMEOUT_SECONDS} seconds") from error
    output = _COLOUR.sub("", result.stdout + result.stderr).strip().splitlines()
    return output if result.returncode else None


def _is_unpublished(jar: Jar, output: Sequence[str]) -> bool:
    """Whether Maven searched its repositories, in this run or an earlier one, and none has the jar."""
    coordinates = re.escape(f"{jar.organisation}:{jar.name}:jar:{jar.version}")
    missing = re.compile(rf"Could not find artifact {coordinates}(?![\w.-])|{coordinates} was not found in ")
    return any(missing.search(line) for line in output)


def find_offline(jars: Sequence[Jar], optional: Collection[Jar], folder: Path) -> dict[Jar, Path]:
    """Jars in a folder, as ``VERSION/NAME.jar``, ``VERSION/NAME-VERSION.jar`` or ``NAME-VERSION.jar``.

    Args:
        jars: what is needed.
        optional: those that may be missing.
        folder: where to search.

    Raises:
        SpecsImportError: with every jar that is missing.
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
    """Compare jars with their pinned digests.

    Args:
        digests: of the jars that were fetched.
        pinned: the digest that each of them must have; None if it has none yet.
        pin: whether jars without a pinned digest are accepted.

    Raises:
        SpecsImportError: with every jar that differs, and without ``pin`` every jar that has no digest.
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
