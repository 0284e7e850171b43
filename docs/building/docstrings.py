"""Prepares docstrings for the API reference; mkdocs.yml names this extension of Griffe.

Griffe reads the sources without importing them. What they say in a form of their own is put into the form that it
knows.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import Final

import griffe

_SECTION: Final = re.compile(r"^(Args|Attributes|Raises):\n((?:[ ]{4}.*\n?|\n)+)", re.MULTILINE)
_SHARED: Final = re.compile(r"^ {4}((?:\*{0,2}\w+,\s+)+\*{0,2}\w+):\s+((?:.*)(?:\n {5,}.*)*)", re.MULTILINE)
_EXAMPLE: Final = re.compile(r"^(Examples?):\n((?:[ ]{4}.*(?:\n|\Z)|\n)+)", re.MULTILINE)
_LITERAL: Final = re.compile(r"^(.*?)( ?)::\n((?:[ ]{4}.*(?:\n|\Z)|\n)+)", re.MULTILINE)
_ROLE: Final = re.compile(r":\w+:(`~?\.?[\w.]+`)")
_ENUMERATIONS: Final = ("Enum", "IntEnum", "IntFlag", "StrEnum", "TolerantEnum", "TolerantText")
_NAME: Final = re.compile(r"(?<![`\w\[])`([A-Za-z_]\w*)(\.\w+)?`(?![`\]\w])")
_BLOCKING: Final = re.compile(r"^blocking\(_methods\.(\w+)\)$")


def in_griffes_form(text: str) -> str:
    """A docstring with an entry for each argument where several share one, and without marks of other languages."""

    def separate(section: re.Match[str]) -> str:
        entries = _SHARED.sub(
            lambda shared: "\n".join(f"    {name}: {shared[2]}" for name in re.split(r",\s+", shared[1])), section[2]
        )
        return f"{section[1]}:\n{entries}"

    return _LITERAL.sub(_block, _EXAMPLE.sub(_fenced, _SECTION.sub(separate, _ROLE.sub(r"\1", text))))


def _fenced(section: re.Match[str]) -> str:
    """A section ``Example:`` whose content is Python, as a block of code."""
    code = textwrap.dedent(section[2]).strip()
    if not _is_python(code):
        return section[0]
    block = textwrap.indent(f"```python\n{code}\n```", "    ")
    return f"Example:\n{block}\n\n"


def _block(marked: re.Match[str]) -> str:
    """The lines after ``::`` as a block of code; the colon stays where it follows a word."""
    before = marked[1] if marked[2] or not marked[1].strip() else f"{marked[1]}:"
    code = textwrap.dedent(marked[3]).strip()
    language = "python" if _is_python(code) else "text"
    return f"{before}\n\n```{language}\n{code}\n```\n\n"


def _is_python(code: str) -> bool:
    try:
        compile(code, "example", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | ast.PyCF_ONLY_AST)
    except SyntaxError:
        return False
    return True


class KafkawireDocstrings(griffe.Extension):
    """Docstrings in the form that Griffe knows, with links; signatures of what is not written as a function."""

    def on_instance(self, *, obj: griffe.Object, **_: object) -> None:
        """Prepare a docstring."""
        if obj.docstring is not None:
            obj.docstring.value = in_griffes_form(obj.docstring.value)

    def on_attribute_instance(self, *, attr: griffe.Attribute, **_: object) -> None:
        """Take the docstring of a fixture that is made by a call from the call."""
        made = attr.value
        if isinstance(made, griffe.ExprCall) and str(made.function) == "_broker_fixture":
            attr.docstring = griffe.Docstring(ast.literal_eval(str(made.arguments[-1])))

    def on_class_members(self, *, cls: griffe.Class, **_: object) -> None:
        """List the members of an enumeration whose docstring does not."""
        if cls.docstring is None or "\nAttributes:\n" in cls.docstring.value:
            return
        if any(str(base).rpartition(".")[2] in _ENUMERATIONS for base in cls.bases):
            members = [f"    {name}: ``{member.value}``" for name, member in cls.attributes.items() if name.isupper()]
            if members:
                cls.docstring.value = "\n".join([cls.docstring.value.rstrip(), "", "Attributes:", *members])

    def on_package(self, *, pkg: griffe.Module, **_: object) -> None:
        """When all sources are read: add signatures, and link the public names in docstrings."""
        if pkg.path != "kafkawire" or "admin" not in pkg.members:
            return
        names = _public_names(pkg)
        for each in list(_objects(pkg)):
            if isinstance(each, griffe.Class) and "__init__" not in each.members:
                fields = _fields(each)
                if fields:
                    each.set_member("__init__", griffe.Function("__init__", parameters=griffe.Parameters(*fields)))
            if each.docstring is not None:
                each.docstring.value = _with_links(each.docstring.value, each, names)
        client = pkg["admin.blocking_methods.BlockingMethods"]
        for name, attribute in list(client.members.items()):
            found = _BLOCKING.match(str(getattr(attribute, "value", "")))
            if found is not None:
                method = pkg["admin.families.Families"].all_members[found[1]]
                client.set_member(name, _waiting(method, attribute))


def _objects(parent: griffe.Object) -> Iterator[griffe.Object]:
    """All modules, classes, functions and attributes that an object holds."""
    for member in parent.members.values():
        if isinstance(member, griffe.Object):
            yield member
            if isinstance(member, griffe.Module | griffe.Class):
                yield from _objects(member)


def _public_names(package: griffe.Module) -> Mapping[str, Mapping[str, griffe.Object | griffe.Alias]]:
    """The public names of sub-packages that docstrings mention, first those of the package that mentions them."""
    exporting = {
        name: package[name] for name in ("admin", "broker", "logs", "wire", "wire.kafka_errors", "protocol.errors")
    }
    return {
        name: {key: each for key, each in module.members.items() if _is_public(each)}
        for name, module in exporting.items()
    }


def _is_public(each: griffe.Object | griffe.Alias) -> bool:
    source = each.target_path if isinstance(each, griffe.Alias) else each.path
    return source.startswith("kafkawire.") and not each.name.startswith("_") and not each.name.islower()


def _with_links(text: str, each: griffe.Object, names: Mapping[str, Mapping[str, griffe.Object | griffe.Alias]]) -> str:
    """A docstring in which each public name between single backticks is a link."""
    own = each.path.split(".")[1]
    searched = [names[own], *names.values()] if own in names else list(names.values())

    def link(found: re.Match[str]) -> str:
        target = next((module[found[1]] for module in searched if found[1] in module), None)
        if target is None or target.canonical_path == each.path:
            return found[0]
        member = target.all_members.get(found[2][1:]) if found[2] else None
        is_method = member is not None and member.is_function
        return f"[{found[0]}][{target.path}{found[2] if is_method else ''}]"

    return _NAME.sub(link, text)


def _fields(cls: griffe.Class) -> list[griffe.Parameter]:
    """The parameters of the constructor that ``msgspec.Struct`` makes from annotations; none for other classes."""
    if not any(str(base).rpartition(".")[2] in ("Struct", "Redacted") for base in cls.bases):
        return []
    kind = griffe.ParameterKind.positional_or_keyword
    if str(cls.keywords.get("kw_only")) == "True":
        kind = griffe.ParameterKind.keyword_only
    return [
        griffe.Parameter(name, annotation=field.annotation, kind=kind, default=field.value)
        for name, field in cls.attributes.items()
        if field.annotation is not None and not name.startswith("_") and "ClassVar" not in str(field.annotation)
    ]


def _waiting(method: griffe.Object | griffe.Alias, attribute: griffe.Object | griffe.Alias) -> griffe.Function:
    """The blocking form of a method: its parameters and its result, and a docstring that refers to it."""
    target = method.final_target if isinstance(method, griffe.Alias) else method
    if not isinstance(target, griffe.Function):
        raise TypeError(f"{method.path} is not a function: {attribute.path} cannot have its signature")
    summary = target.docstring.value.partition("\n\n")[0] if target.docstring else ""
    reference = f"[`AdminClient.{target.name}`][kafkawire.admin.AdminClient.{target.name}]"
    function = griffe.Function(
        target.name,
        parameters=target.parameters,
        returns=target.returns,
        lineno=attribute.lineno,
        endlineno=attribute.endlineno,
        docstring=griffe.Docstring(f"{summary}\n\nThe same as {reference}, for programs without asyncio."),
    )
    function.runtime = True
    return function
