"""Names that must differ within a generated package, though the definition language does not ask for it.

Definitions of several folders become one package with one flat table of messages, one table of APIs, and a module
or sub-package for each message and folder. Kafka's own generator would let the later file overwrite the earlier.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterable, Iterator

from kafkawire.codegen.check.scopes import struct_scopes
from kafkawire.codegen.definition import FieldDefinition, MessageDefinition
from kafkawire.codegen.emit.package_modules import api_name, group_package, module_path
from kafkawire.codegen.findings import Finding
from kafkawire.codegen.naming import class_name
from kafkawire.layout import snake_case

CLASH = "package-name-clash"
FOLDER = "package-folder-name"


def name_findings(messages: Iterable[MessageDefinition]) -> list[Finding]:
    """Errors for messages whose classes, modules, APIs or folders cannot stand side by side in one package."""
    present = list(messages)
    requests = [message for message in present if message.type == "request"]
    responses = [message for message in present if message.type == "response"]
    findings = [
        *_clashes(present, "name", "class", lambda message: class_name(message.name)),
        *_clashes(present, "name", "strategy", lambda message: snake_case(message.name)),
        *_clashes(requests, "apiKey", "API key", lambda message: str(message.api_key)),
        *_clashes(responses, "apiKey", "API key of a response", lambda message: str(message.api_key)),
        *_clashes(requests, "name", "API", lambda message: snake_case(api_name(message)).upper()),
        *(_finding(m, "name", CLASH, "the API has no name", "put one before Request") for m in requests
          if not api_name(m)),
        *_folder_findings(present),
        *(finding for message in present for finding in _json_findings(message)),
    ]  # fmt: skip
    first_of_file: dict[str, Finding] = {}
    for finding in findings:
        first_of_file.setdefault(finding.file, finding)
    return list(first_of_file.values())


def _clashes(
    messages: Iterable[MessageDefinition], attribute: str, what: str, name_of: Callable[[MessageDefinition], str]
) -> Iterator[Finding]:
    first: dict[str, MessageDefinition] = {}
    for message in messages:
        name = name_of(message)
        other = first.setdefault(name, message)
        if other is not message:
            text = f"the {what} {name} is that of {other.name} in {other.place.file} already"
            yield _finding(message, attribute, CLASH, text, "all definitions become one package: rename one of them")


def _folder_findings(messages: list[MessageDefinition]) -> Iterator[Finding]:
    """A folder is a package: its name must be one, and neither that of another folder nor that of a module."""
    modules = {module_path(message): message for message in messages}
    first: dict[str, MessageDefinition] = {}
    for message in messages:
        package = group_package(message.group)
        if not package:
            continue
        other = first.setdefault(package, message)
        parts = package.split(".")
        packages = {".".join(parts[:depth]) for depth in range(1, len(parts) + 1)}
        clash = next((modules[name] for name in sorted(packages & modules.keys())), None)
        if "." in message.group or not all(part.isidentifier() and not keyword.iskeyword(part) for part in parts):
            text = f'the folder "{message.group}" cannot be a Python package'
            yield _finding(message, "name", FOLDER, text, "rename the folder: letters, digits and dashes")
        elif other.group != message.group:
            text = f'the folders "{message.group}" and "{other.group}" would be one Python package'
            yield _finding(message, "name", FOLDER, text, "rename one of the folders")
        elif clash is not None:
            text = f'the folder "{message.group}" and the message {clash.name} would be one Python module'
            yield _finding(message, "name", FOLDER, text, "rename the folder or the message")


def _json_findings(message: MessageDefinition) -> Iterator[Finding]:
    """Fields that differ in their first letter's case only (gap-case-collision): JSON could hold one of them."""
    for scope in struct_scopes(message):
        first: dict[str, FieldDefinition] = {}
        for field in scope.fields:
            other = first.setdefault(field.name[0].lower() + field.name[1:], field)
            if other is not field:
                text = f"{scope.path}: {field.name} and {other.name} would be one key of the JSON form"
                span = field.place.of("name")
                yield Finding(message.place.file, span, CLASH, "error", text, "rename one of the fields")


def _finding(message: MessageDefinition, attribute: str, rule: str, text: str, remedy: str) -> Finding:
    return Finding(message.place.file, message.place.of(attribute), rule, "error", f"{message.name}: {text}", remedy)
