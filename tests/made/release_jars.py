"""Small definitions, and jars of made-up releases that hold them."""

from __future__ import annotations

import hashlib
import json
import sys
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.parse.load import parse_message

Json = dict[str, object]


def field(name: str, type_: str, versions: str, **attributes: object) -> Json:
    """A field; ``fields=[...]``, ``nullableVersions="1+"`` and the like as they stand in a file."""
    return {"name": name, "type": type_, "versions": versions, **attributes}


def message(name: str, valid: str, fields: Iterable[Json], **attributes: object) -> Json:
    """A ``data`` message that is flexible in no version, unless ``attributes`` say otherwise."""
    usual = {"name": name, "type": "data", "validVersions": valid, "flexibleVersions": "none", "fields": list(fields)}
    return usual | attributes


def retired(name: str, type_: str, key: int) -> Json:
    """A message whose key stays reserved (message-none-valid)."""
    return {"name": name, "type": type_, "apiKey": key, "validVersions": "none"}


def parsed(definition: Json, group: str = "clients") -> MessageDefinition:
    """The definition as the generator reads it."""
    read, findings = parse_message(json.dumps(definition), f"{definition['name']}.json", group)
    assert read is not None, findings
    return read


def write_jar(path: Path, folder: str, definitions: Iterable[Json]) -> str:
    """Write a jar with definition files; its sha256."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as jar:
        for definition in definitions:
            jar.writestr(f"{folder}/{definition['name']}.json", "// a licence\n" + json.dumps(definition))
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Releases:
    """Made-up releases of two artifacts, ``one`` and ``two``, in a folder of jars with its ``sources.toml``."""

    def __init__(self, root: Path) -> None:
        self.jars = root / "jars"
        self.specs = root / "specs"
        self.sources = root / "specs" / "sources.toml"
        self._entries: list[str] = []
        self._decisions: list[str] = []
        self.specs.mkdir(parents=True)

    def add(self, version: str, clients: Iterable[Json], records: Iterable[Json] = (), *, pinned: bool = True) -> None:
        """Add a release; without ``records`` it has no artifact ``two``."""
        records = list(records)
        digests = self.publish(version, clients, records)
        entry = f'[[releases]]\nversion = "{version}"\n' + ("" if records else 'absent = ["two"]\n')
        if pinned:
            entry += "\n[releases.sha256]\n" + "".join(f'{name} = "{d}"\n' for name, d in digests.items())
        self._entries.append(entry)
        self._write()

    def publish(self, version: str, clients: Iterable[Json], records: Iterable[Json] = ()) -> dict[str, str]:
        """Write the jars of a release, without an entry; artifact to digest."""
        records = list(records)
        digests = {"one": write_jar(self.jars / version / "one.jar", "common/message", clients)}
        if records:
            digests["two"] = write_jar(self.jars / version / "two.jar", "message", records)
        return digests

    def decide(self, name: str, version: int, older: str, newer: str) -> None:
        """Add a decision."""
        values: Mapping[str, object] = {"message": name, "version": version, "older": older, "newer": newer}
        lines = [f"{key} = {json.dumps(value)}" for key, value in {**values, "reason": "made up"}.items()]
        self._decisions.append("\n".join(["[[decisions]]", *lines, ""]))
        self._write()

    def _write(self) -> None:
        artifacts = [
            f'[[artifacts]]\nname = "{name}"\norganisation = "org.example"\nfolder = "{folder}"\ngroup = "{group}"\n'
            for name, folder, group in (("one", "common/message", "clients"), ("two", "message", "records"))
        ]
        self.sources.write_text("\n".join([*artifacts, *self._entries, *self._decisions]), "utf-8")


_MAVEN = """#!{python}
import pathlib, re, shutil, sys
project = pathlib.Path(sys.argv[sys.argv.index("-f") + 1])
with open({asked!r}, "a") as asked:
    print(*sys.argv[1:], file=asked)
failed = False
modules = re.findall("<module>(.*?)</module>", project.read_text())
projects = [project.parent / module / "pom.xml" for module in modules] or [project]
for item in [item for each in projects for item in re.findall("<artifactItem>(.*)</artifactItem>", each.read_text())]:
    value = lambda tag: re.search(f"<{{tag}}>(.*?)</{{tag}}>", item).group(1)
    jar = pathlib.Path({jars!r}, value("version"), value("destFileName"))
    if jar.is_file():
        folder = pathlib.Path(value("outputDirectory"))
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(jar, folder)
    else:
        failed = True
        name = ":".join((value("groupId"), value("artifactId"), "jar", value("version")))
        print(f"[ERROR] " + {says!r}.replace("JAR", name))
sys.exit(failed)
"""


def install_maven(folder: Path, jars: Path, says: str = "Could not find artifact JAR in here") -> Path:
    """Put an ``mvn`` into a folder; it copies ``jars/VERSION/NAME.jar``. Returns the file with its arguments."""
    asked = folder / "asked"
    program = folder / "mvn"
    folder.mkdir(parents=True, exist_ok=True)
    program.write_text(_MAVEN.format(python=sys.executable, asked=str(asked), jars=str(jars), says=says))
    program.chmod(0o755)
    return asked
