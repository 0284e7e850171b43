"""Packages that tests generate, and import under names of their own."""

from __future__ import annotations

import importlib
import json
import random
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType

from tests.made.example_messages import extreme_instances, random_instance

from kafkawire.codegen.generate import Summary, Target, checked_specs, generate
from kafkawire.wire import Message
from kafkawire.wire.laws import check_engines_agree, check_round_trip

Json = Mapping[str, object]


def quiet(what: str, done: int, total: int) -> None:
    """Progress that is not shown."""


def generated(target: Target) -> Summary | None:
    """Generate without a word."""
    return generate(target, checked_specs(target.specs, quiet), quiet)


def message(name: str, *fields: Json, versions: str = "0-1", flexible: str = "1+", **more: object) -> Json:
    """A definition; flexible from version 1 by default."""
    attributes = {"type": "data", "name": name, "validVersions": versions, "flexibleVersions": flexible}
    return attributes | more | {"fields": list(fields)}


def field(name: str, type_: str, versions: str = "0+", /, **more: object) -> Json:
    """A field of a definition."""
    return {"name": name, "type": type_, "versions": versions} | more


def write_definitions(folder: Path, *messages: Json) -> Path:
    """Write definitions, each to the file of its name."""
    folder.mkdir(parents=True, exist_ok=True)
    for definition in messages:
        (folder / f"{definition['name']}.json").write_text(json.dumps(definition))
    return folder


def make_package(folder: Path, package: str, *messages: Json) -> ModuleType:
    """Generate a package from definitions and import it. Its name must be used by no other test."""
    specs = write_definitions(folder / "definitions", *messages)
    generated(Target(specs, package, folder / "package"))
    return import_package(folder / "package", package)


def import_package(root: Path, package: str) -> ModuleType:
    """Import a generated package from below a folder, once, so that bytecode would be written in vain."""
    bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    sys.path.insert(0, str(root))
    try:
        importlib.invalidate_caches()
        module = importlib.import_module(package)
        for name in module.MESSAGE_NAMES:
            module.message_class(name)
    finally:
        sys.path.remove(str(root))
        sys.dont_write_bytecode = bytecode
    return module


def classes_of(package: ModuleType) -> list[type[Message]]:
    """All message classes of a generated package."""
    return [package.message_class(name) for name in package.MESSAGE_NAMES]


def check_laws(classes: Iterable[type[Message]], examples: int = 20, places: int = 40) -> int:
    """Hold extremes and random examples of all versions to the laws; the number of values that were tried.

    Each value is damaged in about the given number of places.
    """
    rng = random.Random(20)
    tried = 0
    for cls in classes:
        for version in cls.VERSIONS:
            layout = cls.layouts().of_version(version)
            corners = extreme_instances(cls, layout)
            del corners["default"]
            for value in [*corners.values(), *(random_instance(rng, cls, layout) for _ in range(examples))]:
                check_round_trip(value, version)
                whole = value.encode(version)
                for at in range(0, len(whole), max(len(whole) // places, 1)):
                    check_engines_agree(cls, version, whole[:at])
                    check_engines_agree(cls, version, whole[:at] + bytes([rng.randrange(256)]) + whole[at + 1 :])
                tried += 1
    return tried
