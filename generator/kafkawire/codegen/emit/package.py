"""All files of a generated package, as text: what is printed from what."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import jinja2

from kafkawire.codegen.emit.layouts_module import layouts_view
from kafkawire.codegen.emit.message_module import import_lines, message_view
from kafkawire.codegen.emit.package_modules import (
    ErrorCodesView,
    api_table_view,
    group_package,
    package_view,
    registries_view,
)
from kafkawire.codegen.naming import class_name, snake_case
from kafkawire.codegen.resolve import ResolvedMessage
from kafkawire.codegen.specs_tree import LoadedSpecs
from kafkawire.codegen.versions import NO_VERSIONS


@dataclass(frozen=True, slots=True)
class TestsView:
    """What templates/round_trip_test.py.j2 prints."""

    package: str
    origin: str
    group: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PackagePrinter:
    """Prints the package ``package`` for a checked and resolved set of definitions.

    Every method gives (path relative to the folder of the package or of the tests, unformatted text).
    """

    templates: jinja2.Environment
    package: str
    specs: LoadedSpecs
    messages: tuple[ResolvedMessage, ...]

    def message_files(self, message: ResolvedMessage) -> Iterator[tuple[Path, str]]:
        """The module of a message and the module of its layouts."""
        definition = message.definition
        folder = Path(*group_package(definition.group).split("."))
        name = f"{snake_case(definition.name)}.py"
        origin = self._origin(definition.name)
        view = message_view(message, unstable=self.specs.unstable.get(definition.name, NO_VERSIONS), origin=origin)
        template = self.templates.get_template("message.py.j2")
        body = template.render(module=view)
        yield folder / name, template.render(module=dataclasses.replace(view, imports=import_lines(body)))
        layouts = layouts_view(message, source=view.source, origin=origin)
        yield folder / "_layouts" / name, self.templates.get_template("layouts.py.j2").render(view=layouts)

    def package_files(self) -> Iterator[tuple[Path, str]]:
        """The modules that speak of all messages, and the ``__init__`` of each folder."""
        definitions = [message.definition for message in self.messages]
        origin = self._origin()
        view = package_view(definitions, self.specs.aliases, package=self.package, origin=origin)
        yield Path("__init__.py"), self._print("package.py.j2", view)
        yield Path("strategies.py"), self._print("strategies.py.j2", view)
        apis = api_table_view(definitions, self.specs.unstable, origin=origin)
        if apis.apis:
            yield Path("api_table.py"), self._print("api_table.py.j2", apis)
        if self.specs.error_codes:
            codes = ErrorCodesView(origin, self.specs.error_codes)
            yield Path("error_codes.py"), self._print("error_codes.py.j2", codes)
        registries = registries_view(definitions, package=self.package, origin=origin)
        if registries.metadata or registries.coordinators:
            yield Path("record_registries.py"), self._print("record_registries.py.j2", registries)
        for folder in sorted({Path(*group_package(d.group).split(".")) for d in definitions}):
            yield from _inits(folder)

    def test_files(self) -> Iterator[tuple[Path, str]]:
        """The property tests, one module for each folder of definitions."""
        groups: dict[str, list[str]] = {}
        for message in self.messages:
            groups.setdefault(message.definition.group, []).append(class_name(message.definition.name))
        for group, names in sorted(groups.items()):
            view = TestsView(self.package, self._origin(), group or "root", tuple(sorted(names)))
            name = f"test_{group_package(group).replace('.', '_') or 'messages'}.py"
            yield Path(name), self._print("round_trip_test.py.j2", view)

    def _print(self, template: str, view: object) -> str:
        return self.templates.get_template(template).render(view=view)

    def _origin(self, message: str = "") -> str:
        origins = self.specs.origins.get(message, ()) if message else self.specs.releases
        releases = [name for name in origins if name in self.specs.releases]
        others = [name for name in origins if name not in self.specs.releases]
        parts = [f"Apache Kafka {', '.join(releases)}"] if releases else []
        return "; ".join([*parts, *others]) or "own definitions"


def _inits(folder: Path) -> Iterator[tuple[Path, str]]:
    """``__init__`` modules that make packages of a folder, its parents and its layouts."""
    for parent in (folder, *folder.parents):
        if parent != Path():
            yield parent / "__init__.py", f'"""Messages of the {parent.as_posix()} definitions."""\n'
    yield folder / "_layouts" / "__init__.py", '"""Layouts of the messages beside this folder, as data."""\n'
