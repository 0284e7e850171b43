"""The examples in docstrings: found in the sources and run.

An example is a section ``Example:`` at the end of a docstring, with one fenced block of Python. Methods of the admin
client show what a user writes who has an ``admin``; the names of ``kafkawire.admin`` need no import there.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import kafkawire.admin
from kafkawire.admin import (
    AclBinding,
    AdminClient,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    NewTopic,
    ScramUpsertion,
    TopicPartition,
)
from kafkawire.wire.kafka_errors import KafkaError

SOURCES = Path(__file__).parents[2] / "src" / "kafkawire"
ADDRESS = "localhost:9092"
"""The address of the broker in examples."""

_SECTION = re.compile(r"^Example:\n    ```python\n(.*?)^    ```$", flags=re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """An example.

    Attributes:
        owner: whose docstring it is in, ``admin.operations.topics.TopicOperations.create_topics``.
        file, line: where its code begins.
        code: the code.
    """

    owner: str
    file: Path
    line: int
    code: str

    @property
    def name(self) -> str:
        """The last part of its owner's name: that of the method."""
        return self.owner.rpartition(".")[2]

    def __str__(self) -> str:
        return self.owner


@cache
def examples() -> tuple[Example, ...]:
    """All examples, in the order of the files."""
    return tuple(example for file in sorted(SOURCES.rglob("*.py")) for example in _of_file(file))


def of_admin() -> tuple[Example, ...]:
    """Those of the admin client, and of values that it takes and returns."""
    return tuple(example for example in examples() if example.owner.startswith(("admin.", "model.", "records.")))


def _of_file(file: Path) -> Iterator[Example]:
    module = ".".join(file.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__")
    for owner, docstring in _docstrings(ast.parse(file.read_text()), module):
        text = inspect.cleandoc(docstring.value)
        found = _SECTION.findall(text)
        if len(found) != len(re.findall(r"^Examples?:|```", text, flags=re.MULTILINE)) / 3:
            raise ValueError(f"{file}:{docstring.lineno}: an example is a section Example: with one ```python block")
        for code in found:
            line = docstring.lineno + text[: text.index(code)].count("\n")
            yield Example(owner, file, line, textwrap.dedent(code))


class _Docstring(ast.Constant):
    value: str


def _docstrings(node: ast.AST, owner: str) -> Iterator[tuple[str, _Docstring]]:
    """The docstrings of a module, of its classes and of its functions, with the names of these."""
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        match node.body:
            case [ast.Expr(ast.Constant(str()) as docstring), *_]:
                yield owner, docstring  # type: ignore[misc]  # the pattern has checked the value
    for child in ast.iter_child_nodes(node):
        name = getattr(child, "name", None)
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _docstrings(child, f"{owner}.{name}")


async def errors_of(example: Example, places: Mapping[str, str], **given: object) -> list[KafkaError]:
    """Run an example as a user would, and return the errors that end it or that it prints.

    Args:
        example: the example.
        places: addresses and paths in its code to those that take their places.
        given: the names that it has.
    """
    printed: list[object] = []
    names = {name: getattr(kafkawire.admin, name) for name in vars(kafkawire.admin)["__all__"]}
    names.update(given, print=lambda *values: printed.extend(values))
    source = "\n" * (example.line - 1) + example.code
    for shown, real in places.items():
        source = source.replace(shown, real)
    code = compile(source, example.file, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    try:
        if code.co_flags & inspect.CO_COROUTINE:
            await eval(code, names)  # noqa: S307 the code is ours
        else:
            await asyncio.to_thread(exec, code, names)
    except* KafkaError as raised:
        printed += _leaves(raised)
    return [value for value in printed if isinstance(value, KafkaError)]


def _leaves(group: BaseExceptionGroup[KafkaError]) -> Iterator[KafkaError]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(error)
        else:
            yield error


async def prepare(admin: AdminClient) -> None:
    """Make what the examples of the admin client are about: topics, a group, and a user with ACLs and quotas."""
    (await admin.create_topics([NewTopic("orders", num_partitions=3), NewTopic("invoices", num_partitions=2)])).all()
    (await admin.wait_for_topics(["orders", "invoices"])).all()
    offsets = {TopicPartition("orders", 0): 0, TopicPartition("invoices", 0): 0}
    for group in ("billing", "enrichment"):
        (await admin.alter_consumer_group_offsets(group, offsets)).all()
    (await admin.create_acls(AclBinding.consumer("User:billing", topics=["orders"], groups=["billing"]))).all()
    quotas = ClientQuotaAlteration(ClientQuotaEntity(user="billing"), {"consumer_byte_rate": 1_000_000})
    (await admin.alter_client_quotas([quotas])).all()
    (await admin.alter_user_scram_credentials([ScramUpsertion("billing", "SCRAM-SHA-256", "secret")])).all()
