"""Any legal name of a field, struct or message works, also those that generated code uses itself.

What generated code uses is found in the generated code: a template that names one more thing brings it here.
"""

from __future__ import annotations

import ast
import builtins
import keyword
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from tests.golden.codegen.conftest import GoldenPackage, Mypy
from tests.kafka_logs.column_rows import check_columns
from tests.made.packages import check_laws, classes_of, field, make_package, message

from kafkawire.codegen.emit.names import DERIVED_LOCALS
from kafkawire.columns import MessageColumns

KINDS = {
    "NullableTexts": {"type_": "string", "nullableVersions": "0+"},
    "Texts": {"type_": "[]string"},
    "Numbers": {"type_": "[]int32", "nullableVersions": "0+"},
    "Octets": {"type_": "bytes"},
    "Flags": {"type_": "bool"},
    "Structs": {"type_": "[]{name}", "fields": [field("N", "int8")]},
    "Ids": {"type_": "uuid", "versions": "1+", "taggedVersions": "1+"},
    "NullableStructs": {"type_": "{name}", "nullableVersions": "0+", "fields": [field("At", "string")]},
}

PLACES = 5
"""Where each value is damaged: these messages have hundreds of fields, and what damage does has tests of its own."""


def used_names(root: Path) -> set[str]:
    """Every name that a generated module loads, stores or imports, except those that begin with an underscore."""
    names: set[str] = set()
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Name):
                names.add(node.id)
            elif isinstance(node, (ast.arg, ast.ImportFrom)):
                names.update([node.arg] if isinstance(node, ast.arg) else [alias.name for alias in node.names])
    return {name for name in names if not name.startswith("_")}


def camel(name: str) -> str:
    """A field whose attribute would be the given name."""
    return "".join(part.capitalize() for part in name.split("_"))


def is_legal(name: str) -> bool:
    return name.isalnum() and name[0].isalpha()


@pytest.fixture(scope="module")
def field_names(golden: GoldenPackage) -> list[str]:
    used = {name for name in used_names(golden.root / "synthetic") if name == name.lower()}
    used |= set(keyword.kwlist) | set(keyword.softkwlist) | {name for name in dir(builtins) if name.islower()}
    derived = {f"{name}{ending}" for name in ("n", "at", "text", "item", "read", "foo") for ending in DERIVED_LOCALS}
    # Two fields may meet in snake case, and the names that are made for them in a third.
    names = {camel(name) for name in used | derived | {"foo"}} | {"KRaft", "Kraft", "FOo", "FOoItem"}
    return sorted(name for name in names if is_legal(name))


def fields_of(names: list[str], kind: dict[str, object]) -> Iterator[object]:
    for number, name in enumerate(names):
        attributes = {key: value.format(name=name) if isinstance(value, str) else value for key, value in kind.items()}
        versions = str(attributes.pop("versions", "0+"))
        tag = {"tag": number} if "taggedVersions" in attributes else {}
        yield field(name, str(attributes.pop("type_")), versions, **attributes, **tag)


@pytest.fixture(scope="module")
def clashing(golden: GoldenPackage, field_names: list[str], tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """Messages with fields and structs of all those names, one message for each kind of field; and messages too."""
    classes = {name for name in used_names(golden.root / "synthetic") if is_legal(name) and name[0].isupper()}
    classes = classes - {"NONE"} | {"None", "True", "False"}
    own = set(golden.module.MESSAGE_NAMES) | {"KRaft", "Kraft", "Pair", "Node", "Number", "Right", "Empty"}
    definitions = [
        message(f"All{kind}", *fields_of(field_names, how), type="metadata", apiKey=number)  # type: ignore[arg-type]
        for number, (kind, how) in enumerate(KINDS.items())
    ]
    structs = [field(f"The{name}", name, fields=[field("Value", "int32")]) for name in sorted(classes)]
    arrays = [field(f"Many{name}", f"[]{name}s", fields=[field("Value", "uuid")]) for name in sorted(classes)]
    definitions.append(message("Structs", *structs, *arrays))
    for name in sorted(classes - own):
        inner = field("Inner", name, fields=[field("Value", "string")], nullableVersions="0+")
        definitions.append(message(name, inner, field("Values", "[]int32"), field("Texts", "[]string")))
    modules = ("Class", "Import", "Strategies", "ApiTable", "Messages", "Annotations")
    definitions.extend(message(name, field("Value", "int32")) for name in modules)
    return make_package(tmp_path_factory.mktemp("clashing"), "clashing.protocol", *definitions)


def test_generated_code_uses_what_is_feared(field_names: list[str]) -> None:
    feared = {"At", "Buffer", "N", "Item", "Tags", "Payload", "Out", "Text", "End", "Len", "Range", "Type", "Tuple",
              "Bytes", "Str", "Sequence", "Differs", "Loader", "Msgspec", "Class", "FooItems", "TextRaw"}  # fmt: skip
    assert feared <= set(field_names)
    assert len(field_names) > 150


def test_every_name_can_be_a_field_a_struct_and_a_message(clashing: ModuleType) -> None:
    assert check_laws(classes_of(clashing), examples=3, places=PLACES) > 200


def test_every_name_can_be_a_column(clashing: ModuleType) -> None:
    assert sum(check_columns(MessageColumns(each), examples=1) for each in classes_of(clashing)[:20]) > 20


@pytest.mark.nightly  # half a minute of mypy; test_types.py has a module of every type
def test_every_name_is_typed(clashing: ModuleType, mypy: Mypy) -> None:
    assert mypy(Path(str(clashing.__file__)).parents[2], "-p", "clashing.protocol") == []
