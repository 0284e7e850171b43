"""The rows of commands are described in a page and as JSON Schema, and no field of them goes or changes its type.

``pytest tests/golden/cli --update-golden`` writes both again. A field that has gone or changed fails even then, since
programs read it. Delete it from the schema by hand if that is meant, and say so in the changelog.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import msgspec

from kafkawire.cli.access.changes import OutcomeRow, print_outcomes
from kafkawire.cli.commands import COMMANDS, Entry, Group
from kafkawire.cli.rows.cells import nested_fields
from kafkawire.cli.rows.row import Row
from kafkawire.cli.running import attribute_of

REFERENCE = Path(__file__).parents[3] / "docs" / "reference"
PAGE = REFERENCE / "rows.md"
SCHEMA = REFERENCE / "rows.schema.json"
MARKS = re.compile(r"(<!-- rows: made .*?-->\n)(.*?)(<!-- end of rows -->)", flags=re.DOTALL)


def commands_with_functions(commands: Mapping[str, Entry], path: str = "") -> Iterator[tuple[str, Callable[..., Any]]]:
    for name, entry in commands.items():
        if isinstance(entry, Group):
            yield from commands_with_functions(entry.commands, f"{path}{name} ")
        elif isinstance(entry, str):
            yield f"{path}{name}", attribute_of(entry)


def named_by(function: Callable[..., Any]) -> Iterator[object]:
    """What a function names, and what the functions of its package that it names do."""
    package = function.__module__.rpartition(".")[0]
    seen: set[object] = set()
    left: list[object] = [function]
    while left:
        each = left.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        if isinstance(each, FunctionType) and (each is function or each.__module__.startswith(package)):
            inner = [each.__code__, *codes_in(each.__code__)]
            left += [each.__globals__[name] for code in inner for name in code.co_names if name in each.__globals__]
            left += [cell.cell_contents for cell in each.__closure__ or ()]


def codes_in(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from codes_in(constant)


def rows_of_commands() -> Mapping[type[Row], list[str]]:
    """The classes of rows, and the commands that print them."""
    found: dict[type[Row], list[str]] = {}
    for command, function in commands_with_functions(COMMANDS):
        named = list(named_by(function))
        classes = {each for each in named if isinstance(each, type) and issubclass(each, Row)} - {Row}
        if print_outcomes in named:
            classes.add(OutcomeRow)
        for each in classes:
            found.setdefault(each, []).append(command)
    inner = {each for row_class in found for each in nested_fields(row_class).values()}
    nested = {each: list[str]() for each in inner - found.keys()}
    return dict(sorted((found | nested).items(), key=lambda each: each[0].__name__))


def schema_of_rows() -> dict[str, Any]:
    _, components = msgspec.json.schema_components(rows_of_commands())
    for each in components.values():
        each.pop("description", None)  # is on the page
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": dict(sorted(components.items()))}


def test_no_field_goes_and_none_changes_its_type() -> None:
    stored = json.loads(SCHEMA.read_text("utf-8"))["$defs"] if SCHEMA.exists() else {}
    now = schema_of_rows()["$defs"]
    for name, row in stored.items():
        assert name in now, f"{name}: the class of rows is gone"
        for field, described in row.get("properties", {}).items():
            present = now[name]["properties"].get(field)
            assert present is not None, f"{name}.{field} is gone"
            assert without_default(present) == without_default(described), f"{name}.{field} has another type"
        assert set(row.get("enum", ())) <= set(now[name].get("enum", ())), f"{name}: a value is gone"


def without_default(field: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in field.items() if name != "default"}


def test_the_schema_is_up_to_date(update_golden: bool) -> None:
    text = json.dumps(schema_of_rows(), indent=2) + "\n"
    if update_golden:
        test_no_field_goes_and_none_changes_its_type()
        SCHEMA.write_text(text, "utf-8")
    assert SCHEMA.read_text("utf-8") == text, "pytest tests/golden/cli --update-golden writes it again"


def test_the_page_has_every_row_with_the_meaning_of_its_fields(update_golden: bool) -> None:
    expected = "\n" + "\n".join(section(row_class, commands) for row_class, commands in rows_of_commands().items())
    text = PAGE.read_text("utf-8")
    if update_golden:
        PAGE.write_text(MARKS.sub(lambda found: found[1] + expected + "\n" + found[3], text), "utf-8")
        text = PAGE.read_text("utf-8")
    found = MARKS.search(text)
    assert found is not None
    assert found[2] == expected + "\n", "pytest tests/golden/cli --update-golden writes the page"


def section(row_class: type[Row], commands: list[str]) -> str:
    about = (row_class.__doc__ or "").partition("\n")[0]
    printed = f" Printed by {', '.join(f'`{each}`' for each in commands)}." if commands else ""
    meanings = meanings_of(row_class)
    described = schema_of_rows()["$defs"]
    lines = [
        f"| `{name}` | {type_of(described[row_class.__name__]['properties'][name])} | {meanings[name]} |"
        for name in row_class.__struct_fields__
    ]
    head = ["| field | type | meaning |", "| --- | --- | --- |"]
    return "\n".join([f"## {row_class.__name__}", "", about + printed, "", *head, *lines, ""])


def meanings_of(row_class: type[Row]) -> dict[str, str]:
    """The sentences of the section ``Attributes:``; each field must have one."""
    _, _, attributes = (inspect.getdoc(row_class) or "").partition("Attributes:")
    found: dict[str, str] = {}
    for names, text in re.findall(r"^    (\w[\w, ]*): (.*(?:\n        .*)*)", attributes, flags=re.MULTILINE):
        found |= dict.fromkeys(names.split(", "), " ".join(text.split()).replace("``", "`").rstrip("."))
    missing = set(row_class.__struct_fields__) - found.keys()
    assert not missing, f"{row_class.__name__}: the docstring does not say what {missing} mean"
    return found


def type_of(field: Mapping[str, Any]) -> str:
    """In words: ``text or null``, ``array of PartitionRow``."""
    match field:
        case {"anyOf": [*choices]}:
            return " or ".join(type_of(each) for each in choices)
        case {"$ref": reference}:
            return str(reference).rpartition("/")[2]
        case {"type": "array", "items": items}:
            return f"array of {type_of(items)}"
        case {"type": "object", "additionalProperties": values} if isinstance(values, dict):
            return f"object with values {type_of(values)}"
        case {"type": "string", "format": "date-time"}:
            return "time in ISO 8601"
        case {"type": kind}:
            return {"string": "text", "boolean": "true or false"}.get(str(kind), str(kind))
    return "any value"
